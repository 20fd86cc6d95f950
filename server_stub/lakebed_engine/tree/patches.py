"""Patches: the rows that a tree has over its ranges. Combines them, and decides which ones a new patch absorbs.

Pure, CPU only. A patch row contains the values of the ranges at its path (`before`). So two trees over the same ranges
differ exactly in their patches, and comparing them reads no range.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from lakebed_format import PATCH_SCHEMA
from lakebed_format.schemas import compact, flat

from lakebed_engine.tree.manifest import Limits, RangeInfo, Tree
from lakebed_engine.tree.rows import identities, lower_bound, overlay, path_at

NO_PATCH = PATCH_SCHEMA.empty_table()

BEFORE = ("before", "before_bytes")
"""The additional columns of a patch, compared with a delta."""

_BEFORE, _BEFORE_BYTES = (PATCH_SCHEMA.field(name) for name in BEFORE)

_FEW = 16
"""Up to this number of rows, they are inserted into a patch one by one."""


def effective(rows: pa.Table) -> pa.Table:
    """Remove the rows that are equal to those of the ranges below."""
    if rows.num_rows == 0:
        return rows
    before = flat(rows.column("before"))
    ends = np.frombuffer(before.buffers()[1], dtype="<i4", count=len(before) + 1, offset=4 * before.offset)
    deleted = rows.column("deleted").to_numpy()
    if ends[0] == ends[-1] and not deleted.any():  # all of them are new, as in most commits
        return rows
    absent = ends[1:] == ends[:-1]
    same = np.where(deleted, absent, False)
    there = np.flatnonzero(~absent & ~deleted)
    if len(there):
        kept = before.take(pa.array(there)).cast(pa.binary(32))
        words = np.frombuffer(kept.buffers()[1], dtype="<u8", count=4 * len(there)).reshape(-1, 4)
        same[there] = (words == identities(rows)[there]).all(axis=1)
    return compact(rows.filter(pa.array(~same))) if same.any() else rows


def stacked(tables: Sequence[pa.Table], *, whole: bool) -> pa.Table:
    """Combine patches, newest first. `whole`: only ranges are below, so rows that repeat them are left out."""
    rows = compact(tables[0])
    for older in tables[1:]:
        rows = _over(rows, compact(older))
    return effective(rows) if whole else rows


def _over(newer: pa.Table, older: pa.Table) -> pa.Table:
    if newer.num_rows > _FEW:
        return overlay([newer, older])
    if not (newer.num_rows and older.num_rows):
        return newer if newer.num_rows else older
    [above], [below] = newer.to_batches(), older.to_batches()  # as batches: a third of the time of tables
    pieces, start = [], 0
    for index in range(newer.num_rows):
        path = path_at(newer, index)
        at = lower_bound(older, path)
        pieces += [below.slice(start, at - start), above.slice(index, 1)]
        start = at + (at < older.num_rows and path_at(older, at) == path)
    return pa.Table.from_batches([pa.concat_batches([*pieces, below.slice(start)])])


def taken_in(patches: Sequence[RangeInfo], rows: int, limits: Limits) -> int:
    """How many of a tree's patches, newest first, a new patch of `rows` rows absorbs.

    It absorbs small ones, those of about its own size, and more when there would be too many. So the number of times
    that a row is rewritten grows only with the logarithm of the number of rows.
    """
    count = 0
    for info in patches:
        many = len(patches) - count + 1 > limits.patches
        if info.rows > max(limits.small, 4 * rows) and not many:
            break
        rows += info.rows
        count += 1
    return count


def too_much(base: Tree, first: str, last: str, rows: int, size_bytes: int, limits: Limits) -> bool:
    """Whether patches of `rows` rows between two paths should be folded into the ranges."""
    if rows > limits.patch_rows or size_bytes > limits.max_bytes:
        return True
    # rows after the last range would be written into it
    here = base.ranges[min(base.seek(first), len(base.ranges) - 1) : base.seek(last) + 1]
    enough = limits.share * rows
    return not any(total > enough for total in accumulate(info.rows for info in here))


def part_to_fold(base: Tree, rows: pa.Table, limits: Limits) -> Any | None:
    """Select the rows of too large patches to fold now: those over the ranges with the most patch rows.

    Returns a mask with about one row in `limits.portion`, so that no single commit has to rewrite a whole lake. None
    when all rows are over few ranges.
    """
    at = np.array([min(base.seek(path), len(base.ranges) - 1) for path in rows.column("path").to_pylist()])
    counts = np.bincount(at, minlength=len(base.ranges))
    fullest = np.argsort(-counts, kind="stable")
    needed = int(np.searchsorted(np.cumsum(counts[fullest]), rows.num_rows // limits.portion + 1)) + 1
    if np.count_nonzero(counts) <= max(needed, limits.at_once):
        return None
    chosen = np.zeros(len(base.ranges), dtype=bool)
    chosen[fullest[: max(needed, limits.at_once)]] = True
    return chosen[at]


def as_delta(rows: pa.Table) -> pa.Table:
    """Convert patch rows to DELTA_SCHEMA."""
    return rows.drop_columns(list(BEFORE))


def with_before(delta: pa.Table, before: Any, before_bytes: Any) -> pa.Table:
    """Convert delta rows to PATCH_SCHEMA."""
    # building a table of all columns takes ten times as long
    values = before if isinstance(before, pa.Array) else pa.array(before, pa.binary())
    sizes = before_bytes if isinstance(before_bytes, pa.Array) else pa.array(before_bytes, pa.int64())
    return delta.append_column(_BEFORE, values).append_column(_BEFORE_BYTES, sizes)
