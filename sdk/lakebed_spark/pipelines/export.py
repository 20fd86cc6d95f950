"""Export: a ref, or what changed in it since another, as plain files in a directory or a bucket, with a manifest.

Tasks copy stretches of the tree and write a part of the manifest each; `_lakebed_export.json` is written last, and says
that all of it is there. What is there already, with the right content, is not copied again.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import lakebed
import pyarrow as pa
from lakebed.errors import InvalidRequestError, LakebedError, ObjectFailure, PartialFailureError

from lakebed_spark._access import Target, access_to, locate
from lakebed_spark.history.key_ranges import Span, of_prefix
from lakebed_spark.history.tree import Piece
from lakebed_spark.pipelines._changes import windows
from lakebed_spark.pipelines._entries import Snapshot, rows_of
from lakebed_spark.pipelines._export_target import Place, open_place
from lakebed_spark.pipelines._results import ExportReport
from lakebed_spark.pipelines._runner import Meter, Seen, runner
from lakebed_spark.pipelines._sources.base import BATCH

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OURS = "_lakebed_export"
FINAL = f"{OURS}.json"
"""Written last: what was exported, and which files the manifest is in."""

_COLUMNS = ("path", "size_bytes", "checksum", "parts", "identity")
_MD5 = re.compile(r"[0-9a-f]{32}")
_MOST_FAILURES = 1000
_ROWS_PER_TASK = 100_000
_SUMS = ("files", "bytes", "copied", "skipped", "removed")


@attrs.frozen
class Copying:
    """A task: a stretch, as it is now and was at the export before, and where it goes."""

    now: Snapshot
    before: Snapshot | None
    span: Span
    folder: str
    to: Place
    part: str
    mirror: bool


@attrs.frozen
class Copied:
    """What a task has done. Sizes in bytes."""

    files: int = 0
    bytes: int = 0
    copied: int = 0
    skipped: int = 0
    removed: int = 0
    failures: tuple[ObjectFailure, ...] = ()


def export(
    target: Target,
    to: str | os.PathLike[str],
    *,
    spark: SparkSession | None = None,
    since: str | None = None,
    mirror: bool = False,
    lake: lakebed.Lake | None = None,
    progress: Seen | None = None,
) -> ExportReport:
    """Copy the committed content below `target` to a directory or `s3://bucket/folder/`. Checks the content while it
    copies.

    `since` is an older ref: then only later additions and changes are copied. Nothing at the destination is deleted,
    except with `mirror`: it deletes what the ref does not have, or with `since` what was removed after it. `mirror` is
    refused when the destination has files that no export wrote. After an interruption run it again, and it continues.

    Raises PartialFailureError when some objects could not be copied. Then the final file is not written.
    """
    place, access = locate(target), access_to(target, lake)
    there = open_place(to)
    now = Snapshot.of(access, place.repository, place.ref)
    before = None if since is None else Snapshot.of(access, place.repository, since)
    if mirror:
        _refuse_strange(there, str(to))
    run, meter = runner(spark), Meter(f"export {place}")
    parts = f"{OURS}/{now.commit_id[:16]}{'' if before is None else '-' + before.commit_id[:16]}"
    rows = sum(part.rows for part in now.tree.ranges)
    pieces = _pieces(now, place.folder, max(4 * run.width, rows // _ROWS_PER_TASK))
    tasks = [
        Copying(now, before, span, place.folder, there, f"{parts}/part-{number:05d}.jsonl", mirror)
        for number, span in enumerate(pieces)
    ]
    there.remove(FINAL)
    done = run.run(copy, tasks, progress or meter)
    meter.close()
    failures = [failure for one in done for failure in one.failures]
    if failures:
        raise _failed(str(place), failures)
    sums = {name: sum(getattr(one, name) for one in done) for name in _SUMS}
    written = [task.part for task, one in zip(tasks, done, strict=True) if one.files]
    there.write(FINAL, _manifest(place.repository, place.folder, now, before, sums, written))
    return ExportReport(
        ref=str(place), commit_id=now.commit_id, target=str(to), manifest=there.source.uri + FINAL, **sums
    )


def _manifest(
    repository: str,
    folder: str,
    now: Snapshot,
    before: Snapshot | None,
    sums: Mapping[str, int],
    parts: Sequence[str],
) -> bytes:
    """The content of the final file."""
    content = {
        "repository": repository,
        "commit_id": now.commit_id,
        "prefix": folder,
        "since": None if before is None else before.commit_id,
        "files": sums["files"],
        "bytes": sums["bytes"],
        "parts": parts,
    }
    return json.dumps(content, indent=1).encode() + b"\n"


def copy(task: Copying) -> Copied:
    """Copy a stretch, and write its part of the manifest. A repeat has no effect."""
    ref = task.now.ref()
    cut = len(task.folder)
    done = Copied()
    lines: list[bytes] = []
    listing = (_placed(rows, task.folder) for rows in task.to.source.listed(_keys(task.span, cut), BATCH))
    for rows, there in windows(_wanted(task), listing):
        found = {} if there is None else dict(zip(*(there[name].to_pylist() for name in ("path", "row")), strict=True))
        for path, size, checksum in () if rows is None else _entries(rows):
            md5, skipped, failure = _one(task, ref, path, size, checksum, found.pop(path, None))
            if failure is not None:
                done = attrs.evolve(done, failures=(*done.failures, failure)[:_MOST_FAILURES])
                continue
            line = {"path": path[cut:], "size": size, "checksum": checksum, "md5": md5, "commit": task.now.commit_id}
            lines.append(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            done = attrs.evolve(
                done,
                files=done.files + 1,
                bytes=done.bytes + size,
                copied=done.copied + (not skipped),
                skipped=done.skipped + skipped,
            )
        if task.mirror and task.before is None:
            gone = [key for path in found if not _is_ours(key := path[cut:])]
            done = attrs.evolve(done, removed=done.removed + _removed(task, gone))
    if task.mirror and task.before is not None:
        done = attrs.evolve(done, removed=_removed(task, _lost(task, task.before)))
    if lines:
        task.to.write(task.part, b"".join(lines))
    return done


def _one(
    task: Copying, ref: lakebed.Ref, path: str, size: int, checksum: str, row: dict[str, Any] | None
) -> tuple[str, bool, ObjectFailure | None]:
    """The MD5 of one object, whether it was there already, or why it could not be copied."""
    key = path[len(task.folder) :]
    if _is_ours(key):
        return "", False, ObjectFailure(path, 0, "exports keep their own files under this name")
    is_candidate = row is not None and row["size"] == size and _MD5.fullmatch(checksum)
    if row is not None and is_candidate and task.to.holds(key, row["version"], checksum):
        return checksum, True, None
    try:
        return task.to.copy(ref, path, key), False, None
    except (LakebedError, OSError) as error:
        return "", False, ObjectFailure(path, getattr(error, "status", None) or 0, str(error))


def _wanted(task: Copying) -> Iterator[pa.Table]:
    """Yield what must be at the destination: everything, or with an earlier ref what was added or changed."""
    rows = rows_of(task.now.store, task.now.piece(task.span), _COLUMNS)
    if task.before is None:
        yield from rows
        return
    old = rows_of(task.before.store, task.before.piece(task.span), ("path", "identity"))
    for new, known in windows(rows, old):
        if new is None:
            continue
        if known is None:
            yield new
            continue
        before = dict(zip(known["path"].to_pylist(), known["identity"].to_pylist(), strict=True))
        pairs = zip(new["path"].to_pylist(), new["identity"].to_pylist(), strict=True)
        yield new.filter(pa.array([before.get(path) != identity for path, identity in pairs], pa.bool_()))


def _entries(rows: pa.Table) -> Iterator[tuple[str, int, str]]:
    columns = (rows[name].to_pylist() for name in ("path", "size_bytes", "checksum", "parts"))
    for path, size, checksum, parts in zip(*columns, strict=True):
        yield path, size, f"{checksum}-{parts}" if parts else checksum


def _placed(rows: pa.Table, folder: str) -> pa.Table:
    keys = rows["key"].to_pylist()
    values = rows.select(["size", "version"]).to_pylist()
    return pa.table({"path": pa.array([folder + key for key in keys], pa.string()), "row": values})


def _lost(task: Copying, before: Snapshot) -> Iterator[str]:
    """Yield the keys of paths that were removed since."""
    now = rows_of(task.now.store, task.now.piece(task.span), ("path",))
    old = rows_of(before.store, before.piece(task.span), ("path",))
    for new, known in windows(now, old):
        there = set() if new is None else set(new["path"].to_pylist())
        for path in () if known is None else known["path"].to_pylist():
            if path not in there:
                yield path[len(task.folder) :]


def _removed(task: Copying, keys: Iterable[str]) -> int:
    count = 0
    for key in keys:
        task.to.remove(key)
        count += 1
    return count


def _is_ours(key: str) -> bool:
    return key == FINAL or key.startswith(OURS + "/")


def _pieces(now: Snapshot, folder: str, count: int) -> list[Span]:
    """Return neighbouring spans over all paths of the folder. Other files at the destination are in one of them too."""
    pieces: list[Piece] = now.pieces(folder, count)
    whole = of_prefix(folder)
    lows = [whole.low, *(piece.span.low for piece in pieces[1:])]
    return [Span(low, high) for low, high in zip(lows, [*lows[1:], whole.high], strict=True)]


def _keys(span: Span, cut: int) -> Span:
    """Return a span of paths as a span of keys below the folder."""
    high = None if span.high is None or len(span.high) <= cut - 1 else span.high[cut:]
    return Span(span.low[cut:], high or None)


def _refuse_strange(there: Place, name: str) -> None:
    for rows in there.source.listed(Span(), 1):
        if any(_is_ours(key) for key in rows["key"].to_pylist()):
            return
        if any(True for _ in there.source.listed(of_prefix(OURS), 1)):
            return
        raise InvalidRequestError(
            f"mirror would delete files in {name} that no export wrote, such as {rows['key'][0].as_py()!r}: export "
            "there without mirror first, or choose an empty folder"
        )


def _failed(place: str, failures: list[ObjectFailure]) -> PartialFailureError:
    first = failures[0]
    error = PartialFailureError(
        f"export {place}: could not copy {len(failures)} objects. The first is {first.path!r}: {first.message}. The "
        "other objects are copied: run the export again"
    )
    error.failures = tuple(failures)
    return error
