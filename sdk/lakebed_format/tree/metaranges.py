"""Metaranges as Parquet bytes: what the tree of a commit is made of.

There are three versions. A tree has only ranges (1), patches over them (2), or also a small newest patch inside the
metarange's own file (3). Most small commits use version 3, which saves writing and reading one file. The rows of this
file are the patch. The rows of the metarange are JSON in the file's metadata, by column.
"""

from __future__ import annotations

import json
from typing import Final, NamedTuple

import pyarrow as pa

from lakebed_format.decoding import FormatError, as_id, decoder
from lakebed_format.schemas import LEVELED_SCHEMA, METARANGE_SCHEMA, PATCH_SCHEMA
from lakebed_format.tree.files import DICTIONARIES, encode_file
from lakebed_format.tree.reading import open_file

TREE_KEY: Final = b"lakebed.tree"
"""Key of the Parquet file metadata that holds the rows of a metarange of version 3."""


class TreeFile(NamedTuple):
    """A decoded metarange file: its rows, with METARANGE_SCHEMA or LEVELED_SCHEMA, and the inline patch, if any.

    The inline patch has PATCH_SCHEMA. It is the newest patch, which the last row names.
    """

    rows: pa.Table
    inline_patch: pa.Table | None = None


def encode_metarange(rows: pa.Table, file_id: str, inline_patch: pa.Table | None = None) -> bytes:
    """A metarange file from rows of METARANGE_SCHEMA or LEVELED_SCHEMA. `file_id` is their `metarange_id`.

    `inline_patch` has the rows of the newest patch, with PATCH_SCHEMA. The patch then has no file of its own, and
    `file_id` is `metarange_id(rows, carries=True)`.
    """
    if inline_patch is not None:
        tree = json.dumps(rows.to_pydict(), ensure_ascii=False, separators=(",", ":"))
        return encode_file(inline_patch, PATCH_SCHEMA, "metarange", file_id, DICTIONARIES, {TREE_KEY.decode(): tree})
    # those without are of the versions that older readers know
    if "level" in rows.column_names:
        return encode_file(rows, LEVELED_SCHEMA, "metarange", file_id, (), version=2)
    return encode_file(rows, METARANGE_SCHEMA, "metarange", file_id, (), version=1)


def decode_metarange(data: bytes, file_id: str) -> pa.Table:
    """All rows of a metarange file; one with patches has LEVELED_SCHEMA, else METARANGE_SCHEMA. Raises FormatError."""
    return decode_tree(data, file_id).rows


@decoder("metarange")
def decode_tree(data: bytes, file_id: str) -> TreeFile:
    """All that a metarange file holds. Raises FormatError."""
    file = open_file(data, "metarange", file_id)
    rows = file.read()
    stated = file.tags.get(TREE_KEY)
    if (stated is None) == rows.schema.equals(PATCH_SCHEMA):
        raise FormatError("it has rows of a patch and no metarange, or the other way round")
    tree = TreeFile(rows) if stated is None else _with_inline_patch(stated, rows)
    _check_rows(tree.rows)
    return tree


def _with_inline_patch(stated: bytes, inline_patch: pa.Table) -> TreeFile:
    rows = pa.Table.from_pydict(json.loads(stated), schema=LEVELED_SCHEMA)
    if any(column.null_count for column in rows.columns):
        raise FormatError("its metadata has a value that is null")
    last = rows.slice(max(rows.num_rows - 1, 0)).to_pylist()
    if not last or last[0]["level"] < 1 or last[0]["count"] != inline_patch.num_rows:
        raise FormatError("its rows are not those of the newest patch that its metadata names")
    return TreeFile(rows, inline_patch)


def _check_rows(rows: pa.Table) -> None:
    """Check that the rows name files, and that a range is below the patches."""
    for found_id in rows.column("range_id").to_pylist():
        as_id(found_id, "range_id")
    levels = rows.column("level") if "level" in rows.column_names else None
    if levels is not None and not (rows.num_rows and levels[0].as_py() == 0):
        raise FormatError("it has patches and no range")
