"""CPU work that is remembered: pure jobs given to `Runtime.cpu`, and decoded ranges, which are named by their content.

Below `world`. Nothing of production is replaced: schedules repeat the same few files over and over, and coding them
again would take most of the time. One schedule in eight runs with caches of its own and decodes everything.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Hashable, Sequence
from typing import Any, TypeVar

import pyarrow as pa
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.tree.cache import ByteCache
from lakebed_engine.tree.trees import RangeInfo, Tree, Trees
from lakebed_format import decode_metarange, decode_range
from lakebed_format.files import decode_layer, encode_layer

T = TypeVar("T")

_LIMIT = 30_000
# by name: a job that is renamed is only not remembered any more
_TABLE_JOBS = {"_encode", "merge_rows", "compare", "encode_layer", "overlay"}
_ROW_JOBS = {"delta_table", "_table"}
_DECODERS = {decode_metarange, decode_range, decode_layer}

_results: dict[Hashable, Any] = {}
_tables: dict[int, tuple[pa.Table, bytes]] = {}
_shared: dict[Hashable, tuple[Any, int]] = {}
_layers: dict[bytes, pa.Table] = {}
_saved: dict[Hashable, tuple[Tree, str, bytes]] = {}


def remembered(job: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The result of a job, from memory when it is known to be pure and was done before."""
    key: Hashable
    name = getattr(job, "__name__", "")
    if name in _TABLE_JOBS:
        key = (name, *map(_key, args))
    elif name in _ROW_JOBS:
        key = (name, repr(args[0]))
    elif name == "_guarded" and args[1] in _DECODERS:
        key = args
    elif name == "_guarded" and args[1].__name__ == "_read_group" and hasattr(args[2], "data"):
        key = ("_read_group", args[2].data, args[3])
    else:
        return job(*args)
    found = _results.get(key)
    if found is None:
        if len(_results) > _LIMIT:
            _results.clear()
            _tables.clear()
            _layers.clear()
            _saved.clear()
        found = _results[key] = job(*args)
        if job is encode_layer:
            _layers[found] = args[0]
        for one in found if isinstance(found, tuple) else (found,):
            if isinstance(one, pa.Table):
                _key(one)
    return found


def _key(arg: Any) -> Hashable:
    if isinstance(arg, list):
        return tuple(map(_key, arg))
    if not isinstance(arg, pa.Table):
        return arg  # type: ignore[no-any-return]
    known = _tables.get(id(arg))
    if known is not None:
        return known[1]
    content = b"".join(batch.serialize().to_pybytes() for batch in arg.to_batches())
    if len(_tables) < 4 * _LIMIT:
        _tables[id(arg)] = arg, content
    return content


class SharedTrees(Trees):
    """Trees that code each metarange once per process; it is still stored every time."""

    async def save(self, store: ObjectStore, ranges: Sequence[RangeInfo]) -> Tree:
        key = (store.uri, *ranges)
        if key not in _saved:
            holder = _Holder(store.uri)
            _saved[key] = finish(super().save(holder, ranges)), holder.name, holder.data  # type: ignore[arg-type]
        tree, name, data = _saved[key]
        if name:
            await store.put(name, data)
            self._cache.put((store.uri, "tree", tree.id), tree, 400 * len(ranges) + 200)
        return tree


class _Holder:
    """An object store of one file, for coding without a store."""

    def __init__(self, uri: str, name: str = "", data: bytes = b"") -> None:
        self.uri = uri
        self.name = name
        self.data = data

    async def put(self, key: str, data: bytes) -> None:
        self.name, self.data = key, data

    async def get(self, key: str) -> bytes:
        assert key == self.name
        return self.data


def finish(coro: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits, as those of the memory drivers."""
    try:
        coro.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    raise AssertionError("a memory driver waited")


class SharedCache(ByteCache):
    """A ByteCache whose ranges and trees, named by their content, are shared by all schedules of this process."""

    def get(self, key: Hashable) -> Any | None:
        found = super().get(key)
        if found is None and _by_content(key) and key in _shared:
            found, size = _shared[key]
            super().put(key, found, size)
        return found

    def put(self, key: Hashable, value: Any, nbytes: int) -> None:
        super().put(key, value, nbytes)
        if _by_content(key):
            if len(_shared) > _LIMIT:
                _shared.clear()
            _shared[key] = value, nbytes


def coded(key: Hashable) -> Any | None:
    """What an engine cached under a key that names its content, if any did."""
    found = _shared.get(key)
    return None if found is None else found[0]


def layer_rows(data: bytes) -> pa.Table | None:
    """The rows that a layer's file was made from, if it was made here."""
    return _layers.get(data)


def _by_content(key: Any) -> bool:
    return len(key[2]) == 64  # a digest, not the id of a layer's part
