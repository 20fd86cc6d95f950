"""`lakebed spark ...`: the pipelines as verbs. Registered through the entry point group `lakebed.cli`.

Without `--local` the session is that of `spark-submit`, or a session that this command creates: `spark-submit $(lakebed
spark path)
ingest ...`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs
import click
from lakebed.cli import output
from lakebed.cli.app import App, Noun, metadata_option, pass_app
from lakebed.cli.targets import BRANCH_OR_OBJECT, FOLDER

if TYPE_CHECKING:
    from lakebed import Location
    from pyspark.sql import SparkSession


def _where(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say where the tasks run."""
    for option in (
        click.option("--local", is_flag=True, help="Run without Spark, in threads of this process."),
        click.option(
            "--master",
            metavar="URL",
            help="Master of the Spark session, or sc://HOST [that of spark-submit, or local[*]].",
        ),
    ):
        command = option(command)
    return command


_memory = click.option(
    "--memory-bytes", type=click.IntRange(1), metavar="BYTES", help="Memory of the driver for the comparison [64 MiB]."
)


@contextmanager
def _session(local: bool, master: str | None) -> Iterator[SparkSession | None]:
    if local:
        yield None
        return
    from lakebed_spark._session import check_pyspark

    check_pyspark()
    from pyspark.sql import SparkSession

    mine = SparkSession.getActiveSession() is None
    builder = SparkSession.builder.appName("lakebed")
    if master:
        builder = builder.remote(master) if master.startswith("sc://") else builder.master(master)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        if mine:
            session.stop()


def _uri(place: Location) -> str:
    return f"lakebed://{place.repository}/{place.ref}/{place.path}"


def _value(row: Any) -> Any:
    """A result as JSON values."""
    found = attrs.asdict(row, recurse=False)
    for name, value in found.items():
        if isinstance(value, tuple):
            found[name] = [_value(one) if attrs.has(type(one)) else one for one in value]
        elif hasattr(value, "COLUMNS"):
            found[name] = output.record(value)
    return found


