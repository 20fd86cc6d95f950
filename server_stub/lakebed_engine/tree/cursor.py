"""Cursors: one row after another in order of path, over a tree, over staged rows, and over both.

Above `trees`. For pages and single look-ups in order; bulk work folds and diffs instead.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Protocol

import msgspec

from lakebed_engine.stores.kv.base import KVStore, Row
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.tree.block import Block
from lakebed_engine.tree.outline import Tree, single
from lakebed_engine.tree.trees import Trees
from lakebed_engine.vocabulary.records import Entry

TOMBSTONE = b""
"""The staged value of a deleted path."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Entry)


def encode_row(entry: Entry | None) -> bytes:
    """A staged row: msgpack of the entry, or a tombstone."""
    return TOMBSTONE if entry is None else _encoder.encode(entry)


def decode_row(value: bytes) -> Entry | None:
    """The entry of a staged row, None for a tombstone."""
    return None if value == TOMBSTONE else _decoder.decode(value)


class Cursor(Protocol):
    """Stands at a row, or past the end when `path` is None."""

    path: str | None

    async def seek(self, path: str) -> None:
        """Go to the first row at or after `path`."""
        ...

    async def next(self) -> None:
        """Go to the next row."""
        ...

    def entry(self) -> Entry | None:
        """The row's entry; None for a tombstone."""
        ...


class TreeCursor:
    """Over the rows of a tree without patches, of a patch or of a layer."""

    def __init__(self, trees: Trees, store: ObjectStore, tree: Tree) -> None:
        assert not tree.patches, "tree_cursor() reads through patches"
        self._trees = trees
        self._store = store
        self._tree = tree
        self._range = 0
        self._block: Block | None = None
        self._at = 0
        self._after: str | None = None
        self.path: str | None = None

    def ahead(self, path: str) -> None:
        """Begin to fetch what `seek` will need."""
        at = self._tree.seek(path)
        if at < len(self._tree.ranges):
            self._trees.ahead(self._store, self._tree.ranges[at])

    async def seek(self, path: str) -> None:
        """Go to the first row at or after `path`."""
        self._range = self._tree.seek(path)
        await self._enter(path)

    async def _enter(self, path: str) -> None:
        if self._range == len(self._tree.ranges):
            self.path, self._block = None, None
            return
        info = self._tree.ranges[self._range]
        path = max(path, info.min_path)
        self._block, self._after = await self._trees.block(self._store, info, path)
        if self._after is None and self._range + 1 < len(self._tree.ranges):
            self._trees.ahead(self._store, self._tree.ranges[self._range + 1])
        self._at = self._block.seek(path)
        self.path = self._block.path(self._at)

    async def next(self) -> None:
        """Go to the next row."""
        assert self._block is not None
        self._at += 1
        if self._at < self._block.count:
            self.path = self._block.path(self._at)
        elif self._after is not None:
            await self._enter(self._after)
        else:
            self._range += 1
            await self._enter("")

    def entry(self) -> Entry | None:
        """The row's entry; None for a tombstone of a layer or patch."""
        assert self._block is not None
        return self._block.entry(self._at)


class StagedCursor:
    """Over the rows of one staging token."""

    def __init__(self, kv: KVStore, partition: str, page: int = 1000) -> None:
        self._kv = kv
        self._partition = partition
        self._page = page
        self._rows: list[Row] = []
        self._at = 0
        self._full = False
        self.path: str | None = None

    async def seek(self, path: str) -> None:
        """Go to the first row at or after `path`."""
        key = path.encode() or b"\0"  # the row with the empty key is the token's marker, no path
        if self._rows and self._rows[0].key <= key and (key <= self._rows[-1].key or not self._full):
            self._at = bisect_left(self._rows, key, key=lambda row: row.key)
        else:
            await self._read(key)
        self._stand()

    async def _read(self, key: bytes) -> None:
        self._rows = await self._kv.scan(self._partition, key, None, self._page)
        self._full = len(self._rows) == self._page
        self._at = 0

    def _stand(self) -> None:
        self.path = self._rows[self._at].key.decode() if self._at < len(self._rows) else None

    async def next(self) -> None:
        """Go to the next row."""
        self._at += 1
        if self._at == len(self._rows) and self._full:
            await self._read(self._rows[-1].key + b"\0")
        self._stand()

    def entry(self) -> Entry | None:
        """The row's entry; None for a tombstone."""
        return decode_row(self._rows[self._at].value)


class MergedCursor:
    """Over several cursors, the first of which wins where paths are equal."""

    def __init__(self, cursors: Sequence[Cursor]) -> None:
        self._cursors = cursors
        self._top: Cursor | None = None
        self.path: str | None = None

    async def seek(self, path: str) -> None:
        """Go to the first row at or after `path`."""
        for cursor in self._cursors:
            await cursor.seek(path)
        self._stand()

    def _stand(self) -> None:
        self.path, self._top = None, None
        for cursor in self._cursors:
            if cursor.path is not None and (self.path is None or cursor.path < self.path):
                self.path, self._top = cursor.path, cursor

    async def next(self) -> None:
        """Go to the next row."""
        for cursor in self._cursors:
            if cursor.path == self.path:
                await cursor.next()
        self._stand()

    def entry(self) -> Entry | None:
        """The newest row's entry; None for a tombstone."""
        assert self._top is not None
        return self._top.entry()


class _PatchedCursor:
    """Over the entries of a tree with patches, newest first; between their rows as fast as over the ranges alone."""

    def __init__(self, patches: Sequence[TreeCursor], ranges: TreeCursor) -> None:
        self._patches = patches
        self._ranges = ranges
        self._edge: str | None = None  # where the next row of any patch stands
        self._top = ranges
        self.path: str | None = None

    async def seek(self, path: str) -> None:
        """Go to the first entry at or after `path`."""
        for cursor in (*self._patches, self._ranges):
            cursor.ahead(path)  # the files that are not in memory are fetched at the same time
        for cursor in (*self._patches, self._ranges):
            await cursor.seek(path)
        self._find_edge()
        await self._stand()

    async def next(self) -> None:
        """Go to the next entry."""
        if self._top is self._ranges:
            await self._ranges.next()
        else:
            await self._pass_edge()
        await self._stand()

    def entry(self) -> Entry | None:
        """The entry; never None."""
        return self._top.entry()

    async def _stand(self) -> None:
        below = self._ranges.path
        while self._edge is not None and (below is None or self._edge <= below):
            self._top = next(cursor for cursor in self._patches if cursor.path == self._edge)
            if self._top.entry() is not None:
                self.path = self._edge
                return
            await self._pass_edge()
            below = self._ranges.path
        self._top, self.path = self._ranges, below

    async def _pass_edge(self) -> None:
        for cursor in (*self._patches, self._ranges):
            if cursor.path == self._edge:
                await cursor.next()
        self._find_edge()

    def _find_edge(self) -> None:
        self._edge = min((cursor.path for cursor in self._patches if cursor.path is not None), default=None)


def tree_cursor(trees: Trees, store: ObjectStore, tree: Tree) -> Cursor:
    """Over the entries of a tree."""
    if not tree.patches:
        return TreeCursor(trees, store, tree)
    ranges = Tree(tree.id, tree.ranges, tree.max_paths)
    patches = [TreeCursor(trees, store, single(info)) for info in tree.patches]
    return _PatchedCursor(patches, TreeCursor(trees, store, ranges))
