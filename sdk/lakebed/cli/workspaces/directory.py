"""`lakebed status`, `switch`, `checkout`, `reset`, `stash` and `pop`: in a working directory, or on a branch."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakebed import Change, ConflictError, Location
from lakebed._bulk.progress_bar import Meter
from lakebed.cli import output
from lakebed.cli.app import App, Duration, Verb, confirm, pass_app, yes_option
from lakebed.cli.here import Here, here, is_path
from lakebed.cli.targets import BRANCH, BRANCH_OR_OBJECT, complete_ref
from lakebed.cli.versions.branches import hard_reset, reset_branch
from lakebed.cli.versions.diff import change_line

if TYPE_CHECKING:
    from lakebed import Lake

_OTHER_VERBS = {
    "pop": "`lakebed pop` brings the changes of the newest stash back.",
    "apply": "`lakebed pop` brings the changes of the newest stash back.",
    "list": "`lakebed stash --list` lists the stashes.",
    "show": "`lakebed stash --list` lists the stashes.",
    "push": "`lakebed stash` does that.",
    "save": "`lakebed stash` does that.",
    "drop": "`lakebed workspace drop` closes a stash of a branch without using it.",
    "clear": "`lakebed workspace drop` closes a stash of a branch without using it.",
}


def _working(what: str) -> Here:
    """The working directory. Raises UsageError when there is none."""
    found = here()
    if found is None:
        raise click.UsageError(
            f"{what} needs a directory of `lakebed local clone`, which this is not. Elsewhere, name the branch in each "
            "command: REPO/BRANCH."
        )
    return found


@click.command(cls=Verb)
@click.argument("target", type=BRANCH, metavar="[REPO/BRANCH]", required=False)
@click.option("--offline", is_flag=True, help="In a directory: do not ask the server whether the branch has moved.")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N changes of a branch.")
@pass_app
def status(app: App, target: Location | None, offline: bool, limit: int | None) -> None:
    """Show what is not committed: on a branch, or in the directory that `lakebed local clone` made.

    \b
    Example: lakebed status
             lakebed status sales/main
    """
    if target is None:
        from lakebed.cli.workspaces.checkout import show_status

        show_status(app, _working("`lakebed status` without REPO/BRANCH").top, offline=offline)
        return
    with app.lake() as lake:
        branch = lake.repository(target.repository).branch(target.ref)
        info = branch.info()
        stashes = branch.stashes()
        if app.as_json:
            changes = [output.record(change) for change in branch.uncommitted(limit=limit)]
            value = {**output.record(info), "changes": changes, "stashes": list(map(output.record, stashes))}
            output.show(app, "", value)
            return
        head = lake.repository(target.repository).commit(info.commit_id)
        output.note(app, f"branch {target} at {head.short_id}: {output.shown(_title(head.message))}")
        counts: Counter[str] = Counter()

        def line(change: Change) -> str:
            counts[change.type] += 1
            return change_line(change)

        output.rows(app, branch.uncommitted(limit=limit), line)
    parts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items()))
    commit = f"; `lakebed commit {target.repository}/{target.ref} -m TEXT` commits them" if parts else ""
    output.note(app, f"uncommitted: {parts}{commit}" if parts else "nothing is uncommitted")
    if stashes:
        output.note(
            app,
            f"{output.count_text(len(stashes), 'stash')}; `lakebed pop {target.repository}/{target.ref}` "
            "brings back the newest",
        )


@click.command(cls=Verb)
@click.argument("ref", metavar="REF", shell_complete=complete_ref)
@click.option("-c", "--create", is_flag=True, help="Create this branch from the commit that the directory shows.")
@click.option("-f", "--force", is_flag=True, help="Drop changes of the directory. Added files stay.")
@pass_app
def switch(app: App, ref: str, create: bool, force: bool) -> None:
    """Make the directory of `lakebed local clone` show another branch, a tag or a commit.

    The command refuses if the directory has changes. `lakebed stash` sets them aside, and --create keeps them.

    \b
    Example: lakebed switch dev
             lakebed switch -c fix-prices
             lakebed switch v1
    """
    from lakebed._sync.checkout import moves

    top = _working("`lakebed switch`").top
    with app.lake() as lake, Meter("switching", enabled=app.shows_progress) as meter:
        try:
            done = moves.switch(lake, top, ref, create=create, force=force, progress=meter.follow)
        except ConflictError as error:
            if error.kind == "local_changes":
                output.advise(
                    app, "`lakebed stash` sets changes aside, `lakebed commit` commits them, --force drops them."
                )
            raise
    if done.created:
        line = f"Created branch {ref} at {done.base[:12]}, and switched to it."
    else:
        what = f"{ref}, which takes no commits" if done.detached else f"branch {ref}"
        moved = f"{output.count_text(done.fetched, 'file')} fetched, {done.removed:,} removed"
        line = f"Switched to {what}, at {done.base[:12]}: {moved}."
    output.say(
        app,
        output.shown(line),
        {"branch": done.branch, "detached": done.detached, "commit_id": done.base, "created": done.created},
    )


checkout = Verb(
    "checkout",
    callback=switch.callback,
    params=[one for one in switch.params if one.name in ("ref", "create", "force")],
    help=switch.help,
    short_help="The same as switch.",
)


@click.command(cls=Verb)
@click.argument("targets", nargs=-1, metavar="[REPO/BRANCH[/PATH]]")
@click.option("--hard", metavar="REF", help="Move the branch to this commit. It must have no uncommitted changes.")
@click.option("--clean", is_flag=True, help="In a directory: also remove added files.")
@yes_option
@pass_app
def reset(app: App, targets: tuple[str, ...], hard: str | None, clean: bool, yes: bool) -> None:
    """Drop uncommitted changes: of a branch, or in the directory of `lakebed local clone`.

    In the directory, name files and folders as local paths (./a.csv), or nothing for all. Added files stay.

    \b
    Example: lakebed reset sales/main/orders.csv
             lakebed reset ./orders --yes
    """
    if targets and not all(map(is_path, targets)):
        if clean or len(targets) > 1:
            raise click.UsageError("Name one REPO/BRANCH[/PATH], or local paths that begin with ./")
        place = BRANCH_OR_OBJECT.convert(targets[0], None, None)
        if hard is not None:
            hard_reset(app, place, hard, yes)
        else:
            reset_branch(app, place, yes)
        return
    found = _working("`lakebed reset` without REPO/BRANCH")
    if hard is not None:
        raise click.UsageError("--hard moves a branch: name it, REPO/BRANCH.")
    _discard(app, found, targets, clean, yes)


def _discard(app: App, found: Here, targets: tuple[str, ...], clean: bool, yes: bool) -> None:
    from lakebed._sync.checkout import moves

    names = [found.object_path(one).removeprefix(found.prefix).rstrip("/") for one in targets]
    what = ", ".join(targets) if targets else str(found.top)
    confirm(f"Drop the changes in {output.shown(what)}{', and added files' if clean else ''}?", yes=yes)
    with app.lake() as lake, Meter("restoring", enabled=app.shows_progress) as meter:
        dropped = moves.discard(lake, found.top, names, clean=clean, progress=meter.follow)
    line = f"Dropped the changes of {output.count_text(len(dropped), 'file')}."
    output.say(app, line, {"reset": str(found.top), "changes": [output.record(one) for one in dropped]})


@click.command(cls=Verb)
@click.argument("target", metavar="[REPO/BRANCH]", default="")
@click.option("-m", "--message", default="", help="A note about the changes.")
@click.option("--list", "listed", is_flag=True, help="List the stashes, newest first.")
@click.option(
    "--expires-in",
    type=Duration(),
    metavar="TIME",
    help="For a branch: close the stash after this time: 90m, 12h, 7d [7d].",
)
@pass_app
def stash(app: App, target: str, message: str, listed: bool, expires_in: int | None) -> None:
    """Set uncommitted changes aside: those of a branch, or of the directory of `lakebed local clone`.

    The branch or the directory then shows its last commit. `lakebed pop` brings the changes back.

    \b
    Example: lakebed stash sales/main -m "half done"
             lakebed pop sales/main
    """
    if target in _OTHER_VERBS:
        raise click.UsageError(f"`lakebed stash` has no verb {target!r}: {_OTHER_VERBS[target]}")
    if not target:
        _stash_here(app, message, listed)
        return
    place = BRANCH.convert(target, None, None)
    with app.lake() as lake:
        branch = lake.repository(place.repository).branch(place.ref)
        if listed:
            output.rows(app, branch.stashes(), _stash_line)
            return
        info = branch.stash(message, expires_in).info()
    back = f"`lakebed pop {place.repository}/{place.ref}` brings them back until {output.when(info.expires)}"
    output.say(app, f"The changes of {place.ref} are set aside; {back}.", output.record(info))


def _stash_line(info: Any) -> str:
    return output.shown(f"{output.when(info.created)}  {info.name}  {_title(info.message)}")


def _stash_here(app: App, message: str, listed: bool) -> None:
    top = _working("`lakebed stash` without REPO/BRANCH").top
    if listed:
        from lakebed._bulk import local_stash

        output.rows(app, local_stash.stashes(top), _local_line, _local_record)
        return
    from lakebed._sync.checkout import moves

    with app.lake() as lake, Meter("restoring", enabled=app.shows_progress) as meter:
        made = moves.stash(lake, top, message, progress=meter.follow)
    line = f"The changes of {output.count_text(len(made.files), 'file')} are set aside; `lakebed pop` brings them back."
    output.say(app, line, _local_record(made))


def _local_line(one: Any) -> str:
    remark = f": {one.message}" if one.message else ""
    when = output.when_ns(one.created_ns)
    return output.shown(f"{when}  {output.count_text(len(one.files), 'file')} of {one.branch}{remark}")


def _local_record(one: Any) -> dict[str, Any]:
    return {"message": one.message, "branch": one.branch, "files": [[file.type, file.name] for file in one.files]}


@click.command(cls=Verb)
@click.argument("target", type=BRANCH, metavar="[REPO/BRANCH]", required=False)
@click.option("-f", "--force", is_flag=True, help="In a directory: replace files that have changed since the stash.")
@pass_app
def pop(app: App, target: Location | None, force: bool) -> None:
    """Bring back the changes of the newest stash: of a branch, or of the directory of `lakebed local clone`.

    On a branch these are the stashes that you made. `lakebed workspace pop` takes any other workspace.

    \b
    Example: lakebed pop sales/main
    """
    if target is not None:
        with app.lake() as lake:
            _pop_branch(app, lake, target)
        return
    from lakebed._sync.checkout import moves

    top = _working("`lakebed pop` without REPO/BRANCH").top
    try:
        stashed, names = moves.pop(Path(top), force=force)
    except ConflictError:
        output.advise(app, "`lakebed commit` or `lakebed reset` first, or replace them with --force.")
        raise
    line = f"The changes of {output.count_text(len(names), 'file')} are back."
    output.say(app, line, {**_local_record(stashed), "popped": True})


def _pop_branch(app: App, lake: Lake, target: Location) -> None:
    info = lake.repository(target.repository).branch(target.ref).pop()
    line = f"The changes of {info.name} ({_title(info.message)}) are uncommitted on {target.ref}."
    output.say(app, output.shown(line), {"popped": info.name, "branch": target.ref})


def _title(message: str) -> str:
    return message.split("\n", 1)[0]