def _table(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    """Columns, numbers to the right."""
    texts = [header, *(tuple(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row) for row in rows)]
    widths = [max(len(row[at]) for row in texts) for at in range(len(header))]
    lines = []
    for row in texts:
        first = output.shown(row[0]).ljust(widths[0])
        lines.append("  ".join([first, *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]))
    return "\n".join(line.rstrip() for line in lines)


@click.group(cls=Noun)
def spark() -> None:
    """Ingest, dedupe, profile, compact and export with many tasks: on Spark, or here with --local."""


@spark.command()
@click.argument("source", metavar="SOURCE_URI")
@click.argument("target", type=BRANCH_OR_OBJECT, metavar="REPO/BRANCH[/FOLDER]")
@click.option("-m", "--message", help="Message of the commit [Ingest URI].")
@metadata_option("commit")
@click.option("--include", multiple=True, metavar="GLOB", help="Only matching paths; may be repeated.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="No matching paths; may be repeated.")
@click.option(
    "--settle", type=click.IntRange(0), default=0, metavar="SECONDS", help="Skip objects that are younger than this."
)
@click.option("--no-delete", is_flag=True, help="Keep paths that the source does not have.")
@click.option("--allow-empty-source", is_flag=True, help="Remove everything if the source is empty.")
@click.option("--dry-run", is_flag=True, help="Count only; change nothing.")
@_where
@pass_app
def ingest(
    app: App,
    source: str,
    target: Location,
    message: str | None,
    metadata: dict[str, str],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    settle: int,
    no_delete: bool,
    allow_empty_source: bool,
    dry_run: bool,
    local: bool,
    master: str | None,
) -> None:
    """Make FOLDER show the objects of a bucket or directory. Spark tasks list it with their own credentials.

    \b
    Example: lakebed spark ingest s3://events/kafka/ sales/main/events --master 'local[4]'
    """
    from lakebed_spark import pipelines

    with app.lake() as lake, _session(local, master) as session:
        report = pipelines.ingest(
            _uri(target),
            source,
            spark=session,
            message=message,
            metadata=metadata,
            include=include,
            exclude=exclude,
            settle=settle,
            removals=not no_delete,
            allow_empty_source=allow_empty_source,
            dry_run=dry_run,
            lake=lake,
        )
    counts = ", ".join(f"{getattr(report, name):,} {name}" for name in ("added", "changed", "removed", "unchanged"))
    done = "Would commit" if dry_run else "Nothing to commit"
    line = f"{done}: {counts}" if report.commit is None else f"[{target.ref} {report.commit.short_id}] {counts}"
    value = {**output.record(report), "commit": None if report.commit is None else output.record(report.commit)}
    output.say(app, line, value)


@spark.command()
@click.argument("target", type=BRANCH_OR_OBJECT, metavar="REPO/BRANCH[/FOLDER]")
@click.option("--apply", "really", is_flag=True, help="Make the paths share one address, in one commit [report only].")
@click.option("--verify", type=click.Choice(["none", "weak", "all"]), default="none", show_default=True,
              help="Objects to read and compare: none, those without MD5, or all.")  # fmt: skip
@click.option("-m", "--message", help="Message of the commit.")
@_memory
@_where
@pass_app
def dedupe(
    app: App,
    target: Location,
    really: bool,
    verify: Literal["none", "weak", "all"],
    message: str | None,
    memory_bytes: int | None,
    local: bool,
    master: str | None,
) -> None:
    """Report content that is stored several times; with --apply, store it once.

    \b
    Example: lakebed spark dedupe sales/main --local
             lakebed spark dedupe sales/main --verify weak --apply
    """
    from lakebed_spark import pipelines

    with app.lake() as lake, _session(local, master) as session:
        report = pipelines.dedupe(
            _uri(target),
            spark=session,
            verify=verify,
            dry_run=not really,
            message=message,
            memory_bytes=memory_bytes,
            lake=lake,
        )
    lines = [
        f"{report.copies:,} duplicates of {report.groups:,} contents: {output.size_text(report.bytes)}, of which "
        f"{output.size_text(report.freeable_bytes)} are in the repository's own namespace"
        if report.copies
        else "No duplicates found."
    ]
    if report.unverified:
        lines.append(f"{report.unverified:,} paths have no MD5 and were not compared: --verify weak reads them")
    if report.commit is not None:
        lines.append(
            f"[{target.ref} {report.commit.short_id}] {report.shared:,} paths share data now, {report.left:,} left"
        )
    elif report.copies:
        lines.append("Nothing was changed: --apply makes them share an address.")
    output.show(app, "\n".join(lines), _value(report))


@spark.command()
@click.argument("target", type=FOLDER, metavar="REPO/REF[/FOLDER]")
@click.option(
    "--depth", type=click.IntRange(0), metavar="N", default=1, show_default=True, help="Levels of folders to show."
)
@click.option("--small", type=click.IntRange(0), metavar="BYTES", help="Files below this size are small [16 MiB].")
@click.option("--since", metavar="REF", help="Show the growth since this ref.")
@click.option("--commits", type=click.IntRange(1), metavar="N", help="Show the growth over the last N commits.")
@_where
@pass_app
def profile(
    app: App,
    target: Location,
    depth: int,
    small: int | None,
    since: str | None,
    commits: int | None,
    local: bool,
    master: str | None,
) -> None:
    """Show the size of each folder, the share of small files, and the growth.

    \b
    Example: lakebed spark profile sales/main --commits 10 --local
    """
    from lakebed_spark import pipelines

    with app.lake() as lake, _session(local, master) as session:
        found = pipelines.profile(
            _uri(target), spark=session, depth=depth, small=small, since=since, commits=commits, lake=lake
        )
    header: tuple[str, ...] = ("FOLDER", "FILES", "BYTES", "SMALL FILES", "SMALL BYTES")
    rows: list[tuple[Any, ...]] = [
        (one.prefix or "/", one.files, one.bytes, one.small_files, one.small_bytes) for one in found.folders
    ]
    if found.since is not None:
        header += ("GROWTH FILES", "GROWTH BYTES")
        rows = [(*row, one.growth_files, one.growth_bytes) for row, one in zip(rows, found.folders, strict=True)]
    rows.sort(key=lambda row: (-row[2], row[0]))
    endings = [(one.ending or "(none)", one.files, one.bytes) for one in found.endings]
    text = _table(header, rows) + "\n\n" + _table(("ENDING", "FILES", "BYTES"), endings)
    output.show(app, text, _value(found))


@spark.command()
@click.argument("target", type=BRANCH_OR_OBJECT, metavar="REPO/BRANCH[/FOLDER]")
@click.option("--apply", "really", is_flag=True, help="Combine them, in one commit [report only].")
@click.option("--target-bytes", type=click.IntRange(1), metavar="BYTES", help="Size of a combined file [128 MiB].")
@click.option(
    "--small-bytes",
    type=click.IntRange(1),
    metavar="BYTES",
    help="Files below this size are small [half of --target-bytes].",
)
@click.option("-m", "--message", help="Message of the commit.")
@_memory
@_where
@pass_app
def compact(
    app: App,
    target: Location,
    really: bool,
    target_bytes: int | None,
    small_bytes: int | None,
    message: str | None,
    memory_bytes: int | None,
    local: bool,
    master: str | None,
) -> None:
    """Report small Parquet files that can be combined; with --apply, combine them.

    \b
    Example: lakebed spark compact sales/main/orders --apply --local
    """
    from lakebed_spark import pipelines

    with app.lake() as lake, _session(local, master) as session:
        report = pipelines.compact(
            _uri(target),
            spark=session,
            target_bytes=target_bytes,
            small_bytes=small_bytes,
            dry_run=not really,
            message=message,
            memory_bytes=memory_bytes,
            lake=lake,
        )
    what = f"{report.files:,} files of {output.size_text(report.bytes)} become {report.files_after:,}"
    if report.commit is not None:
        text = f"[{target.ref} {report.commit.short_id}] {what}, {report.rows:,} rows"
    else:
        text = f"{what}. Nothing was changed: --apply combines the files." if report.files else "Nothing to combine."
    output.show(app, text, _value(report))


@spark.command()
@click.argument("target", type=FOLDER, metavar="REPO/REF[/FOLDER]")
@click.argument("to", metavar="DIRECTORY_OR_URI")
@click.option("--since", metavar="REF", help="Only objects that were added or changed since this ref.")
@click.option("--mirror", is_flag=True, help="Delete files there that the ref does not have.")
@_where
@pass_app
def export(
    app: App, target: Location, to: str, since: str | None, mirror: bool, local: bool, master: str | None
) -> None:
    """Copy a ref to a plain directory or bucket. The manifest is written last.

    \b
    Example: lakebed spark export sales/v1.0/orders s3://handover/orders/ --local
    """
    from lakebed_spark import pipelines

    with app.lake() as lake, _session(local, master) as session:
        report = pipelines.export(_uri(target), to, spark=session, since=since, mirror=mirror, lake=lake)
    removed = f", {report.removed:,} removed" if mirror else ""
    line = (
        f"{report.files:,} files, {output.size_text(report.bytes)}: {report.copied:,} copied, {report.skipped:,} "
        f"already there{removed}\n{report.manifest}"
    )
    output.say(app, line, _value(report))


@spark.command()
@pass_app
def path(app: App) -> None:
    """Print the file that `spark-submit` runs: spark-submit $(lakebed spark path) ingest ..."""
    file = str(Path(__file__).with_name("submit.py"))
    output.show(app, file, {"path": file})


commands: list[click.Command] = [spark]
