"""Layers that a hostile client sends: refused as its mistake, in little memory, before a row of them is decoded."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lakebed_engine.operations.direct_writes.bulk_register import LARGEST_GROUP, _Source
from lakebed_engine.vocabulary.errors import InvalidRequestError

from tests.format.hostile import lie, seal

GROWTH = 24 << 20

ROWS = pa.table({"path": ["a", "b"], "physical_address": ["x", "y"], "checksum": ["0", "1"], "size_bytes": [1, 2]})


def written(path: Path, rows: pa.Table, **options: Any) -> Path:
    """A file that a client may send."""
    pq.write_table(rows, path, **options)
    return path


def read(path: Path) -> int:
    """Read all of it; the number of rows."""
    source = _Source(str(path))
    try:
        return sum(batch.num_rows for group in range(source.groups) for batch in source.batches(group))
    finally:
        source.close()


def deep(levels: int) -> pa.Table:
    """Metadata as lists in lists."""
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return ROWS.append_column("metadata", pa.array([value, value]))


TWICE = pa.Table.from_arrays([*ROWS.columns, ROWS["path"]], [*ROWS.column_names, "path"])
FIXED = ROWS.set_column(0, "path", pa.array([bytes(99)] * 2, pa.binary(99)))
SHARED = {"use_dictionary": False, "column_encoding": {"path": "DELTA_BYTE_ARRAY"}}

FILES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "no Parquet": lambda path: path.write_bytes(b"PAR1" * 9),
    "a column twice": lambda path: written(path, TWICE),
    "numbers for texts": lambda path: written(path, ROWS.set_column(0, "path", pa.array([1, 2]))),
    "long fixed binaries": lambda path: written(path, FIXED),
    "lists in lists": lambda path: written(path, deep(9)),
    "texts that share their beginning": lambda path: written(path, ROWS, **SHARED),
    "no rows": lambda path: written(path, ROWS.slice(0, 0)),
}


@pytest.mark.parametrize("case", FILES)
def test_an_invalid_layer_file_is_refused(case: str, tmp_path: Path) -> None:
    sent = tmp_path / "sent.parquet"
    FILES[case](sent)
    with pytest.raises(InvalidRequestError, match="layer file: "):
        read(sent)


@pytest.mark.parametrize(
    "options", [{}, {"data_page_version": "2.0"}, {"use_dictionary": False}, {"row_group_size": 1}]
)
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd"])
def test_layer_files_of_any_parquet_writer_are_read(options: dict[str, Any], compression: str, tmp_path: Path) -> None:
    assert read(written(tmp_path / "sent.parquet", ROWS, compression=compression, **options)) == 2


PROBE = """
import resource, sys
from lakebed_engine.operations.direct_writes.bulk_register import _Source
from lakebed_engine.vocabulary.errors import InvalidRequestError

def read(path):
    source = _Source(path)
    return sum(batch.num_rows for group in range(source.groups) for batch in source.batches(group))

assert read(sys.argv[1]) == 2
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read(sys.argv[2])
    said = "it was read"
except InvalidRequestError as error:
    said = error
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10, said)
"""


@pytest.mark.slow
def test_false_footer_of_layer_file_is_refused(tmp_path: Path) -> None:
    """The probe of the review: a few KB, one page of 10 million zeros in `size_bytes`, and a footer that denies it."""
    count = 10_000_000
    texts = pa.array([""]).take(pa.array(np.zeros(count, dtype=np.int32)))
    zeros = pa.array(np.zeros(count, dtype=np.int64))
    rows = pa.table({**dict.fromkeys(ROWS.column_names, texts), "size_bytes": zeros})
    options: dict[str, Any] = {"use_dictionary": ROWS.column_names[:3], "data_page_size": 1 << 30}
    if "max_rows_per_page" in signature(pq.ParquetWriter).parameters:  # older ones bound only the bytes of a page
        options["max_rows_per_page"] = count
    sent = written(tmp_path / "sent", rows, compression="zstd", row_group_size=count, **options)
    group = pq.read_metadata(sent).row_group(0)
    assert group.total_byte_size > LARGEST_GROUP
    lies = {group.total_byte_size: 4000, group.column(3).total_uncompressed_size: 900}
    sent.write_bytes(lie(seal(sent.read_bytes()), lies))
    assert pq.read_metadata(sent).row_group(0).total_byte_size == 4000
    assert sent.stat().st_size < 40_000
    command = [sys.executable, "-c", PROBE, str(written(tmp_path / "good", ROWS)), str(sent)]
    grown, said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(" ", 1)
    assert said.startswith("layer file: a row group has ")
    assert int(grown) < GROWTH
