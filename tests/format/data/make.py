"""Wrote the golden files of format 1 once: `python -m tests.format.data.make`. Later versions get their own files.

Never run this again over released files: every later version must be able to read them.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from lakebed_format import CommitRecord, commit_id, encode_commit, encode_metarange, encode_range
from lakebed_format.schemas import LEVELED_SCHEMA
from lakebed_format.tree.digest import metarange_id, patch_id, range_id
from lakebed_format.tree.files import encode_layer, encode_patch
from lakebed_format.tree.split import row_sizes

from tests.format.support import layer_sample, layer_table, metarange_table, patch_table, sample, table

HERE = Path(__file__).parent
LAYER_ID = "0123456789abcdef" * 2 + "-00000"


def main() -> None:
    """Write range-1.parquet, metarange-1.parquet and commit-1.json."""
    rows = table(sample(12))
    paths = rows.column("path").to_pylist()
    found = range_id(rows)
    (HERE / "range-1.parquet").write_bytes(encode_range(rows, found))
    meta = metarange_table(
        [
            {
                "range_id": found,
                "min_path": paths[0],
                "max_path": paths[-1],
                "count": len(paths),
                "size_bytes": int(row_sizes(rows).sum()),
            }
        ]
    )
    tree = metarange_id(meta)
    (HERE / "metarange-1.parquet").write_bytes(encode_metarange(meta, tree))
    record = CommitRecord(("0" * 64,), "ann", "golden é\n", 1_700_000_000, tree, {"b": "2", "a": "1"}, generation=2)
    (HERE / "commit-1.json").write_bytes(encode_commit(record))
    print(found, tree, commit_id(record))


def layer() -> None:
    """Write layer-1.parquet: with tombstones, and large enough for a Bloom filter."""
    (HERE / "layer-1.parquet").write_bytes(encode_layer(layer_table(layer_sample(1000)), LAYER_ID))


def patch() -> None:
    """Write patch-1.parquet, and metarange-2.parquet with it over a range."""
    rows = patch_table(layer_sample(20))
    found = patch_id(rows)
    (HERE / "patch-1.parquet").write_bytes(encode_patch(rows, found))
    one = {"range_id": "0" * 64, "min_path": "a", "max_path": "z", "count": 9, "size_bytes": 900, "level": 0}
    two = {"range_id": found, "min_path": "a", "max_path": "z", "count": 20, "size_bytes": 2000, "level": 1}
    meta = pa.Table.from_pylist([one, two], schema=LEVELED_SCHEMA)
    tree = metarange_id(meta)
    (HERE / "metarange-2.parquet").write_bytes(encode_metarange(meta, tree))
    print(found, tree)


def metarange_with_inline_patch() -> None:
    """Write metarange-3.parquet: the same patch, inline."""
    rows = patch_table(layer_sample(20))
    one = {"range_id": "0" * 64, "min_path": "a", "max_path": "z", "count": 9, "size_bytes": 900, "level": 0}
    two = {"range_id": patch_id(rows), "min_path": "a", "max_path": "z", "count": 20, "size_bytes": 2000, "level": 1}
    meta = pa.Table.from_pylist([one, two], schema=LEVELED_SCHEMA)
    tree = metarange_id(meta, carries=True)
    (HERE / "metarange-3.parquet").write_bytes(encode_metarange(meta, tree, rows))
    print(tree)


if __name__ == "__main__":
    main()
    layer()
    patch()
    metarange_with_inline_patch()
