"""Dedupe: content that lies at several addresses, reported, and on request stored once: one commit that moves no data.

The addresses of entries change, nothing else does: neither content nor checksums, so that a diff shows nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

import attrs
import lakebed
import pyarrow as pa
import pyarrow.compute as pc
from lakebed.errors import (
    CommitStateUnknownError,
    ConcurrentCommitError,
    DirtyBranchError,
    InvalidRequestError,
    LakebedError,
    NothingToCommitError,
)

from lakebed_spark._access import Access, Place, Target, access_to, locate
from lakebed_spark.pipelines._entries import Snapshot
from lakebed_spark.pipelines._results import DedupeReport, Duplicates
from lakebed_spark.pipelines._rows import frame_of, table_of
from lakebed_spark.pipelines._runner import Meter, Runner, Seen, runner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Verify = Literal["none", "weak", "all"]

SHOWN = 100
"""Groups that a report names."""

_TRIES = 5
_LIFETIME = 24 * 3600
_GROUPS_PER_TASK = 50
_MD5 = re.compile(r"[0-9a-f]{32}")


@attrs.frozen
class Copy:
    """A path, and where its data lies."""

    path: str
    address: str


@attrs.frozen
class Group:
    """Paths of one checksum and size whose data lies at several addresses; the first is kept."""

    checksum: str
    size: int
    copies: tuple[Copy, ...]
    verified: bool = False

    @property
    def strong(self) -> bool:
        """Whether the checksum is an MD5 of the whole content: an ETag of parts, or another tool's, need not be."""
        return _MD5.fullmatch(self.checksum) is not None

    def moves(self) -> list[tuple[str, str]]:
        """Which path is to name the data of which."""
        kept = self.copies[0]
        return [(copy.path, kept.path) for copy in self.copies if copy.address != kept.address]

    def addresses(self) -> set[str]:
        """Addresses that nothing of the group names any more then."""
        return {copy.address for copy in self.copies} - {self.copies[0].address}


@attrs.frozen
class Reading:
    """A task: groups whose bytes are compared."""

    access: Access
    repository: str
    commit_id: str
    groups: tuple[Group, ...]


def dedupe(
    target: Target,
    *,
    spark: SparkSession | None = None,
    verify: Verify = "none",
    dry_run: bool = False,
    message: str | None = None,
    lake: lakebed.Lake | None = None,
    progress: Seen | None = None,
) -> DedupeReport:
    """Find content below `target` that lies at several addresses, and let its paths share one, in one commit.

    Content is told by checksum and size. A checksum that is no MD5 proves nothing: such paths are left, or with
    `verify="weak"` read and compared byte for byte; with "all" every candidate is. An entry that changed meanwhile is
    left as it is. `dry_run` only reports.

    Raises ReadOnlyRefError for what is no branch, DirtyBranchError, ConcurrentCommitError after several lost races.
    """
    if verify not in ("none", "weak", "all"):
        raise InvalidRequestError(f"verify must be 'none', 'weak' or 'all', not {verify!r}")
    place, access = locate(target), access_to(target, lake)
    if not dry_run and not isinstance(place.writer(access.connect()), lakebed.Branch):
        raise place.read_only()
    snapshot = Snapshot.of(access, place.repository, place.ref)
    run, meter = runner(spark), Meter(f"dedupe {place}")
    found = list(_groups(_duplicates(snapshot, place, spark, run), snapshot.store.namespace))
    sure = [group for group in found if group.strong and verify != "all"]
    unsure = [group for group in found if not group.strong or verify == "all"]
    if verify != "none":
        sure = sorted([*sure, *_compared(access, snapshot, unsure, run, progress or meter)], key=_first)
        unsure = []
    meter.close()
    report = _report(place, sure, unsure, snapshot.store.namespace)
    moves = [move for group in sure for move in group.moves()]
    if dry_run or not moves:
        return report
    return _shared(access, place, moves, message or f"Dedupe {place}", report)


def _duplicates(snapshot: Snapshot, place: Place, spark: SparkSession | None, run: Runner) -> pa.Table:
    """Entries whose checksum and size are found at several addresses, in order of both and path."""
    key = ["checksum", "size"]
    if spark is None:
        rows = table_of(snapshot, place.folder)
        several = rows.group_by(key).aggregate([("physical_address", "count_distinct")])
        several = several.filter(pc.greater(several["physical_address_count_distinct"], 1)).select(key)
        return rows.join(several, key, join_type="inner").sort_by([(name, "ascending") for name in (*key, "path")])
    from pyspark.sql import functions as f

    frame = frame_of(spark, snapshot, place.folder, 4 * run.width)
    several_of = frame.groupBy(*key).agg(f.countDistinct("physical_address").alias("n")).where("n > 1").drop("n")
    table: pa.Table = frame.join(several_of, key).orderBy(*key, "path").toArrow()
    return table


