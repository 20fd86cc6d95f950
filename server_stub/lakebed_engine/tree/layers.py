"""Layers of uncommitted rows: written as files, read, and merged into one delta.

A file layer is a delta of any size in immutable files. It is written once, and read like a tree with tombstones.
`overlaid` merges sealed layers: the newest row of a path wins. It keeps one page or part of each layer in memory.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Self

import pyarrow as pa
from lakebed_format.schemas import compact
from lakebed_format.tree.files import encode_layer
from lakebed_format.tree.split import row_sizes

from lakebed_engine.stores.kv.base import KVStore, Row
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.tree.manifest import SMALL
from lakebed_engine.tree.rows import decode_row, delta_table, overlay, path_at, upper_bound
from lakebed_engine.tree.trees import RangeInfo, Tree, Trees, Write, write_all
from lakebed_engine.vocabulary.ports import Runtime
from lakebed_engine.vocabulary.records import Layer, LayerPart

_AT_ONCE = 4
"""Parts that are encoded and written together."""


def layer_tree(layer: Layer) -> Tree:
    """A file layer as a tree."""
    ranges = tuple(RangeInfo(*part_fields(part), "layer") for part in layer.parts)
    return Tree(f"layer/{layer.id}", ranges, [info.max_path for info in ranges])


def part_fields(part: LayerPart) -> tuple[str, str, str, int, int]:
    """Id, first and last path, rows and bytes."""
    return part.id, part.min_path, part.max_path, part.rows, part.bytes


async def layer_delta(trees: Trees, store: ObjectStore, tree: Tree) -> AsyncIterator[pa.Table]:
    """All rows of a layer, in order, as tables of DELTA_SCHEMA."""
    for index, info in enumerate(tree.ranges):
        for following in tree.ranges[index + 1 : index + 2]:
            trees.ahead(store, following)
        yield await trees.rows(store, info)


class LayerWriter:
    """Writes the parts of a layer, of `max_bytes` each, while its rows arrive in order of path. Use it with `async
    with`.

    Memory: a few parts.
    """

    def __init__(self, store: ObjectStore, runtime: Runtime, layer_id: str, max_bytes: int) -> None:
        self._store = store
        self._runtime = runtime
        self._id = layer_id
        self._max_bytes = max_bytes
        self._open: list[pa.Table] = []
        self._open_bytes = 0
        self._full: list[Write] = []
        self._parts: list[LayerPart] = []

    async def add(self, rows: pa.Table) -> None:
        """Add rows of DELTA_SCHEMA. Their paths must follow all earlier ones."""
        if rows.num_rows == 0:
            return
        self._open.append(rows)
        self._open_bytes += int(row_sizes(rows).sum())
        if self._open_bytes >= self._max_bytes:
            self._cut()
        if len(self._full) == _AT_ONCE:
            await self._make_room()

    async def finish(self) -> Layer:
        """Write the last part, and return the layer when everything is durable. A layer without rows has no parts."""
        if self._open:
            self._cut()
        await write_all(self._runtime, self._full)
        self._full = []
        return Layer(self._id, "file", tuple(self._parts))

    def _cut(self) -> None:
        rows = pa.concat_tables(self._open)
        part = LayerPart(
            f"{self._id}-{len(self._parts):05d}", path_at(rows, 0), path_at(rows, -1), rows.num_rows, self._open_bytes
        )
        self._open, self._open_bytes = [], 0
        self._parts.append(part)
        write = Write(partial(self._write, part, rows))
        write.begin(self._runtime)  # while rows arrive
        self._full.append(write)

    async def _make_room(self) -> None:
        if self._full[0].begun:
            await self._full.pop(0)()
            return
        full, self._full = self._full, []
        await write_all(self._runtime, full)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        """Wait for the writes that have begun, so that nothing is written afterwards."""
        full, self._full = self._full, []
        for write in full:
            if write.begun:
                with suppress(Exception):
                    await write()

    async def _write(self, part: LayerPart, rows: pa.Table) -> None:
        data = await self._runtime.cpu(_encoded, rows, part.id)
        await self._store.put(RangeInfo(*part_fields(part), "layer").file, data)


def _encoded(rows: pa.Table, part_id: str) -> bytes:
    return encode_layer(compact(rows), part_id)


async def write_layer(
    store: ObjectStore, runtime: Runtime, layer_id: str, delta: AsyncIterator[pa.Table], max_bytes: int
) -> Layer:
    """Write a delta as a file layer, in parts of `max_bytes`, durably. Nothing names it yet."""
    async with LayerWriter(store, runtime, layer_id, max_bytes) as writer:
        async for rows in delta:
            await writer.add(rows)
        return await writer.finish()


def _table(rows: Sequence[Row]) -> pa.Table:
    return delta_table([(row.key.decode(), decode_row(row.value)) for row in rows])


async def token_delta(kv: KVStore, runtime: Runtime, partition: str, page: int) -> AsyncIterator[pa.Table]:
    """The rows of a sealed token, as tables of DELTA_SCHEMA: at most `page` rows each."""
    start = b"\0"  # after the marker row, whose key is empty
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
    """The rows of a layer, one table at a time."""

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
    """The delta of several layers, newest first, as tables of DELTA_SCHEMA. Keeps tombstones."""
    sources = [_Source(tables) for tables in layers]
    while True:
        for source in sources:
            await source.fill()
        # a layer may have unread rows after the last path of its table
        tails = [path_at(source.rows, -1) for source in sources if source.rows is not None]
        if not tails:
            return
        pieces = [rows for source in sources if (rows := source.take(min(tails))) is not None and rows.num_rows]
        yield pieces[0] if len(pieces) == 1 else await runtime.cpu(overlay, pieces, small=_few(pieces))
