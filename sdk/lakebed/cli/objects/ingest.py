"""`lakebed ingest`: objects that other tools wrote elsewhere, without a copy."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Literal

import click

from lakebed import (
    ConcurrentCommitError,
    DirtyBranchError,
    IngestReport,
    Location,
    OutcomeUnknownError,
    ServerUnavailableError,
    ThrottledError,
)
from lakebed.cli import output
from lakebed.cli.app import App, Noun, metadata_option, pass_app
from lakebed.cli.exits import explain
from lakebed.cli.targets import BRANCH_OR_OBJECT, FOLDER
from lakebed.cli.versions.diff import change_line

_PASSING = (ConcurrentCommitError, DirtyBranchError, OutcomeUnknownError, ServerUnavailableError, ThrottledError)
"""What the next pass of `--watch` may not meet again."""

_SETTLE = 5
"""Seconds that an object must be old in `--watch`: what is younger may still be written."""


def _shared(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of both verbs that say which objects count."""
    for option in (
        click.option("--no-delete", is_flag=True, help="Keep paths that the source does not have."),
        click.option(
            "--settle",
            type=click.IntRange(0),
            metavar="SECONDS",
            help="Skip objects that are younger than this [0, or 5 with --watch].",
        ),
        click.option("--exclude", multiple=True, metavar="GLOB", help="No matching paths; may be repeated."),
        click.option("--include", multiple=True, metavar="GLOB", help="Only matching paths; may be repeated."),
    ):
        command = option(command)
    return command


_source = click.option("--from", "source", required=True, metavar="URI", help="Folder to read: s3://BUCKET/FOLDER/.")


@click.group(cls=Noun)
def ingest() -> None:
    """Commit what other tools changed in a bucket or folder, without copying the data."""


@ingest.command()
@_source
@click.option(
    "--to", "target", type=FOLDER, required=True, metavar="REPO/REF[/FOLDER]", help="The folder to compare with."
)
@_shared
@click.option("--allow-empty-source", is_flag=True, help="Show that everything is removed if the source is empty.")
@pass_app
def diff(
    app: App,
    source: str,
    target: Location,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    settle: int | None,
    no_delete: bool,
    allow_empty_source: bool,
) -> None:
    """Show what an ingest would add (+), change (~) and remove (-). Changes nothing.

    Globs are as in a .gitignore file. The command ignores excluded paths on both sides.

    \b
    Example: lakebed ingest diff --from s3://events/kafka/2026/ --to sales/main/events/2026
    """
    with app.lake() as lake, _counter(app) as progress, _shown_changes(app) as show:
        branch = lake.repository(target.repository).branch(target.ref)
        report = branch.ingest(
            source,
            target.path,
            include=include,
            exclude=exclude,
            settle=settle or 0,
            removals=not no_delete,
            dry_run=True,
            allow_empty_source=allow_empty_source,
            on_change=show,
            progress=progress,
        )
    output.note(app, _counts(report))


@contextmanager
def _shown_changes(app: App) -> Iterator[Callable[[Any], None]]:
    """Prints each change immediately: as a line, or as an element of a JSON array. An error also closes the array."""
    printed = 0

    def show(change: Any) -> None:
        nonlocal printed
        if app.as_json:
            sys.stdout.write(
                ("[\n" if not printed else ",\n") + "  " + output.dumps(output.record(change), indent=None)
            )
        else:
            sys.stdout.write(change_line(change) + "\n")
        printed += 1

    try:
        yield show
    finally:
        if app.as_json and printed:
            sys.stdout.write("\n]\n")
    if app.as_json and not printed:
        sys.stdout.write("[]\n")


