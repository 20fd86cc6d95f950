"""Ids of ranges and metaranges: hashes of the rows in a canonical encoding, never of file bytes.

So a new Parquet version, another compression or another row-group size changes no id. The encoding is by column,
which lets Arrow's buffers be hashed as they are: 1 M rows take about 0.2 s.

    "lakebed/range/1"  count:u64
    per column in the schema's order (identity is left out: it follows from the others):
      text     lengths:u32 x count, then the UTF-8 bytes of all values; bytes of any length the same
      integer  i64 x count; a boolean is 0 or 1
      map      entries per row:u32 x count, then all keys as text, then all values as text
    all integers little-endian
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from lakebed_format.schemas import LEVELED_SCHEMA, METARANGE_SCHEMA, PATCH_SCHEMA, RANGE_SCHEMA, flat

if TYPE_CHECKING:
    from hashlib import _Hash


def range_id(rows: pa.Table) -> str:
    """The id of a range: 64 hex characters. `rows` has RANGE_SCHEMA."""
    return _table_id(b"lakebed/range/1", rows, [name for name in RANGE_SCHEMA.names if name != "identity"])


def patch_id(rows: pa.Table) -> str:
    """The id of a patch: 64 hex characters. `rows` has PATCH_SCHEMA."""
    return _table_id(b"lakebed/patch/1", rows, [name for name in PATCH_SCHEMA.names if name != "identity"])


def metarange_id(rows: pa.Table) -> str:
    """The id of a metarange: 64 hex characters. As range ids stand in it, it hashes the whole tree."""
    if "level" in rows.column_names:
        return _table_id(b"lakebed/metarange/2", rows, LEVELED_SCHEMA.names)
    return _table_id(b"lakebed/metarange/1", rows, METARANGE_SCHEMA.names)


_INT32 = np.dtype("<i4")


def _table_id(domain: bytes, rows: pa.Table, columns: list[str]) -> str:
    digest = hashlib.sha256(domain + rows.num_rows.to_bytes(8, "little"))
    names = rows.schema.names
    batches = rows.to_batches()
    # a table in one piece, which most are, gives its columns as arrays at once
    arrays = batches[0].columns if len(batches) == 1 else [flat(column) for column in rows.columns]
    for name in columns:
        column = arrays[names.index(name)]
        _ENCODERS[column.type.id](digest, column)
    return digest.hexdigest()


def _add_number(digest: _Hash, column: Any) -> None:
    digest.update(np.ascontiguousarray(column.to_numpy(zero_copy_only=False), dtype="<i8").data)


def _add_map(digest: _Hash, column: Any) -> None:
    offsets = _offsets(column, column.offset)
    digest.update((offsets[1:] - offsets[:-1]).data)
    first, last = int(offsets[0]), int(offsets[-1])
    if first != last:
        _add_text(digest, column.keys[first:last])
        _add_text(digest, column.items[first:last])


def _offsets(column: Any, start: int) -> Any:
    raw = column.buffers()[1]
    return np.frombuffer(raw, dtype=_INT32, count=len(column) + 1, offset=4 * start)


def _add_text(digest: _Hash, column: Any) -> None:
    if len(column) == 0:
        return
    offsets = _offsets(column, column.offset)
    digest.update((offsets[1:] - offsets[:-1]).data)  # none is negative: the same bytes as unsigned
    data = column.buffers()[2]
    if data is not None:
        digest.update(memoryview(data)[int(offsets[0]) : int(offsets[-1])])


_ENCODERS: Final[Mapping[int, Callable[[_Hash, Any], None]]] = {
    **dict.fromkeys((pa.string().id, pa.binary().id), _add_text),
    **dict.fromkeys((pa.int32().id, pa.int64().id, pa.bool_().id), _add_number),
    pa.map_(pa.string(), pa.string()).id: _add_map,
}
"""The canonical encoding of each type that the schemas have."""
