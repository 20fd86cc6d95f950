"""Metaranges as Parquet bytes: what the tree of a commit is made of.

Above `files`. Three versions, by what a tree has: ranges alone (1), patches over them (2), and a newest patch that is
small and stands in the metarange's own file (3). The last is what most small commits are: one file less to write, and
to read. Its rows are the patch; the rows of the metarange are JSON in the file's metadata, by column.
"""

from __future__ import annotations

import json
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed_format.files import DICTIONARIES, FormatError, encode_file, open_file, read_file
from lakebed_format.schemas import LEVELED_SCHEMA, METARANGE_SCHEMA, PATCH_SCHEMA

TREE_KEY: Final = b"lakebed.tree"
"""Key of the Parquet file metadata that holds the rows of a metarange of version 3."""


class TreeFile(NamedTuple):
    """What a metarange file holds: its rows, of METARANGE_SCHEMA or LEVELED_SCHEMA; and with PATCH_SCHEMA the rows of
    the newest patch, which the last row names, if it carries them.
    """

    rows: pa.Table
    carried: pa.Table | None = None


def encode_metarange(rows: pa.Table, file_id: str, carried: pa.Table | None = None) -> bytes:
    """A metarange file from rows of METARANGE_SCHEMA or LEVELED_SCHEMA. `file_id` is their `metarange_id`.

    With `carried`, rows of PATCH_SCHEMA, they are those of the newest patch, which then has no file of its own; and
    `file_id` is that of a metarange that `carries` one.
    """
    if carried is not None:
        tree = json.dumps(rows.to_pydict(), ensure_ascii=False, separators=(",", ":"))
        return encode_file(carried, PATCH_SCHEMA, "metarange", file_id, DICTIONARIES, {TREE_KEY.decode(): tree})
    # those without are of the versions that older readers know
    if "level" in rows.column_names:
        return encode_file(rows, LEVELED_SCHEMA, "metarange", file_id, (), version=2)
    return encode_file(rows, METARANGE_SCHEMA, "metarange", file_id, (), version=1)


def decode_metarange(data: bytes, file_id: str) -> pa.Table:
    """All rows of a metarange file; one with patches has LEVELED_SCHEMA, else METARANGE_SCHEMA. Raises FormatError."""
    return decode_tree(data, file_id).rows


def decode_tree(data: bytes, file_id: str) -> TreeFile:
    """All that a metarange file holds. Raises FormatError."""
    file = open_file(data, "metarange", file_id)
    stated = (file.metadata.metadata or {}).get(TREE_KEY)
    if stated is None:
        return TreeFile(read_file(file, LEVELED_SCHEMA if "level" in file.schema_arrow.names else METARANGE_SCHEMA))
    return _carrier(file, stated)


def _carrier(file: pq.ParquetFile, stated: bytes) -> TreeFile:
    try:
        rows = pa.Table.from_pydict(json.loads(stated), schema=LEVELED_SCHEMA)
    except (ValueError, TypeError, AttributeError, KeyError, pa.ArrowException) as error:
        raise FormatError(f"its metadata holds no metarange: {error}") from error
    carried = read_file(file, PATCH_SCHEMA)
    last = rows.slice(max(rows.num_rows - 1, 0)).to_pylist()
    if not last or last[0]["level"] < 1 or last[0]["count"] != carried.num_rows:
        raise FormatError("its rows are not those of the newest patch that its metadata names")
    return TreeFile(rows, carried)
