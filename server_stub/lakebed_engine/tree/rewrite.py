"""Folds a delta into the ranges of a tree. Only ranges that change are rewritten (`PROTOCOL.md` 3, COMMIT).

The delta is a stream. Memory is bounded by a few ranges, not by the delta. `TreeWriter` writes the ranges of the new
tree in order: it closes a range where the paths determine it, and copies unchanged ranges by reference.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lakebed_format.schemas import compact
from lakebed_format.tree.split import MAX_BYTES, MIN_BYTES, closes, split_points, total_size

from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.tree.manifest import Limits, RangeInfo, Tree
from lakebed_engine.tree.rows import identities, live_rows, lower_bound, path_at, upper_bound
from lakebed_engine.tree.trees import Trees, Write, write_all
from lakebed_engine.vocabulary.ports import Runtime

_AT_ONCE = 4
"""Ranges that are merged, encoded and written together."""


class Folded(NamedTuple):
    """The new tree, the number of changed paths, and the number of written ranges and patches."""

    tree: Tree
    changed: int
    written: int


def merge_rows(base: pa.Table, delta: pa.Table, relocate: bool = False) -> tuple[pa.Table, int]:
    """Apply `delta` to the rows of `base`, both sorted by path. Returns the rows and the number of changed paths.

    A row of the delta changes nothing if its identity is equal, or if it is a tombstone for a missing path. With
    `relocate`, its address must be equal, too.
    """
    at = pc.index_in(delta.column("path"), value_set=base.column("path")).fill_null(-1).to_numpy()
    deleted = delta.column("deleted").to_numpy()
    known = at >= 0
    same = np.zeros(len(at), dtype=bool)
    if known.any():
        same[known] = (identities(base)[at[known]] == identities(delta)[known]).all(axis=1)
        if relocate:
            here = base.column("physical_address").take(pa.array(at[known]))
            same[known] &= pc.equal(here, delta.column("physical_address").filter(pa.array(known))).to_numpy()
    changes = np.where(deleted, known, ~same)
    changed = int(changes.sum())
    if not changed:
        return base, 0
    new = live_rows(delta.filter(pa.array(changes)))
    if not (changes & ~known).any():
        # every changed path exists already: replace or remove its row; nothing must be sorted
        order = np.arange(base.num_rows)
        replaced = at[changes & ~deleted]
        order[replaced] = base.num_rows + np.arange(len(replaced))
        order = np.delete(order, at[changes & deleted])
        return compact(pa.concat_tables([base, new]).take(pa.array(order))), changed
    keep = np.ones(base.num_rows, dtype=bool)
    keep[at[changes & known]] = False
    merged = pa.concat_tables([base.filter(pa.array(keep)), new]).combine_chunks()
    return compact(merged.take(pc.sort_indices(merged.column("path")))), changed


class _RangeMerge:
    """One base range and the delta rows that belong to it.

    Usually it collects all rows, merges several ranges together (`prepare`), and writes the results in order
    (`finish`). It merges and writes a delta of more than `Limits.piece` rows for one range piece by piece while it
    arrives.
    """

    def __init__(self, fold: _Fold, info: RangeInfo) -> None:
        self._fold = fold
        self._info = info
        self._base: pa.Table | None = None
        self._kept = 0  # base rows that were already passed to the writer
        self._window: list[pa.Table] = []
        self._rows = 0
        self._touched = False
        self._merged: tuple[int, int, pa.Table, int] | None = None

    async def feed(self, delta: pa.Table) -> None:
        self._window.append(delta)
        self._rows += delta.num_rows
        if self._rows >= self._fold.piece:
            await self._fold.flush()
            await self.prepare()
            await self._emit()

    async def prepare(self) -> None:
        """Merge the collected rows. Writes nothing."""
        if not self._window:
            return
        fold = self._fold
        delta = compact(pa.concat_tables(self._window))
        self._window, self._rows = [], 0
        if self._base is None:
            self._base = await fold.trees.rows(fold.store, self._info)
        # only the base rows between the delta's first and last path can change
        first = lower_bound(self._base, path_at(delta, 0))
        end = upper_bound(self._base, path_at(delta, -1))
        here = self._base.slice(first, end - first)
        merged, changed = await fold.runtime.cpu(merge_rows, here, delta, fold.relocate)
        self._merged = (first, end, merged, changed)

    async def _emit(self) -> None:
        if self._merged is None:
            return
        assert self._base is not None
        first, end, merged, changed = self._merged
        self._merged = None
        if changed:
            self._touched = True
            self._fold.changed += changed
            await self._fold.writer.add(self._base.slice(self._kept, first - self._kept))
            await self._fold.writer.add(merged)
            self._kept = end

    async def finish(self) -> None:
        """Rewrite the range, or copy it by reference if it is unchanged."""
        await self._emit()
        if not self._touched:
            await self._fold.writer.copy(self._info)
        else:
            assert self._base is not None
            await self._fold.writer.add(self._base.slice(self._kept))


class _Fold:
    def __init__(
        self,
        trees: Trees,
        store: ObjectStore,
        runtime: Runtime,
        base: Tree,
        writer: TreeWriter,
        piece: int,
        relocate: bool,
    ) -> None:
        self.piece = piece
        self.relocate = relocate
        self.trees = trees
        self.store = store
        self.runtime = runtime
        self.base = base
        self.writer = writer
        self.changed = 0
        self._index = 0
        self._current: _RangeMerge | None = None
        self._waiting: list[_RangeMerge | RangeInfo] = []

    async def take(self, delta: pa.Table) -> None:
        while delta.num_rows:
            if self._index == len(self.base.ranges):
                await self.flush()
                rows = live_rows(delta)
                self.changed += rows.num_rows
                await self.writer.add(rows)
                return
            info = self.base.ranges[self._index]
            count = delta.num_rows if self._open_ended(info) else upper_bound(delta, info.max_path)
            if count:
                self._current = self._current or _RangeMerge(self, info)
                await self._current.feed(delta.slice(0, count))
                delta = delta.slice(count)
            if delta.num_rows:
                await self._next(info)

    async def rest(self) -> None:
        while self._index < len(self.base.ranges):
            await self._next(self.base.ranges[self._index])
        await self.flush()

    def _open_ended(self, info: RangeInfo) -> bool:
        """Whether later rows belong in this range: true for the last range if only the end of the tree closed it."""
        last = self._index == len(self.base.ranges) - 1
        return last and not self.writer.closes(info)

    async def _next(self, info: RangeInfo) -> None:
        self._waiting.append(self._current or info)
        self._current = None
        self._index += 1
        if sum(isinstance(one, _RangeMerge) for one in self._waiting) >= _AT_ONCE:
            await self.flush()

    async def flush(self) -> None:
        """Merge the waiting ranges, several together, and write them in order."""
        waiting, self._waiting = self._waiting, []
        merges = [one for one in waiting if isinstance(one, _RangeMerge)]
        if merges:
            await self.runtime.gather([one.prepare for one in merges])
        for one in waiting:
            if isinstance(one, _RangeMerge):
                await one.finish()
            else:
                await self.writer.copy(one)


async def rewrite(
    trees: Trees,
    store: ObjectStore,
    runtime: Runtime,
    base: Tree,
    delta: AsyncIterator[pa.Table],
    limits: Limits,
    later: list[Write] | None = None,
    over: tuple[RangeInfo, ...] = (),
    *,
    relocate: bool = False,
) -> Folded:
    """Apply `delta` to the ranges of `base`, ignoring its patches, and write the changed ranges.

    With `later`, it adds the last files there instead of writing them. The new tree has the patches `over`. With
    `relocate`, a row that differs only in its address is a change.
    """
    writer = TreeWriter(trees, store, runtime, min_bytes=limits.min_bytes, max_bytes=limits.max_bytes)
    work = _Fold(trees, store, runtime, base, writer, limits.piece, relocate)
    async for piece in delta:
        await work.take(piece)
    await work.rest()
    ranges, puts = await writer.finish()
    if not work.changed:
        return Folded(base, 0, writer.written)
    tree, save = trees.named(store, ranges, over)
    await written(runtime, [save, *puts], later)
    return Folded(tree, work.changed, writer.written)


async def written(runtime: Runtime, writes: list[Write], later: list[Write] | None) -> None:
    """Write the last files of a tree at the same time, before any file names them; or leave this to the caller."""
    if later is None:
        await write_all(runtime, writes)
    else:
        later += writes


class TreeWriter:
    """Receives rows and references in order of path. `finish` returns the tree.

    A range is rewritten only when its rows changed, or when the rows before it end in a piece that is too small for a
    range. Such a piece is joined with only one neighbour, so that a change of one key writes at most 3 ranges.
    """

    def __init__(self, trees: Trees, store: ObjectStore, runtime: Runtime, *, min_bytes: int = MIN_BYTES,
                 max_bytes: int = MAX_BYTES) -> None:  # fmt: skip
        self._trees = trees
        self._store = store
        self._runtime = runtime
        self._min = min_bytes
        self._max = max_bytes
        self._open: list[pa.Table] = []
        self._open_bytes = 0
        self._joined = False
        self._full: list[tuple[int, pa.Table, int]] = []
        self._done: list[RangeInfo | None] = []
        self.written = 0

    def closes(self, info: RangeInfo) -> bool:
        """Whether a range is complete: otherwise more rows belong in it."""
        return closes(info.max_path, info.size_bytes, min_bytes=self._min, max_bytes=self._max)

    async def add(self, rows: pa.Table) -> None:
        """Add rows of RANGE_SCHEMA. Their paths must follow all earlier ones."""
        if rows.num_rows == 0:
            return
        self._open.append(rows)
        self._open_bytes += total_size(rows)
        if self._open_bytes >= self._max:
            await self._cut()

    async def copy(self, info: RangeInfo) -> None:
        """Add a whole, unchanged range. An open range before it is closed first, or joined with it if too small."""
        if self._open:
            await self._cut()
        if self._open:
            if not self._joined and self._open_bytes < self._min:
                self._joined = True
                await self.add(await self._trees.rows(self._store, info))
                return
            await self._close_rest()
        self._joined = False
        self._done.append(info)

    async def finish(self) -> tuple[list[RangeInfo], list[Write]]:
        """The ranges of the whole tree, in order, and the remaining writes that make the last of them durable."""
        if self._open:
            await self._cut()
        if self._open:
            await self._close_rest()
        puts = await self._encode()
        assert None not in self._done
        return [info for info in self._done if info is not None], puts

    async def _cut(self) -> None:
        rows = pa.concat_tables(self._open).combine_chunks()
        start = 0
        for end in split_points(rows, min_bytes=self._min, max_bytes=self._max):
            await self._emit(rows.slice(start, end - start))
            start = end
        rest = rows.slice(start)
        self._open = [rest] if rest.num_rows else []
        self._open_bytes = total_size(rest) if rest.num_rows else 0

    async def _close_rest(self) -> None:
        rows = pa.concat_tables(self._open)
        self._open, self._open_bytes = [], 0
        await self._emit(rows)

    async def _emit(self, rows: pa.Table) -> None:
        self._full.append((len(self._done), rows, total_size(rows)))
        self._done.append(None)
        if len(self._full) >= _AT_ONCE:
            await self._flush()

    async def _flush(self) -> None:
        await write_all(self._runtime, await self._encode())

    async def _encode(self) -> list[Write]:
        full, self._full = self._full, []
        if not full:
            return []
        made = await self._runtime.gather(
            [lambda r=rows, s=size: self._trees.encode(self._store, r, s) for _, rows, size in full]  # type: ignore[misc]
        )
        for (index, _, _), (info, _) in zip(full, made, strict=True):
            self._done[index] = info
            self.written += 1
        return [put for _, put in made]
