"""Trees of committed entries: a metarange that lists ranges, both immutable files in the object store.

Above `block` and `cache`; `fold`, `diff`, `layers` and `cursor` stand on it. It loads and stores; it decides nothing.
A file layer is read as a tree too: its parts are ranges that also hold tombstones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import pyarrow as pa
from lakebed_format import (
    DELTA_SCHEMA,
    METARANGE_SCHEMA,
    RANGE_SCHEMA,
    decode_metarange,
    decode_range,
    encode_metarange,
    encode_range,
)
from lakebed_format.bloom import may_hold
from lakebed_format.digest import metarange_id, range_id
from lakebed_format.files import (
    FormatError,
    bloom_of,
    decode_layer,
    open_file,
    read_row_group,
    reopen,
    row_group_bounds,
)
from lakebed_format.schemas import compact

from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.tree.block import Block
from lakebed_engine.tree.cache import ByteCache
from lakebed_engine.vocabulary.errors import BlobNotFound, CorruptDataError, MissingFileError
from lakebed_engine.vocabulary.ports import Runtime
from lakebed_engine.vocabulary.records import Entry

RANGES = "_lakebed/ranges/"
METARANGES = "_lakebed/metaranges/"
LAYERS = "_lakebed/layers/"

KEY_COLUMNS = ("path", "size_bytes", "identity")
"""What tells whether an entry changed, and its size."""


class RangeInfo(NamedTuple):
    """One row of a metarange, or one part of a layer: how many `rows`, and their raw bytes."""

    id: str
    min_path: str
    max_path: str
    rows: int
    size_bytes: int
    kind: Literal["range", "layer"] = "range"

    @property
    def file(self) -> str:
        """Its key in the object store."""
        return f"{RANGES if self.kind == 'range' else LAYERS}{self.id}.parquet"


@dataclass(frozen=True, slots=True)
class Tree:
    """All entries of one commit, as ranges in order; or the rows of one layer. The empty tree has the id ``""``."""

    id: str
    ranges: tuple[RangeInfo, ...]
    max_paths: list[str] = field(compare=False)

    @property
    def count(self) -> int:
        """How many entries it has."""
        return sum(info.rows for info in self.ranges)

    def seek(self, path: str) -> int:
        """The index of the first range that may hold `path` or a greater one."""
        return bisect_left(self.max_paths, path)


EMPTY_TREE = Tree("", (), [])


class _RangeFile(NamedTuple):
    """A verified range file: its bytes, footer, and for each row group the greatest path.

    No reader of it: Parquet's may not be used by several threads at once.
    """

    data: bytes
    footer: Any
    max_paths: list[str]
    bloom: bytes | None


class Trees:
    """Loads and stores trees, through one cache bounded by bytes."""

    def __init__(self, runtime: Runtime, cache: ByteCache) -> None:
        self._runtime = runtime
        self._cache = cache

    async def load(self, store: ObjectStore, tree_id: str) -> Tree:
        """The tree of a metarange id. Raises CorruptDataError, naming the file."""
        if not tree_id:
            return EMPTY_TREE
        key = (store.uri, "tree", tree_id)
        tree = self._cache.get(key)
        if tree is None:
            rows = await self._decode(store, f"{METARANGES}{tree_id}.parquet", decode_metarange, tree_id)
            tree = _tree(tree_id, rows)
            self._cache.put(key, tree, 400 * len(tree.ranges) + 200)
        assert isinstance(tree, Tree)
        return tree

    async def save(self, store: ObjectStore, ranges: Sequence[RangeInfo]) -> Tree:
        """Write the metarange of these ranges, durably; no ranges give the empty tree."""
        if not ranges:
            return EMPTY_TREE
        columns = [list(column) for column in zip(*ranges, strict=True)]
        rows = pa.table(columns[: len(METARANGE_SCHEMA)], schema=METARANGE_SCHEMA)
        tree_id = metarange_id(rows)
        await store.put(f"{METARANGES}{tree_id}.parquet", encode_metarange(rows, tree_id))
        tree = _tree(tree_id, rows)
        self._cache.put((store.uri, "tree", tree_id), tree, 400 * len(ranges) + 200)
        return tree

    async def rows(self, store: ObjectStore, info: RangeInfo) -> pa.Table:
        """All rows of a range."""
        return (await self._whole(store, info)).rows

    async def keys(self, store: ObjectStore, info: RangeInfo) -> pa.Table:
        """Only KEY_COLUMNS of a range: a fifth of the decoding."""
        whole = self._cache.get((store.uri, "whole", info.id))
        if whole is not None:
            assert isinstance(whole, Block)
            return whole.rows
        key = (store.uri, "keys", info.id)
        rows = self._cache.get(key)
        if rows is None:
            rows = await self._decode(store, info.file, decode_range, info.id, KEY_COLUMNS)
            self._cache.put(key, rows, int(rows.nbytes) + 1000)
        return rows

    async def write(self, store: ObjectStore, rows: pa.Table, size_bytes: int) -> RangeInfo:
        """Write a range file, durably. `rows` have RANGE_SCHEMA."""
        info, put = await self.encode(store, rows, size_bytes)
        await put()
        return info

    async def encode(
        self, store: ObjectStore, rows: pa.Table, size_bytes: int
    ) -> tuple[RangeInfo, Callable[[], Awaitable[None]]]:
        """A range of these rows, and what writes its file durably: until that is done nothing may name it."""
        found_id, data, rows, first, last = await self._runtime.cpu(_encode, rows)
        info = RangeInfo(found_id, first, last, rows.num_rows, size_bytes)

        async def put() -> None:
            await store.put(info.file, data)
            block = Block(rows)
            if block.nbytes * 8 < self._cache.limit:
                self._cache.put((store.uri, "whole", found_id), block, block.nbytes)

        return info, put

    async def find(self, store: ObjectStore, tree: Tree, path: str) -> Entry | None:
        """The entry at exactly this path; decodes at most one row group."""
        return (await self.lookup(store, tree, path))[1]

    async def lookup(self, store: ObjectStore, tree: Tree, path: str) -> tuple[bool, Entry | None]:
        """Whether there is a row at exactly this path, and its entry; None for a layer's tombstone."""
        index = tree.seek(path)
        if index == len(tree.ranges) or path < tree.ranges[index].min_path:
            return False, None
        info = tree.ranges[index]
        block = self._cache.get((store.uri, "whole", info.id))
        if block is None:
            if info.kind == "layer" and not await self._may_hold(store, info, path):
                return False, None
            block, _ = await self.block(store, info, path)
        assert isinstance(block, Block)
        return block.find(path)

    async def _may_hold(self, store: ObjectStore, info: RangeInfo, path: str) -> bool:
        bloom = (await self._file(store, info)).bloom
        return bloom is None or may_hold(bloom, path)

    async def block(self, store: ObjectStore, info: RangeInfo, path: str) -> tuple[Block, str | None]:
        """The decoded piece of a range in which `path` belongs, and the least path that may stand after the piece.

        `path` must not be greater than the range's greatest. None: the piece is the range's last.
        """
        whole = self._cache.get((store.uri, "whole", info.id))
        if whole is not None:
            assert isinstance(whole, Block)
            return whole, None
        file = await self._file(store, info)
        index = min(bisect_left(file.max_paths, path), len(file.max_paths) - 1)
        key = (store.uri, "block", info.id, index)
        block = self._cache.get(key)
        if block is None:
            schema = RANGE_SCHEMA if info.kind == "range" else DELTA_SCHEMA
            name = f"{store.uri}/{info.file}"
            block = Block(await self._runtime.cpu(_guarded, name, _read_group, file, index, schema))
            self._cache.put(key, block, block.nbytes)
        assert isinstance(block, Block)
        after = file.max_paths[index] + "\0" if index + 1 < len(file.max_paths) else None
        return block, after

    async def _file(self, store: ObjectStore, info: RangeInfo) -> _RangeFile:
        key = (store.uri, "file", info.id)
        file = self._cache.get(key)
        if file is None:
            data = await _fetch(store, info.file)
            file = _guarded(f"{store.uri}/{info.file}", _open_range, data, info)
            self._cache.put(key, file, len(data) + 4000)
        assert isinstance(file, _RangeFile)
        return file

    async def _whole(self, store: ObjectStore, info: RangeInfo) -> Block:
        key = (store.uri, "whole", info.id)
        block = self._cache.get(key)
        if block is None:
            decode = decode_range if info.kind == "range" else decode_layer
            block = Block(await self._decode(store, info.file, decode, info.id))
            if block.count != info.rows:
                raise CorruptDataError(f"{store.uri}/{info.file}: corrupt: {block.count} rows where {info.rows} belong")
            self._cache.put(key, block, block.nbytes)
        assert isinstance(block, Block)
        return block

    async def _decode(self, store: ObjectStore, name: str, decode: Any, file_id: str, *options: object) -> pa.Table:
        data = await _fetch(store, name)
        return await self._runtime.cpu(_guarded, f"{store.uri}/{name}", decode, data, file_id, *options)


