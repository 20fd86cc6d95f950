"""Files with a right checksum and false content cause one error, and take little memory and time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lakebed_format import DELTA_SCHEMA, METARANGE_SCHEMA, CommitRecord, encode_commit, encode_patch
from lakebed_format.bloom import may_hold
from lakebed_format.commits import commit_id, decode_commit
from lakebed_format.decoding import FormatError
from lakebed_format.refs import RefsRecord, decode_marker, decode_refs, encode_refs
from lakebed_format.schemas import LEVELED_SCHEMA
from lakebed_format.tree.files import BLOOM_KEY
from lakebed_format.tree.metaranges import TREE_KEY, decode_tree
from lakebed_format.tree.reading import decode_layer, decode_range, decode_rows, open_file

from tests.format.hostile import ID, bomb, lie, nullable, parquet, reseal, varint, wrong_text
from tests.format.support import layer_sample, layer_table, metarange_table, patch_table, sample, table

GROWTH = 24 << 20
"""Bytes that a process may grow by when it refuses a file of a few kilobytes."""


def repeated(count: int, length: int) -> pa.Table:
    """Rows with one long text, which a dictionary holds once."""
    row = {**sample()[9], "checksum": "c" * length}
    return table([{**row, "path": f"{number:04}"} for number in range(count)])


SAMPLE = table(sample())

RANGES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a null": ("columns are not", lambda: parquet(nullable(SAMPLE, "checksum"), "range/1")),
    "no path": ("columns are not", lambda: parquet(SAMPLE.drop_columns(["path"]), "range/1")),
    "another type": (
        "columns are not",
        lambda: parquet(SAMPLE.set_column(4, "size_bytes", pa.array(["x"] * 40)), "range/1"),
    ),
    "a column too many": ("columns are not", lambda: parquet(layer_table(layer_sample(40)), "range/1")),
    "a text that is not UTF-8": ("UTF8", lambda: parquet(wrong_text(SAMPLE, "physical_address"), "range/1")),
    "a path that is not UTF-8": ("UTF8", lambda: parquet(wrong_text(SAMPLE, "path"), "range/1")),
    "a large row group": ("more than 2,000 rows", lambda: parquet(table(sample(2001)), "range/1", row_group_size=9000)),
    "texts that share their beginning": (
        "DELTA_BYTE_ARRAY",
        lambda: parquet(SAMPLE, "range/1", use_dictionary=False, column_encoding={"path": "DELTA_BYTE_ARRAY"}),
    ),
    "one long text, a thousand times": ("bytes, at most", lambda: parquet(repeated(1000, 100_000), "range/1")),
    "another version": ("newer", lambda: parquet(SAMPLE, "range/2")),
    "no number for a version": ("not a range", lambda: parquet(SAMPLE, "range/²")),
    "no version": ("not a range", lambda: parquet(SAMPLE, "")),
    "a footer of nonsense": ("footer has", lambda: parquet(SAMPLE, "range/1", {b"x": b"x" * 9_000_000})),
}


@pytest.mark.parametrize("case", RANGES)
def test_a_range_that_no_writer_made(case: str) -> None:
    why, make = RANGES[case]
    data = make()
    for decode in (decode_range, decode_rows):
        with pytest.raises(FormatError, match=why):
            decode(data, ID)


def test_bounds_accept_files_of_other_writers() -> None:
    """The bounds apply only to false files: dictionaries, codecs and pages of any size are read."""
    for rows in (SAMPLE, repeated(1000, 1000), repeated(40, 1_000_000)):
        for codec in ("none", "snappy", "gzip", "zstd", "lz4"):
            assert decode_range(parquet(rows, "range/1", compression=codec), ID).equals(rows)
        assert decode_range(parquet(rows, "range/1", data_page_version="2.0", data_page_size=64), ID).equals(rows)


def test_no_statistics() -> None:
    """A lookup needs the bounds of row groups; reading all rows does not."""
    file = open_file(parquet(table(sample()), "range/1", write_statistics=False), "range", ID)
    with pytest.raises(FormatError):
        file.bounds()
    assert file.read().num_rows == 40


def test_statistics_that_are_not_utf8() -> None:
    file = open_file(parquet(wrong_text(table(sample()), "path"), "range/1"), "range", ID)
    with pytest.raises(FormatError):
        file.bounds()


@pytest.mark.parametrize("stored", [b"", b"!", b"AAAA", "é".encode()])
def test_an_invalid_bloom_filter_is_an_error(stored: bytes) -> None:
    file = open_file(parquet(layer_table(layer_sample(40)), "layer/1", {BLOOM_KEY: stored}), "layer", ID)
    with pytest.raises(FormatError):
        file.bloom()
    assert decode_layer(parquet(layer_table(layer_sample(40)), "layer/1"), ID).schema.equals(DELTA_SCHEMA)
    assert not may_hold(bytes(8), "a")


def _outline(**values: Any) -> str:
    body: dict[str, list[Any]] = {
        "range_id": ["0" * 64, "1" * 64], "min_path": ["", ""], "max_path": ["z", "z"], "count": [9, 40],
        "size_bytes": [9, 9], "level": [0, 1],
    }  # fmt: skip
    return json.dumps(body | values)


OUTLINES = {
    "deep": "[" * 200_000,
    "deep objects": '{"range_id":' * 100_000,
    "infinite": _outline(count=[9, 1e999]),
    "huge": _outline(count=[9, 1 << 70]),
    "null": _outline(min_path=[None, ""]),
    "surrogate": _outline(min_path=["\ud800", ""]),
    "a key that leads out": _outline(range_id=["../../x", "1" * 64]),
    "no range": _outline(level=[1, 2]),
    "of two lengths": _outline(level=[0, 1, 2]),
}


@pytest.mark.parametrize("case", OUTLINES)
def test_metarange_with_an_invalid_outline_is_refused(case: str) -> None:
    rows = patch_table(layer_sample(40))
    good = parquet(rows, "metarange/3", {TREE_KEY: _outline().encode()})
    assert decode_tree(good, ID).rows.num_rows == 2
    with pytest.raises(FormatError):
        decode_tree(parquet(rows, "metarange/3", {TREE_KEY: OUTLINES[case].encode()}), ID)


@pytest.mark.parametrize("found_id", ["", "x", "../" * 30, "F" * 64, "0" * 65])
def test_a_metarange_that_names_no_file(found_id: str) -> None:
    row = {"range_id": found_id, "min_path": "a", "max_path": "b", "count": 1, "size_bytes": 1}
    with pytest.raises(FormatError):
        decode_tree(parquet(metarange_table([row]), "metarange/1"), ID)


def test_a_metarange_of_many_rows_is_read() -> None:
    """The bounds apply only to false files: a metarange of a hundred thousand ranges is valid."""
    count = 100_000
    columns = [pa.array([f"{n:064x}" for n in range(count)])] + [pa.array([f"{n:09}" for n in range(count)])] * 2
    rows = pa.table([*columns, pa.array([1] * count), pa.array([1] * count)], schema=METARANGE_SCHEMA)
    data = parquet(rows, "metarange/1", compression="zstd")
    assert decode_tree(data, ID).rows.num_rows == count
    assert set(METARANGE_SCHEMA.names) < set(LEVELED_SCHEMA.names)


COMMIT = CommitRecord((), "ann", "one", 5, "", {"k": "v"})


def _commit(**values: Any) -> bytes:
    """A commit file of these members; its id is right wherever it has one."""
    body = json.loads(encode_commit(COMMIT)) | values
    return json.dumps(body).encode()


COMMITS = {
    "deep": b"[" * 200_000,
    "deep objects": b'{"a":' * 100_000,
    "deep message": b'{"format":"commit/1","message":' + b"[" * 5_000,
    "infinite": _commit(generation=1e999),
    "infinite time": _commit(creation_date=1e999),
    "a generation of 70 bits": _commit(generation=1 << 70),
    "a version of 5,000 digits": b'{"format":"commit/1","version":' + b"9" * 5_000 + b"}",
    "surrogate": _commit(message="\ud800"),
    "not UTF-8": encode_commit(COMMIT).replace(b"ann", b"a\xffn"),
    "a parent that leads out": encode_commit(CommitRecord(("../../x",), "ann", "one", 5, "")),
    "a metarange that leads out": encode_commit(CommitRecord((), "ann", "one", 5, "../x")),
    "a list for text": _commit(message=["one"]),
    "a truth for a number": _commit(generation=True),
    "null": _commit(metadata=None),
}


@pytest.mark.parametrize("case", COMMITS)
def test_an_invalid_commit_file_is_an_error(case: str) -> None:
    with pytest.raises(FormatError):
        decode_commit(COMMITS[case])


def test_a_commit_file_of_other_json() -> None:
    """Any JSON with the same content is accepted as the commit, because the id decides."""
    assert decode_commit(_commit()) == (commit_id(COMMIT), COMMIT)


REFS = RefsRecord("u" * 8, "lake", "local://lake", "main", 5)


def _refs(**values: Any) -> bytes:
    body = json.loads(encode_refs(REFS, 1000)[1])
    body["repository"] |= {name: values.pop(name) for name in list(values) if name in body["repository"]}
    return json.dumps(body | values).encode()


SNAPSHOTS = {
    "deep": b'{"a":' * 100_000,
    "infinite": _refs(time_ms=1e999),
    "infinite date": _refs(creation_date=1e999),
    "not a number": _refs(time_ms=float("nan")),
    "no list": _refs(branches={}),
    "no branch": _refs(branches=[1]),
    "a branch at no commit": _refs(branches=[{"name": "main", "commit_id": "../x", "hidden": False}]),
    "a text for a truth": _refs(read_only="yes"),
    "no repository": _refs(repository=[]),
    "surrogate": _refs(name="\udfff"),
    "not UTF-8": encode_refs(REFS, 1000)[1].replace(b"lake", b"l\xffke"),
}


@pytest.mark.parametrize("case", SNAPSHOTS)
def test_an_invalid_ref_snapshot_is_an_error(case: str) -> None:
    assert decode_refs(_refs())[1:] == (1000, REFS)
    with pytest.raises(FormatError):
        decode_refs(SNAPSHOTS[case])


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"1", b'{"uid":1}', b'{"uid":"\xff"}', b"[" * 50_000, b'{"a":' * 10_000, b" " * 70_000 + b"{}",
     b'{"uid":"\\ud800"}'],
)  # fmt: skip
def test_an_invalid_marker_is_an_error(data: bytes) -> None:
    assert decode_marker(b'{"uid":"u","name":"n"}') == {"uid": "u", "name": "n"}
    with pytest.raises(FormatError):
        decode_marker(data)


PROBE = """
import resource, sys, time
from pathlib import Path
from lakebed_format.decoding import FormatError
from lakebed_format.tree.reading import decode_rows

