"""Files that a hostile writer of the bucket makes: their checksums fit, their content does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from lakebed_format import RANGE_SCHEMA
from lakebed_format.schemas import ID_KEY, VERSION_KEY
from lakebed_format.tree.files import ROW_GROUP_ROWS, _sealed

ID = "f" * 64


def seal(data: bytes) -> bytes:
    """A Parquet file as a file of the bucket: with its checksum before the footer."""
    return _sealed(pa.py_buffer(data))


def reseal(file: bytes) -> bytes:
    """A changed file of the bucket with the checksum that fits it; unchanged where its footer is nowhere."""
    at = len(file) - 8 - int.from_bytes(file[-8:-4], "little") - 8
    if at < 0:
        return file
    check = crc32(file[at + 8 :], crc32(file[:at]))
    return file[: at + 4] + check.to_bytes(4, "little") + file[at + 8 :]


def parquet(rows: pa.Table, kind: str, extra: Mapping[bytes, bytes] | None = None, **options: Any) -> bytes:
    """A sealed file of a kind and version, such as `range/1`, whatever its columns are."""
    sink = pa.BufferOutputStream()
    size = options.pop("row_group_size", ROW_GROUP_ROWS)
    with pq.ParquetWriter(sink, rows.schema, store_schema=False, **options) as writer:
        writer.write_table(rows, row_group_size=size)
        writer.add_key_value_metadata({VERSION_KEY: kind.encode(), ID_KEY: ID.encode(), **(extra or {})})
    return seal(sink.getvalue().to_pybytes())


def lie(file: bytes, numbers: Mapping[int, int]) -> bytes:
    """A file whose footer states other numbers, as wide as the true ones in Thrift. The checksum fits."""
    at = len(file) - 8 - int.from_bytes(file[-8:-4], "little")
    footer = file[at:-8]
    for true, stated in numbers.items():
        old = varint(2 * true)
        assert old in footer
        footer = footer.replace(old, _padded(varint(2 * stated), len(old)))
    return reseal(file[:at] + footer + file[-8:])


def varint(value: int) -> bytes:
    """A number as Thrift's compact protocol writes it."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _padded(number: bytes, length: int) -> bytes:
    """The same number in more bytes: Thrift reads leading zeros."""
    assert len(number) <= length
    wide = bytearray(number)
    while len(wide) < length:
        wide[-1] |= 128
        wide.append(0)
    return bytes(wide)


def changed(file: bytes, change: Callable[[pa.Table], pa.Table], **options: Any) -> bytes:
    """A file of the bucket with other rows, under the id and the kind that it had."""
    opened = pq.ParquetFile(pa.BufferReader(file))
    sink = pa.BufferOutputStream()
    rows = change(opened.read())
    with pq.ParquetWriter(sink, rows.schema, store_schema=False, **options) as writer:
        writer.write_table(rows, row_group_size=rows.num_rows)
        writer.add_key_value_metadata(opened.metadata.metadata)
    return seal(sink.getvalue().to_pybytes())


def nullable(rows: pa.Table, name: str) -> pa.Table:
    """Rows whose column may be null, and is null once."""
    at = rows.schema.get_field_index(name)
    kind = rows.schema.field(name).type
    return rows.set_column(at, pa.field(name, kind), pa.array([None, *rows.column(name).to_pylist()[1:]], kind))


def wrong_text(rows: pa.Table, name: str) -> pa.Table:
    """Rows with a text that is not UTF-8, the last of its column."""
    at = rows.schema.get_field_index(name)
    raw = [value.encode() for value in rows.column(name).to_pylist()]
    values = pa.array([*raw[:-1], b"\xff\xfe"], pa.binary()).view(pa.string())
    return rows.set_column(at, rows.schema.field(name), values)


def bomb(count: int) -> pa.Table:
    """Rows of a range that are all alike but for their number: they compress to nothing."""
    empty = pa.array([""]).take(pa.array(np.zeros(count, dtype=np.int32)))
    zeros = pa.array(np.zeros(count, dtype=np.int64))
    maps = pa.MapArray.from_arrays(pa.array(np.zeros(count + 1, dtype=np.int32)), empty[:0], empty[:0])
    identity = pa.FixedSizeBinaryArray.from_buffers(pa.binary(32), count, [None, pa.py_buffer(bytes(32 * count))])
    columns = {
        **dict.fromkeys(("path", "physical_address", "checksum", "content_type"), empty),
        **dict.fromkeys(("size_bytes", "mtime"), zeros),
        "parts": zeros.cast(pa.int32()),
        "metadata": maps.cast(RANGE_SCHEMA.field("metadata").type),
        "identity": identity,
    }
    return pa.table([columns[name] for name in RANGE_SCHEMA.names], schema=RANGE_SCHEMA)
