"""The work of `lakebed fsck`, `sweep` and `rebuild`: runs the engine over the stores and writes the results.

It writes the findings of a check immediately, so they need no memory.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from typing import Any, TextIO

import msgspec
from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Repository
from lakebed_engine.vocabulary.reports import (
    Finding,
    FsckOptions,
    RebuildReport,
    SweepOptions,
    SweepPass,
)

from lakebed_server.cli import maintenance_reports as reports
from lakebed_server.process.wiring import open_engine
from lakebed_server.settings.schema import Settings

PATIENCE = 1.0
"""Seconds before progress is shown."""

_PAGE = 1000

_CODES: tuple[tuple[type[errors.EngineError], int], ...] = (
    # the first matching class counts, docs/cli.md documents the codes
    (errors.NotFoundError, 3),
    (errors.AlreadyExistsError, 4),
    (errors.NamespaceInUseError, 4),
    (errors.NamespaceNotEmptyError, 4),
    (errors.InvalidRequestError, 2),
    (errors.OutcomeUnknownError, 8),
    (errors.StoreError, 7),
    (errors.TooManyAttemptsError, 7),
)


def exit_code_of(error: errors.EngineError) -> int:
    """The exit code of a verb that failed. Never 1, which means that problems were found."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), 7)


class ProgressLine:
    """Shows the progress on one line of a terminal, which it overwrites. Shows nothing elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream if stream.isatty() else None
        self._next = time.monotonic() + PATIENCE
        self._shown = False

    def __call__(self, phase: str, done: int) -> None:
        """Show a count with its noun."""
        now = time.monotonic()
        if self._stream is not None and now >= self._next:
            self._next = now + 0.1
            self._shown = True
            self._stream.write(f"\r\x1b[K{phase}: {done:,}")
            self._stream.flush()

    def clear(self) -> None:
        """Clear the line, before other output."""
        if self._stream is not None and self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._shown = False


class Writer:
    """Writes each finding: as a line or two, or as one element of a JSON array."""

    def __init__(self, out: TextIO, progress: ProgressLine, head: Mapping[str, Any], *, as_json: bool) -> None:
        self._out = out
        self._progress = progress
        self._as_json = as_json
        self._comma = ""
        if as_json:
            out.write(reports.json_text(head)[:-1] + ', "findings": [')

    def __call__(self, finding: Finding) -> None:
        """Write one finding."""
        self._progress.clear()
        if self._as_json:
            text = {"finding": type(finding).__name__.lower(), **msgspec.structs.asdict(finding)}
            self._out.write(f"{self._comma}\n  " + reports.json_text(text))
            self._comma = ","
        else:
            self._out.write(reports.finding_text(finding))

    def end(self, body: Mapping[str, Any], text: str) -> None:
        """Write the result."""
        self._progress.clear()
        self._out.write("],\n " + reports.json_text(body)[1:] + "\n" if self._as_json else text + "\n")
        self._out.flush()


def run_fsck(settings: Settings, repo: str, options: FsckOptions, *, as_json: bool) -> int:
    """Check one repository or all. Returns 1 when something is missing or corrupt. Raises StartError, EngineError."""
    progress = ProgressLine(sys.stderr)

    async def job() -> bool:
        async with open_engine(settings, "refuse") as engine:
            if not repo:
                return await _check_all(engine, options, progress, as_json=as_json)
            found = await engine.repositories.get(repo)  # before anything is written
            return await _check(engine, found, options, progress, as_json=as_json)

    try:
        is_ok = asyncio.run(job())
    finally:
        progress.clear()
    return 0 if is_ok else 1


async def _check(
    engine: Engine, repository: Repository, options: FsckOptions, progress: ProgressLine, *, as_json: bool
) -> bool:
    """Check a repository. Whether nothing is missing or corrupt. Raises EngineError.

    RepositoryNotFoundError: it was deleted in the meantime. Then findings about its files say nothing.
    """
    name = repository.name
    writer = Writer(sys.stdout, progress, {"repository": name}, as_json=as_json)
    try:
        report = await engine.maintenance.fsck(name, options, progress=progress, sink=writer)
        scrubbed = await engine.maintenance.last_scrub(name)
        await _refuse_deleted(engine, repository)
    except errors.RepositoryNotFoundError:
        writer.end({"ok": True, "deleted": True}, f"{name} was deleted in the meantime: ignore findings about it.")
        raise
    except errors.EngineError as error:
        writer.end(
            {"ok": False, "error": error.message}, f"{name} could not be checked: {reports.plain(error.message)}"
        )
        raise
    body = {**reports.fsck_body(report), "last_scrub": scrubbed}
    writer.end(body, reports.fsck_text(report, options) + reports.scrub_text(scrubbed))
    return report.ok


async def _refuse_deleted(engine: Engine, repository: Repository) -> None:
    """Raises RepositoryNotFoundError for a deleted repository, also when another one has its name now."""
    if (await engine.repositories.get(repository.name)).uid != repository.uid:
        raise errors.RepositoryNotFoundError(f"repository {repository.name!r} was deleted in the meantime")


async def _check_all(engine: Engine, options: FsckOptions, progress: ProgressLine, *, as_json: bool) -> bool:
    """Check each repository, also after a failed check. Raises the first EngineError at the end."""
    is_ok, after = True, ""
    failures: list[errors.EngineError] = []
    has_more = True
    while has_more:
        page = await engine.repositories.list(after=after, amount=_PAGE)
        has_more = page.has_more
        for repository in page.items:
            after = repository.name
            try:
                is_ok &= await _check(engine, repository, options, progress, as_json=as_json)
            except errors.RepositoryNotFoundError:
                continue  # `_check` has said so
            except errors.EngineError as error:
                failures.append(error)
    if failures:
        raise failures[0]
    if not after and not as_json:
        sys.stdout.write("There is no repository.\n")
    return is_ok


def run_sweep(
    settings: Settings,
    repo: str,
    *,
    data: bool,
    dry_run: bool,
    yes: bool,
    grace: float | None,
    age: float | None,
    as_json: bool,
) -> int:
    """Sweep one repository or all. Returns 0, or 1 when it skipped one. Raises StartError, EngineError."""
    options = SweepOptions(
        data=data,
        dry_run=dry_run,
        hold_older=data and not yes,
        grace=settings.cleanup.grace if grace is None else grace,
        age=settings.cleanup.orphan_age if age is None else age,
    )
    progress = ProgressLine(sys.stderr)

    async def job() -> SweepPass:
        async with open_engine(settings, "refuse") as engine:
            if repo:
                await engine.repositories.get(repo)  # before anything is written
            writer = Writer(sys.stdout, progress, {"dry_run": dry_run}, as_json=as_json)
            done = await engine.maintenance.sweep(repo, options, progress=progress, sink=writer)
            writer.end(reports.sweep_body(done), reports.sweep_text(done, dry_run=dry_run))
            return done

    try:
        done = asyncio.run(job())
    finally:
        progress.clear()
    return 0 if done.ok else 1


def run_rebuild(settings: Settings, namespace: str, name: str, *, store: str = "", dry_run: bool, as_json: bool) -> int:
    """Rebuild a repository. Returns 0, or 1 when something was not restored. Raises StartError, EngineError."""
    progress = ProgressLine(sys.stderr)
    findings: list[Finding] = []  # reported at the end: a refusal must not follow half a report

    async def job() -> RebuildReport:
        async with open_engine(settings, "pretend" if dry_run else "make") as engine:
            return await engine.maintenance.rebuild(
                namespace, name, storage_id=store, dry_run=dry_run, progress=progress, sink=findings.append
            )

    try:
        report = asyncio.run(job())
    finally:
        progress.clear()
    writer = Writer(sys.stdout, progress, {"repository": report.repository}, as_json=as_json)
    for finding in findings:
        writer(finding)
    writer.end(reports.rebuild_body(report), reports.rebuild_text(report))
    return 0 if report.ok else 1
