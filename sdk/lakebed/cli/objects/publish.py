"""`lakebed fs publish`: files into one commit, in one request."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from lakebed import Location
from lakebed._bulk.progress_bar import Meter
from lakebed.cli import output
from lakebed.cli.app import App, Verb, metadata_option, pass_app
from lakebed.cli.targets import BRANCH_OR_OBJECT, check_source


@click.command(cls=Verb)
@click.argument("sources", metavar="[FILE]...", nargs=-1)
@click.argument("target", type=BRANCH_OR_OBJECT, metavar="REPO/BRANCH[/PATH]")
@click.option("-m", "--message", required=True, help="Message of the commit; its first line is the title.")
@click.option("--delete", multiple=True, metavar="PATH", help="Delete this object in the same commit; may be repeated.")
@metadata_option("commit")
@click.option("--date", type=click.DateTime(), help="Date of the commit, local time [now].")
@click.option("--allow-empty", is_flag=True, help="Commit even if nothing changes.")
@pass_app
def publish(
    app: App,
    sources: tuple[str, ...],
    target: Location,
    message: str,
    delete: tuple[str, ...],
    metadata: dict[str, str],
    date: datetime | None,
    allow_empty: bool,
) -> None:
    """Upload files as one commit, in one request. Uncommitted changes of the branch stay uncommitted.

    A PATH that ends in `/` is a folder, and so is the PATH of several files. The files keep their names in it. For
    directories and large files, use `lakebed upload`.

    \b
    Example: lakebed fs publish orders.csv customers.csv sales/main/raw/ -m "the first of May"
             lakebed fs publish new.csv sales/main/new.csv --delete old.csv -m "rename"
    """
    items = _placed(sources, target.path)
    with app.lake() as lake, Meter("publishing", enabled=app.shows_progress) as meter:
        meter.expect(sum(local.stat().st_size for local in items.values()))
        meter.no_more()
        branch = lake.repository(target.repository).branch(target.ref)
        made = branch.publish(
            items,
            message,
            delete=delete,
            metadata=metadata,
            date=date,
            allow_empty=allow_empty,
            progress=meter.moved,
        )
    title = output.shown(made.message.split("\n", 1)[0])
    count = output.count_text(len(items), "object")
    output.say(app, f"[{target.ref} {made.short_id}] {title}\n{count} published.", output.record(made))


def _placed(sources: tuple[str, ...], path: str) -> dict[str, Path]:
    """The local files by the paths that they get."""
    if len(sources) == 1 and path and not path.endswith("/"):
        check_source(Path(sources[0]), recursive=False)
        return {path: Path(sources[0])}
    folder = path if not path or path.endswith("/") else path + "/"
    placed: dict[str, Path] = {}
    for source in sources:
        local = Path(source)
        if local.is_dir():
            raise click.UsageError(f"{output.shown(source)} is a directory: use lakebed upload.")
        check_source(local, recursive=False)
        if folder + local.name in placed:
            raise click.UsageError(f"Two files are named {output.shown(local.name)}: they would get the same path.")
        placed[folder + local.name] = local
    return placed
