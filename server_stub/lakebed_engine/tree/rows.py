"""Converts entries to rows and back: to the value of a staged row, and to an Arrow table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lakebed_format import DELTA_SCHEMA, RANGE_SCHEMA
from lakebed_format.schemas import compact, flat

from lakebed_engine.vocabulary.records import Entry

TOMBSTONE = b""
"""The staged value of a deleted path."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Entry)


def encode_row(entry: Entry | None) -> bytes:
    """Encode a staged row: msgpack of the entry, or a tombstone."""
    return TOMBSTONE if entry is None else _encoder.encode(entry)


def decode_row(value: bytes) -> Entry | None:
    """Decode the entry of a staged row. None for a tombstone."""
    return None if value == TOMBSTONE else _decoder.decode(value)


_EMPTY = Entry("", "", 0, 0, 0, "", {}, bytes(32))
_METADATA = RANGE_SCHEMA.field("metadata").type


def delta_table(rows: Sequence[tuple[str, Entry | None]]) -> pa.Table:
    """A delta of DELTA_SCHEMA from rows sorted by path. None is a tombstone."""
    if len(rows) <= _FEW:
        return _few(rows)
    entries = [_EMPTY if entry is None else entry for _, entry in rows]
    columns: list[Any] = [
        pa.array([path for path, _ in rows], pa.string()),
        pa.array([entry.physical_address for entry in entries], pa.string()),
        pa.array([entry.checksum for entry in entries], pa.string()),
        pa.array([entry.parts for entry in entries], pa.int32()),
        pa.array([entry.size for entry in entries], pa.int64()),
        pa.array([entry.mtime for entry in entries], pa.int64()),
        pa.array([entry.content_type for entry in entries], pa.string()),
        _metadata([entry.metadata for entry in entries]),
        pa.array([entry.identity for entry in entries], pa.binary(32)),
        pa.array([entry is None for _, entry in rows], pa.bool_()),
    ]
    return pa.table(columns, schema=DELTA_SCHEMA)


_FEW = 8
"""Up to this number of rows, one conversion of tuples takes half the time of one conversion for each column."""

_ROW = pa.struct(list(DELTA_SCHEMA))


def _few(rows: Sequence[tuple[str, Entry | None]]) -> pa.Table:
    values = [
        (
            path, one.physical_address, one.checksum, one.parts, one.size, one.mtime, one.content_type,
            sorted(one.metadata.items()), one.identity, entry is None,
        )
        for path, entry in rows
        for one in (entry or _EMPTY,)
    ]  # fmt: skip
    return pa.Table.from_batches([pa.RecordBatch.from_struct_array(pa.array(values, _ROW))], DELTA_SCHEMA)


def _metadata(maps: Sequence[dict[str, str]]) -> Any:
    if any(maps):
        return pa.array([sorted(one.items()) for one in maps], _METADATA)
    return _NO_METADATA.slice(0, len(maps)) if len(maps) <= len(_NO_METADATA) else _no_metadata(len(maps))


def _no_metadata(count: int) -> Any:
    empty = pa.array([], pa.string())
    return pa.MapArray.from_arrays(pa.array(np.zeros(count + 1, dtype=np.int32)), empty, empty).cast(_METADATA)


_NO_METADATA = _no_metadata(64)


def live_rows(delta: pa.Table) -> pa.Table:
    """The rows of a delta that are not tombstones, with RANGE_SCHEMA."""
    deleted = delta.column("deleted")
    kept = delta.drop_columns(["deleted"])
    return kept.filter(pc.invert(deleted)) if pc.any(deleted).as_py() else kept


def as_delta(rows: pa.Table, *, deleted: bool) -> pa.Table:
    """A delta that puts rows of RANGE_SCHEMA, or that deletes their paths."""
    flag = pa.array(np.full(rows.num_rows, deleted, dtype=bool))
    return rows.append_column(DELTA_SCHEMA.field("deleted"), flag)


def overlay(tables: Sequence[pa.Table]) -> pa.Table:
    """Combine several deltas, sorted. For equal paths, the first one wins."""
    result = tables[0]
    for older in tables[1:]:
        hidden = pc.is_in(older.column("path"), value_set=result.column("path"))
        result = pa.concat_tables([result, older.filter(pc.invert(hidden))])
    result = compact(result)
    return compact(result.take(pc.sort_indices(result.column("path"))))


def tombstones(paths: Any) -> pa.Table:
    """A delta that deletes these paths, an Arrow array in order."""
    row = delta_table([("", None)])
    columns = [paths if name == "path" else pa.repeat(row.column(name)[0], len(paths)) for name in DELTA_SCHEMA.names]
    return pa.table(columns, schema=DELTA_SCHEMA)


def identities(rows: pa.Table) -> Any:
    """The identity column as an (n, 4) array of 64-bit words, which numpy compares fast."""
    column = flat(rows.column("identity"))
    words = np.frombuffer(column.buffers()[1], dtype="<u8", count=4 * len(column), offset=32 * column.offset)
    return words.reshape(-1, 4)


def lower_bound(rows: pa.Table, path: str) -> int:
    """How many rows have a path less than `path`. `rows` are sorted."""
    return _bisect(rows, path, after_equal=False)


def upper_bound(rows: pa.Table, path: str) -> int:
    """How many rows have a path less than or equal to `path`. `rows` are sorted."""
    return _bisect(rows, path, after_equal=True)


def _bisect(rows: pa.Table, path: str, *, after_equal: bool) -> int:
    column = flat(rows.column("path"))
    if rows.num_rows == 0:
        return 0
    _, offsets, data = column.buffers()
    # read in place: an Arrow scalar for each step takes three times as long
    ends: memoryview[int] = memoryview(offsets).cast("i")[column.offset :]
    text = memoryview(data if data is not None else b"")
    wanted = path.encode(errors="surrogatepass")  # paths have no lone surrogates, but a bound may
    low, high = 0, rows.num_rows
    while low < high:
        middle = (low + high) // 2
        here = text[ends[middle] : ends[middle + 1]].tobytes()
        if here < wanted or (after_equal and here == wanted):
            low = middle + 1
        else:
            high = middle
    return low


def path_at(rows: pa.Table, index: int) -> str:
    """The path of one row. Negative indexes count from the end."""
    return str(rows.column("path")[index].as_py())


def prefix_end(prefix: str) -> str | None:
    """The smallest text that is greater than every text with this prefix. None if there is none.

    Text compares by code point here, which is the byte order of UTF-8. Example: `a/` gives `a0`.
    """
    while prefix:
        last = ord(prefix[-1]) + 1
        if last == 0xD800:  # surrogates are not characters
            last = 0xE000
        if last <= 0x10FFFF:
            return prefix[:-1] + chr(last)
        prefix = prefix[:-1]
    return None
