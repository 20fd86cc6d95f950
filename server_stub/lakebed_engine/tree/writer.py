"""Writes the ranges of a new tree in order: closes them where their paths say, copies untouched ones by reference.

Memory: at most a few ranges of rows at a time.
"""

from __future__ import annotations

import pyarrow as pa
from lakebed_format.split import MAX_BYTES, MIN_BYTES, closes, split_points, total_size

from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.tree.manifest import RangeInfo
from lakebed_engine.tree.trees import Trees, Write, write_all
from lakebed_engine.vocabulary.ports import Runtime

_AT_ONCE = 4
"""Ranges encoded and written together."""


class TreeWriter:
    """Takes rows and references in order of path; `finish` gives the tree.

    A range is rewritten only when rows of it changed, or when the rows before it ended in a piece too small to
    stand alone; then one neighbour is joined to it and no more, so that a one-key change writes at most 3 ranges.
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
        """Whether a range is complete as it stands, or would take more rows."""
        return closes(info.max_path, info.size_bytes, min_bytes=self._min, max_bytes=self._max)

    async def add(self, rows: pa.Table) -> None:
        """Rows of RANGE_SCHEMA that follow all that came before."""
        if rows.num_rows == 0:
            return
        self._open.append(rows)
        self._open_bytes += total_size(rows)
        if self._open_bytes >= self._max:
            await self._cut()

    async def copy(self, info: RangeInfo) -> None:
        """A whole range, unchanged. What is open before it is closed first, or joined with it when too small."""
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
        """The ranges of the whole tree, in order, and what still has to be done to make the last of them durable."""
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
