"""CPU work that is remembered: pure jobs given to `Runtime.cpu`, and decoded ranges, which are named by their content.

Below `world`. Nothing of production is replaced: schedules repeat the same few files over and over, and coding them
again would take most of the time. One schedule in eight runs with caches of its own and decodes everything.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import pyarrow as pa
from lakebed_engine.tree import diff, fold, rows, staged, trees
from lakebed_engine.tree.cache import ByteCache
from lakebed_format import decode_metarange, decode_range
from lakebed_format.files import decode_layer, encode_layer

_LIMIT = 30_000
_TABLE_JOBS: set[Any] = {trees._encode, fold.merge_rows, diff.compare, encode_layer, staged.overlay}
_ROW_JOBS: set[Any] = {rows.delta_table, staged._table}
_DECODERS: set[Any] = {decode_metarange, decode_range, decode_layer}

_results: dict[Hashable, Any] = {}
_tables: dict[int, tuple[pa.Table, bytes]] = {}
_shared: dict[Hashable, tuple[Any, int]] = {}
_layers: dict[bytes, pa.Table] = {}


def remembered(job: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The result of a job, from memory when it is known to be pure and was done before."""
    key: Hashable
    if job in _TABLE_JOBS:
        key = (job, *map(_key, args))
    elif job in _ROW_JOBS:
        key = (job, repr(args[0]))
    elif job is trees._guarded and args[1] in _DECODERS:
        key = args
    else:
        return job(*args)
    found = _results.get(key)
    if found is None:
        if len(_results) > _LIMIT:
            _results.clear()
            _tables.clear()
            _layers.clear()
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
