"""Metaranges that carry their newest patch: round trip, golden file, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lakebed_format import PATCH_SCHEMA, decode_metarange, decode_patch, decode_tree, encode_metarange, encode_patch
from lakebed_format.decoding import FormatError
from lakebed_format.schemas import LEVELED_SCHEMA
from lakebed_format.tree.digest import metarange_id, patch_id
from lakebed_format.tree.files import DICTIONARIES, encode_file
from lakebed_format.tree.metaranges import TREE_KEY

from tests.format.support import layer_sample, patch_table

GOLDEN = Path(__file__).parent / "data/metarange-3.parquet"
GOLDEN_ID = "93c158a9de59415371d55e1ed3b3fd7efdd7bf10f5949f6b842da333355825cd"


def tree(patch: pa.Table, **newest: Any) -> pa.Table:
    """A range, and the patch over it."""
    below = {
        "range_id": "0" * 64,
        "min_path": "\0",
        "max_path": "\U0010ffff",
        "count": 9,
        "size_bytes": 900,
        "level": 0,
    }
    over = below | {"range_id": patch_id(patch), "count": patch.num_rows, "level": 1} | newest
    return pa.Table.from_pylist([below, over], schema=LEVELED_SCHEMA)


def test_metarange_round_trip_keeps_rows_and_patch() -> None:
    patch = patch_table(layer_sample(20))
    rows = tree(patch)
    found = metarange_id(rows, carries=True)
    data = encode_metarange(rows, found, patch)
    assert decode_metarange(data, found).equals(rows)
    back = decode_tree(data, found)
    assert back.rows.schema.equals(LEVELED_SCHEMA)
    assert back.inline_patch is not None
    assert back.inline_patch.equals(patch)
    assert decode_tree(encode_metarange(rows, found), found).inline_patch is None


def test_inline_patch_changes_the_metarange_id() -> None:
    rows = tree(patch_table(layer_sample(20)))
    assert metarange_id(rows, carries=True) != metarange_id(rows)


def test_the_file_that_was_written_once() -> None:
    patch = patch_table(layer_sample(20))
    rows, inline_patch = decode_tree(GOLDEN.read_bytes(), GOLDEN_ID)
    assert metarange_id(rows, carries=True) == GOLDEN_ID
    assert rows.column("level").to_pylist() == [0, 1]
    assert rows.column("range_id")[1].as_py() == patch_id(patch)
    assert inline_patch is not None
    assert inline_patch.equals(patch)
    tags = pq.ParquetFile(GOLDEN).metadata.metadata
    assert tags[b"lakebed.format"] == b"metarange/3"
    assert json.loads(tags[TREE_KEY])["count"] == [9, 20]
    frame = pd.read_parquet(GOLDEN)
    assert frame["path"].tolist() == [row["path"] for row in layer_sample(20)]


def test_a_patch_of_its_own_is_no_metarange() -> None:
    patch = patch_table(layer_sample(20))
    found = patch_id(patch)
    with pytest.raises(FormatError, match="not a metarange file"):
        decode_tree(encode_patch(patch, found), found)
    rows = tree(patch)
    tree_id = metarange_id(rows, carries=True)
    with pytest.raises(FormatError, match="not a patch file"):
        decode_patch(encode_metarange(rows, tree_id, patch), tree_id)


@pytest.mark.parametrize(
    ("newest", "complaint"),
    [({"count": 19}, "not those of the newest patch"), ({"level": 0}, "not those of the newest")],
)
def test_rows_that_are_not_the_patch(newest: dict[str, int], complaint: str) -> None:
    patch = patch_table(layer_sample(20))
    rows = tree(patch, **newest)
    found = metarange_id(rows, carries=True)
    with pytest.raises(FormatError, match=complaint):
        decode_tree(encode_metarange(rows, found, patch), found)


@pytest.mark.parametrize(
    "stated",
    [
        "",
        "[]",
        "7",
        "{}",
        "{",
        '{"range_id": ["a"]}',
        json.dumps({name: ["a"] for name in LEVELED_SCHEMA.names}),
        json.dumps({name: [] for name in LEVELED_SCHEMA.names}),
    ],
)
def test_metadata_that_hold_no_metarange(stated: str) -> None:
    patch = patch_table(layer_sample(20))
    data = encode_file(patch, PATCH_SCHEMA, "metarange", "f" * 64, DICTIONARIES, {TREE_KEY.decode(): stated})
    with pytest.raises(FormatError, match=r"not a whole metarange: |not those of the newest patch"):
        decode_tree(data, "f" * 64)


@pytest.mark.parametrize("at", [0.1, 0.5, 0.9, 0.99])
def test_a_flipped_bit_is_an_error(at: float) -> None:
    data = bytearray(GOLDEN.read_bytes())
    data[int(at * len(data))] ^= 4
    with pytest.raises(FormatError):
        decode_tree(bytes(data), GOLDEN_ID)


def test_a_newer_one_is_refused() -> None:
    rows = patch_table(layer_sample(20))
    data = encode_file(rows, PATCH_SCHEMA, "metarange", "f" * 64, DICTIONARIES, version=4)
    with pytest.raises(FormatError, match=r"metarange format 4 is newer than this reader \(3\)"):
        decode_tree(data, "f" * 64)
