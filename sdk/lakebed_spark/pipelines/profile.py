"""Profile: sizes of folders, the share of small files, and the growth. Only reads.

Tasks sum up stretches of the tree. The driver holds one row for each folder and ending.
"""

from __future__ import annotations

import os.path
from collections import defaultdict
from typing import TYPE_CHECKING

import attrs
import lakebed
from lakebed.errors import InvalidRequestError

from lakebed_spark._access import Target, access_to, locate
from lakebed_spark.history.storage import Store
from lakebed_spark.history.tree import Piece
from lakebed_spark.pipelines._entries import Snapshot, rows_of
from lakebed_spark.pipelines._results import FolderSize, Profile, TypeSize
from lakebed_spark.pipelines._runner import Meter, Seen, runner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMALL = 16 << 20
"""Default size below which a file is small, in bytes."""

_ROWS_PER_TASK = 200_000
_LONGEST_ENDING = 12
_FEW = 20

Sums = dict[str, list[int]]
"""For each folder or ending: files, bytes, small files, their bytes."""


@attrs.frozen
class ProfileTask:
    """One task: a part of a tree, below a folder, and how it is summed up."""

    store: Store
    piece: Piece
    folder: str
    depth: int
    small: int


def profile(
    target: Target,
    *,
    spark: SparkSession | None = None,
    depth: int = 1,
    small: int | None = None,
    since: str | None = None,
    commits: int | None = None,
    lake: lakebed.Lake | None = None,
    progress: Seen | None = None,
) -> Profile:
    """Sizes and counts of what is committed below `target`, by folders `depth` levels down and by endings.

    `small` is in bytes (16 MiB). Growth is counted from the ref `since`, or from `commits` commits ago (the first there
    is, when there are fewer). Raises NotFoundError, InvalidRequestError.
    """
    small = SMALL if small is None else small
    if depth < 0 or small < 0 or (commits is not None and commits < 1):
        raise InvalidRequestError("depth and small must not be negative, and commits must be at least 1")
    if since is not None and commits is not None:
        raise InvalidRequestError("pass either since (a ref) or commits (a number) to count the growth, not both")
    place, access = locate(target), access_to(target, lake)
    now = Snapshot.of(access, place.repository, place.ref)
    before = since if commits is None else _ago(now.ref(), commits)
    meter, run = Meter(f"profile {place}"), runner(spark)

    def summed(snapshot: Snapshot) -> tuple[Sums, Sums]:
        rows = sum(part.rows for part in snapshot.tree.ranges)
        pieces = snapshot.pieces(place.folder, max(1, min(4 * run.width, rows // _ROWS_PER_TASK)))
        tasks = [ProfileTask(snapshot.store, piece, place.folder, depth, small) for piece in pieces]
        return _together(run.run(sums_of, tasks, progress or meter))

    folders, endings = summed(now)
    old = None if before is None else summed(Snapshot.of(access, place.repository, before))[0]
    meter.close()
    total = [sum(values) for values in zip(*folders.values(), strict=True)] or [0, 0, 0, 0]
    return Profile(
        ref=str(place),
        commit_id=now.commit_id,
        files=total[0],
        bytes=total[1],
        small=small,
        small_files=total[2],
        small_bytes=total[3],
        since=before,
        folders=tuple(_folder(name, folders.get(name), old) for name in sorted({*folders, *(old or {})})),
        endings=tuple(_largest(endings)),
    )


def sums_of(task: ProfileTask) -> tuple[Sums, Sums]:
    """Sums by folder and by ending."""
    folders: Sums = defaultdict(lambda: [0, 0, 0, 0])
    endings: Sums = defaultdict(lambda: [0, 0, 0, 0])
    cut = len(task.folder)
    for rows in rows_of(task.store, task.piece, ("path", "size_bytes")):
        for path, size in zip(rows["path"].to_pylist(), rows["size_bytes"].to_pylist(), strict=True):
            parts = path[cut:].split("/")
            above = "/".join(parts[:-1][: task.depth])
            is_small = size < task.small
            for sums in (folders[task.folder + above + "/" if above else task.folder], endings[_ending(parts[-1])]):
                sums[0] += 1
                sums[1] += size
                sums[2] += is_small
                sums[3] += size if is_small else 0
    return dict(folders), dict(endings)


def _ending(name: str) -> str:
    ending = os.path.splitext(name)[1].lower()
    return ending if 1 < len(ending) <= _LONGEST_ENDING and not ending[1:].isdigit() else ""


def _together(found: list[tuple[Sums, Sums]]) -> tuple[Sums, Sums]:
    both: tuple[Sums, Sums] = ({}, {})
    for pair in found:
        for total, part in zip(both, pair, strict=True):
            for name, values in part.items():
                total[name] = [one + other for one, other in zip(total.get(name, [0] * 4), values, strict=True)]
    return both


def _folder(name: str, now: list[int] | None, old: Sums | None) -> FolderSize:
    files, size, small_files, small_bytes = now or [0] * 4
    if old is None:
        return FolderSize(name, files, size, small_files, small_bytes)
    before = old.get(name, [0] * 4)
    return FolderSize(name, files, size, small_files, small_bytes, files - before[0], size - before[1])


def _largest(endings: Sums) -> list[TypeSize]:
    found = [TypeSize(name, values[0], values[1]) for name, values in endings.items()]
    return sorted(found, key=lambda one: (-one.bytes, one.ending))[:_FEW]


def _ago(ref: lakebed.Ref, commits: int) -> str:
    """Return the id of the commit `commits` commits before, by first parents."""
    return [commit.id for commit in ref.log(limit=commits + 1, first_parent=True)][-1]
