"""`lakebed task` and `lakebed import`: work that a server does in its own time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from lakebed.cli import output
from lakebed.cli.app import App, Noun, metadata_option, pass_app
from lakebed.cli.targets import BRANCH, REPOSITORY

if TYPE_CHECKING:
    from lakebed import Dump, Location, Restore, Task, TaskStatus


@click.group(cls=Noun)
def task() -> None:
    """Follow commits and merges that were started with --no-wait."""


@task.command()
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@click.argument("found_id", metavar="ID")
@pass_app
def show(app: App, repository: Location, found_id: str) -> None:
    """Show the progress of a task.

    \b
    Example: lakebed task show sales 67a1…
    """
    with app.lake() as lake:
        status(app, lake.repository(repository.repository).task(found_id))


@task.command()
@click.argument("repository", type=REPOSITORY, metavar="REPO")
@click.argument("found_id", metavar="ID")
@pass_app
def wait(app: App, repository: Location, found_id: str) -> None:
    """Wait until a task ends. The exit code is that of the command without --no-wait.

    \b
    Example: lakebed task wait sales 67a1…
    """
    with app.lake() as lake:
        made = lake.repository(repository.repository).task(found_id).wait()
    output.say(app, f"Done: {made.id}", output.record(made))


def begun(app: App, started: Task | Dump | Restore, what: str, how: str) -> None:
    """Print the id of the started task, and how to wait for it."""
    output.say(app, f"The {what} has started: {started.id}\n`{how} {started.id}` waits for it.", {"id": started.id})


def status(app: App, handle: Task) -> None:
    """Print the progress of a task."""
    state = handle.status()
    failed = None if state.error is None else {"kind": state.error.kind, "message": state.error.message}
    text = output.table(
        [
            ("id", state.id),
            ("what", state.operation),
            ("state", "failed" if failed else "done" if state.completed else "at work"),
            ("since", output.when(state.updated)),
            ("objects", "" if state.objects is None else f"{state.objects:,}"),
            ("commit", "" if state.commit is None else state.commit.id),
            ("why", output.shown(failed["message"]) if failed else ""),
        ]
    )
    value = output.record(state) | ({} if state.commit is None else {"commit": output.record(state.commit)})
    output.show(app, text, value | ({"error": failed} if failed else {}))


@click.group("import", cls=Noun)
def import_() -> None:
    """Add objects from other stores to a branch once, without copying them."""


_branch = click.argument("target", type=BRANCH, metavar="REPO/BRANCH")
_id = click.argument("found_id", metavar="ID")


@import_.command()
@_branch
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE=PATH...")
@click.option("-m", "--message", required=True, help="Message of the commit.")
@metadata_option("commit")
@click.option("--no-wait", is_flag=True, help="Start the task, print its id, and exit without waiting.")
@pass_app
def start(
    app: App, target: Location, sources: tuple[str, ...], message: str, metadata: dict[str, str], no_wait: bool
) -> None:
    """Import folders (a source that ends in a slash) and objects, as one commit.

    A folder replaces what the branch has below its path. For sources that change often, use `lakebed ingest`.

    \b
    Example: lakebed import start sales/main s3://bucket/2025/=orders/2025/ -m "import 2025"
    """
    wanted = dict(_source(text) for text in sources)
    with app.lake() as lake:
        handle = lake.repository(target.repository).branch(target.ref).start_import(wanted, message, metadata=metadata)
        if no_wait:
            begun(app, handle, "import", f"lakebed import wait {target}")
            return
        made = handle.wait(_progress(app))
    output.say(app, f"Imported: {made.id}", {"id": handle.id, "commit": output.record(made)})


@import_.command("wait")
@_branch
@_id
@pass_app
def wait_import(app: App, target: Location, found_id: str) -> None:
    """Wait until an import ends.

    \b
    Example: lakebed import wait sales/main 67a1…
    """
    with app.lake() as lake:
        handle = lake.repository(target.repository).branch(target.ref).import_task(found_id)
        made = handle.wait(_progress(app))
    output.say(app, f"Imported: {made.id}", {"id": found_id, "commit": output.record(made)})


@import_.command("show")
@_branch
@_id
@pass_app
def show_import(app: App, target: Location, found_id: str) -> None:
    """Show the progress of an import.

    \b
    Example: lakebed import show sales/main 67a1…
    """
    with app.lake() as lake:
        status(app, lake.repository(target.repository).branch(target.ref).import_task(found_id))


@import_.command()
@_branch
@_id
@pass_app
def cancel(app: App, target: Location, found_id: str) -> None:
    """Cancel an import: it commits nothing.

    \b
    Example: lakebed import cancel sales/main 67a1…
    """
    with app.lake() as lake:
        lake.repository(target.repository).branch(target.ref).import_task(found_id).cancel()
    output.say(app, f"Import {output.shown(found_id)} is cancelled.", {"cancelled": found_id})


def _source(text: str) -> tuple[str, str]:
    source, equals, path = text.partition("=")
    if not source or not equals:
        raise click.BadParameter(f"{text!r} is not SOURCE=PATH", param_hint="SOURCE=PATH")
    return source, path


def _progress(app: App) -> Callable[[TaskStatus], None] | None:
    """A line that is overwritten, when standard error is a terminal."""
    if not app.shows_progress:
        return None

    def show(state: TaskStatus) -> None:
        end = "\n" if state.completed else ""
        sys.stderr.write(f"\r{state.objects or 0:,} objects{end}")
        sys.stderr.flush()

    return show
