"""Ranges, patches and layers as Parquet bytes: pandas, DuckDB, Polars and Spark read a lake's history directly.

Row groups of 2,000 rows: a cold point lookup decodes one of them instead of the whole file.

Parquet's own checksums cover the pages only: a flipped bit in the footer can move a column, a count or a bound. So
the eight bytes before the footer, where Parquet readers do not look, seal the whole file:

    "LBCK"  crc32 of all bytes of the file but these eight:u32 little-endian
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Final
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed_format.bloom import make_bloom
from lakebed_format.schemas import (
    DELTA_SCHEMA,
    FORMAT_VERSIONS,
    ID_KEY,
    PATCH_SCHEMA,
    RANGE_SCHEMA,
    VERSION_KEY,
    compact,
)

ROW_GROUP_ROWS: Final = 2000

BLOOM_FROM: Final = 1000
"""Layer files of at least so many rows carry a Bloom filter."""

BLOOM_KEY: Final = b"lakebed.bloom"
"""Key of the Parquet file metadata that holds it, in base64."""

DICTIONARIES: Final = ("content_type", "metadata.key_value.key")
"""The columns of entries whose values repeat."""

_SMALL: Final = 512
"""Rows up to which a file is not worth zstd: setting it up for each column takes more time than all the rest."""

_SEAL: Final = b"LBCK"
_SEAL_BYTES: Final = 8
_TAIL_BYTES: Final = 8
"""Behind the footer: its length:u32 little-endian, and the letters PAR1."""


class FormatError(ValueError):
    """The bytes are not a file of this kind, or of a version that this reader does not know."""


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


def bloom_of(file: pq.ParquetFile) -> bytes | None:
    """The Bloom filter of a layer file, when it has one."""
    stored = (file.metadata.metadata or {}).get(BLOOM_KEY)
    return None if stored is None else b64decode(stored)


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
        write_statistics=["path"],  # nothing reads the others
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


def _check_seal(file: bytes) -> None:
    data = memoryview(file)
    at = _footer_at(data) - _SEAL_BYTES
    if at < 0 or bytes(data[at : at + 4]) != _SEAL:
        raise FormatError("not a whole file of Lakebed: no checksum stands before the Parquet footer")
    stated = int.from_bytes(data[at + 4 : at + _SEAL_BYTES], "little")
    if crc32(data[at + _SEAL_BYTES :], crc32(data[:at])) != stated:
        raise FormatError("its bytes do not fit their checksum")


def open_file(data: bytes, kind: str, file_id: str) -> pq.ParquetFile:
    """A reader over the bytes of a file of this kind (`range`, `metarange`) and id. Raises FormatError.

    The checksum of the whole file is verified, so that a flipped bit is an error and never data.
    """
    _check_seal(data)
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
    except (pa.ArrowException, OSError) as error:
        raise FormatError(f"not a Parquet file: {error}") from error
    tags = file.metadata.metadata or {}
    said = tags.get(VERSION_KEY, b"").decode(errors="replace")
    name, _, version = said.partition("/")
    if name != kind or not version.isdigit():
        raise FormatError(f"not a {kind} file: its metadata says {said!r}")
    if int(version) > FORMAT_VERSIONS[kind]:
        known = FORMAT_VERSIONS[kind]
        raise FormatError(f"{kind} format {version} is newer than this reader ({known}): upgrade Lakebed")
    if tags.get(ID_KEY, b"").decode(errors="replace") != file_id:
        raise FormatError(f"holds {kind} {tags.get(ID_KEY)!r}, not {file_id}")
    return file


def reopen(data: bytes, metadata: pq.FileMetaData) -> pq.ParquetFile:
    """Another reader over bytes that `open_file` has verified. Each reader is for one thread at a time."""
    return pq.ParquetFile(pa.BufferReader(data), metadata=metadata, pre_buffer=False)


def decode_range(data: bytes, file_id: str, columns: Sequence[str] | None = None) -> pa.Table:
    """All rows of a range file, with RANGE_SCHEMA or some columns of it. Raises FormatError."""
    schema = RANGE_SCHEMA if columns is None else pa.schema([RANGE_SCHEMA.field(name) for name in columns])
    return read_file(open_file(data, "range", file_id), schema)


def decode_patch(data: bytes, file_id: str) -> pa.Table:
    """All rows of a patch file, with PATCH_SCHEMA. Raises FormatError."""
    return read_file(open_file(data, "patch", file_id), PATCH_SCHEMA)


def decode_rows(data: bytes, file_id: str) -> pa.Table:
    """All rows of a range or patch file (they share a folder); a patch has PATCH_SCHEMA. Raises FormatError."""
    try:
        return decode_range(data, file_id)
    except FormatError:
        if _kind(data) != "patch":
            raise
    return decode_patch(data, file_id)


def _kind(data: bytes) -> str:
    try:
        tags = pq.read_metadata(pa.BufferReader(data)).metadata or {}
    except (pa.ArrowException, OSError):
        return ""
    return str(tags.get(VERSION_KEY, b"").decode(errors="replace").partition("/")[0])


def decode_layer(data: bytes, file_id: str) -> pa.Table:
    """All rows of a layer file, with DELTA_SCHEMA. Raises FormatError."""
    return read_file(open_file(data, "layer", file_id), DELTA_SCHEMA)


def read_row_group(file: pq.ParquetFile, index: int, schema: pa.Schema = RANGE_SCHEMA) -> pa.Table:
    """One row group of a range file, or with DELTA_SCHEMA of a layer file. Raises FormatError."""
    try:
        return compact(file.read_row_group(index, use_threads=False).cast(schema))
    except (pa.ArrowException, OSError) as error:
        raise FormatError(f"unreadable row group {index}: {error}") from error


def row_group_bounds(file: pq.ParquetFile) -> list[tuple[str, int]]:
    """For each row group its greatest path and its row count: Parquet keeps exact min and max of `path`."""
    bounds = []
    for index in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(index)
        statistics = group.column(0).statistics
        bounds.append((str(statistics.max), int(group.num_rows)))
    return bounds


def read_file(file: pq.ParquetFile, schema: pa.Schema) -> pa.Table:
    """All rows of an open file. Raises FormatError."""
    try:
        return compact(file.read(columns=schema.names, use_threads=False).cast(schema))
    except (pa.ArrowException, OSError) as error:
        raise FormatError(f"unreadable: {error}") from error
