"""The columns of each file. The vocabulary of this package: everything else imports it, it imports nothing of ours."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa

FORMAT_VERSIONS: Final = {"range": 1, "metarange": 3, "layer": 1, "patch": 1}
"""The newest version of each kind of file, not of the package. A reader refuses a greater one."""

VERSION_KEY: Final = b"lakebed.format"
"""Key of the Parquet file metadata that holds the kind and version, for example `range/1`."""

ID_KEY: Final = b"lakebed.id"
"""Key of the Parquet file metadata that holds the file's id: a file under another's name is refused."""

_ENTRY_FIELDS: Final = [
    pa.field("path", pa.string(), nullable=False),
    pa.field("physical_address", pa.string(), nullable=False),
    pa.field("checksum", pa.string(), nullable=False),
    pa.field("parts", pa.int32(), nullable=False),
    pa.field("size_bytes", pa.int64(), nullable=False),
    pa.field("mtime", pa.int64(), nullable=False),
    pa.field("content_type", pa.string(), nullable=False),
    pa.field("metadata", pa.map_(pa.string(), pa.field("value", pa.string(), nullable=False)), nullable=False),
    pa.field("identity", pa.binary(32), nullable=False),
]

RANGE_SCHEMA: Final = pa.schema(_ENTRY_FIELDS)
"""A range: entries sorted by the bytes of `path`, each path once. Sizes in bytes, mtime in Unix seconds."""

DELTA_SCHEMA: Final = pa.schema([*_ENTRY_FIELDS, pa.field("deleted", pa.bool_(), nullable=False)])
"""A layer: as a range, and tombstones. A tombstone keeps its path; its other columns are empty or zero."""

PATCH_SCHEMA: Final = pa.schema(
    [
        *DELTA_SCHEMA,
        pa.field("before", pa.binary(), nullable=False),
        pa.field("before_bytes", pa.int64(), nullable=False),
    ]
)
"""A patch: as a layer, and of the entry that the ranges below have at the path its identity and `size_bytes`; empty
and 0 where they have none."""

METARANGE_SCHEMA: Final = pa.schema(
    [
        pa.field("range_id", pa.string(), nullable=False),
        pa.field("min_path", pa.string(), nullable=False),
        pa.field("max_path", pa.string(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("size_bytes", pa.int64(), nullable=False),
    ]
)
"""A metarange: the ranges of one commit in order of path. `count` in rows, `size_bytes` raw bytes of the rows."""

LEVELED_SCHEMA: Final = METARANGE_SCHEMA.append(pa.field("level", pa.int32(), nullable=False))
"""A metarange of version 2: behind the ranges, which have level 0, its patches from 1 on; a higher one is newer."""


def has_column(rows: pa.Table, name: str) -> bool:
    """Whether a table has a column. Its `column_names` take twenty times as long."""
    return bool(rows.schema.get_field_index(name) >= 0)


def flat(column: Any) -> Any:
    """A column as one array. `combine_chunks` copies even a single chunk; this does not."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def compact(rows: pa.Table) -> pa.Table:
    """A table whose columns are one chunk each, copied only where they are not."""
    return rows if len(rows.to_batches()) <= 1 else rows.combine_chunks()
