"""Cursors: iterate over rows in order of path, of a tree, of staged rows, and of both.

For pages and single lookups in order. Bulk operations use fold and diff instead.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from lakebed_engine.stores.kv.base import KVStore, Row
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.tree.block import Block
from lakebed_engine.tree.manifest import Tree, single
from lakebed_engine.tree.rows import TOMBSTONE, decode_row
from lakebed_engine.tree.trees import Trees
from lakebed_engine.vocabulary.records import Entry, Listed


class Rows(Protocol):
    """Rows in memory, in order of path, by index."""

    def path(self, index: int) -> str:
        """The path of one row."""
        ...

    def is_live(self, index: int) -> bool:
        """Whether a row is not a tombstone."""
        ...

    def after(self, start: int, stop: int, path: str) -> int:
        """The first row from `start` on whose path is not less than `path`, else `stop`."""
        ...

    def listed(self, start: int, stop: int) -> Iterable[Listed]:
        """The rows except tombstones."""
        ...


class Run(NamedTuple):
    """The next rows: those of `rows` from `start` up to `stop`."""

    rows: Rows
    start: int
    stop: int


class Cursor(Protocol):
    """A position at a row, or past the end when `path` is None."""

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

    def run(self, end: str | None) -> Run:
        """The rows in memory from this one on whose paths are less than `end`, as this one's must be."""
        ...

    async def skip(self, count: int) -> None:
        """Skip `count` rows of the run, at least one."""
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
        self._last: str | None = None  # the block's last path
        self.path: str | None = None

    def ahead(self, path: str) -> None:
        """Begin to fetch the file that `seek` will need."""
        if self._is_near(path):
            return
        at = self._tree.seek(path)
        if at < len(self._tree.ranges):
            self._trees.ahead(self._store, self._tree.ranges[at])

    async def seek(self, path: str) -> None:
        """Go to the first row at or after `path`."""
        if self._is_near(path):
            assert self._block is not None
            self._at = self._block.after(self._at, self._block.count, path)
            self.path = self._block.path(self._at)
            return
        self._range = self._tree.seek(path)
        await self._enter(path)

    def _is_near(self, path: str) -> bool:
        """Whether the first row at or after `path` is this one or a later one in the same block."""
        return self.path is not None and self._last is not None and self.path <= path <= self._last

    async def _enter(self, path: str) -> None:
        if self._range == len(self._tree.ranges):
            self.path, self._block, self._last = None, None, None
            return
        info = self._tree.ranges[self._range]
        path = max(path, info.min_path)
        self._block, self._after = await self._trees.block(self._store, info, path)
        if self._after is None and self._range + 1 < len(self._tree.ranges):
            self._trees.ahead(self._store, self._tree.ranges[self._range + 1])
        self._at = self._block.seek(path)
        self.path = self._block.path(self._at)
        self._last = self._block.path(self._block.count - 1)

    async def next(self) -> None:
        """Go to the next row."""
        await self.skip(1)

    async def skip(self, count: int) -> None:
        """Skip `count` rows of the run."""
        assert self._block is not None
        self._at += count
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

    def run(self, end: str | None) -> Run:
        """The rows of this block from this one on."""
        assert self._block is not None
        assert self._last is not None
        count = self._block.count
        stop = count if end is None or self._last < end else self._block.after(self._at, count, end)
        return Run(self._block, self._at, stop)


