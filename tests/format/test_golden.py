"""Committed files of format 1. Our readers and independent readers must always read them."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from lakebed_format import decode_commit, decode_metarange, decode_patch, decode_range
from lakebed_format.bloom import make_bloom, may_hold
from lakebed_format.decoding import FormatError
from lakebed_format.tree.digest import metarange_id, patch_id, range_id
from lakebed_format.tree.reading import decode_layer, decode_rows, open_file

from tests.format.support import layer_sample, layer_table, patch_table, sample

HERE = Path(__file__).parent / "data"
RANGE_ID = "2acc1821bb9a8ef92743780cf35cdbecc287ef7f15eeb3ec1301fb582f5e90fa"
METARANGE_ID = "4a5fe05c63aed8df677b4418277449232bbc04b961923f3d6c3823fa93cd7f85"
COMMIT_ID = "5f660925a769ae3853188e5183b19aa6327337f577a34e59bea57469243edd74"
PATCH_ID = "b949732876d41154683425c9cdf41cab0417dbfe42865368be0d1cc8e50eb2f7"
LEVELED_ID = "8745f8fff2cb6cb059e6c0e5afb5b18a0cdb4b0c76f12de29b15f46e7e20bc85"
LAYER_ID = "0123456789abcdef0123456789abcdef-00000"


def test_another_reader_finds_every_value() -> None:
    rows = sample(12)
    frame = pd.read_parquet(HERE / "range-1.parquet")
    assert list(frame.columns) == list(rows[0])
    for name in rows[0]:
        found = frame[name].tolist()
        if name == "metadata":
            found = [list(map(tuple, one)) for one in found]
        assert found == [row[name] for row in rows]
    file = pq.ParquetFile(HERE / "range-1.parquet")
    assert file.metadata.metadata[b"lakebed.format"] == b"range/1"
    assert file.metadata.metadata[b"lakebed.id"] == RANGE_ID.encode()
    meta = pq.read_table(HERE / "metarange-1.parquet").to_pylist()
    assert meta == [
        {
            "range_id": RANGE_ID,
            "min_path": "\0",
            "max_path": "\U0010ffff",
            "count": 12,
            "size_bytes": meta[0]["size_bytes"],
        }
    ]


def test_our_reader_finds_the_same_ids() -> None:
    rows = decode_range((HERE / "range-1.parquet").read_bytes(), RANGE_ID)
    assert range_id(rows) == RANGE_ID
    assert rows.column("path").to_pylist() == [row["path"] for row in sample(12)]
    meta = decode_metarange((HERE / "metarange-1.parquet").read_bytes(), METARANGE_ID)
    assert metarange_id(meta) == METARANGE_ID
    found, record = decode_commit((HERE / "commit-1.json").read_bytes())
    assert (found, record.metarange_id, record.generation) == (COMMIT_ID, METARANGE_ID, 2)
    plain = json.loads((HERE / "commit-1.json").read_text("utf-8"))
    assert (plain["message"], plain["metadata"]) == ("golden é\n", {"a": "1", "b": "2"})


def test_the_layer_and_its_filter() -> None:
    data = (HERE / "layer-1.parquet").read_bytes()
    wanted = layer_sample(1000)
    frame = pd.read_parquet(HERE / "layer-1.parquet")
    assert list(frame.columns) == [*sample(8)[0], "deleted"]
    for name in ("path", "checksum", "identity", "deleted"):
        assert frame[name].tolist() == [row[name] for row in wanted]
    assert decode_layer(data, LAYER_ID).equals(layer_table(wanted))
    file = open_file(data, "layer", LAYER_ID)
    assert file.metadata.metadata[b"lakebed.format"] == b"layer/1"
    bloom = file.bloom()
    assert bloom is not None
    assert bloom == make_bloom([row["path"] for row in wanted])
    assert all(may_hold(bloom, row["path"]) for row in wanted)


def test_the_patch_and_the_metarange_that_names_it() -> None:
    data = (HERE / "patch-1.parquet").read_bytes()
    wanted = patch_table(layer_sample(20))
    frame = pd.read_parquet(HERE / "patch-1.parquet")
    assert list(frame.columns) == [*sample(8)[0], "deleted", "before", "before_bytes"]
    for name in ("path", "identity", "deleted", "before", "before_bytes"):
        assert frame[name].tolist() == wanted.column(name).to_pylist()
    assert decode_patch(data, PATCH_ID).equals(wanted)
    assert decode_rows(data, PATCH_ID).equals(wanted)
    assert patch_id(wanted) == PATCH_ID
    assert pq.ParquetFile(HERE / "patch-1.parquet").metadata.metadata[b"lakebed.format"] == b"patch/1"
    meta = decode_metarange((HERE / "metarange-2.parquet").read_bytes(), LEVELED_ID)
    assert metarange_id(meta) == LEVELED_ID
    assert meta.column("level").to_pylist() == [0, 1]
    assert pq.ParquetFile(HERE / "metarange-2.parquet").metadata.metadata[b"lakebed.format"] == b"metarange/2"
    with pytest.raises(FormatError, match="not a range file"):
        decode_range(data, PATCH_ID)
    with pytest.raises(FormatError, match="not a range file"):
        decode_rows((HERE / "layer-1.parquet").read_bytes(), LAYER_ID)