def _groups(rows: pa.Table, namespace: str) -> Iterator[Group]:
    """What lies in the repository's own namespace is kept rather than what lies elsewhere."""
    columns = (rows[name].to_pylist() for name in ("checksum", "size", "path", "physical_address"))
    for (checksum, size), same in groupby(zip(*columns, strict=True), key=lambda row: (row[0], row[1])):
        copies = [Copy(path, address) for _, _, path, address in same]
        copies.sort(key=lambda copy: (not copy.address.startswith(namespace + "/"), copy.path))
        yield Group(checksum, size, tuple(copies))


def _compared(
    access: Access, snapshot: Snapshot, groups: Sequence[Group], run: Runner, progress: Seen
) -> Iterator[Group]:
    tasks = [
        Reading(access, snapshot.store.repository, snapshot.commit_id, tuple(groups[at : at + _GROUPS_PER_TASK]))
        for at in range(0, len(groups), _GROUPS_PER_TASK)
    ]
    for part in run.run(read, tasks, progress):
        yield from part


def read(task: Reading) -> list[Group]:
    """Read one path for each address, and keep together what has the same bytes."""
    ref = task.access.connect().repository(task.repository).ref(task.commit_id)
    found: list[Group] = []
    for group in task.groups:
        digests: dict[str, str] = {}
        for copy in group.copies:
            if copy.address not in digests:
                digests[copy.address] = _digest(ref, copy.path)
        by_content: dict[str, list[Copy]] = {}
        for copy in group.copies:
            by_content.setdefault(digests[copy.address], []).append(copy)
        found += [
            Group(group.checksum, group.size, tuple(copies), verified=True)
            for copies in by_content.values()
            if len({copy.address for copy in copies}) > 1
        ]
    return found


def _digest(ref: lakebed.Ref, path: str) -> str:
    digest = hashlib.sha256()
    for chunk in ref.chunks(path):
        digest.update(chunk)
    return digest.hexdigest()


def _report(place: Place, groups: Sequence[Group], unsure: Sequence[Group], namespace: str) -> DedupeReport:
    own = namespace + "/"
    saved = [(group.size, address) for group in groups for address in group.addresses()]
    largest = sorted(groups, key=lambda group: (-group.size * len(group.addresses()), _first(group)))[:SHOWN]
    return DedupeReport(
        ref=str(place),
        groups=len(groups),
        copies=len(saved),
        bytes=sum(size for size, _ in saved),
        freeable_bytes=sum(size for size, address in saved if address.startswith(own)),
        unverified=sum(len(group.copies) for group in unsure),
        largest=tuple(
            Duplicates(
                checksum=group.checksum,
                bytes=group.size,
                copies=len(group.addresses()),
                keep=group.copies[0].path,
                paths=tuple(path for path, _ in group.moves()),
                verified=group.verified,
            )
            for group in largest
        ),
    )


def _first(group: Group) -> Any:
    return group.checksum, group.size, group.copies[0].path


def _shared(
    access: Access, place: Place, moves: list[tuple[str, str]], message: str, report: DedupeReport
) -> DedupeReport:
    """Share and commit; after a lost race again, on what the branch shows then: what has changed is left."""
    branch = access.connect().repository(place.repository).branch(place.ref)
    total = len(moves)
    for attempt in range(1, _TRIES + 1):
        workspace = branch.workspace(message, expires_in=_LIFETIME)
        try:
            gone = set(workspace.share(moves))
            moves = [move for move in moves if move[0] not in gone]
            commit = workspace.commit(relocate=True) if moves else None
            if commit is None:
                workspace.drop()
            return attrs.evolve(report, shared=len(moves), left=total - len(moves), commit=commit)
        except CommitStateUnknownError:
            raise  # it may be committed yet
        except (ConcurrentCommitError, NothingToCommitError, DirtyBranchError) as error:
            with suppress(LakebedError):
                workspace.drop()
            if isinstance(error, NothingToCommitError):
                return attrs.evolve(report, shared=0, left=total)
            if attempt == _TRIES:
                raise
            if isinstance(error, DirtyBranchError):
                dirty = {conflict.path for conflict in error.conflicts}
                moves = [move for move in moves if dirty.isdisjoint(move)]
        except BaseException:
            with suppress(LakebedError):
                workspace.drop()
            raise
    raise AssertionError("unreachable")
