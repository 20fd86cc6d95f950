"""Metaranges that carry a patch: their ids, their rows, and that other readers understand the files."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_engine.tree.manifest import RangeInfo, metarange_rows, tree_with_inline_patch
from lakebed_format import PATCH_SCHEMA, decode_tree, encode_metarange
from lakebed_format.decoding import FormatError
from lakebed_format.tree.digest import metarange_id
from lakebed_format.tree.metaranges import TREE_KEY

from tests.format.support import Row, entry, layer_sample, patch_table, tombstone

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(0, 2**63 - 1)
INFOS = st.builds(RangeInfo, TEXTS, TEXTS, TEXTS, NUMBERS, NUMBERS)
PATCHES = st.lists(INFOS.map(lambda info: info._replace(kind="patch")), min_size=1, max_size=4).map(tuple)


def carrying(patch: pa.Table) -> tuple[str, bytes]:
    """The id and the file of a metarange of a range and a patch over it."""
    paths = patch.column("path").to_pylist()
    below = RangeInfo("0" * 64, "\0", "\U0010ffff", 9, 900)
    newest = RangeInfo("1" * 64, paths[0], paths[-1], len(paths), 70, "patch")
    tree, rows = tree_with_inline_patch((below,), (), newest)
    return tree.id, encode_metarange(rows, tree.id, patch)


@given(st.lists(INFOS, max_size=5).map(tuple), PATCHES)
def test_ids_and_rows_equal_the_table(ranges: tuple[RangeInfo, ...], patches: tuple[RangeInfo, ...]) -> None:
    newest, *older = patches
    tree, rows = tree_with_inline_patch(ranges, tuple(older), newest)
    assert rows == metarange_rows(ranges, patches)
    assert tree.id == metarange_id(rows, carries=True)
    assert tree.patches == (newest._replace(inline_in=tree.id), *older)
    assert (tree.ranges, tree.max_paths) == (ranges, [info.max_path for info in ranges])
    patch = patch_table(layer_sample(8))
    metadata = pq.read_metadata(pa.BufferReader(encode_metarange(rows, tree.id, patch))).metadata
    assert json.loads(metadata[TREE_KEY]) == rows.to_pydict()


WIDE = [entry("p/" + "ä" * 700 + "/z" * 100, 7, metadata=[("k" * 900, "v" * 70_000)]), entry("q", 2**40)]


@pytest.mark.parametrize(
    "rows",
    [
        layer_sample(64),
        layer_sample(64)[:1],
        [tombstone("gone")],
        [{**row, "deleted": False} for row in WIDE],
    ],
    ids=["sample", "one", "tombstone", "wide"],
)
def test_every_row_comes_back(rows: list[Row]) -> None:
    patch = patch_table(rows)
    tree_id, data = carrying(patch)
    back = decode_tree(data, tree_id)
    assert back.inline_patch is not None
    assert back.inline_patch.schema.equals(PATCH_SCHEMA)
    assert back.inline_patch.equals(patch)
    assert back.rows.column("count").to_pylist() == [9, len(rows)]
    assert carrying(patch) == (tree_id, data)  # any server writes the same bytes
    for at in (10, len(data) // 2, len(data) - 40, len(data) - 2):
        with pytest.raises(FormatError):
            decode_tree(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :], tree_id)


def test_a_slice_is_written_as_its_own_rows() -> None:
    patch = patch_table(layer_sample(20))
    part = patch.slice(3, 7)
    tree_id, data = carrying(part)
    assert decode_tree(data, tree_id).inline_patch == part


def test_other_readers_read_the_patch(tmp_path: Path) -> None:
    patch = patch_table(layer_sample(20))
    file = tmp_path / "tree.parquet"
    file.write_bytes(carrying(patch)[1])
    paths = patch.column("path").to_pylist()
    pairs = [dict(one) for one in patch.column("metadata").to_pylist()]
    assert pd.read_parquet(file)["path"].tolist() == paths
    assert polars.read_parquet(file)["size_bytes"].to_list() == patch.column("size_bytes").to_pylist()
    shown = duckdb.connect().execute(f"SELECT path, metadata, deleted FROM '{file}' ORDER BY path").fetchall()
    assert [row[0] for row in shown] == sorted(paths)
    assert [row[1] for row in shown] == [one for _, one in sorted(zip(paths, pairs, strict=True), key=lambda x: x[0])]
    wanted = duckdb.connect().execute(f"SELECT count(*) FROM '{file}' WHERE path = 'p/00003'").fetchall()
    assert wanted == [(1,)]
