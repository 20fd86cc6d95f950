"""Sealed layers as one delta: newest wins, in order of path, window by window.

Reads layers that nobody writes any more; `fold` and compaction take what this yields. Memory: one page or part of each
layer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pyarrow as pa

from lakebed_engine.stores.kv.base import KVStore, Row
from lakebed_engine.tree.cursor import decode_row
from lakebed_engine.tree.manifest import SMALL
from lakebed_engine.tree.rows import delta_table, overlay, path_at, upper_bound
from lakebed_engine.vocabulary.ports import Runtime


def _table(rows: Sequence[Row]) -> pa.Table:
    return delta_table([(row.key.decode(), decode_row(row.value)) for row in rows])


async def token_delta(kv: KVStore, runtime: Runtime, partition: str, page: int) -> AsyncIterator[pa.Table]:
    """The rows of a sealed token, as tables of DELTA_SCHEMA: at most `page` rows each."""
    start = b"\0"  # behind the marker row, whose key is empty
    size = min(page, SMALL)  # most tokens are small, and drivers read a few rows without another thread
    while True:
        rows = await kv.scan(partition, start, None, size)
        if rows:
            yield await runtime.cpu(_table, rows, small=len(rows) <= SMALL)
        if len(rows) < size:
            return
        start = rows[-1].key + b"\0"
        size = page


class _Source:
    """One layer's rows, a table at a time."""

    def __init__(self, tables: AsyncIterator[pa.Table]) -> None:
        self._tables = tables
        self.rows: pa.Table | None = None
        self.more = True

    async def fill(self) -> None:
        if self.rows is None and self.more:
            self.rows = await anext(self._tables, None)
            self.more = self.rows is not None

    def take(self, cut: str) -> pa.Table | None:
        """The rows up to and including `cut`."""
        if self.rows is None:
            return None
        count = upper_bound(self.rows, cut)
        taken = self.rows.slice(0, count)
        self.rows = self.rows.slice(count) if count < self.rows.num_rows else None
        return taken


def _few(pieces: Sequence[pa.Table]) -> bool:
    return bool(sum(piece.num_rows for piece in pieces) <= SMALL)


async def overlaid(runtime: Runtime, layers: Sequence[AsyncIterator[pa.Table]]) -> AsyncIterator[pa.Table]:
    """The delta of several layers, newest first, as tables of DELTA_SCHEMA; tombstones are kept."""
    sources = [_Source(tables) for tables in layers]
    while True:
        for source in sources:
            await source.fill()
        # beyond its table's last path a layer may have rows that are not read yet
        tails = [path_at(source.rows, -1) for source in sources if source.rows is not None]
        if not tails:
            return
        pieces = [rows for source in sources if (rows := source.take(min(tails))) is not None and rows.num_rows]
        yield pieces[0] if len(pieces) == 1 else await runtime.cpu(overlay, pieces, small=_few(pieces))
