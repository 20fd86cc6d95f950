"""`lakebed hooks`: check action files, show and run hooks, and repeat failed calls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from lakebed import ActionRun, HookDelivery, HookRun, InvalidRequestError, Location, ServerUnavailableError
from lakebed.cli import output
from lakebed.cli.app import App, Noun, pass_app
from lakebed.cli.hooks.results import results_table
from lakebed.cli.targets import REPOSITORY

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_repository = click.argument("repository", type=REPOSITORY, metavar="REPO")
_limit = click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N.")


@click.group(cls=Noun)
def hooks() -> None:
    """Check action files, show and run hooks, and repeat failed calls."""


@hooks.command()
@click.argument("files", type=_FILE, nargs=-1, required=True, metavar="FILE...")
@pass_app
def validate(app: App, files: tuple[Path, ...]) -> None:
    """Check action files. The check runs on the server.

    \b
    Example: lakebed hooks validate _lakebed_actions/*.yaml
    """
    bad: list[tuple[str, str]] = []
    with app.lake() as lake:
        for file in files:
            try:
                lake.validate_action(str(file), _text_of(file))
            except InvalidRequestError as error:
                bad.append((str(file), error.reason))
            except ServerUnavailableError as error:
                raise ServerUnavailableError(
                    f"cannot check action files without a server: {error.reason}", kind=error.kind
                ) from error
    value = {"valid": not bad, "files": len(files), "errors": [{"file": file, "message": why} for file, why in bad]}
    if bad:
        output.show(app, "\n".join(output.shown(why) for _, why in bad), value)
        raise click.exceptions.Exit(2)
    output.say(app, f"{output.count_text(len(files), 'action file')}: valid.", value)


@hooks.command()
@_repository
@click.option("--branch", default="", help="Only runs of this branch.")
@click.option("--commit", default="", metavar="ID", help="Only runs of the commit with this id.")
@_limit
@pass_app
def runs(app: App, repository: Location, branch: str, commit: str, limit: int | None) -> None:
    """List runs of hooks, newest first.

    \b
    Example: lakebed hooks runs sales --branch main -n 10
    """
    if branch and commit:
        raise click.UsageError("Give --branch or --commit, not both.")
    with app.lake() as lake:
        output.rows(app, lake.repository(repository.repository).runs.list(branch, commit, limit), _run_line)


@hooks.command()
@_repository
@click.argument("run", metavar="RUN")
@click.option("--log", "with_logs", is_flag=True, help="Also print what the hooks printed.")
@click.option("--skipped", is_flag=True, help="Also show the hooks that were not called.")
@pass_app
def show(app: App, repository: Location, run: str, with_logs: bool, skipped: bool) -> None:
    """Show a run: its hooks, their messages, and the results of contracts with the values that broke them.

    \b
    Example: lakebed hooks show sales 018f5a9c3e4d1a2b3c4d --log
    """
    with app.lake() as lake:
        found = lake.repository(repository.repository).runs
        made, called = found.get(run), found.hooks(run, skipped=skipped).all()
        asked = [one for one in called if with_logs and one.state != "skipped"]
        logs = {one.id: found.log(run, one.id) for one in asked}
    value = {**output.record(made), "hooks": [_hook_record(one, logs) for one in called]}
    output.show(app, "\n".join([_run_text(made), *(_hook_text(one, logs) for one in called)]), value)


@hooks.command()
@_repository
@click.option("--event", required=True, metavar="EVENT", help="The event, such as pre-merge.")
@click.option("--ref", required=True, help="The branch, tag or commit.")
@click.option("--branch", default="", help="Apply the rules of this branch, as if REF were merged into it.")
@click.option("--action", default="", metavar="NAME", help="Run only the action with this name.")
@pass_app
def run(app: App, repository: Location, event: str, ref: str, branch: str, action: str) -> None:
    """Run the actions of an event by hand. Changes nothing else. The exit code is 4 if the run does not pass.

    \b
    Example: lakebed hooks run sales --event pre-merge --ref dev --branch main
    """
    with app.lake() as lake:
        made = lake.repository(repository.repository).runs.run(event, ref, action, branch=branch)
    _tell(app, repository.repository, made)


@hooks.command()
@_repository
@click.argument("run", metavar="RUN")
@pass_app
def rerun(app: App, repository: Location, run: str) -> None:
    """Run the actions of a run again, at the same commit. The exit code is 4 if the run does not pass.

    \b
    Example: lakebed hooks rerun sales 018f5a9c3e4d1a2b3c4d
    """
    with app.lake() as lake:
        made = lake.repository(repository.repository).runs.rerun(run)
    _tell(app, repository.repository, made)


@hooks.command()
@_repository
@_limit
@pass_app
def deliveries(app: App, repository: Location, limit: int | None) -> None:
    """List the calls that hooks make after changes: waiting calls first, then failed ones.

    \b
    Example: lakebed hooks deliveries sales
    """
    with app.lake() as lake:
        found = lake.repository(repository.repository).deliveries.list(limit)
        output.rows(app, found, _delivery_line, _delivery_record)


@hooks.command()
@_repository
@click.argument("delivery", metavar="ID")
@pass_app
def redeliver(app: App, repository: Location, delivery: str) -> None:
    """Repeat a failed call after a change, from its first hook.

    \b
    Example: lakebed hooks redeliver sales ID
    """
    with app.lake() as lake:
        made = lake.repository(repository.repository).deliveries.redeliver(delivery)
    output.say(app, f"Delivery {output.shown(made.id)} is due now.", _delivery_record(made))


@hooks.command()
@_repository
@click.argument("files", type=_FILE, nargs=-1, metavar="[FILE...]")
@click.option("--clear", is_flag=True, help="Remove all action files from the settings.")
@pass_app
def settings(app: App, repository: Location, files: tuple[Path, ...], clear: bool) -> None:
    """Show the action files of the settings, or replace all of them by these files.

    They apply in addition to those in the data, and no change of the data can change them.

    \b
    Example: lakebed hooks settings sales contract.yaml
    """
    if files and clear:
        raise click.UsageError("--clear takes no files.")
    names = [file.name for file in files]
    if len(set(names)) < len(names):
        raise click.UsageError("Two files have the same name: the settings identify files by their names.")
    with app.lake() as lake:
        place = lake.repository(repository.repository)
        if files or clear:
            place.set_hook_settings({file.name: _text_of(file) for file in files})
            line = f"{repository.repository} has {output.count_text(len(files), 'action file')} in its settings."
            output.say(app, line, {"actions": names})
            return
        found = place.hook_settings()
    text = "\n".join(f"# {output.shown(name)}\n{_shown_lines(content)}" for name, content in found.actions.items())
    output.show(app, text or "There are no action files in the settings.", {"actions": dict(found.actions)})


def _text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidRequestError(f"{file}: the file is not UTF-8") from None


def _tell(app: App, repository: str, made: ActionRun) -> None:
    """Print how a run ended. Exits with 4 if it did not pass."""
    output.show(app, _run_line(made), output.record(made))
    if made.state not in ("passed", "skipped"):
        output.advise(app, f"  `lakebed hooks show {repository} {made.id}` shows what the hooks said.")
        raise click.exceptions.Exit(4)


def _run_line(found: ActionRun) -> str:
    place = found.branch or found.tag or found.source_ref
    said = f"  {output.shown(found.message)}" if found.message else ""
    return f"{found.id}  {output.when(found.started)}  {found.state:<7}  {found.event:<18} {output.shown(place)}{said}"


def _run_text(found: ActionRun) -> str:
    rows = [
        ("run", found.id),
        ("event", found.event),
        ("state", found.state),
        ("branch", output.shown(found.branch)),
        ("tag", output.shown(found.tag)),
        ("commit", found.commit_id),
        ("user", output.shown(found.user)),
        ("started", output.when(found.started)),
        ("ended", output.when(found.ended) if found.ended else ""),
        ("repeats", found.rerun_of),
        ("delivery", found.delivery_id),
        ("message", output.shown(found.message)),
    ]
    return output.table(rows)


def _hook_text(found: HookRun, logs: Mapping[str, str]) -> str:
    title = f"\n{output.shown(found.action)} / {found.hook_id} ({found.type or 'hook'}, {found.id}): {found.state}"
    parts = [title, *([f"  {output.shown(found.message)}"] if found.message else [])]
    parts += [f"  {line}" for line in results_table(found.details)]
    if found.id in logs:
        parts += ["  log:", *(f"    {line}" for line in _shown_lines(logs[found.id]).splitlines())]
    return "\n".join(parts)


def _hook_record(found: HookRun, logs: Mapping[str, str]) -> dict[str, Any]:
    log = {"log": logs[found.id]} if found.id in logs else {}
    return {**output.record(found), "details": [dict(one) for one in found.details], **log}


def _shown_lines(text: str) -> str:
    return "\n".join(map(output.shown, text.splitlines()))


def _delivery_line(found: HookDelivery) -> str:
    tries = output.count_text(len(found.attempts), "attempt")
    due = f", due {output.when(found.due)}" if found.due else ""
    said = f"  {output.shown(found.attempts[-1].message)}" if found.attempts else ""
    return (
        f"{output.shown(found.id)}  {found.state:<7}  {found.event} {output.shown(found.action)} ({tries}{due}){said}"
    )


def _delivery_record(found: HookDelivery) -> dict[str, Any]:
    attempts = [
        {"time": one.time.isoformat(), "state": one.state, "message": one.message, "run_id": one.run_id}
        for one in found.attempts
    ]
    return {**output.record(found), "attempts": attempts}