class _Page:
    """Rows of a staging token that one read returned."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def path(self, index: int) -> str:
        return self._rows[index].key.decode()

    def is_live(self, index: int) -> bool:
        return self._rows[index].value != TOMBSTONE

    def after(self, start: int, stop: int, path: str) -> int:
        return bisect_left(self._rows, path.encode(), start, stop, key=lambda row: row.key)

    def listed(self, start: int, stop: int) -> Iterable[Listed]:
        rows = self._rows[start:stop]
        return [Listed(row.key.decode(), decode_row(row.value)) for row in rows if row.value != TOMBSTONE]


class StagedCursor:
    """Over the rows of one staging token."""

    def __init__(self, kv: KVStore, partition: str, page: int) -> None:
        self._kv = kv
        self._partition = partition
        self._page = page
        self._rows: list[Row] = []
        self._first: bytes | None = None  # all rows from here to the last are read; unless full, all later rows too
        self._at = 0
        self._full = False
        self.path: str | None = None

    async def seek(self, path: str) -> None:
        """Go to the first row at or after `path`."""
        key = path.encode() or b"\0"  # the row with the empty key is the token's marker, not a path
        if self._first is not None and self._first <= key and (not self._full or key <= self._rows[-1].key):
            self._at = bisect_left(self._rows, key, key=lambda row: row.key)
        else:
            await self._read(key)
        self._set_path()

    async def _read(self, key: bytes) -> None:
        self._rows = await self._kv.scan(self._partition, key, None, self._page)
        self._first = key
        self._full = len(self._rows) == self._page
        self._at = 0

    def _set_path(self) -> None:
        self.path = self._rows[self._at].key.decode() if self._at < len(self._rows) else None

    async def next(self) -> None:
        """Go to the next row."""
        await self.skip(1)

    async def skip(self, count: int) -> None:
        """Skip `count` rows of the run."""
        self._at += count
        if self._at == len(self._rows) and self._full:
            await self._read(self._rows[-1].key + b"\0")
        self._set_path()

    def entry(self) -> Entry | None:
        """The row's entry; None for a tombstone."""
        return decode_row(self._rows[self._at].value)

    def run(self, end: str | None) -> Run:
        """The rows of the page from this one on."""
        page = _Page(self._rows)
        stop = len(self._rows) if end is None else page.after(self._at, len(self._rows), end)
        return Run(page, self._at, stop)


def _only(run: Run) -> Run:
    return Run(run.rows, run.start, run.start + 1)


class MergedCursor:
    """Over several cursors. For equal paths, the first cursor wins."""

    def __init__(self, cursors: Sequence[Cursor]) -> None:
        self._cursors = cursors
        self._top: Cursor | None = None
        self.path: str | None = None

    async def seek(self, path: str) -> None:
        """Go to the first row at or after `path`."""
        for cursor in self._cursors:
            await cursor.seek(path)
        self._set_path()

    def _set_path(self) -> None:
        self.path, self._top = None, None
        for cursor in self._cursors:
            if cursor.path is not None and (self.path is None or cursor.path < self.path):
                self.path, self._top = cursor.path, cursor

    async def next(self) -> None:
        """Go to the next row."""
        for cursor in self._cursors:
            if cursor.path == self.path:
                await cursor.next()
        self._set_path()

    def entry(self) -> Entry | None:
        """The newest row's entry; None for a tombstone."""
        assert self._top is not None
        return self._top.entry()

    def run(self, end: str | None) -> Run:
        """The rows of the newest source up to the next row of any other source."""
        assert self._top is not None
        others = [one.path for one in self._cursors if one is not self._top and one.path is not None]
        if self.path in others:  # this row hides others: it must be alone
            return _only(self._top.run(end))
        return self._top.run(min(others if end is None else [*others, end], default=None))

    async def skip(self, count: int) -> None:
        """Skip `count` rows of the run."""
        if count == 1 or self._top is None:
            await self.next()
        else:
            await self._top.skip(count)
            self._set_path()


class _PatchedCursor:
    """Over the entries of a tree with patches, newest first. Between the rows of patches, it is as fast as over ranges
    alone.
    """

    def __init__(self, patches: Sequence[TreeCursor], ranges: TreeCursor) -> None:
        self._patches = patches
        self._ranges = ranges
        self._edge: str | None = None  # the path of the next row of any patch
        self._top = ranges
        self.path: str | None = None

    async def seek(self, path: str) -> None:
        """Go to the first entry at or after `path`."""
        for cursor in (*self._patches, self._ranges):
            cursor.ahead(path)  # fetch all missing files at the same time
        for cursor in (*self._patches, self._ranges):
            await cursor.seek(path)
        self._find_edge()
        await self._set_path()

    async def next(self) -> None:
        """Go to the next entry."""
        await self.skip(1)

    def entry(self) -> Entry | None:
        """The entry. Never None."""
        return self._top.entry()

    def run(self, end: str | None) -> Run:
        """The rows of the ranges up to the next row of a patch, or one row of a patch."""
        if self._top is not self._ranges:
            return _only(self._top.run(end))
        edge = self._edge
        return self._ranges.run(edge if end is None or (edge is not None and edge < end) else end)

    async def skip(self, count: int) -> None:
        """Skip `count` rows of the run."""
        if self._top is self._ranges:
            await self._ranges.skip(count)
        else:
            await self._pass_edge()
        await self._set_path()

    async def _set_path(self) -> None:
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
