"""Trees of committed entries: a metarange that lists ranges, both immutable files in the object store.

This module only loads and stores trees. It also reads a file layer as a tree: its parts are ranges with tombstones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from lakebed_format import decode_patch, decode_range, decode_tree, encode_metarange, encode_patch, encode_range
from lakebed_format.bloom import may_hold
from lakebed_format.decoding import FormatError
from lakebed_format.keys import metarange_file
from lakebed_format.schemas import compact, has_column
from lakebed_format.tree.digest import metarange_id, patch_id, range_id
from lakebed_format.tree.reading import RowFile, decode_layer, open_file, reopen

from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.tree.block import Block
from lakebed_engine.tree.cache import ByteCache
from lakebed_engine.tree.manifest import (
    EMPTY_TREE,
    LIMITS,
    SMALL,
    Kind,
    Limits,
    RangeInfo,
    Tree,
    metarange_rows,
    tree_from,
    tree_with_inline_patch,
)
from lakebed_engine.tree.patches import NO_PATCH, stacked
from lakebed_engine.vocabulary.corruption import damaged_file, missing_file
from lakebed_engine.vocabulary.errors import BlobNotFound, EngineError
from lakebed_engine.vocabulary.ports import Runtime
from lakebed_engine.vocabulary.records import Entry

__all__ = ["EMPTY_TREE", "KEY_COLUMNS", "RangeInfo", "Tree", "Trees"]

KEY_COLUMNS = ("path", "size_bytes", "identity")
"""The columns that show whether an entry changed, and its size."""


_COMING = 8
"""Maximum number of prefetched files that are not used yet."""


class _RangeFile(NamedTuple):
    """A verified range file: its bytes, and the greatest path of each row group.

    `opened` is opened again for each lookup, because several threads must not use one reader at the same time.
    """

    data: bytes
    opened: RowFile
    max_paths: list[str]
    bloom: bytes | None


_AT_ONCE = 48
"""Files that are written concurrently. A swap keeps all its files in memory anyway."""


async def _nothing() -> None:
    pass


class Write:
    """A file to write. Await it once, and call `drop` afterwards in any case."""

    def __init__(self, put: Callable[[], Awaitable[None]], drop: Callable[[], object] = lambda: None) -> None:
        self._put = put
        self._begun: Awaitable[None] | None = None
        self.drop = drop

    def begin(self, runtime: Runtime) -> None:
        """Start to write it while other files are prepared. If it is never awaited, an orphan may remain."""
        if self._begun is None:
            self._begun = runtime.begin(self._put)

    @property
    def begun(self) -> bool:
        """Whether the write has started."""
        return self._begun is not None

    async def __call__(self) -> None:
        """Write it, durably."""
        await (self._put() if self._begun is None else self._begun)


def begin_all(runtime: Runtime, writes: Sequence[Write]) -> None:
    """Start to write files while the next commit of a chain is folded."""
    for one in writes:
        one.begin(runtime)


async def write_all(runtime: Runtime, writes: Sequence[Write]) -> None:
    """Write files at the same time. When this returns, all are durable, and none is held in memory."""
    try:
        fresh = [one for one in writes if not one.begun]
        if fresh:
            await runtime.gather(fresh, limit=_AT_ONCE)
        for one in writes:
            if one.begun:
                await one()
    finally:
        for one in writes:
            one.drop()


class Trees:
    """Loads and stores trees, through one cache bounded by bytes."""

    def __init__(self, runtime: Runtime, cache: ByteCache, limits: Limits = LIMITS) -> None:
        self._runtime = runtime
        self.cache = cache
        self.limits = limits
        self._unwritten: dict[tuple[str, str], Block] = {}
        self._coming: OrderedDict[tuple[str, str], Awaitable[bytes]] = OrderedDict()

    def clear(self) -> None:
        """Forget every cached file: the next read reads the store again."""
        self.cache.clear()

    async def load(self, store: ObjectStore, tree_id: str) -> Tree:
        """The tree of a metarange id. Raises CorruptDataError, naming the file."""
        if not tree_id:
            return EMPTY_TREE
        key = (store.uri, "tree", tree_id)
        tree = self.cache.get(key)
        if tree is None:
            found = await self._decode(store, metarange_file(tree_id), decode_tree, tree_id)
            tree = tree_from(tree_id, found.rows, carries=found.inline_patch is not None)
            self.cache.put(key, tree, 400 * len(tree.files) + 200)
            if found.inline_patch is not None:
                self._keep(store, tree.patches[0].id, Block(found.inline_patch))
        assert isinstance(tree, Tree)
        return tree

    async def save(self, store: ObjectStore, ranges: Sequence[RangeInfo], patches: Sequence[RangeInfo] = ()) -> Tree:
        """Write the metarange of these ranges and patches (newest first), durably. No ranges: the empty tree."""
        tree, put = self.named(store, ranges, patches)
        await put()
        return tree

    def named(
        self, store: ObjectStore, ranges: Sequence[RangeInfo], patches: Sequence[RangeInfo] = ()
    ) -> tuple[Tree, Write]:
        """The same tree without writing it, and the write of its metarange. Until that is done, nothing may name the
        tree.
        """
        if not ranges:
            return EMPTY_TREE, Write(_nothing)
        tree, rows = self.outlined(tuple(ranges), tuple(patches))

        async def put() -> None:
            data = await self._runtime.cpu(encode_metarange, rows, tree.id, small=rows.num_rows <= SMALL)
            await store.put(metarange_file(tree.id), data, by_content=True)
            self.cache.put((store.uri, "tree", tree.id), tree, 400 * len(tree.files) + 200)

        return tree, Write(put)

    async def with_inline_patch(
        self, store: ObjectStore, ranges: Sequence[RangeInfo], older: Sequence[RangeInfo], rows: pa.Table, size: int
    ) -> tuple[Tree, Write]:
        """The tree of these ranges and patches with one more small patch of these rows and raw bytes, and the write of
        its metarange, which contains this patch. Its rows can already be read here, as with `encode`.
        """
        found_id, rows, first, last = await self._runtime.cpu(_named, rows, small=True)
        newest = RangeInfo(found_id, first, last, rows.num_rows, size, "patch")
        tree, outline = self.outlined_with_inline_patch(tuple(ranges), tuple(older), newest)
        key = (store.uri, found_id)
        block = self._unwritten[key] = Block(rows)

        async def put() -> None:
            data = await self._runtime.cpu(encode_metarange, outline, tree.id, rows, small=True)
            await store.put(metarange_file(tree.id), data, by_content=True)
            self.cache.put((store.uri, "tree", tree.id), tree, 400 * len(tree.files) + 200)
            self._keep(store, found_id, block)

        return tree, Write(put, lambda: self._unwritten.pop(key, None))

    def outlined(self, ranges: tuple[RangeInfo, ...], patches: tuple[RangeInfo, ...]) -> tuple[Tree, pa.Table]:
        """The tree of these ranges and patches, and its metarange's rows."""
        rows = metarange_rows(ranges, patches)
        return Tree(metarange_id(rows), ranges, [info.max_path for info in ranges], patches), rows

    def outlined_with_inline_patch(
        self, ranges: tuple[RangeInfo, ...], older: tuple[RangeInfo, ...], newest: RangeInfo
    ) -> tuple[Tree, pa.Table]:
        """Like `outlined`, for a tree whose metarange contains its newest patch."""
        return tree_with_inline_patch(ranges, older, newest)

    async def patch(self, store: ObjectStore, tree: Tree) -> pa.Table:
        """All changes that the patches of a tree make to its ranges, with PATCH_SCHEMA."""
        if not tree.patches:
            return NO_PATCH
        key = (store.uri, "patch", tree.id)
        rows = self.cache.get(key)
        if rows is None:
            tables = [await self.rows(store, info) for info in tree.patches]
            rows = await self._runtime.cpu(_stacked_whole, tables)
            assert isinstance(rows, pa.Table)
            self.cache.put(key, rows, int(rows.nbytes) + 1000)
        return rows

    async def rows(self, store: ObjectStore, info: RangeInfo) -> pa.Table:
        """All rows of a range."""
        return (await self._whole(store, info)).rows

    async def keys(self, store: ObjectStore, info: RangeInfo) -> pa.Table:
        """Only KEY_COLUMNS of a range: decoding them takes a fifth of the time."""
        whole = self._held(store, info.id)
        if whole is not None:
            return whole.rows
        key = (store.uri, "keys", info.id)
        rows = self.cache.get(key)
        if rows is None:
            rows = await self._decode(store, info.file, decode_range, info.id, KEY_COLUMNS)
            self.cache.put(key, rows, int(rows.nbytes) + 1000)
        return rows

    async def object_bytes(self, store: ObjectStore, info: RangeInfo) -> int:
        """The bytes of the objects in a range. Decodes one column, and caches nothing."""
        whole = self._held(store, info.id)
        if whole is not None:
            return _total_bytes(whole.rows)
        return _total_bytes(await self._decode(store, info.file, decode_range, info.id, ("size_bytes",)))

    async def write(self, store: ObjectStore, rows: pa.Table, size_bytes: int) -> RangeInfo:
        """Write a range or patch file, durably. `rows` have RANGE_SCHEMA or PATCH_SCHEMA."""
        info, put = await self.encode(store, rows, size_bytes)
        try:
            await put()
        finally:
            put.drop()
        return info

    async def encode(self, store: ObjectStore, rows: pa.Table, size_bytes: int) -> tuple[RangeInfo, Write]:
        """A range or patch of these rows, and the write of its file. Until that is done, nothing may name it.

        It can be read here until it is written or dropped, so that further trees can use it.
        """
        small = rows.num_rows <= SMALL
        found_id, rows, first, last = await self._runtime.cpu(_named, rows, small=small)
        kind = "patch" if has_column(rows, "before") else "range"
        info = RangeInfo(found_id, first, last, rows.num_rows, size_bytes, kind)  # type: ignore[arg-type]

        key = (store.uri, found_id)
        block = self._unwritten[key] = Block(rows)

        async def put() -> None:
            job = encode_patch if kind == "patch" else encode_range
            data = await self._runtime.cpu(job, rows, found_id, small=small)
            await store.put(info.file, data, by_content=True)
            self._keep(store, found_id, block)

        return info, Write(put, lambda: self._unwritten.pop(key, None))

    def _keep(self, store: ObjectStore, found_id: str, block: Block) -> None:
        if block.nbytes * 8 < self.cache.limit:
            self.cache.put((store.uri, "whole", found_id), block, block.nbytes)

    def _held(self, store: ObjectStore, found_id: str) -> Block | None:
        """All rows of a file, if they are in memory."""
        unwritten = self._unwritten.get((store.uri, found_id))
        return self.cache.get((store.uri, "whole", found_id)) if unwritten is None else unwritten

    async def find(self, store: ObjectStore, tree: Tree, path: str) -> Entry | None:
        """The entry at exactly this path. Decodes at most one row group."""
        return (await self.lookup(store, tree, path))[1]

    async def lookup(self, store: ObjectStore, tree: Tree, path: str) -> tuple[bool, Entry | None]:
        """Whether a row exists at exactly this path, and its entry. None for a tombstone."""
        for patch in tree.patches:
            if patch.min_path <= path <= patch.max_path:
                known, entry = (await self.block(store, patch, path))[0].find(path)
                if known:
                    return True, entry
        index = tree.seek(path)
        if index == len(tree.ranges) or path < tree.ranges[index].min_path:
            return False, None
        info = tree.ranges[index]
        block = self._held(store, info.id)
        if block is None:
            if info.kind == "layer" and not await self._may_hold(store, info, path):
                return False, None
            block, _ = await self.block(store, info, path)
        return block.find(path)

    async def _may_hold(self, store: ObjectStore, info: RangeInfo, path: str) -> bool:
        bloom = (await self._file(store, info)).bloom
        return bloom is None or may_hold(bloom, path)

    async def block(self, store: ObjectStore, info: RangeInfo, path: str) -> tuple[Block, str | None]:
        """The decoded piece of a range in which `path` belongs, and the smallest path that may follow the piece.

        `path` must not be greater than the range's greatest. None: the piece is the range's last.
        """
        whole = self._held(store, info.id)
        if whole is None and info.inline_in:
            whole = await self._whole(store, info)
        if whole is not None:
            return whole, None
        file = await self._file(store, info)
        index = min(bisect_left(file.max_paths, path), len(file.max_paths) - 1)
        key = (store.uri, "block", info.id, index)
        block = self.cache.get(key)
        if block is None:
            name = f"{store.uri}/{info.file}"
            block = Block(await self._runtime.cpu(_guarded, name, _read_group, file, index))
            self.cache.put(key, block, block.nbytes)
        assert isinstance(block, Block)
        after = file.max_paths[index] + "\0" if index + 1 < len(file.max_paths) else None
        return block, after

    async def _file(self, store: ObjectStore, info: RangeInfo) -> _RangeFile:
        key = (store.uri, "file", info.id)
        file = self.cache.get(key)
        if file is None:
            data = await self._fetch(store, info.file)
            file = _guarded(f"{store.uri}/{info.file}", _open_range, data, info)
            self.cache.put(key, file, len(data) + 4000)
        assert isinstance(file, _RangeFile)
        return file

    async def _whole(self, store: ObjectStore, info: RangeInfo) -> Block:
        key = (store.uri, "whole", info.id)
        block = self._held(store, info.id)
        if block is None:
            job, name = (_inline_patch, info.inline_in) if info.inline_in else (_DECODERS[info.kind], info.id)
            block = Block(await self._decode(store, info.file, job, name))
            if block.count != info.rows:
                raise damaged_file(f"{store.uri}/{info.file}", f"{block.count} rows where {info.rows} belong")
            self.cache.put(key, block, block.nbytes)
        assert isinstance(block, Block)
        return block

    def ahead(self, store: ObjectStore, info: RangeInfo) -> None:
        """Begin to fetch a file that will soon be read. Keeps at most _COMING such files, and forgets the oldest."""
        key = (store.uri, info.file)
        kinds = ("whole", "file")
        if key in self._coming or any(self.cache.get((store.uri, kind, info.id)) is not None for kind in kinds):
            return
        begun = self._runtime.begin(lambda: store.get(info.file))
        if begun is not None:
            self._coming[key] = begun
            if len(self._coming) > _COMING:
                self._coming.popitem(last=False)

    async def _fetch(self, store: ObjectStore, name: str) -> bytes:
        coming = self._coming.pop((store.uri, name), None)
        try:
            if coming is not None:
                with suppress(EngineError):  # a failed prefetch is retried now
                    return await coming
            return await store.get(name)
        except BlobNotFound:
            raise missing_file(f"{store.uri}/{name}") from None

    async def _decode(self, store: ObjectStore, name: str, decode: Any, file_id: str, *options: object) -> pa.Table:
        data = await self._fetch(store, name)
        return await self._runtime.cpu(_guarded, f"{store.uri}/{name}", decode, data, file_id, *options)


