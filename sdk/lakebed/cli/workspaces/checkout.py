"""`lakebed local`: a branch checked out into a directory."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakebed import ConflictError, Location
from lakebed._bulk.local_tree import folder
from lakebed._bulk.progress_bar import Meter
from lakebed._bulk.working_directory import find_top
from lakebed.cli import output
from lakebed.cli.app import App, Noun, message_option, metadata_option, pass_app
from lakebed.cli.targets import BRANCH_OR_OBJECT
from lakebed.cli.versions.commits import commit_directory
from lakebed.cli.versions.diff import change_line

if TYPE_CHECKING:
    from lakebed._sync.checkout.verbs import LocalStatus

_directory = click.argument("directory", metavar="[DIR]", default=".")


@click.group(cls=Noun)
def local() -> None:
    """Work on a branch in a directory of this machine."""


@local.command()
@click.argument("source", type=BRANCH_OR_OBJECT, metavar="REPO/BRANCH[/FOLDER]")
@click.argument("directory", metavar="[DIR]", default="")
@pass_app
def clone(app: App, source: Location, directory: str) -> None:
    """Check out a branch or folder into a new directory [the name of the folder or REPO]. Resumes if it was
    interrupted.

    \b
    Example: lakebed local clone sales/main/orders ./orders
    """
    from lakebed._sync.checkout import verbs as working

    top = Path(directory or source.path.rstrip("/").rsplit("/", 1)[-1] or source.repository)
    with app.lake() as lake, Meter("checking out", enabled=app.shows_progress) as meter:
        done = working.clone(lake, source.repository, source.ref, folder(source.path), top, progress=meter.follow)
    _warn_skipped(app, done.skipped)
    line = f"{source} at {done.base[:12]} is in {top}: {output.count_text(done.fetched, 'file')}."
    output.say(app, output.shown(line), {"directory": str(top), **asdict(done)})


@local.command()
@_directory
@click.option("--offline", is_flag=True, help="Do not ask the server whether the branch has moved.")
@pass_app
def status(app: App, directory: str, offline: bool) -> None:
    """Show the changes in a directory since its checkout, and whether the branch has moved.

    \b
    Example: lakebed local status
    """
    show_status(app, find_top(Path(directory)), offline=offline)


def show_status(app: App, top: Path, *, offline: bool) -> None:
    """Print the changes in a directory, and where it is."""
    from lakebed._sync.checkout import verbs as working

    with app.lake() as lake:
        found = working.status(lake, top, ask=not offline)
    if app.as_json:
        output.show(app, "", _record(found))
        return
    output.rows(app, found.changes, change_line)
    moved = "" if not found.head or found.head == found.base else f"; the branch has moved to {found.head[:12]}"
    at = f"{found.detached} ({found.base[:12]}), which is not a branch" if found.detached else found.base[:12]
    output.note(app, f"{found.origin} at {at}{moved}{'; `lakebed local pull` gets it' if moved else ''}")
    counts = Counter(change.type for change in found.changes)
    output.note(app, ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items())) or "no changes")


@local.command()
@_directory
@message_option
@metadata_option("commit")
@pass_app
def commit(app: App, directory: str, message: str, metadata: dict[str, str]) -> None:
    """Commit the changes in a directory to its branch, as one commit.

    Also updates the directory with commits of other users. If both sides changed a file, the command changes nothing
    and exits with 4; `lakebed local pull` resolves them.

    \b
    Example: lakebed local commit -m "corrected prices"
    """
    commit_directory(app, find_top(Path(directory)), message, metadata)


@local.command()
@_directory
@click.option(
    "--conflicts",
    type=click.Choice(["stop", "mine", "theirs"]),
    default="stop",
    show_default=True,
    help="For files that both sides changed: stop, keep the local version, or overwrite it.",
)
@pass_app
def pull(app: App, directory: str, conflicts: Any) -> None:
    """Update a directory to the head of its branch. It never overwrites changed files unless you ask for it.

    \b
    Example: lakebed local pull
    """
    from lakebed._sync.checkout import verbs as working

    with app.lake() as lake, Meter("downloading", enabled=app.shows_progress) as meter:
        try:
            done = working.pull(lake, find_top(Path(directory)), conflicts=conflicts, progress=meter.follow)
        except ConflictError:
            output.advise(app, "--conflicts mine keeps the files as they are here, --conflicts theirs overwrites them.")
            raise
    _warn_skipped(app, done.skipped)
    kept = f", {len(done.kept):,} kept as they are here" if done.kept else ""
    line = f"At {done.base[:12]}: {output.count_text(done.fetched, 'file')} fetched, {done.removed:,} removed{kept}."
    output.say(app, line, asdict(done))


def _record(found: LocalStatus) -> dict[str, Any]:
    return {
        "origin": str(found.origin),
        "base": found.base,
        "head": found.head,
        "detached": found.detached,
        "changes": [output.record(change) for change in found.changes],
    }


def _warn_skipped(app: App, paths: list[str]) -> None:
    if paths:
        output.note(
            app,
            f"{output.count_text(len(paths), 'object')} cannot be files on this machine and were skipped, the first "
            f"{output.shown(paths[0])!r}.",
        )