async def _fetch(store: ObjectStore, name: str) -> bytes:
    try:
        return await store.get(name)
    except BlobNotFound:
        raise MissingFileError(
            f"{store.uri}/{name}: missing, though a commit or a branch needs it: run `lakebed fsck`"
        ) from None


def _guarded(name: str, job: Any, *args: Any) -> Any:
    try:
        return job(*args)
    except FormatError as error:
        raise CorruptDataError(f"{name}: corrupt: {error}") from error


def _open_range(data: bytes, info: RangeInfo) -> _RangeFile:
    parquet = open_file(data, info.kind, info.id)
    bounds = row_group_bounds(parquet)
    if sum(rows for _, rows in bounds) != info.rows or bounds[-1][0] != info.max_path:
        raise FormatError("its footer does not fit the metarange")
    return _RangeFile(data, parquet.metadata, [path for path, _ in bounds], bloom_of(parquet))


def _read_group(file: _RangeFile, index: int, schema: pa.Schema) -> pa.Table:
    return read_row_group(reopen(file.data, file.footer), index, schema)


def _encode(rows: pa.Table) -> tuple[str, bytes, pa.Table, str, str]:
    rows = compact(rows)
    found_id = range_id(rows)
    paths = rows.column("path")
    return found_id, encode_range(rows, found_id), rows, str(paths[0].as_py()), str(paths[-1].as_py())


def _tree(tree_id: str, rows: pa.Table) -> Tree:
    columns = [rows.column(name).to_pylist() for name in METARANGE_SCHEMA.names]
    ranges = tuple(RangeInfo(*values) for values in zip(*columns, strict=True))
    return Tree(tree_id, ranges, [info.max_path for info in ranges])
