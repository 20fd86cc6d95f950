"""Dedupe: reports content with several addresses, and on request stores it one time, in one commit that moves no data.

Only the addresses of entries change. Content and checksums stay the same, so a diff shows nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

import attrs
import lakebed
import pyarrow as pa
from lakebed.errors import (
    CommitStateUnknownError,
    ConcurrentCommitError,
    DirtyBranchError,
    InvalidRequestError,
    LakebedError,
    NothingToCommitError,
)

from lakebed_spark._access import Access, Place, Target, access_to, locate
from lakebed_spark.pipelines._duplicate_finder import Copies
from lakebed_spark.pipelines._entries import Snapshot
from lakebed_spark.pipelines._results import DedupeReport
from lakebed_spark.pipelines._runner import MEMORY, Meter, Runner, Seen, rounds, runner
from lakebed_spark.pipelines._tables import arriving, frame_of, tables_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Verify = Literal["none", "weak", "all"]

SHOWN = 100
"""Contents that a report names."""

_TRIES = 5
_LIFETIME = 24 * 3600
_FILES_PER_TASK = 100
_TASK_BYTES = 64 << 10
_MOVES_AT_ONCE = 5000


@attrs.frozen
class Reading:
    """A task: files to read, by their numbers."""

    access: Access
    repository: str
    commit_id: str
    files: tuple[tuple[int, str], ...]


def dedupe(
    target: Target,
    *,
    spark: SparkSession | None = None,
    verify: Verify = "none",
    dry_run: bool = False,
    message: str | None = None,
    memory_bytes: int | None = None,
    lake: lakebed.Lake | None = None,
    progress: Seen | None = None,
) -> DedupeReport:
    """Find content below `target` that has several addresses, and let its paths share one address, in one commit.

    Content is identified by checksum and size. A checksum that is no MD5 proves nothing. Such paths are skipped, or
    with `verify="weak"` read and compared byte for byte. With "all" every candidate is read. An entry that changes
    during the run stays as it is. `dry_run` only reports. This process takes about `memory_bytes` (64 MiB), whatever
    the size of the lake. The rest is sorted on disk, in `TMPDIR`, about 1 KB for each path (on Spark: each path that
    has a copy).

    Raises ReadOnlyRefError when the ref is not a branch, InvalidRequestError for another `verify` or too little memory,
    DirtyBranchError, and ConcurrentCommitError after several lost races.
    """
    if verify not in ("none", "weak", "all"):
        raise InvalidRequestError(f"verify must be 'none', 'weak' or 'all', not {verify!r}")
    memory_bytes = MEMORY if memory_bytes is None else memory_bytes
    if memory_bytes < 1:
        raise InvalidRequestError(f"memory_bytes must be at least 1, not {memory_bytes}")
    place, access = locate(target), access_to(target, lake)
    if not dry_run and not isinstance(place.writer(access.connect()), lakebed.Branch):
        raise place.read_only()
    snapshot = Snapshot.of(access, place.repository, place.ref)
    run, meter = runner(spark), Meter(f"dedupe {place}")
    with Copies(snapshot.store.namespace, memory_bytes) as copies:
        copies.add(_candidates(snapshot, place, spark, run))
        files = copies.find(read_weak=verify == "weak", read_all=verify == "all")
        if files:
            _compare(access, snapshot, copies, files, memory_bytes // _TASK_BYTES, run, progress or meter)
        meter.close()
        report = _report(place, copies)
        if dry_run or not copies.count():
            return report
        return _shared(access, place, copies, message or f"Dedupe {place}", report)


def _candidates(snapshot: Snapshot, place: Place, spark: SparkSession | None, run: Runner) -> Iterable[pa.Table]:
    """Yield entries that may have a copy. On Spark, only entries that have one."""
    if spark is None:
        return tables_of(snapshot, place.folder)
    return arriving(_doubled(frame_of(spark, snapshot, place.folder, 4 * run.width)))


def _doubled(entries: DataFrame) -> DataFrame:
    """Return the entries whose checksum and size occur at several addresses."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    same, address = Window.partitionBy("checksum", "size"), f.col("physical_address")
    several = entries.withColumn("several", f.min(address).over(same) < f.max(address).over(same))
    return several.where("several").drop("several")


def _compare(
    access: Access, snapshot: Snapshot, copies: Copies, files: int, at_once: int, run: Runner, progress: Seen
) -> None:
    """Read one path of each address, in parallel tasks, and store which content it has."""
    tasks = (
        Reading(access, snapshot.store.repository, snapshot.commit_id, tuple(some))
        for some in rounds(copies.unread(), _FILES_PER_TASK)
    )
    total, before = -(-files // _FILES_PER_TASK), 0
    for some in rounds(tasks, max(1, at_once)):
        for digests in run.run(read, some):
            copies.was_read(digests)
        before += len(some)
        progress(before, total)


def read(task: Reading) -> list[tuple[int, str]]:
    """The SHA-256 of each file."""
    ref = task.access.connect().repository(task.repository).ref(task.commit_id)
    return [(number, _digest(ref, path)) for number, path in task.files]


def _digest(ref: lakebed.Ref, path: str) -> str:
    digest = hashlib.sha256()
    for chunk in ref.chunks(path):
        digest.update(chunk)
    return digest.hexdigest()


def _report(place: Place, copies: Copies) -> DedupeReport:
    totals = copies.settle()
    return DedupeReport(
        ref=str(place),
        groups=totals.contents,
        copies=totals.copies,
        bytes=totals.bytes,
        freeable_bytes=totals.freeable_bytes,
        unverified=totals.unverified,
        largest=tuple(copies.largest(SHOWN)),
    )


def _shared(access: Access, place: Place, copies: Copies, message: str, report: DedupeReport) -> DedupeReport:
    """Share and commit. After a lost race repeat on the new state of the branch, without changed entries."""
    branch = access.connect().repository(place.repository).branch(place.ref)
    total = copies.count()
    for attempt in range(1, _TRIES + 1):
        workspace = branch.workspace(message, expires_in=_LIFETIME)
        try:
            for moves in rounds(copies.moves(), _MOVES_AT_ONCE):
                copies.leave(workspace.share(moves))
            shared = copies.count()
            commit = workspace.commit(relocate=True) if shared else None
            if commit is None:
                workspace.drop()
            return attrs.evolve(report, shared=shared, left=total - shared, commit=commit)
        except CommitStateUnknownError:
            raise  # it may still be committed
        except (ConcurrentCommitError, NothingToCommitError, DirtyBranchError) as error:
            with suppress(LakebedError):
                workspace.drop()
            if isinstance(error, NothingToCommitError):
                return attrs.evolve(report, shared=0, left=total)
            if attempt == _TRIES:
                raise
            if isinstance(error, DirtyBranchError):
                copies.avoid(error.paths)
        except BaseException:
            with suppress(LakebedError):
                workspace.drop()
            raise
    raise AssertionError("unreachable")
