"""Compact: combines small Parquet files of each folder, in one commit. Rows and their order stay the same.

Tasks find small files in stretches of the tree. Then each group becomes one file, written and counted in bounded
memory. The driver goes through the tree in rounds, and holds the small files of one round. All writes go to a workspace
on the examined commit. When another writer changes one of the files during the run, the commit is a conflict, and
nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import attrs
import lakebed
from lakebed._integration.values import WorkspaceOptions, new_id
from lakebed.errors import CommitStateUnknownError, InvalidRequestError, LakebedError

from lakebed_spark._access import Access, Place, Target, access_to, locate
from lakebed_spark._commit_metadata import REWRITE_KEY
from lakebed_spark.history.key_ranges import of_prefix
from lakebed_spark.history.storage import Store
from lakebed_spark.history.tree import Piece
from lakebed_spark.pipelines._entries import Snapshot, entries_of
from lakebed_spark.pipelines._file_concat import join
from lakebed_spark.pipelines._results import Compacted, CompactReport
from lakebed_spark.pipelines._runner import MEMORY, Meter, Runner, Seen, runner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TARGET = 128 << 20
"""Default size of a file, in bytes."""

SHOWN = 1000
"""Groups that a report names, if they have at most PATHS_SHOWN paths."""

PATHS_SHOWN = 100_000

_LIFETIME = 24 * 3600
_ROWS_PER_TASK = 50_000
_MOST_FILES = 20_000
_FILE_BYTES = 512
_ENDINGS = (".parquet", ".parq")

File = tuple[str, int, str]
"""Path, size in bytes, checksum."""


@attrs.frozen
class Looking:
    """A task: find small files in a stretch of a table, files below `small` bytes."""

    store: Store
    piece: Piece
    folder: str
    target: int
    small: int


@attrs.frozen
class Joining:
    """A task: files of one folder that become one, in a workspace."""

    access: Access
    branch: Place
    workspace: str
    options: WorkspaceOptions
    commit_id: str
    files: tuple[File, ...] = ()


def compact(
    target: Target,
    *,
    spark: SparkSession | None = None,
    target_bytes: int | None = None,
    small_bytes: int | None = None,
    dry_run: bool = False,
    message: str | None = None,
    memory_bytes: int | None = None,
    lake: lakebed.Lake | None = None,
    progress: Seen | None = None,
) -> CompactReport:
    """Combine small Parquet files of the folder `target` of a branch, folder by folder, in one commit.

    Neighbouring files below `small_bytes` (default: half of `target_bytes`) become files of about `target_bytes` (128
    MiB). Where their schemas differ, only runs of one schema are combined. Files and folders whose names begin with `_`
    or `.` are skipped. `dry_run` only reports. The driver goes through the tree in rounds, so the list of small files
    takes about `memory_bytes` (64 MiB), but a round has at least 50,000 of them.

    Raises ConcurrentCommitError when another writer changed one of the files, DirtyBranchError, ReadOnlyRefError,
    TableFormatError for a damaged file, and InvalidRequestError for invalid sizes. After an error nothing was
    committed.
    """
    sizes = _sizes(TARGET if target_bytes is None else target_bytes, small_bytes)
    memory_bytes = MEMORY if memory_bytes is None else memory_bytes
    if memory_bytes < 1:
        raise InvalidRequestError(f"memory_bytes must be at least 1, not {memory_bytes}")
    place, access = locate(target), access_to(target, lake)
    if not isinstance(place.writer(access.connect()), lakebed.Branch):
        raise place.read_only()
    snapshot = Snapshot.of(access, place.repository, place.ref)
    run, meter = runner(spark), Meter(f"compact {place}")
    rounds = _rounds(_pieces(snapshot, place.folder), memory_bytes // _FILE_BYTES)
    found = (_groups(run, snapshot, place.folder, pieces, sizes) for pieces in rounds)
    sums = _Sums()
    with closing(meter):
        if dry_run:
            for groups in found:
                sums.add(_planned(group) for group in groups)
            return sums.report(place)
        options = WorkspaceOptions(message or f"Compact {place}", "rebase", _LIFETIME, base=snapshot.commit_id)
        joining = Joining(access, place, new_id(), options, snapshot.commit_id)
        return sums.report(place, _joined(run, joining, found, sums, progress or meter))


def _sizes(target: int, small: int | None) -> tuple[int, int]:
    """Return the target size of a file and the size below which it is small, in bytes."""
    small = target // 2 if small is None else small
    if target < 1 or not 0 < small <= target:
        raise InvalidRequestError("target_bytes must be at least 1, and small_bytes between 1 and target_bytes")
    return target, small


def _joined(
    run: Runner, joining: Joining, found: Iterable[list[tuple[File, ...]]], sums: _Sums, seen: Seen
) -> lakebed.Commit | None:
    """Join the groups, round by round, and commit. None when there was nothing to join."""
    workspace = _open(joining)
    tasks = 0
    try:
        for groups in found:
            tasks += len(groups)
            for part in run.run(join_group, [attrs.evolve(joining, files=group) for group in groups]):
                sums.add(part)
            seen(tasks, tasks)
        commit = workspace.commit(metadata={REWRITE_KEY: "compact"}) if sums.files else None
        if tasks and commit is None:
            _drop(workspace)
        return commit
    except CommitStateUnknownError:
        raise  # it may still be committed
    except BaseException:
        _drop(workspace)
        raise


def _pieces(snapshot: Snapshot, folder: str) -> list[Piece]:
    """Stretches of about as many entries each. They depend on the tree alone, and so do the groups."""
    rows = sum(part.rows for part in snapshot.tree.within(of_prefix(folder)).ranges)
    return snapshot.pieces(folder, rows // _ROWS_PER_TASK)


def _rounds(pieces: Iterable[Piece], most: int) -> Iterator[list[Piece]]:
    """Combine pieces into rounds of at most `most` entries, with at least one piece each."""
    some: list[Piece] = []
    total = 0
    for piece in pieces:
        rows = sum(part.rows for part in piece.tree.ranges)
        if some and total + rows > most:
            yield some
            some, total = [], 0
        some.append(piece)
        total += rows
    if some:
        yield some


def _groups(
    run: Runner, snapshot: Snapshot, folder: str, pieces: Sequence[Piece], sizes: tuple[int, int]
) -> list[tuple[File, ...]]:
    found = run.run(look, [Looking(snapshot.store, piece, folder, *sizes) for piece in pieces])
    return [group for part in found for group in part]


def look(task: Looking) -> list[tuple[File, ...]]:
    """Return groups of small files of one folder, in order of path, each of at least two."""
    groups: list[tuple[File, ...]] = []
    group: list[File] = []
    size, folder = 0, None
    for rows in entries_of(task.store, task.piece, ("path", "size", "checksum")):
        columns = (rows[name].to_pylist() for name in ("path", "size", "checksum"))
        for file in zip(*columns, strict=True):
            if not _is_data(file[0][len(task.folder) :]):
                continue
            here = file[0].rpartition("/")[0]
            is_small = file[1] < task.small
            if here != folder or not is_small or size + file[1] > task.target or len(group) == _MOST_FILES:
                groups.append(tuple(group))
                group, size, folder = [], 0, here
            if is_small:
                group.append(file)
                size += file[1]
    groups.append(tuple(group))
    return [one for one in groups if len(one) > 1]


def join_group(task: Joining) -> list[Compacted]:
    """Write the joined files into the workspace, and delete the originals there. A repeat has no effect."""
    ref = task.access.connect().repository(task.branch.repository).ref(task.commit_id)
    return join(ref, _open(task), task.files)


def _open(task: Joining) -> lakebed.Workspace:
    home = task.access.connect().repository(task.branch.repository)
    return lakebed.Workspace(home, f"{task.branch.ref}+{task.workspace}", task.options)


def _drop(workspace: lakebed.Workspace) -> None:
    with suppress(LakebedError):  # else it expires
        workspace.drop()


def _is_data(below: str) -> bool:
    hidden = any(part.startswith(("_", ".")) and "=" not in part for part in below.split("/"))
    return below.endswith(_ENDINGS) and not hidden


def _planned(group: tuple[File, ...]) -> Compacted:
    return Compacted(
        group[0][0].rpartition("/")[0], tuple(path for path, _, _ in group), sum(file[1] for file in group)
    )


@attrs.define
class _Sums:
    """The totals of a report, over all rounds."""

    files: int = 0
    files_after: int = 0
    bytes: int = 0
    rows: int = 0
    shown: list[Compacted] = attrs.Factory(list)
    named: int = 0

    def add(self, groups: Iterable[Compacted]) -> None:
        for one in groups:
            self.files += len(one.paths)
            self.files_after += 1
            self.bytes += one.bytes
            self.rows += one.rows or 0
            if len(self.shown) < SHOWN and self.named + len(one.paths) <= PATHS_SHOWN:
                self.shown.append(one)
                self.named += len(one.paths)

    def report(self, place: Place, commit: lakebed.Commit | None = None) -> CompactReport:
        return CompactReport(
            ref=str(place),
            files=self.files,
            files_after=self.files_after,
            bytes=self.bytes,
            groups=tuple(self.shown),
            rows=self.rows if commit else None,
            commit=commit,
        )
