"""The difference of two trees, in order of path. It skips ranges that both trees have, without reading them.

It streams in windows of about one range of each side.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lakebed_format import RANGE_SCHEMA
from lakebed_format.schemas import compact, flat

from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.tree.manifest import RangeInfo, Tree
from lakebed_engine.tree.rewrite import merge_rows
from lakebed_engine.tree.rows import (
    as_delta,
    identities,
    live_rows,
    lower_bound,
    path_at,
    prefix_end,
    tombstones,
    upper_bound,
)
from lakebed_engine.tree.trees import KEY_COLUMNS, Trees
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
        """The delta that turns left into right: DELTA_SCHEMA, sorted. Uses only the paths of left."""
        put = as_delta(self.right.take(pa.array(self.at_right[self.at_right >= 0])), deleted=False)
        gone = self.left.column("path").take(pa.array(self.at_left[self.at_right < 0]))
        if len(gone) == 0:
            return put
        both = compact(pa.concat_tables([put, tombstones(flat(gone))]))
        return compact(both.take(pc.sort_indices(both.column("path"))))


def compare(left: pa.Table, right: pa.Table) -> Changes:
    """The differences of two sorted sets of rows, by identity."""
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


Detail = Literal["full", "slim", "delta"]
"""The columns that a diff reads: all of both sides, KEY_COLUMNS of both, or KEY_COLUMNS of the left and all of the
right.
"""


class _Side:
    """One tree: its ranges and its patch over them. Ranges that the other tree does not have are loaded ahead."""

    def __init__(self, ranges: Sequence[RangeInfo], shared: set[str], patch: pa.Table, slim: bool) -> None:
        self.ranges = ranges
        self.shared = shared
        self.patch = patch
        self.slim = slim
        self.index = 0
        self.loaded: dict[str, pa.Table] = {}
        self.rest = _NOTHING

    def wanted(self) -> list[RangeInfo]:
        window = self.ranges[self.index : self.index + _AHEAD]
        return [info for info in window if info.id not in self.shared and info.id not in self.loaded]

    def over(self, last: str | None) -> pa.Table:
        """Remove and return the patch rows up to and including a path, or all remaining ones."""
        if not self.patch.num_rows:
            return self.patch
        count = self.patch.num_rows if last is None else upper_bound(self.patch, last)
        taken, self.patch = self.patch.slice(0, count), self.patch.slice(count)
        return taken

    def shown(self, rows: pa.Table, over: pa.Table) -> pa.Table:
        """Rows of a range with the patch rows over it."""
        return merge_rows(rows, over.select([*rows.column_names, "deleted"]))[0]


async def diff(
    trees: Trees,
    store: ObjectStore,
    runtime: Runtime,
    left: Tree,
    right: Tree,
    *,
    start: str = "",
    prefix: str = "",
    detail: Detail = "full",
) -> AsyncGenerator[Changes, None]:
    """The paths that differ, from `start` on and beginning with `prefix`, in windows in order of path.

    `detail`: reading only KEY_COLUMNS is several times faster. Changes of patches then need no range at all.
    """
    start = max(start, prefix)
    end = prefix_end(prefix) if prefix else None
    if left.id == right.id or (end is not None and start >= end):
        return
    ids = {info.id for info in left.ranges} & {info.id for info in right.ranges}
    over = [_clip(await trees.patch(store, tree), start, end) for tree in (left, right)]
    one = _Side(_between(left, start, end), ids, over[0], detail != "full")
    other = _Side(_between(right, start, end), ids, over[1], detail == "slim")
    walk = _Walk(trees, store, runtime, one, other)
    async for rows_left, rows_right in walk.windows():
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


class _Walk:
    """Both sides together, in windows of rows over the same paths."""

    def __init__(self, trees: Trees, store: ObjectStore, runtime: Runtime, one: _Side, other: _Side) -> None:
        self._trees = trees
        self._store = store
        self._runtime = runtime
        self._one = one
        self._other = other

    async def windows(self) -> AsyncIterator[tuple[pa.Table, pa.Table]]:
        one, other = self._one, self._other
        while True:
            if not one.rest.num_rows and not other.rest.num_rows:
                shared = self._skip_shared()
                overs = [side.over(shared[-1].max_path) if shared else side.patch.slice(0, 0) for side in (one, other)]
                if any(over.num_rows for over in overs):
                    yield await self._over_shared(shared, *overs)
            await self._load()
            tails = [path_at(side.rest, -1) for side in (one, other) if side.rest.num_rows]
            if not tails:
                return
            cut = min(tails)
            yield _take(one, cut), _take(other, cut)

    def _skip_shared(self) -> Sequence[RangeInfo]:
        one, other = self._one, self._other
        first = one.index
        while (
            one.index < len(one.ranges)
            and other.index < len(other.ranges)
            and one.ranges[one.index].id == other.ranges[other.index].id
        ):
            one.index += 1
            other.index += 1
        return one.ranges[first : one.index]

    async def _over_shared(
        self, shared: Sequence[RangeInfo], left: pa.Table, right: pa.Table
    ) -> tuple[pa.Table, pa.Table]:
        """The rows of both sides at the paths of their patches, over ranges that both have."""
        below: list[pa.Table] = []
        for side, mine, theirs in ((self._one, left, right), (self._other, right, left)):
            hidden = pc.is_in(theirs.column("path"), value_set=flat(mine.column("path")))
            only = theirs.filter(pc.and_(pc.invert(hidden), pc.greater(pc.binary_length(theirs.column("before")), 0)))
            below.append(_slim_before(only) if side.slim else await self._rows_at(shared, only.column("path")))
        names = [KEY_COLUMNS if side.slim else tuple(RANGE_SCHEMA.names) for side in (self._one, self._other)]
        return _both(left, below[0], names[0]), _both(right, below[1], names[1])

    async def _rows_at(self, ranges: Sequence[RangeInfo], paths: pa.ChunkedArray) -> pa.Table:
        """The rows of some ranges at some of their paths. The paths are in order."""
        found: list[pa.Table] = [_NOTHING]
        wanted = flat(paths)
        start = 0
        ends = [info.max_path for info in ranges]
        while start < len(wanted):
            info = ranges[bisect_left(ends, wanted[start].as_py())]
            rows = await self._trees.rows(self._store, info)
            found.append(rows.filter(pc.is_in(rows.column("path"), value_set=wanted)))
            while start < len(wanted) and wanted[start].as_py() <= info.max_path:
                start += 1
        return pa.concat_tables(found)

    async def _read(self, side: _Side, info: RangeInfo) -> pa.Table:
        return await (self._trees.keys if side.slim else self._trees.rows)(self._store, info)

    async def _load(self) -> None:
        """Load rows for each side that has more. It may load several ranges, because a patch may hide all rows of a
        range.
        """
        for side in (self._one, self._other):
            while not side.rest.num_rows and side.index < len(side.ranges):
                await self._next_range(side)
            if not side.rest.num_rows:
                side.rest = self._tail(side)

    async def _next_range(self, side: _Side) -> None:
        info = side.ranges[side.index]
        if info.id not in side.loaded:
            jobs = [(some, wanted) for some in (self._one, self._other) for wanted in some.wanted()]
            if info.id in side.shared:
                jobs.append((side, info))
            tables = await self._runtime.gather(
                [lambda some=some, wanted=wanted: self._read(some, wanted) for some, wanted in jobs]  # type: ignore[misc]
            )
            for (some, wanted), table in zip(jobs, tables, strict=True):
                some.loaded[wanted.id] = table
        over = side.over(info.max_path)
        rows = side.loaded.pop(info.id)
        side.rest = await self._runtime.cpu(side.shown, rows, over) if over.num_rows else rows
        side.index += 1

    def _tail(self, side: _Side) -> pa.Table:
        """The patch rows after the last range."""
        if not side.patch.num_rows:
            return _NOTHING
        names = KEY_COLUMNS if side.slim else tuple(RANGE_SCHEMA.names)
        return _both(side.over(None), _NOTHING.select(names), names)


def _slim_before(patch: pa.Table) -> pa.Table:
    """The KEY_COLUMNS of the rows below patch rows."""
    columns = [patch.column("path"), patch.column("before_bytes"), patch.column("before").cast(pa.binary(32))]
    return pa.table(columns, schema=pa.schema([RANGE_SCHEMA.field(name) for name in KEY_COLUMNS]))


def _both(patch: pa.Table, below: pa.Table, names: Sequence[str]) -> pa.Table:
    """Patch rows that are not tombstones, and rows at other paths, in order of path."""
    live = live_rows(patch.select([*names, "deleted"]))
    rows = compact(pa.concat_tables([live, below.select(names)]))
    return compact(rows.take(pc.sort_indices(rows.column("path")))) if below.num_rows else rows


def _take(side: _Side, cut: str) -> pa.Table:
    if not side.rest.num_rows:
        return side.rest
    count = upper_bound(side.rest, cut)
    taken, side.rest = side.rest.slice(0, count), side.rest.slice(count)
    return taken
