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
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from lakebed_format.schemas import LEVELED_SCHEMA, METARANGE_SCHEMA, PATCH_SCHEMA, RANGE_SCHEMA, flat, has_column

_SMALL: Final = 1000
"""Rows up to which everything is hashed by one call: of each call the overhead counts, and it lets go of the GIL."""

_INT32: Final = np.dtype("<i4")


def range_id(rows: pa.Table) -> str:
    """The id of a range: 64 hex characters. `rows` has RANGE_SCHEMA."""
    return _table_id(b"lakebed/range/1", rows, _RANGE)


def patch_id(rows: pa.Table) -> str:
    """The id of a patch: 64 hex characters. `rows` has PATCH_SCHEMA."""
    return _table_id(b"lakebed/patch/1", rows, _PATCH)


def metarange_id(rows: pa.Table, *, carries: bool = False) -> str:
    """The id of a metarange: 64 hex characters. It contains the range ids, so it hashes the whole tree.

    A metarange that `carries` its newest patch has another id than a metarange of the same rows without it. So two
    servers that make the same tree in two ways never overwrite each other's file.
    """
    if carries:
        return _table_id(b"lakebed/metarange/3", rows, _LEVELED)
    if has_column(rows, "level"):
        return _table_id(b"lakebed/metarange/2", rows, _LEVELED)
    return _table_id(b"lakebed/metarange/1", rows, _METARANGE)


def _table_id(domain: bytes, rows: pa.Table, columns: Sequence[tuple[str, _Encoder]]) -> str:
    pieces: list[Any] = [domain, rows.num_rows.to_bytes(8, "little")]
    names = rows.schema.names
    batches = rows.to_batches()
    whole = batches[0] if len(batches) == 1 else None  # a table in one piece, which most are: its columns are arrays
    for name, encoder in columns:
        index = names.index(name)
        encoder(pieces, flat(rows.column(index)) if whole is None else whole.column(index))
    if rows.num_rows <= _SMALL:
        return hashlib.sha256(b"".join(pieces)).hexdigest()
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def _add_int64(pieces: list[Any], column: Any) -> None:
    if len(column) == 0:
        return
    pieces.append(memoryview(column.buffers()[1])[8 * column.offset : 8 * (column.offset + len(column))])


def _add_number(pieces: list[Any], column: Any) -> None:
    pieces.append(np.ascontiguousarray(column.to_numpy(zero_copy_only=False), dtype="<i8").data)


def _add_map(pieces: list[Any], column: Any) -> None:
    offsets = np.frombuffer(column.buffers()[1], dtype=_INT32, count=len(column) + 1, offset=4 * column.offset)
    pieces.append((offsets[1:] - offsets[:-1]).data)
    first, last = int(offsets[0]), int(offsets[-1])
    if first != last:
        _add_text(pieces, column.keys[first:last])
        _add_text(pieces, column.items[first:last])


def _add_text(pieces: list[Any], column: Any) -> None:
    if len(column) == 0:
        return
    _, ends, data = column.buffers()
    offsets = np.frombuffer(ends, dtype=_INT32, count=len(column) + 1, offset=4 * column.offset)
    pieces.append((offsets[1:] - offsets[:-1]).data)  # none is negative: the same bytes as unsigned
    if data is not None:
        pieces.append(memoryview(data)[int(offsets[0]) : int(offsets[-1])])


_Encoder = Callable[[list[Any], Any], None]

_ENCODERS: Final[Mapping[int, _Encoder]] = {
    **dict.fromkeys((pa.string().id, pa.binary().id), _add_text),
    **dict.fromkeys((pa.int32().id, pa.bool_().id), _add_number),
    pa.int64().id: _add_int64,
    pa.map_(pa.string(), pa.string()).id: _add_map,
}
"""The canonical encoding of each type that the schemas have."""


def _columns(schema: pa.Schema) -> Sequence[tuple[str, _Encoder]]:
    return [(column.name, _ENCODERS[column.type.id]) for column in schema if column.name != "identity"]


_RANGE, _PATCH, _METARANGE, _LEVELED = map(_columns, (RANGE_SCHEMA, PATCH_SCHEMA, METARANGE_SCHEMA, LEVELED_SCHEMA))
