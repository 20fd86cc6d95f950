"""`lakebed workspace`: isolated changes, committed as one.

`transfer` has the verbs that move bytes; `workspaces.rules` what a bucket's owner wants to know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from lakebed import Change, Commit, InvalidRequestError, Location
from lakebed.cli import output
from lakebed.cli.app import App, Duration, Noun, confirm, metadata_option, pass_app, yes_option
from lakebed.cli.targets import BRANCH, REPOSITORY, Target, same_repository
from lakebed.cli.versions.diff import change_line
from lakebed.cli.workspaces import selections
from lakebed.cli.workspaces.rules import rules

if TYPE_CHECKING:
    from lakebed import Lake, Workspace
    from lakebed.model import WorkspaceInfo

WORKSPACE = Target("REPO/WORKSPACE")
STATES = ("open", "committed", "reverted", "popped", "expired", "all")


def policy_option(command: Any) -> Any:
    """`--on-conflict`."""
    return click.option(
        "--on-conflict",
        type=click.Choice(["rebase", "abort", "overwrite"]),
        default="rebase",
        show_default=True,
        help="When the branch has moved: commit unless the same paths changed, refuse, or let the workspace win.",
    )(command)


_expires = click.option(
    "--expires-in", type=Duration(), metavar="TIME", help="Close it after this time: 90m, 12h, 7d [7d]."
)


@click.group(cls=Noun)
def workspace() -> None:
    """Prepare changes in isolation, and commit them as one commit."""


@workspace.command()
@click.argument("target", type=BRANCH, metavar="REPO/BRANCH")
@click.option("-m", "--message", default="", help="Default message of its commit.")
@click.option("--base", metavar="REF", help="The ref that it starts from [the head of the branch].")
@click.option(
    "--claim", "claims", multiple=True, metavar="PREFIX", help="Treat any concurrent change below PREFIX as a conflict."
)
@_expires
@pass_app
def create(
    app: App, target: Location, message: str, base: str | None, claims: Sequence[str], expires_in: int | None
) -> None:
    """Create a workspace on a branch. Its name, BRANCH+ID, is a ref and accepts writes like a branch.

    \b
    Example: lakebed workspace create sales/main -m "load the orders"
    """
    with app.lake() as lake:
        branch = lake.repository(target.repository).branch(target.ref)
        start = same_repository(target, base) if base else None
        made = branch.workspace(message, expires_in=expires_in, claims=claims, ref=start)
        info = made.create().info()
    line = f"Workspace {target.repository}/{info.name} is open; other tools may write to {_place(info)}"
    output.say(app, output.shown(line), _record(info))


@workspace.command("list")
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@click.option(
    "--state", type=click.Choice(STATES), default="open", show_default=True, help="Only workspaces in this state."
)
@click.option("--branch", default="", metavar="BRANCH", help="Only workspaces of this branch.")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N.")
@pass_app
def list_(app: App, repository: Location, state: str, branch: str, limit: int | None) -> None:
    """List workspaces. Closed workspaces are listed for a week.

    \b
    Example: lakebed workspace list sales --state all
    """
    with app.lake() as lake:
        found = lake.repository(repository.repository).workspaces(state, branch, limit)
        output.rows(app, found, _line, _record)


@workspace.command()
@click.argument("target", type=WORKSPACE, metavar="REPO/WORKSPACE")
@pass_app
def show(app: App, target: Location) -> None:
    """Show a workspace, open or closed.

    \b
    Example: lakebed workspace show sales/main+0a1b2c3d4e5f60718293a4b5c6d7e8f9
    """
    with app.lake() as lake:
        info = _find(lake, target).info()
    text = output.table(
        [
            ("workspace", info.name),
            ("state", info.state),
            ("base", info.base_commit_id),
            ("commit", info.commit_id or ""),
            ("message", output.shown(info.message)),
            ("creator", output.shown(info.creator)),
            ("created", output.when(info.created)),
            ("expires", output.when(info.expires) if info.is_open else ""),
            ("claims", output.shown(" ".join(info.claims))),
            ("prefix", output.shown(info.storage_prefix)),
            ("directory", output.shown(info.local_path)),
            ("data paths", ", ".join(info.data_paths)),
        ]
    )
    output.show(app, text, _record(info))


@workspace.command()
@click.argument("target", type=WORKSPACE, metavar="REPO/WORKSPACE")
@click.option("--prefix", default="", help="Only paths that begin with this.")
@click.option("--scan", is_flag=True, help="First register objects that other tools wrote below its prefix.")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N.")
@pass_app
def status(app: App, target: Location, prefix: str, scan: bool, limit: int | None) -> None:
    """Show the changes of a workspace, compared with its base commit.

    \b
    Example: lakebed workspace status sales/main+0a1b2c3d4e5f60718293a4b5c6d7e8f9
    """
    counts: Counter[str] = Counter()

    def line(change: Change) -> str:
        counts[change.type] += 1
        return change_line(change)

    with app.lake() as lake:
        handle = _find(lake, target)
        if scan:
            for one in handle.scan().refusals:
                output.note(app, f"not included: {output.shown(one.path)} is {one.reason}")
        output.rows(app, handle.changes(prefix, limit=limit), line)
    if not app.as_json:
        parts = [f"{count:,} {kind}" for kind, count in sorted(counts.items())]
        output.note(app, ", ".join(parts) or "no changes")
        if chosen := selections.of(handle.workspace_id):
            output.note(app, f"chosen for the next commit: {output.shown(' '.join(chosen))}")


@workspace.command()
@click.argument("target", type=WORKSPACE, metavar="REPO/WORKSPACE")
@click.argument("globs", nargs=-1, metavar="[GLOB]...")
@click.option("--clear", is_flag=True, help="Discard the earlier choice.")
@pass_app
def add(app: App, target: Location, globs: tuple[str, ...], clear: bool) -> None:
    """Choose the changes of the next commit, by globs as in a .gitignore file. The choice is stored on this machine.

    `lakebed workspace commit` commits the chosen changes and leaves the rest. Without a choice it commits everything.

    \b
    Example: lakebed workspace add sales/main+0a1b2c3d4e5f60718293a4b5c6d7e8f9 '**/*.parquet'
    """
    if not globs and not clear:
        raise click.UsageError("Name at least one GLOB, or --clear.")
    with app.lake() as lake:
        handle = _find(lake, target)
        if not handle.info().is_open:
            raise InvalidRequestError(f"workspace {handle.id} is closed: there is nothing to choose from")
    chosen = [*([] if clear else selections.of(handle.workspace_id)), *globs]
    selections.remember(handle.workspace_id, chosen)
    said = (
        f"Chosen for the next commit: {' '.join(chosen)}"
        if chosen
        else "Nothing is chosen: a commit includes everything."
    )
    output.say(app, output.shown(said), {"chosen": chosen})


@workspace.command()
@click.argument("target", type=WORKSPACE, metavar="REPO/WORKSPACE")
@click.argument("globs", nargs=-1, metavar="[GLOB]...")
@click.option("-m", "--message", default="", help="Message of the commit [that of the workspace].")
@metadata_option("commit")
@policy_option
@click.option("--replace", "replaced", multiple=True, metavar="PREFIX", help="Delete the other objects below PREFIX.")
@click.option("--scan", is_flag=True, help="First register objects that other tools wrote below its prefix.")
@click.option("--allow-empty", is_flag=True, help="Commit even if nothing has changed.")
@click.option("--idempotency-key", metavar="TEXT", help="A second commit with the same key changes nothing.")
@pass_app
def commit(
    app: App,
    target: Location,
    globs: tuple[str, ...],
    message: str,
    metadata: dict[str, str],
    on_conflict: Any,
    replaced: tuple[str, ...],
    scan: bool,
    allow_empty: bool,
    idempotency_key: str | None,
) -> None:
    """Commit a workspace to its branch as one commit, or the part of it that GLOBs or `add` chose.

    A complete commit closes the workspace; after a part it stays open. Paths that the branch has changed since are
    conflicts. The command lists them, changes nothing, and exits with 4.

    \b
    Example: lakebed workspace commit sales/main+0a1b2c3d4e5f60718293a4b5c6d7e8f9 -m "load the orders"
    """
    with app.lake() as lake:
        handle = _find(lake, target)
        message = message or handle.options.message
        if not message:
            raise click.UsageError("The workspace was created without a message: pass one with -m.")
        chosen = list(globs) or selections.of(handle.workspace_id)
        if chosen and (replaced or allow_empty):
            raise click.UsageError("--replace and --allow-empty are for the whole workspace: leave GLOBs out.")
        common: dict[str, Any] = {
            "metadata": metadata,
            "on_conflict": on_conflict,
            "scan": scan,
            "idempotency_key": idempotency_key,
        }
        if chosen:
            made = handle.add(*chosen).commit(message, **common)
        else:
            made = handle.commit(message, replace_prefix=replaced, allow_empty=allow_empty, **common)
    selections.remember(handle.workspace_id, [])
    say_commit(app, handle.branch, made)


@workspace.command()
@click.argument("target", type=WORKSPACE, metavar="REPO/WORKSPACE")
@click.argument("globs", nargs=-1, metavar="[GLOB]...")
@yes_option
@pass_app
def revert(app: App, target: Location, globs: tuple[str, ...], yes: bool) -> None:
    """Undo all changes of a workspace, or the changes that GLOBs choose. It stays open.

    \b
    Example: lakebed workspace revert sales/main+0a1b2c3d4e5f60718293a4b5c6d7e8f9 'tmp/**' --yes
    """
    what = f"changes of {target} at {' '.join(globs)}" if globs else f"all changes of {target}"
    confirm(f"Undo {output.shown(what)}?", yes=yes)
    with app.lake() as lake:
        _find(lake, target).revert(*globs)
    output.say(app, f"Undid {output.shown(what)}.", {"reverted": str(target), "globs": list(globs)})


@workspace.command()
@click.argument("target", type=BRANCH, metavar="REPO/BRANCH")
@click.option("-m", "--message", default="", help="Default message of its commit.")
@_expires
@pass_app
def stash(app: App, target: Location, message: str, expires_in: int | None) -> None:
    """Move all uncommitted changes of a branch into a new workspace. The branch then shows its last commit.

    \b
    Example: lakebed workspace stash sales/main
    """
    with app.lake() as lake:
        info = lake.repository(target.repository).branch(target.ref).stash(message, expires_in).info()
    name = f"{target.repository}/{info.name}"
    line = f"The changes of {target.ref} are in workspace {name}; `lakebed workspace pop {name}` brings them back."
    output.say(app, line, _record(info))


@workspace.command()
@click.argument("target", type=WORKSPACE, metavar="REPO/WORKSPACE")
@click.option("--onto", metavar="BRANCH", help="Use this branch instead of its own.")
@pass_app
def pop(app: App, target: Location, onto: str | None) -> None:
    """Move the changes of a workspace to its branch as uncommitted changes, and close the workspace.

    \b
    Example: lakebed workspace pop sales/main+0a1b2c3d4e5f60718293a4b5c6d7e8f9
    """
    with app.lake() as lake:
        handle = _find(lake, target)
        branch = same_repository(target, onto) if onto else handle.branch
        handle.pop(branch)
    output.say(app, f"The changes are uncommitted on {branch}.", {"popped": str(target), "branch": branch})


@workspace.command()
@click.argument("target", type=WORKSPACE, metavar="REPO/WORKSPACE")
@click.option(
    "--expires-in",
    type=Duration(),
    metavar="TIME",
    default="7d",
    show_default=True,
    help="Time from now: 90m, 12h, 7d.",
)
@pass_app
def renew(app: App, target: Location, expires_in: int) -> None:
    """Extend the life of a workspace, counted from now.

    \b
    Example: lakebed workspace renew sales/main+0a1b2c3d4e5f60718293a4b5c6d7e8f9 --expires-in 30d
    """
    with app.lake() as lake:
        info = _find(lake, target).renew(expires_in)
    output.say(app, f"{info.name} is open until {output.when(info.expires)}.", _record(info))


@workspace.command()
@click.argument("target", type=WORKSPACE, metavar="REPO/WORKSPACE")
@yes_option
@pass_app
def drop(app: App, target: Location, yes: bool) -> None:
    """Close a workspace without a commit. Its changes are lost.

    \b
    Example: lakebed workspace drop sales/main+0a1b2c3d4e5f60718293a4b5c6d7e8f9 --yes
    """
    confirm(f"Drop {target} with its changes?", yes=yes)
    with app.lake() as lake:
        handle = _find(lake, target)
        handle.drop()
    selections.remember(handle.workspace_id, [])
    output.say(app, f"{handle.id} is closed; its changes are gone.", {"dropped": handle.id})


workspace.add_command(rules)


def _find(lake: Lake, target: Location) -> Workspace:
    return lake.repository(target.repository).workspace(target.ref)


def say_commit(app: App, branch: str, made: Commit, **more: Any) -> None:
    """Confirm a commit."""
    title = output.shown(made.message.split("\n", 1)[0])
    output.say(app, f"[{branch} {made.short_id}] {title}", {**output.record(made), **more})


def _place(info: WorkspaceInfo) -> str:
    return info.local_path or info.storage_prefix


def _line(info: WorkspaceInfo) -> str:
    ends = f"until {output.when(info.expires)}" if info.is_open else f"{'':>{len('until ')}}{info.commit_id or ''}"
    return output.shown(f"{info.state:<9}  {info.name}  {ends}  {info.message.split(chr(10), 1)[0]}".rstrip())


def _record(info: WorkspaceInfo) -> dict[str, Any]:
    more = {"local_path": info.local_path, "data_paths": list(info.data_paths), "claims": list(info.claims)}
    return {**output.record(info), **{key: value for key, value in more.items() if value}}


def whole(target: Location, name: str) -> str:
    """A workspace as it is written on a command line."""
    return str(replace(target, ref=name, path=""))
