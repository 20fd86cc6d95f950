"""The difference of two trees, in order of path: ranges that both have are skipped without being read.

Above `trees` and `rows`. Streams in windows of about one range a side.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lakebed_format import RANGE_SCHEMA
from lakebed_format.schemas import flat

from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.tree.rows import as_delta, identities, lower_bound, path_at, prefix_end, upper_bound
from lakebed_engine.tree.trees import RangeInfo, Tree, Trees
from lakebed_engine.vocabulary.ports import Runtime

_AHEAD = 8
"""Ranges of each side that are loaded together."""

_NOTHING = RANGE_SCHEMA.empty_table()


class Changes(NamedTuple):
    """Changed paths in order: `at_left` and `at_right` index the rows of the two tables, -1 where absent."""

    left: pa.Table
    right: pa.Table
    at_left: Any
    at_right: Any

    def __len__(self) -> int:
        return len(self.at_left)

    def as_delta(self) -> pa.Table:
        """The delta that turns left into right: DELTA_SCHEMA, sorted."""
        put = self.right.take(pa.array(self.at_right[self.at_right >= 0]))
        gone = self.left.take(pa.array(self.at_left[self.at_right < 0]))
        if gone.num_rows == 0:
            return as_delta(put, deleted=False)
        both = pa.concat_tables([as_delta(put, deleted=False), as_delta(gone, deleted=True)]).combine_chunks()
        return both.take(pc.sort_indices(both.column("path"))).combine_chunks()


def compare(left: pa.Table, right: pa.Table) -> Changes:
    """What differs between two sorted sets of rows, by identity."""
    if left.num_rows == right.num_rows and left.column("path").equals(right.column("path")):
        differ = np.flatnonzero((identities(left) != identities(right)).any(axis=1))
        return Changes(left, right, differ, differ)
    at = pc.index_in(right.column("path"), value_set=left.column("path")).fill_null(-1).to_numpy().astype(np.int64)
    known = at >= 0
    same = np.zeros(right.num_rows, dtype=bool)
    if known.any():
        same[known] = (identities(left)[at[known]] == identities(right)[known]).all(axis=1)
    in_right = np.flatnonzero(~same)
    removed = np.ones(left.num_rows, dtype=bool)
    removed[at[known]] = False
    in_left = np.flatnonzero(removed)
    at_left = np.concatenate([at[in_right], in_left])
    at_right = np.concatenate([in_right, np.full(len(in_left), -1, dtype=np.int64)])
    if len(in_left) and len(in_right):
        paths = pa.concat_arrays([_paths(right, in_right), _paths(left, in_left)])
        order = pc.sort_indices(paths).to_numpy()
        at_left, at_right = at_left[order], at_right[order]
    return Changes(left, right, at_left, at_right)


def _paths(rows: pa.Table, at: Any) -> Any:
    return flat(rows.column("path")).take(pa.array(at))


class _Side:
    """One tree's ranges that the other does not have, loaded ahead."""

    def __init__(self, ranges: Sequence[RangeInfo], shared: set[str]) -> None:
        self.ranges = ranges
        self.shared = shared
        self.index = 0
        self.loaded: dict[str, pa.Table] = {}
        self.rest = _NOTHING

    def wanted(self) -> list[RangeInfo]:
        window = self.ranges[self.index : self.index + _AHEAD]
        return [info for info in window if info.id not in self.shared and info.id not in self.loaded]


async def diff(
    trees: Trees,
    store: ObjectStore,
    runtime: Runtime,
    left: Tree,
    right: Tree,
    *,
    start: str = "",
    prefix: str = "",
    slim: bool = False,
) -> AsyncIterator[Changes]:
    """The paths that differ, from `start` on and beginning with `prefix`, in windows in order of path.

    `slim`: the rows may have only KEY_COLUMNS, which is several times faster.
    """
    start = max(start, prefix)
    end = prefix_end(prefix) if prefix else None
    if left.id == right.id or (end is not None and start >= end):
        return
    ids = {info.id for info in left.ranges} & {info.id for info in right.ranges}
    one = _Side(_between(left, start, end), ids)
    other = _Side(_between(right, start, end), ids)
    read = trees.keys if slim else trees.rows

    async def load(infos: Sequence[RangeInfo]) -> list[pa.Table]:
        return await runtime.gather([lambda info=info: read(store, info) for info in infos])  # type: ignore[misc]

    async for rows_left, rows_right in _windows(load, one, other):
        changes = await runtime.cpu(compare, _clip(rows_left, start, end), _clip(rows_right, start, end))
        if len(changes):
            yield changes


def _between(tree: Tree, start: str, end: str | None) -> Sequence[RangeInfo]:
    found = tree.ranges[tree.seek(start) :]
    if end is not None:
        found = tuple(info for info in found if info.min_path < end)
    return found


def _clip(rows: pa.Table, start: str, end: str | None) -> pa.Table:
    if rows.num_rows == 0:
        return rows
    first = lower_bound(rows, start) if start else 0
    last = lower_bound(rows, end) if end is not None else rows.num_rows
    return rows.slice(first, max(0, last - first))


Load = Callable[[Sequence[RangeInfo]], Awaitable[list[pa.Table]]]


async def _windows(load: Load, one: _Side, other: _Side) -> AsyncIterator[tuple[pa.Table, pa.Table]]:
    while True:
        if not one.rest.num_rows and not other.rest.num_rows:
            _skip_shared(one, other)
        await _load(load, one, other)
        tails = [path_at(side.rest, -1) for side in (one, other) if side.rest.num_rows]
        if not tails:
            return
        cut = min(tails)
        yield _take(one, cut), _take(other, cut)


def _skip_shared(one: _Side, other: _Side) -> None:
    while (
        one.index < len(one.ranges)
        and other.index < len(other.ranges)
        and one.ranges[one.index].id == other.ranges[other.index].id
    ):
        one.index += 1
        other.index += 1


async def _load(load: Load, one: _Side, other: _Side) -> None:
    """Make sure that each side that has more ranges has rows to compare."""
    for side in (one, other):
        if side.rest.num_rows or side.index == len(side.ranges):
            continue
        info = side.ranges[side.index]
        if info.id not in side.loaded:
            jobs = [(some, wanted) for some in (one, other) for wanted in some.wanted()]
            if info.id in side.shared:
                jobs.append((side, info))
            tables = await load([wanted for _, wanted in jobs])
            for (some, wanted), table in zip(jobs, tables, strict=True):
                some.loaded[wanted.id] = table
        side.rest = side.loaded.pop(info.id)
        side.index += 1


def _take(side: _Side, cut: str) -> pa.Table:
    if not side.rest.num_rows:
        return side.rest
    count = upper_bound(side.rest, cut)
    taken, side.rest = side.rest.slice(0, count), side.rest.slice(count)
    return taken
