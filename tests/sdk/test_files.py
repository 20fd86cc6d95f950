"""Objects as files, and Parquet over them: plain classes, tested without a network."""

from __future__ import annotations

import datetime as dt
import gc
import io
import zipfile
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import IO, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lakebed import _files, _parquet, errors
from lakebed.model import ObjectInfo

MORNING = dt.datetime(2026, 1, 1, 10, 0, 0, 500_000)
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
DATA = b"".join(b"line %06d\n" % n for n in range(200_000))


class Reads:
    """An object whose reads are counted."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.asked: list[tuple[int, int]] = []

    def __call__(self, start: int, length: int, checksum: str) -> bytes:
        assert checksum == "sum"
        self.asked.append((start, length))
        return self.data[start : start + length]

    def raw(self) -> _files.RangeRaw:
        return _files.RangeRaw("name", len(self.data), "sum", self)

    def open(self, mode: str = "rb", newline: str | None = None) -> IO[Any]:
        info = ObjectInfo("name", len(self.data), "sum", NOW)
        return _files.open_reader(mode, lambda: info, self, "utf-8", newline)


def test_reading_is_like_a_local_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(DATA)
    reads = Reads(DATA)
    with reads.open() as ours, path.open("rb") as theirs:
        for offset, whence, size in [
            (0, 0, 10),
            (5, 1, 100),
            (-10, 2, 50),
            (1_500_000, 0, 700_000),
            (9**9, 0, 5),
            (3, 0, -1),
        ]:
            assert ours.seek(offset, whence) == theirs.seek(offset, whence)
            assert ours.read(size) == theirs.read(size)
            assert ours.tell() == theirs.tell()
        assert ours.readable()
        assert ours.seekable()
        assert not ours.writable()
        with pytest.raises(ValueError, match="negative"):
            ours.seek(-1)
    with pytest.raises(ValueError, match="closed"):
        ours.read(1)
    with reads.open("r") as text:
        assert text.readline() == "line 000000\n"
        assert sum(1 for _ in text) == 199_999


def test_reads_are_few() -> None:
    reads = Reads(DATA)
    with reads.open() as file:
        assert sum(1 for _ in file) == 200_000
    assert len(reads.asked) <= len(DATA) // _files.BUFFER + 2
    reads = Reads(DATA)
    with reads.open() as file:
        assert file.read() == DATA
    assert len(reads.asked) == 1
    assert Reads(b"").open().read() == b""


class Store:
    def __init__(self) -> None:
        self.kept: list[bytes] = []

    def __call__(self, file: IO[bytes]) -> ObjectInfo:
        self.kept.append(file.read())
        return ObjectInfo("p", 1, "sum", NOW)


def writer(store: Any, mode: str = "wb", taken: bool = False) -> IO[Any]:
    refuse = partial(errors.ObjectExistsError, "taken")
    return _files.open_writer(mode, "p", store, lambda: taken, refuse, "utf-8", None)


def test_writing_is_stored_when_closed_cleanly() -> None:
    store = Store()
    with writer(store) as file:
        file.write(b"a")
        file.write(memoryview(b"bc"))
        assert file.tell() == 3
        assert store.kept == []
    file.close()
    assert store.kept == [b"abc"]
    with writer(store, "w") as file:
        file.write("é\n")
    assert store.kept[-1] == "é\n".encode()
    text = writer(store, "w")
    text.write("x")
    text.close()
    assert store.kept[-1] == b"x"
    with pytest.raises(ValueError, match="closed"):
        text.write("y")
    with writer(store) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr("inside", "x")
    assert zipfile.ZipFile(io.BytesIO(store.kept[-1])).read("inside") == b"x"


@pytest.mark.parametrize("mode", ["wb", "w"])
def test_half_a_file_is_never_stored(mode: str) -> None:
    store = Store()
    with pytest.raises(RuntimeError), writer(store, mode) as file:
        file.write(b"half" if mode == "wb" else "half")
        raise RuntimeError
    forgotten = writer(store, mode)
    forgotten.write(b"half" if mode == "wb" else "half")
    del forgotten
    gc.collect()
    assert store.kept == []


def test_a_store_that_fails_leaves_a_closed_file() -> None:
    def failing(file: IO[bytes]) -> ObjectInfo:
        raise errors.ServerUnavailableError("down")

    file = writer(failing)
    with pytest.raises(errors.ServerUnavailableError):
        file.close()
    assert file.closed
    file.close()
    with pytest.raises(errors.ObjectExistsError):
        writer(Store(), "xb", taken=True)


def test_modes() -> None:
    assert _files.check_mode("rt", writable=False) == "r"
    assert _files.check_mode("xb", writable=True) == "xb"
    for mode, writable in [("w", False), ("a", True), ("r+", True), ("", True), ("rw", True)]:
        with pytest.raises(errors.InvalidRequestError):
            _files.check_mode(mode, writable=writable)


def read_back(folder: Path, files: list[tuple[str, Path]], **options: Any) -> pa.Table:
    found = [(place, Reads(path.read_bytes()).raw) for place, path in files]
    return _parquet.read_files(found, options.get("columns"), options.get("filters"))


FRAME = pd.DataFrame(
    {
        "day": [dt.date(2026, 1, 1), None, dt.date(2026, 1, 2), dt.date(2026, 1, 1)],
        "name": ["a/b", "ü=%", None, "a/b"],
        "code": ["007", "7", "008", "007"],
        "ok": [True, False, None, True],
        "at": pd.Series([MORNING, dt.datetime(2026, 1, 2), None, MORNING]),
        "price": [Decimal("1.50"), Decimal("2.00"), None, Decimal("1.50")],
        "x": [1, 2, 3, 4],
    }
)


@pytest.mark.parametrize("column", ["day", "name", "code", "ok", "at", "price"])
def test_partitions_come_back_as_they_were(tmp_path: Path, column: str) -> None:
    files = _parquet.write_files(FRAME, tmp_path, [column], None, "zstd")
    assert len(files) == 3
    table = read_back(tmp_path, files)
    expected = pa.Table.from_pandas(FRAME)
    assert table.schema.field(column).type == expected.schema.field(column).type
    back = table.to_pandas()[list(FRAME.columns)].sort_values("x", ignore_index=True)
    pd.testing.assert_frame_equal(back, FRAME)


def test_several_partitions_and_odd_names(tmp_path: Path) -> None:
    frame = FRAME.rename(columns={"name": "a b/ü="})
    files = _parquet.write_files(frame, tmp_path, ["day", "a b/ü="], None, "zstd")
    table = read_back(tmp_path, files, filters=[("a b/ü=", "==", "a/b")])
    assert sorted(table.column("x").to_pylist()) == [1, 4]
    assert set(table.column_names) == set(frame.columns)


def test_categories_can_partition(tmp_path: Path) -> None:
    frame = pd.DataFrame({"k": pd.Categorical(["a", "b", "a"]), "c": pd.Categorical(["x", "y", "x"]), "x": [1, 2, 3]})
    files = _parquet.write_files(frame, tmp_path, ["k"], None, "zstd")
    table = read_back(tmp_path, files)
    assert sorted(table.column("k").to_pylist()) == ["a", "a", "b"]
    assert pa.types.is_dictionary(table.schema.field("c").type)


def test_foreign_partitions_are_guessed(tmp_path: Path) -> None:
    for place in ("year=2026/code=007", "year=2027/code=8", f"year={_parquet.NULL}/code=9"):
        (tmp_path / place).mkdir(parents=True)
        pq.write_table(pa.table({"x": [1]}), tmp_path / place / "f.parquet")
    files = sorted((path.relative_to(tmp_path).as_posix(), path) for path in tmp_path.rglob("*.parquet"))
    table = read_back(tmp_path, files)
    assert table.schema.field("year").type == pa.int64()
    assert table.column("year").to_pylist() == [2026, 2027, None]
    assert table.column("code").to_pylist() == ["007", "8", "9"]


def test_schemas_are_united(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": pa.array([1], pa.int32())}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"x": pa.array([2**40], pa.int64()), "y": ["new"]}), tmp_path / "2.parquet")
    table = read_back(tmp_path, [(f"{n}.parquet", tmp_path / f"{n}.parquet") for n in (1, 2)])
    assert table.to_pylist() == [{"x": 1, "y": None}, {"x": 2**40, "y": "new"}]
    pq.write_table(pa.table({"x": ["text"]}), tmp_path / "3.parquet")
    with pytest.raises(errors.InvalidRequestError):
        read_back(tmp_path, [(f"{n}.parquet", tmp_path / f"{n}.parquet") for n in (1, 3)])


def test_rows_per_file_order_and_index(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": range(1000)}, index=pd.Index([f"r{n}" for n in range(1000)], name="row"))
    files = _parquet.write_files(frame, tmp_path, [], 300, "zstd")
    assert len(files) == 4
    many = _parquet.write_files(frame, tmp_path / "many", [], 50, "zstd")
    assert read_back(tmp_path, many).column("x").to_pylist() == list(range(1000))
    back = read_back(tmp_path, files).to_pandas()
    pd.testing.assert_frame_equal(back, frame)
    back = read_back(tmp_path, files, columns=["x"], filters=[("x", "<", 3)]).to_pandas()
    assert list(back.index) == ["r0", "r1", "r2"]


def test_streams_and_empty_tables(tmp_path: Path) -> None:
    table = pa.table({"k": ["a", "b"], "x": [1, 2]})
    reader = pa.RecordBatchReader.from_batches(table.schema, iter(table.to_batches()))
    assert len(_parquet.write_files(reader, tmp_path / "1", ["k"], None, "zstd")) == 2
    empty = pd.DataFrame({"k": pd.Series([], dtype="str"), "x": pd.Series([], dtype="int64")})
    for number, partition_by in enumerate([[], ["k"]]):
        files = _parquet.write_files(empty, tmp_path / f"e{number}", partition_by, None, "zstd")
        assert len(files) == 1
        back = read_back(tmp_path, files)
        assert back.num_rows == 0
        assert "x" in back.column_names


@pytest.mark.parametrize(
    ("partition_by", "rows"),
    [(["nope"], None), (["x"], None), (["b"], None), ([], 0)],
    ids=["unknown", "all", "bytes", "0"],
)
def test_what_cannot_be_written(tmp_path: Path, partition_by: list[str], rows: int | None) -> None:
    table = pa.table({"x": [1]} if partition_by == ["x"] else {"x": [1], "b": [b"\xff"]})
    with pytest.raises(errors.InvalidRequestError):
        _parquet.write_files(table, tmp_path, partition_by, rows, "zstd")
    with pytest.raises(errors.InvalidRequestError):
        _parquet.write_files({"x": [1]}, tmp_path, [], None, "zstd")