good, bad = (Path(one).read_bytes() for one in sys.argv[1:3])
decode_rows(good, "f" * 64)
before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
try:
    decode_rows(bad, "f" * 64)
    raise SystemExit("it was decoded")
except FormatError as error:
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10, time.process_time() - start, error)
"""


def refused(tmp_path: Path, data: bytes) -> tuple[int, float, str]:
    """What another process says of a file: bytes that it grew by, seconds of CPU, and the error."""
    for name, content in (("good", parquet(table(sample()), "range/1")), ("bad", data)):
        (tmp_path / name).write_bytes(content)
    command = [sys.executable, "-c", PROBE, str(tmp_path / "good"), str(tmp_path / "bad")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    grown, seconds, said = done.stdout.split(" ", 2)
    return int(grown), float(seconds), said


@pytest.mark.slow
def test_footer_with_a_false_page_size_is_refused(tmp_path: Path) -> None:
    """As in the review: a few kilobytes of pages with millions of zeros, and a footer that says 2,000 rows."""
    count = 2_000_000
    options: dict[str, Any] = {"data_page_size": 1 << 30, "compression": "zstd", "use_dictionary": False}
    if "max_rows_per_page" in signature(pq.ParquetWriter).parameters:  # older ones bound only the bytes of a page
        options["max_rows_per_page"] = count
    data = parquet(bomb(count), "range/1", row_group_size=count, **options)
    assert len(data) < 20_000
    grown, seconds, said = refused(tmp_path, lie(data, {count: 2_000}))
    assert grown < GROWTH
    assert seconds < 1
    assert "bytes, at most" in said


@pytest.mark.slow
def test_a_footer_that_names_columns_without_end(tmp_path: Path) -> None:
    """A list of Thrift says in five bytes how long it is, and Arrow makes room for all of it."""
    file = parquet(SAMPLE, "range/1")
    at = len(file) - 8 - int.from_bytes(file[-8:-4], "little")
    columns = b"\x19\xfc" + varint(30_000) + b"\x26\x00\x00" * 30_000
    groups = b"\x19\xac" + 10 * (columns + b"\x16\x00" + b"\x16\x00" + b"\x00")
    footer = b"\x15\x02" + b"\x19\x0c" + b"\x16\x00" + groups + b"\x00"
    data = reseal(file[:at] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    grown, seconds, said = refused(tmp_path, data)
    assert grown < GROWTH
    assert seconds < 1
    assert "more than 300,000 structs" in said


@pytest.mark.slow
def test_a_footer_that_ended_the_process(tmp_path: Path) -> None:
    """A histogram of one level where a column has two: pyarrow shows such a column by ending the process."""
    file = encode_patch(patch_table(layer_sample(40)), ID)
    at = len(file) - 8 - int.from_bytes(file[-8:-4], "little")
    two = re.search(rb"\x19\x26([\x00-\x7f])[\x00-\x7f]", file[at:])
    assert two is not None, "the size statistics of the metadata's keys"
    one = b"\x19\x16" + bytes([two[1][0] | 0x80, 0])
    _, _, said = refused(tmp_path, reseal(file[:at] + file[at:].replace(two[0], one, 1)))
    assert "histogram" in said
