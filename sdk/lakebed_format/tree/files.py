"""Writes ranges, patches and layers as Parquet bytes. pandas, DuckDB, Polars and Spark can read the history directly.

Row groups have 2,000 rows: a cold point lookup decodes one of them instead of the whole file.

Parquet's own checksums cover only the pages: a flipped bit in the footer can move a column, a count or a bound. So the
eight bytes before the footer, which Parquet readers ignore, hold a checksum of the whole file:

    "LBCK"  crc32 of all bytes of the file but these eight:u32 little-endian
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Final
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed_format.bloom import make_bloom
from lakebed_format.decoding import FormatError
from lakebed_format.schemas import (
    DELTA_SCHEMA,
    FORMAT_VERSIONS,
    ID_KEY,
    PATCH_SCHEMA,
    RANGE_SCHEMA,
    VERSION_KEY,
)

ROW_GROUP_ROWS: Final = 2000

BLOOM_FROM: Final = 1000
"""Layer files with at least this number of rows have a Bloom filter."""

BLOOM_KEY: Final = b"lakebed.bloom"
"""Key of the Parquet file metadata that holds it, in base64."""

DICTIONARIES: Final = ("content_type", "metadata.key_value.key")
"""The columns of entries whose values repeat."""

_SMALL: Final = 512
"""Rows up to which a file is not compressed with zstd: the setup for each column takes more time than everything else.
"""

_SEAL: Final = b"LBCK"
_SEAL_BYTES: Final = 8
_TAIL_BYTES: Final = 8
"""Bytes after the footer: its length:u32 little-endian, and the letters PAR1."""


def encode_range(rows: pa.Table, file_id: str) -> bytes:
    """A range file from rows of RANGE_SCHEMA, sorted by path. `file_id` is their `range_id`."""
    return encode_file(rows, RANGE_SCHEMA, "range", file_id, DICTIONARIES)


def encode_patch(rows: pa.Table, file_id: str) -> bytes:
    """A patch file from rows of PATCH_SCHEMA, sorted by path. `file_id` is their `patch_id`."""
    return encode_file(rows, PATCH_SCHEMA, "patch", file_id, DICTIONARIES)


def encode_layer(rows: pa.Table, file_id: str) -> bytes:
    """A layer file from rows of DELTA_SCHEMA, sorted by path; from BLOOM_FROM rows on with a Bloom filter."""
    extra = {}
    if rows.num_rows >= BLOOM_FROM:
        extra[BLOOM_KEY.decode()] = b64encode(make_bloom(rows.column("path"))).decode()
    return encode_file(rows, DELTA_SCHEMA, "layer", file_id, DICTIONARIES, extra)


def encode_file(
    rows: pa.Table,
    schema: pa.Schema,
    kind: str,
    file_id: str,
    dictionaries: Sequence[str],
    extra: Mapping[str, str] | None = None,
    version: int = 0,
) -> bytes:
    """A sealed file of a kind; of its newest version unless another is named."""
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(
        sink,
        schema,
        compression="lz4" if rows.num_rows <= _SMALL else {name: _codec(name) for name in _leaves(schema)},
        use_dictionary=list(dictionaries) or False,
        write_statistics=["path"],  # no reader uses the statistics of other columns
        store_schema=False,
        write_page_checksum=True,
    ) as writer:
        writer.write_table(rows, row_group_size=ROW_GROUP_ROWS)
        tags = {VERSION_KEY.decode(): f"{kind}/{version or FORMAT_VERSIONS[kind]}", ID_KEY.decode(): file_id}
        writer.add_key_value_metadata({**tags, **(extra or {})})
    return _sealed(sink.getvalue())


def _leaves(schema: pa.Schema) -> list[str]:
    """The names of a schema's Parquet columns."""
    maps = ["metadata.key_value.key", "metadata.key_value.value"]
    return [leaf for name in schema.names for leaf in (maps if name == "metadata" else [name])]


def _codec(column: str) -> str:
    # hashes do not get smaller, and trying takes a tenth of the time of writing
    return "none" if column in ("identity", "before") else "zstd"


def _footer_at(data: memoryview) -> int:
    return len(data) - _TAIL_BYTES - int.from_bytes(data[-_TAIL_BYTES:-4], "little")


def _sealed(file: pa.Buffer) -> bytes:
    data = memoryview(file).cast("B")
    at = _footer_at(data)
    check = crc32(data[at:], crc32(data[:at]))
    return b"".join([data[:at], _SEAL, check.to_bytes(4, "little"), data[at:]])


def check_seal(file: bytes) -> None:
    """Refuse bytes that do not fit the checksum before the footer. Raises FormatError."""
    data = memoryview(file)
    at = _footer_at(data) - _SEAL_BYTES
    if at < 0 or bytes(data[at : at + 4]) != _SEAL:
        raise FormatError("not a complete file of Lakebed: there is no checksum before the Parquet footer")
    stated = int.from_bytes(data[at + 4 : at + _SEAL_BYTES], "little")
    if crc32(data[at + _SEAL_BYTES :], crc32(data[:at])) != stated:
        raise FormatError("its bytes do not fit their checksum")