def _guarded(name: str, job: Any, *args: Any) -> Any:
    try:
        return job(*args)
    except FormatError as error:
        raise damaged_file(name, error) from error


def _inline_patch(data: bytes, tree_id: str) -> pa.Table:
    rows = decode_tree(data, tree_id).inline_patch
    if rows is None:
        raise FormatError("it contains no patch")
    return rows


def _open_range(data: bytes, info: RangeInfo) -> _RangeFile:
    file = open_file(data, info.kind, info.id)
    bounds = file.bounds()
    if sum(rows for _, _, rows in bounds) != info.rows or not bounds or bounds[-1][1] != info.max_path:
        raise FormatError("its footer does not match the metarange")
    return _RangeFile(data, file, [last for _, last, _ in bounds], file.bloom())


def _read_group(file: _RangeFile, index: int) -> pa.Table:
    return reopen(file.data, file.opened).read([index])


def _named(rows: pa.Table) -> tuple[str, pa.Table, str, str]:
    rows = compact(rows)
    found_id = patch_id(rows) if has_column(rows, "before") else range_id(rows)
    paths = rows.column("path")
    return found_id, rows, str(paths[0].as_py()), str(paths[-1].as_py())


def _total_bytes(rows: pa.Table) -> int:
    return int(pc.sum(rows.column("size_bytes")).as_py() or 0)


def _stacked_whole(tables: list[pa.Table]) -> pa.Table:
    return stacked(tables, whole=True)


_DECODERS: dict[Kind, Any] = {"range": decode_range, "layer": decode_layer, "patch": decode_patch}
