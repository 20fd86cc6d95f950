"""The work of `lakebed fsck`, `sweep` and `rebuild`: runs the engine over the stores and shows the results.

It writes the findings of a check immediately, so they need no memory.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec
from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Repository
from lakebed_engine.vocabulary.reports import (
    Finding,
    Foreign,
    FsckOptions,
    FsckReport,
    Orphan,
    Problem,
    RebuildReport,
    Scrubbed,
    SweepOptions,
    SweepPass,
    SweepReport,
)

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
            out.write(_json(head)[:-1] + ', "findings": [')

    def __call__(self, finding: Finding) -> None:
        """Write one finding."""
        self._progress.clear()
        if self._as_json:
            text = {"finding": type(finding).__name__.lower(), **msgspec.structs.asdict(finding)}
            self._out.write(f"{self._comma}\n  " + _json(text))
            self._comma = ","
        else:
            self._out.write(_finding_text(finding))

    def end(self, body: Mapping[str, Any], text: str) -> None:
        """Write the result."""
        self._progress.clear()
        self._out.write("],\n " + _json(body)[1:] + "\n" if self._as_json else text + "\n")
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
        writer.end({"ok": False, "error": error.message}, f"{name} could not be checked: {_plain(error.message)}")
        raise
    body = {**_fsck_body(report), "last_scrub": scrubbed}
    writer.end(body, _fsck_text(report, options) + _scrub_text(scrubbed))
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
            writer.end(_sweep_body(done), _sweep_text(done, dry_run=dry_run))
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
    writer.end(_rebuild_body(report), _rebuild_text(report))
    return 0 if report.ok else 1


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _fsck_body(report: FsckReport) -> dict[str, Any]:
    kept = (
        "counts", "problem_count", "orphan_count", "orphan_bytes", "recent_count", "foreign_count", "foreign_bytes",
        "unknown",
    )  # fmt: skip
    return {"ok": report.ok, **{name: getattr(report, name) for name in kept}}


def _rebuild_body(report: RebuildReport) -> dict[str, Any]:
    body = msgspec.structs.asdict(report)
    del body["repository"], body["problems"]
    return {"ok": report.ok, **body}


def _fsck_text(report: FsckReport, options: FsckOptions) -> str:
    counts = ", ".join(f"{what} {count:,}" for what, count in report.counts.items())
    lines = [f"Checked {report.repository}: {counts}."]
    if report.recent_count:
        lines.append(f"{_many(report.recent_count, 'recent file')}, unreferenced: they may belong to work in progress.")
    if report.unknown:
        lines.append(
            f"Orphans in {', '.join(report.unknown)} are unknown: the files that may refer to them are damaged."
        )
    if report.orphan_count:
        lines.append(f"{_many(report.orphan_count, 'orphan')} of {report.orphan_bytes:,} bytes: unreferenced files.")
    if report.foreign_count:
        lines.append(_foreign_text(report.foreign_count, report.foreign_bytes))
    if report.ok:
        lines.append("Nothing is missing or corrupt" + ("." if options.data else "; --data also checks the objects."))
    else:
        lines.append(f"{_many(report.problem_count, 'problem')}; {_mending(report)}.")
    return "\n".join(lines)


def _scrub_text(scrubbed: Scrubbed | None) -> str:
    """When the background scrub last checked the repository, and the damage that it found."""
    if scrubbed is None:
        return ""
    what = "metadata and objects" if scrubbed.objects else "metadata"
    lines = [f"Last scrub ({what}): {_moment(scrubbed.ended)} UTC, {_many(scrubbed.problem_count, 'problem')}."]
    return "\n".join(["", *lines, *(f"  {_plain(one)}" for one in scrubbed.problems)])


def _mending(report: FsckReport) -> str:
    """The next step for the user, by the kinds of the first problems in the report."""
    rows = {"branch record", "workspace record", "tag record", "commit row", "staged rows"}
    found = {"key-value store" if one.what in rows else "bucket" for one in report.problems}
    where = " and ".join(f"the {one}" for one in sorted(found))
    return f"restore the named files from a backup of {where}: see `After a problem` in docs/operations.md"


def _sweep_body(done: SweepPass) -> dict[str, Any]:
    return {
        "ok": done.ok,
        "repositories": [msgspec.structs.asdict(one) for one in done.reports],
        "skipped": [{"repository": name, "why": why} for name, why in done.skipped],
        "failures": [{"repository": name, "why": why} for name, why in done.failures],
        "tokens": done.tokens,
        "tokens_dropped": done.tokens_dropped,
    }


def _sweep_text(done: SweepPass, *, dry_run: bool) -> str:
    lines = [_swept_text(one) for one in done.reports]
    if done.tokens:
        fate = "would be dropped" if dry_run else f"{done.tokens_dropped:,} dropped"
        lines.append(f"Uncommitted rows that no branch refers to: {_many(done.tokens, 'token')}, {fate}.")
    lines += [f"{name} was skipped: {why}." for name, why in done.skipped]
    lines += [f"{name} was skipped: {_plain(why)}" for name, why in done.failures]
    return "\n".join(lines or ["There is no repository."])


def _swept_text(one: SweepReport) -> str:
    older = f" ({one.older:,} older than the repository)" if one.older else ""
    if one.held:
        text = (
            f"{_many(one.found, 'orphan')}{older}, none deleted: check that Lakebed created all of them; "
            "--yes deletes them"
        )
    elif one.dry_run:
        text = f"{_many(one.found, 'orphan')}{older} would be deleted"
    else:
        text = f"{_many(one.deleted, 'orphan')} of {one.deleted_bytes:,} bytes deleted"
        if one.found != one.deleted:
            text += f", {one.found - one.deleted:,} are in use now and stay"
    recent = f"; {_many(one.recent, 'recent file')}, unreferenced, stay" if one.recent else ""
    line = f"Swept {one.repository}: {_many(one.files, 'file')}, {text}{recent}."
    if not one.foreign:
        return line
    return f"{line}\n{_foreign_text(one.foreign, one.foreign_bytes)} For example: {_plain(one.foreign_example)}."


def _foreign_text(count: int, size: int) -> str:
    return f"{_many(count, 'foreign file')} of {size:,} bytes: not made by Lakebed, left in place."


def _rebuild_text(report: RebuildReport) -> str:
    verb = "would be restored" if report.dry_run else "is restored"
    parts = [
        _many(report.commits, "commit"),
        _many(report.branches, "branch", "branches"),
        _many(report.tags, "tag"),
        *([_many(report.pulls, "pull request")] if report.pulls else []),
    ]
    lines = [f"Repository {report.repository} {verb} from {report.namespace}: {', '.join(parts)}."]
    if report.snapshot:
        moment = datetime.fromtimestamp(report.snapshot_time, UTC)
        lines.append(f"Branches and tags are as of {moment:%Y-%m-%d %H:%M:%S} UTC, the last ref snapshot.")
    lines += _heads_text(report)
    lines.append("Uncommitted changes are lost, and access keys are not in the bucket.")
    if not report.ok:
        lines.append(f"{_many(report.problem_count, 'problem')}.")
    return "\n".join(lines)


def _heads_text(report: RebuildReport) -> list[str]:
    if not report.heads:
        return []
    lines = [
        f"No branch, tag or commit leads to these commits ({report.head_count:,}, newest first); "
        f"`lakebed branch create {report.repository}/NAME --source COMMIT` makes a branch of one:"
    ]
    for one in report.heads:
        subject = _plain(one.message.partition("\n")[0][:60])
        lines.append(f"  {one.id}  {_moment(one.creation_date)}  {subject}".rstrip())
    older = report.head_count - len(report.heads)
    return [*lines, f"  and {older:,} older ones"] if older else lines


def _moment(seconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}"
    except (OverflowError, ValueError, OSError):  # the client may choose the date of a commit
        return f"at {seconds} s"


def _problem_text(problem: Problem) -> str:
    lines = [f"{problem.kind} {problem.what} {_plain(problem.name)}: {_plain(problem.detail)}"]
    if problem.path:
        lines.append(f"  for example as {_plain(problem.path)}")
    if problem.refs:
        more = problem.ref_count - len(problem.refs)
        names = ", ".join(map(_plain, problem.refs))
        lines.append(f"  needed by {names}" + (f" and {more:,} more" if more else ""))
    return "\n".join(lines) + "\n"


def _finding_text(finding: Finding) -> str:
    if isinstance(finding, Problem):
        return _problem_text(finding)
    if isinstance(finding, Foreign):
        return f"foreign {_plain(finding.key)}: {_many(finding.size, 'byte')}, not made by Lakebed\n"
    return _orphan_text(finding)


def _orphan_text(orphan: Orphan) -> str:
    return f"orphan {_plain(orphan.key)}: {_many(orphan.size, 'byte')}, {orphan.age / 3600:,.1f} hours old\n"


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def _plain(text: str) -> str:
    """The text without characters that control a terminal."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
