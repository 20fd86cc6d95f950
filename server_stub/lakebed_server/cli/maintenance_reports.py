"""The results of `lakebed fsck`, `sweep` and `rebuild`, as text and as JSON. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
from lakebed_engine.vocabulary.reports import (
    Finding,
    Foreign,
    FsckOptions,
    FsckReport,
    Orphan,
    Problem,
    RebuildReport,
    Scrubbed,
    SweepPass,
    SweepReport,
)


def json_text(value: Any) -> str:
    """A value as JSON."""
    return msgspec.json.encode(value).decode()


def fsck_body(report: FsckReport) -> dict[str, Any]:
    """The result of `lakebed fsck` for JSON."""
    kept = (
        "counts", "problem_count", "orphan_count", "orphan_bytes", "recent_count", "foreign_count", "foreign_bytes",
        "unknown",
    )  # fmt: skip
    return {"ok": report.ok, **{name: getattr(report, name) for name in kept}}


def rebuild_body(report: RebuildReport) -> dict[str, Any]:
    """The result of `lakebed rebuild` for JSON."""
    body = msgspec.structs.asdict(report)
    del body["repository"], body["problems"]
    return {"ok": report.ok, **body}


def fsck_text(report: FsckReport, options: FsckOptions) -> str:
    """The result of `lakebed fsck` for people."""
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


def scrub_text(scrubbed: Scrubbed | None) -> str:
    """When the background scrub last checked the repository, and the damage that it found."""
    if scrubbed is None:
        return ""
    what = "metadata and objects" if scrubbed.objects else "metadata"
    lines = [f"Last scrub ({what}): {_moment(scrubbed.ended)} UTC, {_many(scrubbed.problem_count, 'problem')}."]
    return "\n".join(["", *lines, *(f"  {plain(one)}" for one in scrubbed.problems)])


def _mending(report: FsckReport) -> str:
    """The next step for the user, by the kinds of the first problems in the report."""
    rows = {"branch record", "workspace record", "tag record", "commit row", "staged rows"}
    found = {"key-value store" if one.what in rows else "bucket" for one in report.problems}
    where = " and ".join(f"the {one}" for one in sorted(found))
    return f"restore the named files from a backup of {where}: see `After a problem` in docs/operations.md"


def sweep_body(done: SweepPass) -> dict[str, Any]:
    """The result of `lakebed sweep` for JSON."""
    return {
        "ok": done.ok,
        "repositories": [msgspec.structs.asdict(one) for one in done.reports],
        "skipped": [{"repository": name, "why": why} for name, why in done.skipped],
        "failures": [{"repository": name, "why": why} for name, why in done.failures],
        "tokens": done.tokens,
        "tokens_dropped": done.tokens_dropped,
    }


def sweep_text(done: SweepPass, *, dry_run: bool) -> str:
    """The result of `lakebed sweep` for people."""
    lines = [_swept_text(one) for one in done.reports]
    if done.tokens:
        fate = "would be dropped" if dry_run else f"{done.tokens_dropped:,} dropped"
        lines.append(f"Uncommitted rows that no branch refers to: {_many(done.tokens, 'token')}, {fate}.")
    lines += [f"{name} was skipped: {why}." for name, why in done.skipped]
    lines += [f"{name} was skipped: {plain(why)}" for name, why in done.failures]
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
    return f"{line}\n{_foreign_text(one.foreign, one.foreign_bytes)} For example: {plain(one.foreign_example)}."


def _foreign_text(count: int, size: int) -> str:
    return f"{_many(count, 'foreign file')} of {size:,} bytes: not made by Lakebed, left in place."


def rebuild_text(report: RebuildReport) -> str:
    """The result of `lakebed rebuild` for people."""
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
        subject = plain(one.message.partition("\n")[0][:60])
        lines.append(f"  {one.id}  {_moment(one.creation_date)}  {subject}".rstrip())
    older = report.head_count - len(report.heads)
    return [*lines, f"  and {older:,} older ones"] if older else lines


def _moment(seconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}"
    except (OverflowError, ValueError, OSError):  # the client may choose the date of a commit
        return f"at {seconds} s"


def _problem_text(problem: Problem) -> str:
    lines = [f"{problem.kind} {problem.what} {plain(problem.name)}: {plain(problem.detail)}"]
    if problem.path:
        lines.append(f"  for example as {plain(problem.path)}")
    if problem.refs:
        more = problem.ref_count - len(problem.refs)
        names = ", ".join(map(plain, problem.refs))
        lines.append(f"  needed by {names}" + (f" and {more:,} more" if more else ""))
    return "\n".join(lines) + "\n"


def finding_text(finding: Finding) -> str:
    """The lines of one finding."""
    if isinstance(finding, Problem):
        return _problem_text(finding)
    if isinstance(finding, Foreign):
        return f"foreign {plain(finding.key)}: {_many(finding.size, 'byte')}, not made by Lakebed\n"
    return _orphan_text(finding)


def _orphan_text(orphan: Orphan) -> str:
    return f"orphan {plain(orphan.key)}: {_many(orphan.size, 'byte')}, {orphan.age / 3600:,.1f} hours old\n"


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def plain(text: str) -> str:
    """The text without characters that control a terminal."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
