"""`lakebed commit`, `merge`, `revert` and `cherry-pick`: what makes history."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import click

from lakebed import Commit, ConcurrentCommitError, Location
from lakebed._bulk.progress_bar import Meter
from lakebed.cli import output
from lakebed.cli.admin.tasks import begun
from lakebed.cli.app import App, Verb, message_option, metadata_option, pass_app
from lakebed.cli.here import HereLocation, here, here_at
from lakebed.cli.targets import BRANCH, REF, complete_ref, same_repository

_key_option = click.option(
    "--key",
    metavar="TEXT",
    help="Idempotency key: repeating the command with this key within a day makes no second commit.",
)
_author_option = click.option(
    "--author", default="", metavar="USER", help="Commit as this user. Needs the permission fs:CommitAs."
)
_no_wait_option = click.option(
    "--no-wait", is_flag=True, help="Start the task, print its id, and exit without waiting."
)


@click.command(cls=Verb)
@click.argument("target", type=BRANCH, metavar="[REPO/BRANCH]", required=False)
@message_option
@metadata_option("commit")
@_author_option
@click.option("--date", type=click.DateTime(), help="Date of the commit, local time [now].")
@click.option("--allow-empty", is_flag=True, help="Commit even if nothing has changed.")
@_key_option
@_no_wait_option
@pass_app
def commit(
    app: App,
    target: Location | None,
    message: str,
    metadata: dict[str, str],
    author: str,
    date: datetime | None,
    allow_empty: bool,
    key: str | None,
    no_wait: bool,
) -> None:
    """Commit everything that is uncommitted on a branch, or the changes in a directory of `lakebed local clone`.

    \b
    Example: lakebed commit sales/main -m "load the orders" --meta job=nightly
             lakebed commit -m "corrected prices"        in a directory
    """
    if target is None:
        _commit_here(app, message, metadata, bool(author or date or allow_empty or key or no_wait))
        return
    with app.lake() as lake:
        branch = lake.repository(target.repository).branch(target.ref)
        wanted: dict[str, Any] = {"metadata": metadata, "allow_empty": allow_empty, "date": date}
        wanted |= {"key": key, "author": author}
        if no_wait:
            task = branch.start_commit(message, **wanted)
            begun(app, task, "commit", f"lakebed task wait {target.repository}")
            return
        made = branch.commit(message, **wanted)
    output.say(app, _made(target, made), output.record(made))


def commit_directory(app: App, top: Path, message: str, metadata: dict[str, str]) -> None:
    """Commit the changes in a directory to its branch, and confirm it."""
    from lakebed._sync.checkout import verbs as working

    with app.lake() as lake, Meter("uploading", enabled=app.shows_progress) as meter:
        try:
            made, changes = working.commit(lake, top, message, metadata=metadata, progress=meter.follow)
        except ConcurrentCommitError:
            output.advise(
                app, "The branch has changed the same files: `lakebed local pull` explains how to resolve this."
            )
            raise
    title = output.shown(made.message.split("\n", 1)[0])
    line = f"[{here_at(top).branch} {made.short_id}] {title}"
    output.say(app, line, {**output.record(made), "changes": len(changes)})


def _commit_here(app: App, message: str, metadata: dict[str, str], more: bool) -> None:
    found = here()
    if found is None:
        raise click.UsageError(
            "Missing argument 'REPO/BRANCH': it can be left out in a directory of `lakebed local clone` only."
        )
    if more:
        raise click.UsageError("In a directory, only -m and --meta apply; for the other options, name REPO/BRANCH.")
    commit_directory(app, found.top, message, metadata)


@click.command(cls=Verb)
@click.argument("source", type=REF, metavar="REPO/SOURCE")
@click.argument("destination", metavar="BRANCH", required=False, shell_complete=complete_ref)
@click.option("-m", "--message", default="", help="Message of the merge commit [Merge 'SOURCE' into 'BRANCH'].")
@click.option(
    "--strategy",
    type=click.Choice(["source-wins", "dest-wins", "theirs", "ours"]),
    help="The side that wins where both sides changed a path [none: a conflict].",
)
@click.option(
    "--resolve",
    multiple=True,
    metavar="GLOB=SIDE",
    help="The side, source or dest, that wins for paths matching GLOB. The first match wins; may be repeated.",
)
@click.option("--squash", is_flag=True, help="Record only the first parent.")
@click.option("--allow-empty", is_flag=True, help="Commit even if there is nothing to merge.")
@metadata_option("merge commit")
@_author_option
@_key_option
@_no_wait_option
@pass_app
def merge(
    app: App,
    source: Location,
    destination: str | None,
    message: str,
    strategy: str | None,
    resolve: tuple[str, ...],
    squash: bool,
    allow_empty: bool,
    metadata: dict[str, str],
    author: str,
    key: str | None,
    no_wait: bool,
) -> None:
    """Merge a ref into a branch, as one commit.

    Paths that both sides changed are conflicts. The command lists them, changes nothing, and exits with 4.

    \b
    Example: lakebed merge sales/dev main -m "publish" --resolve "orders/**=source" --resolve "*=dest"
    """
    onto = same_repository(source, destination) if destination else _branch_here(source)
    with app.lake() as lake:
        repo = lake.repository(source.repository)
        wanted: dict[str, Any] = {"strategy": strategy, "squash": squash, "allow_empty": allow_empty}
        wanted |= {"metadata": metadata, "resolve": _rules(resolve), "key": key, "author": author}
        if no_wait:
            task = repo.branch(onto).start_merge(source.ref, message, **wanted)
            begun(app, task, "merge", f"lakebed task wait {source.repository}")
            return
        made = repo.ref(source.ref).merge_into(onto, message, **wanted)
    output.say(app, f"Merged {source.ref} into {onto}: {made.commit_id[:12]}", {"commit_id": made.commit_id})


def _branch_here(source: Location) -> str:
    """The branch of the working directory, for a source that was named in short."""
    found = here() if isinstance(source, HereLocation) else None
    if found is None or found.detached:
        raise click.UsageError("Missing argument 'BRANCH': the branch to merge into.")
    return found.branch


def _rules(texts: tuple[str, ...]) -> dict[str, str]:
    rules: dict[str, str] = {}
    for text in texts:
        glob, found, side = text.rpartition("=")
        if not found or side not in ("source", "dest"):
            raise click.BadParameter(f"{text!r} must end in =source or =dest", param_hint="--resolve")
        rules.setdefault(glob, side)
    return rules


_parent_option = click.option(
    "--parent",
    type=click.IntRange(min=1),
    metavar="N",
    help="For a merge: the number of the parent to compare with, from 1.",
)


@click.command(cls=Verb)
@click.argument("target", type=BRANCH, metavar="REPO/BRANCH")
@click.argument("commit", metavar="COMMIT", shell_complete=complete_ref)
@click.option("-m", "--message", default="", help="Message of the new commit [Revert COMMIT].")
@_parent_option
@click.option("--allow-empty", is_flag=True, help="Commit even if there is nothing left to undo.")
@metadata_option("commit")
@_key_option
@pass_app
def revert(
    app: App,
    target: Location,
    commit: str,
    message: str,
    parent: int | None,
    allow_empty: bool,
    metadata: dict[str, str],
    key: str | None,
) -> None:
    """Undo the changes of a commit, as a new commit on a branch.

    \b
    Example: lakebed revert sales/main main~1
    """
    ref = same_repository(target, commit)
    with app.lake() as lake:
        branch = lake.repository(target.repository).branch(target.ref)
        made = branch.revert(ref, message, parent=parent, allow_empty=allow_empty, metadata=metadata, key=key)
    output.say(app, _made(target, made), output.record(made))


@click.command("cherry-pick", cls=Verb)
@click.argument("target", type=BRANCH, metavar="REPO/BRANCH")
@click.argument("commit", metavar="COMMIT", shell_complete=complete_ref)
@click.option("-m", "--message", default="", help="Message of the new commit [that of COMMIT].")
@_parent_option
@metadata_option("commit")
@_key_option
@pass_app
def cherry_pick(
    app: App,
    target: Location,
    commit: str,
    message: str,
    parent: int | None,
    metadata: dict[str, str],
    key: str | None,
) -> None:
    """Apply the changes of a commit to a branch, as a new commit.

    \b
    Example: lakebed cherry-pick sales/main dev~1
    """
    ref = same_repository(target, commit)
    with app.lake() as lake:
        branch = lake.repository(target.repository).branch(target.ref)
        made = branch.cherry_pick(ref, message, parent=parent, metadata=metadata, key=key)
    output.say(app, _made(target, made), output.record(made))


def _made(target: Location, made: Commit) -> str:
    title = output.shown(made.message.split("\n", 1)[0])
    return f"[{target.ref} {made.short_id}] {title}"