@ingest.command()
@_source
@click.option(
    "--to",
    "target",
    type=BRANCH_OR_OBJECT,
    required=True,
    metavar="REPO/BRANCH[/FOLDER]",
    help="The folder where they appear.",
)
@click.option("-m", "--message", help="Message of the commit [Ingest URI].")
@metadata_option("commit")
@_shared
@click.option(
    "--on-conflict",
    type=click.Choice(["rebase", "abort", "overwrite"]),
    default="rebase",
    show_default=True,
    help="When others commit at the same time: commit unless they changed FOLDER; refuse; or win.",
)
@click.option("--allow-empty-source", is_flag=True, help="Remove everything if the source is empty.")
@click.option("--dry-run", is_flag=True, help="Count only; change nothing.")
@click.option("--watch", is_flag=True, help="Repeat until Ctrl-C.")
@click.option(
    "--interval",
    type=click.FloatRange(0.1),
    metavar="SECONDS",
    default=30.0,
    show_default=True,
    help="Pause between passes.",
)
@pass_app
def commit(
    app: App,
    source: str,
    target: Location,
    message: str | None,
    metadata: dict[str, str],
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    settle: int | None,
    no_delete: bool,
    on_conflict: Literal["rebase", "abort", "overwrite"],
    allow_empty_source: bool,
    dry_run: bool,
    watch: bool,
    interval: float,
) -> None:
    """Make FOLDER show the objects of the source, as one commit. Makes no commit if nothing has changed.

    With --watch, Ctrl-C finishes the current pass; press it again to stop immediately. The command reports conflicts
    and an unreachable server, and the next pass tries again.

    \b
    Example: lakebed ingest commit --from s3://events/kafka/2026/ --to sales/main/events/2026 -m "new events"
             lakebed ingest commit --from s3://events/kafka/ --to sales/main/events --watch --interval 60
    """
    if watch and dry_run:
        raise click.UsageError("--watch commits what it finds: leave out --dry-run.")

    def one_pass() -> IngestReport:
        with _counter(app) as progress:
            return branch.ingest(
                source,
                target.path,
                message,
                include=include,
                exclude=exclude,
                settle=settle if settle is not None else _SETTLE if watch else 0,
                removals=not no_delete,
                on_conflict=on_conflict,
                metadata=metadata,
                dry_run=dry_run,
                allow_empty_source=allow_empty_source,
                progress=progress,
            )

    with app.lake() as lake:
        branch = lake.repository(target.repository).branch(target.ref)
        if not watch:
            report = one_pass()
            output.say(app, _sentence(report, target, dry_run), _record(report))
            return
        _watch(app, one_pass, target, interval)


def _watch(app: App, one_pass: Callable[[], IngestReport], target: Location, interval: float) -> None:
    """Pass after pass until Ctrl-C: a line for each that committed something."""
    with _interrupts() as stop:
        while True:
            try:
                report = one_pass()
            except _PASSING as error:
                failure = explain(error)
                sys.stderr.write(f"lakebed: {output.shown(failure.message)}; the next pass tries again\n")
            else:
                if report.commit is not None:
                    _tell(app, report, target)
            end = time.monotonic() + interval
            while not stop and time.monotonic() < end:
                time.sleep(min(0.1, interval))
            if stop:
                output.note(app, "stopped")
                return


def _tell(app: App, report: IngestReport, target: Location) -> None:
    if app.as_json:
        sys.stdout.write(output.dumps(_record(report), indent=None) + "\n")
    elif not app.quiet:
        sys.stdout.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {_sentence(report, target, False)}\n")
    sys.stdout.flush()


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Not empty after the first Ctrl-C, or a SIGTERM; the second one interrupts."""
    stop: list[int] = []

    def note(number: int, _: object) -> None:
        if stop:
            raise KeyboardInterrupt
        stop.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _counter(app: App) -> Iterator[Callable[[IngestReport], None]]:
    """Counts on one line of standard error, when that is a terminal."""
    shown = 0

    def show(report: IngestReport) -> None:
        nonlocal shown
        if app.shows_progress:
            text = f"{report.listed:,} listed, {_counts(report)}"
            sys.stderr.write("\r" + text.ljust(shown))
            sys.stderr.flush()
            shown = len(text)

    try:
        yield show
    finally:
        if shown:
            sys.stderr.write("\r" + " " * shown + "\r")


def _counts(report: IngestReport) -> str:
    parts = [f"{getattr(report, name):,} {name}" for name in ("added", "changed", "removed", "unchanged")]
    parts += [f"{getattr(report, name):,} {name}" for name in ("waiting", "ignored") if getattr(report, name)]
    return ", ".join(parts)


def _sentence(report: IngestReport, target: Location, dry_run: bool) -> str:
    if report.commit is not None:
        return f"[{target.ref} {report.commit.short_id}] {_counts(report)}"
    return f"{'Would commit' if dry_run else 'Nothing to commit'}: {_counts(report)}"


def _record(report: IngestReport) -> dict[str, Any]:
    return {**output.record(report), "commit": None if report.commit is None else output.record(report.commit)}
