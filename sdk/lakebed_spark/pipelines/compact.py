"""Compact: small Parquet files of each folder become few, in one commit. Rows and their order stay as they are.

Tasks look for small files in stretches of the tree, then each group becomes one file: read, written and counted in
bounded memory. Everything happens in a workspace on the commit that was looked at: whoever changes one of the files
meanwhile makes the commit a conflict, and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import attrs
import lakebed
from lakebed._workspaces import WorkspaceOptions, new_id
from lakebed.errors import CommitStateUnknownError, InvalidRequestError, LakebedError

from lakebed_spark._access import Access, Place, Target, access_to, locate
from lakebed_spark._marks import REWRITE_KEY
from lakebed_spark.history.storage import Store
from lakebed_spark.history.tree import Piece
from lakebed_spark.pipelines._entries import Snapshot, entries_of
from lakebed_spark.pipelines._joining import join
from lakebed_spark.pipelines._results import Compacted, CompactReport
from lakebed_spark.pipelines._runner import Meter, Seen, runner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TARGET = 128 << 20
"""Bytes that a file should have, unless told otherwise."""

SHOWN = 1000
"""Groups that a report names."""

_LIFETIME = 24 * 3600
_ENDINGS = (".parquet", ".parq")

File = tuple[str, int, str]
"""Path, size in bytes, checksum."""


@attrs.frozen
class Looking:
    """A task: a stretch of a table in which small files are looked for. Files below `small` bytes are."""

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
    files: tuple[File, ...]


def compact(
    target: Target,
    *,
    spark: SparkSession | None = None,
    target_bytes: int | None = None,
    small_bytes: int | None = None,
    dry_run: bool = False,
    message: str | None = None,
    lake: lakebed.Lake | None = None,
    progress: Seen | None = None,
) -> CompactReport:
    """Put small Parquet files of the folder `target` of a branch together, folder by folder, in one commit.

    Files below `small_bytes` (half of `target_bytes` by default) that stand side by side become files of about
    `target_bytes` (128 MiB); where their schemas differ, only runs of one schema do. Files whose names, or whose
    folders' names, begin with `_` or `.` are left. `dry_run` only reports.

    Raises ConcurrentCommitError when one of the files was changed meanwhile, DirtyBranchError, ReadOnlyRefError,
    TableFormatError for a damaged file: then nothing was committed.
    """
    target_bytes = TARGET if target_bytes is None else target_bytes
    small = target_bytes // 2 if small_bytes is None else small_bytes
    if target_bytes < 1 or not 0 < small <= target_bytes:
        raise InvalidRequestError("target_bytes must be at least 1, and small_bytes between 1 and target_bytes")
    place, access = locate(target), access_to(target, lake)
    if not isinstance(place.writer(access.connect()), lakebed.Branch):
        raise place.read_only()
    snapshot = Snapshot.of(access, place.repository, place.ref)
    run, meter = runner(spark), Meter(f"compact {place}")
    stretches = [
        Looking(snapshot.store, piece, place.folder, target_bytes, small)
        for piece in snapshot.pieces(place.folder, 4 * run.width)
    ]
    groups = [group for part in run.run(look, stretches) for group in part]
    if dry_run or not groups:
        meter.close()
        return _report(place, groups)
    text = message or f"Compact {place}"
    options = WorkspaceOptions(text, "rebase", _LIFETIME, base=snapshot.commit_id)
    workspace = _open(access, place, new_id(), options)
    try:
        tasks = [Joining(access, place, workspace.workspace_id, options, snapshot.commit_id, group) for group in groups]
        done = [one for part in run.run(join_group, tasks, progress or meter) for one in part]
        commit = workspace.commit(metadata={REWRITE_KEY: "compact"}) if done else None
        if commit is None:
            _drop(workspace)
        return _done(place, done, commit)
    except CommitStateUnknownError:
        raise  # it may be committed yet
    except BaseException:
        _drop(workspace)
        raise
    finally:
        meter.close()


def look(task: Looking) -> list[tuple[File, ...]]:
    """Groups of small files of one folder, in order of path, each of at least two."""
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
            if here != folder or not is_small or size + file[1] > task.target:
                groups.append(tuple(group))
                group, size, folder = [], 0, here
            if is_small:
                group.append(file)
                size += file[1]
    groups.append(tuple(group))
    return [one for one in groups if len(one) > 1]


def join_group(task: Joining) -> list[Compacted]:
    """Write what the files become into the workspace, and delete them there. Done twice, it is done once."""
    ref = task.access.connect().repository(task.branch.repository).ref(task.commit_id)
    workspace = _open(task.access, task.branch, task.workspace, task.options)
    return join(ref, workspace, task.files)


def _open(access: Access, place: Place, found_id: str, options: WorkspaceOptions) -> lakebed.Workspace:
    home = access.connect().repository(place.repository)
    return lakebed.Workspace(home, f"{place.ref}+{found_id}", options)


def _drop(workspace: lakebed.Workspace) -> None:
    with suppress(LakebedError):  # else it expires
        workspace.drop()


def _is_data(below: str) -> bool:
    hidden = any(part.startswith(("_", ".")) and "=" not in part for part in below.split("/"))
    return below.endswith(_ENDINGS) and not hidden


def _report(place: Place, groups: Sequence[tuple[File, ...]]) -> CompactReport:
    shown = [
        Compacted(group[0][0].rpartition("/")[0], tuple(path for path, _, _ in group), sum(file[1] for file in group))
        for group in groups
    ]
    return _summed(place, shown, None, None)


def _done(place: Place, done: Sequence[Compacted], commit: lakebed.Commit | None) -> CompactReport:
    return _summed(place, done, sum(one.rows or 0 for one in done), commit)


def _summed(
    place: Place, groups: Sequence[Compacted], rows: int | None, commit: lakebed.Commit | None
) -> CompactReport:
    return CompactReport(
        ref=str(place),
        files=sum(len(one.paths) for one in groups),
        files_after=len(groups),
        bytes=sum(one.bytes for one in groups),
        groups=tuple(groups[:SHOWN]),
        rows=rows,
        commit=commit,
    )
