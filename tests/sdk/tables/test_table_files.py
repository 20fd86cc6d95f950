"""Tables as files, without a network: partitions, schemas, files cut short, and what a writer holds in memory."""

from __future__ import annotations

import datetime as dt
import gc
import io
import threading
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from lakebed import errors
from lakebed._files import RangeRaw
from lakebed._tables import frames, parquet_encoding, writing
from lakebed._tables.location import Place
from lakebed._tables.reading import File, Opened, ReadOptions
from lakebed._tables.writing import Piece, Writer
from lakebed_tables import partitions
from lakebed_tables.schemas import plain_type

from tests.support.waiting import PATIENCE

MORNING = dt.datetime(2026, 1, 1, 10, 0, 0, 500_000)
WHERE = Place("repo", "main", "t/")
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


def written(folder: Path, data: object, partition_by: Sequence[str] = (), **options: Any) -> list[tuple[str, Path]]:
    """Write a table, and put its files where they belong."""
    options.setdefault("partition_values", "hive")
    reader = frames.to_reader(data)
    local = folder / "_local"
    local.mkdir(parents=True)
    found = []
    for piece in Writer(reader.schema, local, partition_by, **options).pieces(reader):
        target = folder / piece.place
        target.parent.mkdir(parents=True, exist_ok=True)
        found.append((piece.place, piece.file.rename(target)))
        assert piece.size == target.stat().st_size
    return found


class Ranges:
    """A file whose reads are counted."""

    def __init__(self, path: Path) -> None:
        self.data = path.read_bytes()
        self.asked: list[tuple[int, int]] = []

    def __call__(self, start: int, length: int, checksum: str) -> bytes:
        self.asked.append((start, length))
        return self.data[start : start + length]

    def open(self) -> io.RawIOBase:
        return RangeRaw("name", len(self.data), "sum", self)


def opened(files: Sequence[tuple[str, Path]], **options: Any) -> Opened:
    found = [File("t/" + place, place, Ranges(path).open) for place, path in files]
    return Opened(WHERE, found, ReadOptions(**options))


def read_back(files: Sequence[tuple[str, Path]], **options: Any) -> pa.Table:
    return opened(files, **options).to_table()


def planted(folder: Path, *tables: pa.Table) -> list[tuple[str, Path]]:
    """Each table as a file of its own."""
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"{number}.parquet")
    return [(f"{number}.parquet", folder / f"{number}.parquet") for number in range(len(tables))]


# partitions


@pytest.mark.parametrize("column", ["day", "name", "code", "ok", "at", "price"])
def test_partitions_round_trip(tmp_path: Path, column: str) -> None:
    files = written(tmp_path, FRAME, [column])
    assert len(files) == 3
    table = read_back(files)
    expected = pa.Table.from_pandas(FRAME)
    assert table.schema.field(column).type == expected.schema.field(column).type
    back = table.to_pandas()[list(FRAME.columns)].sort_values("x", ignore_index=True)
    pd.testing.assert_frame_equal(back, FRAME)


def test_arrow_itself_reads_the_directories(tmp_path: Path) -> None:
    written(tmp_path, FRAME[["name", "x"]], ["name"])
    there = pads.dataset(
        tmp_path, format="parquet", partitioning=pads.partitioning(flavor="hive"), ignore_prefixes=["_l"]
    )
    rows = there.to_table().sort_by("x").to_pydict()
    assert rows == {"x": [1, 2, 3, 4], "name": ["a/b", "ü=%", None, "a/b"]}


def test_several_partitions_and_odd_names(tmp_path: Path) -> None:
    frame = FRAME.rename(columns={"name": "a b/ü="})
    files = written(tmp_path, frame, ["day", "a b/ü="])
    table = read_back(files, filters=[("a b/ü=", "==", "a/b")])
    assert sorted(table.column("x").to_pylist()) == [1, 4]
    assert set(table.column_names) == set(frame.columns)


def test_categories_can_partition(tmp_path: Path) -> None:
    frame = pd.DataFrame({"k": pd.Categorical(["a", "b", "a"]), "c": pd.Categorical(["x", "y", "x"]), "x": [1, 2, 3]})
    table = read_back(written(tmp_path, frame, ["k"]))
    assert sorted(table.column("k").to_pylist()) == ["a", "a", "b"]
    assert pa.types.is_dictionary(table.schema.field("c").type)


def test_foreign_partitions_are_guessed(tmp_path: Path) -> None:
    for place in ("year=2026/code=007", "year=2027/code=8", f"year={partitions.NULL}/code=9"):
        (tmp_path / place).mkdir(parents=True)
        pq.write_table(pa.table({"x": [1]}), tmp_path / place / "f.parquet")
    files = sorted((path.relative_to(tmp_path).as_posix(), path) for path in tmp_path.rglob("*.parquet"))
    table = read_back(files)
    assert table.schema.field("year").type == pa.int64()
    assert table.column("year").to_pylist() == [2026, 2027, None]
    assert table.column("code").to_pylist() == ["007", "8", "9"]


def test_a_directory_that_does_not_fit_its_column(tmp_path: Path) -> None:
    (place, path), *_ = written(tmp_path, pd.DataFrame({"day": [dt.date(2026, 1, 1)], "x": [1]}), ["day"])
    odd = place.replace("2026-01-01", "yesterday")
    with pytest.raises(errors.InvalidRequestError, match=r"t/day=yesterday.*partition columns"):
        opened([(place, path), (odd, path)])


@pytest.mark.parametrize(
    ("values", "problem"),
    [([partitions.NULL], "means null in paths"), ([float("nan")], "would not get .* back")],
    ids=["word", "nan"],
)
def test_values_that_a_path_cannot_contain_are_refused(tmp_path: Path, values: list[Any], problem: str) -> None:
    with pytest.raises(errors.InvalidRequestError, match=problem):
        written(tmp_path, pa.table({"k": values, "x": [1]}), ["k"])


def test_filters_open_only_the_directories_that_they_leave(tmp_path: Path) -> None:
    files = written(tmp_path, pd.DataFrame({"k": [f"k{n}" for n in range(20)], "x": range(20)}), ["k"])
    ranges = [Ranges(path) for _, path in files]
    table = Opened(
        WHERE,
        [File(place, place, one.open) for (place, _), one in zip(files, ranges, strict=True)],
        ReadOptions(filters=[("k", "=", "k7")]),
    ).to_table()
    assert table.to_pylist() == [{"x": 7, "k": "k7"}]
    assert sum(bool(one.asked) for one in ranges) == 2  # the first one says what the columns are


# schemas


def test_files_outside_partitions_are_reported(tmp_path: Path) -> None:
    files = written(tmp_path / "parts", pd.DataFrame({"k": ["a", "b"], "x": [1, 2]}), ["k"])
    ((_, stray),) = written(tmp_path / "stray", pd.DataFrame({"x": [3]}))
    with pytest.raises(errors.SchemaMismatchError, match=r"'t/stray\.parquet' has no column 'k' \(a partition\)"):
        opened([*files, ("stray.parquet", stray)])
    table = read_back([*files, ("stray.parquet", stray)], schema="unify")
    assert sorted(table.column("k").to_pylist(), key=str) == [None, "a", "b"]


def test_schemas_must_be_the_same(tmp_path: Path) -> None:
    one, more = pa.table({"x": [1]}), pa.table({"x": [2**40], "y": ["new"]})
    files = planted(tmp_path, one, one, more)
    with pytest.raises(errors.SchemaMismatchError) as caught:
        opened(files)
    assert caught.value.differences == (errors.SchemaDifference("t/2.parquet", "y", None, "string"),)
    assert "lakebed://repo/main/t/" in str(caught.value)
    assert "'t/2.parquet' has an additional column 'y'" in str(caught.value)
    united = read_back(files, schema="unify")
    assert united.to_pydict() == {"x": [1, 1, 2**40], "y": [None, None, "new"]}


def test_types_change_only_on_request(tmp_path: Path) -> None:
    files = planted(
        tmp_path, pa.table({"x": pa.array([1], pa.int32())}), pa.table({"x": pa.array([2**40], pa.int64())})
    )
    for schema in ("same", "unify"):
        with pytest.raises(errors.SchemaMismatchError, match="'x' as int64, not int32"):
            opened(files, schema=schema)
    wider = pa.schema([("x", pa.int64())])
    assert read_back(files, schema=wider).to_pydict() == {"x": [1, 2**40]}
    with pytest.raises(errors.InvalidRequestError, match="do not fit"):
        read_back(files, schema=pa.schema([("x", pa.int32())]))


def test_layouts_of_one_type_are_no_difference(tmp_path: Path) -> None:
    words = [pa.array(["a", "b"], kind) for kind in (pa.string(), pa.large_string())]
    words.append(words[0].dictionary_encode())
    files = planted(tmp_path, *(pa.table({"x": array}) for array in words))
    assert read_back(files).column("x").to_pylist() == ["a", "b"] * 3
    assert read_back(files, schema="unify").column("x").to_pylist() == ["a", "b"] * 3
    nothing = planted(tmp_path, pa.table({"x": pa.nulls(1)}), pa.table({"x": ["a"]}))
    assert read_back(nothing, schema="unify").to_pydict() == {"x": [None, "a"]}


@pytest.mark.parametrize(
    "kind",
    [pa.list_(pa.dictionary(pa.int8(), pa.large_string())), pa.struct([("a", pa.large_binary())]),
     pa.map_(pa.large_string(), pa.string_view()), pa.large_list(pa.int8())],
    ids=str,
)  # fmt: skip
def test_plain_types(kind: pa.DataType) -> None:
    plain = plain_type(kind)
    assert plain == plain_type(plain)
    assert not {"large", "dictionary", "view"} & set(str(plain).replace("_", " ").replace("<", " ").split())


def test_only_the_message_truncates_many_differences(tmp_path: Path) -> None:
    files = planted(tmp_path, pa.table({"x": [1]}), pa.table({f"c{n}": [1] for n in range(99)}))
    with pytest.raises(errors.SchemaMismatchError, match="and 95 more differences") as caught:
        opened(files)
    assert len(caught.value.differences) == 100


# reading


def test_columns_filters_and_the_index(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": range(1000), "y": 0}, index=pd.Index([f"r{n}" for n in range(1000)], name="row"))
    files = written(tmp_path, frame, max_rows_per_file=300)
    assert len(files) == 4
    back = read_back(files, columns=("x",), filters=[("x", "<", 3)], index=True).to_pandas()
    assert list(back.index) == ["r0", "r1", "r2"]
    assert read_back(files, columns=("x",)).column_names == ["x"]
    with pytest.raises(errors.InvalidRequestError, match=r"no column 'z': the columns are \['x', 'y', 'row'\]"):
        opened(files, columns=("z",))
    for filters, problem in [
        ([("z", "=", 1)], "FieldRef.Name"),
        ([("x", "=", "one")], "no kernel"),
        ([("x", "~", 1)], "malformed"),
    ]:
        with pytest.raises(errors.InvalidRequestError, match=problem):
            read_back(files, filters=filters)


def test_batches_are_small_and_in_order(tmp_path: Path) -> None:
    files = written(tmp_path, pa.table({"x": range(1000)}), max_rows_per_file=100)
    found = list(opened(files, batch_rows=64).batches())
    assert max(batch.num_rows for batch in found) <= 64
    assert [x for batch in found for x in batch.column("x").to_pylist()] == list(range(1000))
    assert opened(files).count_rows() == 1000
    assert opened(files, filters=[("x", ">=", 990)]).count_rows() == 10


def test_footers_are_read_once_and_only_the_columns_asked_for(tmp_path: Path) -> None:
    table = pa.table({"small": range(100_000), "large": [f"{n:0100}" for n in range(100_000)]})
    pq.write_table(table, tmp_path / "f.parquet", compression="none", use_dictionary=False)
    ranges = Ranges(tmp_path / "f.parquet")
    one = Opened(WHERE, [File("f.parquet", "f.parquet", ranges.open)], ReadOptions(columns=("small",)))
    assert len(ranges.asked) == 1
    assert one.to_table().num_rows == 100_000
    assert sum(length for _, length in ranges.asked) < len(ranges.data) / 5


@pytest.mark.parametrize("cut", [0, 3, 100, -20, -1])
def test_truncated_file_error_names_the_file(tmp_path: Path, cut: int) -> None:
    files = planted(tmp_path, pa.table({"x": range(100)}), pa.table({"x": range(100)}))
    data = files[1][1].read_bytes()
    files[1][1].write_bytes(data[:cut])
    with pytest.raises(
        errors.TableFormatError, match=r"lakebed://repo/main/t/1\.parquet is not a complete Parquet file"
    ) as caught:
        opened(files)
    assert (caught.value.repository, caught.value.ref, caught.value.path) == ("repo", "main", "t/1.parquet")


def test_damage_error_names_the_file(tmp_path: Path) -> None:
    ((place, path),) = written(
        tmp_path, pa.table({"x": np.random.default_rng(1).bytes(1 << 20)[:1000].hex().split("0")})
    )
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1  # one bit: the pages carry checksums
    path.write_bytes(data)
    with pytest.raises(errors.TableFormatError, match=r"lakebed://repo/main/t/.*checksum"):
        read_back([(place, path)])


def test_errors_of_reads_pass_through_unchanged(tmp_path: Path) -> None:
    files = planted(tmp_path, pa.table({"x": range(100_000)}))
    ranges = Ranges(files[0][1])
    one = Opened(WHERE, [File("f", "f", ranges.open)], ReadOptions())

    def changed(start: int, length: int, checksum: str) -> bytes:
        raise errors.PreconditionFailedError("it changed")

    ranges.__class__ = type("Broken", (Ranges,), {"__call__": lambda self, *read: changed(*read)})
    with pytest.raises(errors.PreconditionFailedError, match="it changed"):
        one.to_table()


@pytest.mark.parametrize("options", [{"format": "orc"}, {"schema": "any"}, {"batch_rows": 0}], ids=str)
def test_read_options_are_checked(tmp_path: Path, options: dict[str, Any]) -> None:
    files = planted(tmp_path, pa.table({"x": [1]}))
    with pytest.raises(errors.InvalidRequestError):
        opened(files, **options)


# writing


def test_rows_keep_their_order(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": range(1000)}, index=pd.Index([f"r{n}" for n in range(1000)], name="row"))
    files = written(tmp_path / "few", frame, max_rows_per_file=300)
    assert len(files) == 4
    pd.testing.assert_frame_equal(read_back(files).to_pandas(), frame)
    many = written(tmp_path / "many", frame, max_rows_per_file=50)
    assert read_back(many).column("x").to_pylist() == list(range(1000))


def test_empty_tables_keep_their_columns(tmp_path: Path) -> None:
    empty = pd.DataFrame({"k": pd.Series([], dtype="str"), "x": pd.Series([], dtype="int64")})
    for number, partition_by in enumerate([[], ["k"]]):
        files = written(tmp_path / str(number), empty, partition_by)
        assert len(files) == 1
        back = read_back(files)
        assert back.num_rows == 0
        assert set(back.column_names) == {"k", "x"}


@pytest.mark.parametrize(
    ("partition_by", "rows", "problem"),
    [(["nope"], None, "columns are"), (["x"], None, "at least one"), (["b"], None, "in a path"), ([], 0, "positive"),
     (["k", "k"], None, "twice")],
    ids=["unknown", "all", "bytes", "0", "twice"],
)  # fmt: skip
def test_invalid_partitioning_is_refused(
    tmp_path: Path, partition_by: list[str], rows: int | None, problem: str
) -> None:
    table = pa.table({"x": [1]} if partition_by == ["x"] else {"x": [1], "b": [b"\xff"], "k": ["a"]})
    with pytest.raises(errors.InvalidRequestError, match=problem):
        written(tmp_path, table, partition_by, max_rows_per_file=rows)


@pytest.mark.parametrize(
    "data",
    [{"x": [1]}, "text", [1, 2], [], pd.DataFrame({"x": [1, "a"]}), pd.DataFrame([[1, 2]], columns=["a", "a"]), None],
    ids=["dict", "text", "numbers", "nothing", "mixed", "twins", "none"],
)
def test_values_that_are_not_tables_are_refused(tmp_path: Path, data: object) -> None:
    with pytest.raises(errors.InvalidRequestError):
        written(tmp_path, data)


def test_parts_of_an_iterator_must_agree() -> None:
    reader = frames.to_reader(iter([pa.table({"x": [1], "y": [1]}), pa.table({"x": ["a"], "y": [2]})]))
    with pytest.raises(errors.SchemaMismatchError, match="'part 2 of the data' has 'x' as string, not int64") as caught:
        reader.read_all()
    assert [one.column for one in caught.value.differences] == ["x"]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (["a", None], r"cannot partition by 'k' \(string\): some rows have null.*'k=__HIVE_DEFAULT_PARTITION__/'"),
        (["a", "b/c"], r"cannot partition by 'k' \(string\): some rows have 'b/c', with `/`.*'k=b%2Fc/'"),
        ([1, None], r"cannot partition by 'k' \(int64\): some rows have null"),
    ],
)
def test_unusual_partition_values_are_refused_by_default(tmp_path: Path, values: list[Any], problem: str) -> None:
    table = pa.table({"k": values, "x": range(len(values))})
    with pytest.raises(errors.InvalidRequestError, match=problem):
        written(tmp_path / "plain", table, ["k"], partition_values="plain")
    files = written(tmp_path / "hive", table, ["k"], partition_values="hive")
    assert read_back(files).sort_by("x").column("k").to_pylist() == values


def test_abandoned_writer_leaves_nothing_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "ROW_GROUP_ROWS", 10)
    reader = pa.table({"k": [1, 2] * 50, "x": range(100)}).to_reader()
    writer = Writer(reader.schema, tmp_path, ["k"])
    assert list(writer.pieces(reader))

    def broken() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"k": [1, 2] * 50, "x": range(100)})
        raise RuntimeError("the data end here")

    reader = pa.RecordBatchReader.from_batches(reader.schema, broken())
    writer = Writer(reader.schema, tmp_path, ["k"])
    with pytest.raises(RuntimeError):
        list(writer.pieces(reader))
    for out in writer._outs.values():
        assert out.file is not None
        writer._encoders.settle(out.file)
    assert writer._encoders._opened
    writer.abandon()
    assert not writer._encoders._opened
    del writer
    gc.collect()  # a writer that is still open complains when it is forgotten


def test_files_are_encoded_in_parallel_and_returned_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2, timeout=PATIENCE)  # breaks when one file is made after the other
    write = parquet_encoding.Encoders._write

    def met(self: parquet_encoding.Encoders, *given: Any) -> None:
        both.wait()
        write(self, *given)

    monkeypatch.setattr(parquet_encoding.Encoders, "_write", met)
    writer = Writer(pa.schema([("x", pa.int64())]), tmp_path, max_rows_per_file=10)
    pieces = list(writer.pieces(pa.table({"x": range(40)}).to_reader()))
    assert [pq.read_table(piece.file).column("x")[0].as_py() for piece in pieces] == [0, 10, 20, 30]
    assert [piece.size for piece in pieces] == [piece.file.stat().st_size for piece in pieces]


@pytest.mark.parametrize("rows", [10, 1000])
def test_writer_raises_errors_of_its_encoders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    def full(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parquet_encoding.Encoders, "_write", full)
    writer = Writer(pa.schema([("x", pa.int64())]), tmp_path, max_rows_per_file=10)
    with pytest.raises(OSError, match="No space left"):
        list(writer.pieces(pa.table({"x": range(rows)}).to_reader()))
    writer.abandon()


def test_too_many_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_MAX_FOLDERS", 10)
    with pytest.raises(errors.InvalidRequestError, match="more than 10 directories"):
        written(tmp_path, pa.table({"k": range(11), "x": range(11)}), ["k"])


def test_open_files_are_few_and_all_rows_arrive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_OPEN_FILES", 3)
    monkeypatch.setattr(writing, "ROW_GROUP_ROWS", 100)
    most = 0
    add = Writer._add

    def watched(self: Writer, key: Any, rows: Any) -> Iterator[Piece]:
        nonlocal most
        yield from add(self, key, rows)
        most = max(most, sum(out.file is not None for out in self._outs.values()))
        assert len(self._encoders._opened) <= 3 + writing.AHEAD

    monkeypatch.setattr(Writer, "_add", watched)
    keys = np.random.default_rng(1).integers(0, 10, 10_000)
    table = pa.table({"k": keys, "x": range(10_000)})
    files = written(tmp_path, iter(table.to_batches(max_chunksize=1500)), ["k"])
    assert 1 <= most <= 3
    assert len(files) > 10
    assert sorted(read_back(files).column("x").to_pylist()) == list(range(10_000))


def test_a_writer_holds_bounded_rows_and_ends_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {"ROW_GROUP_BYTES": 1 << 19, "BUFFERED": 2 << 20, "FILE_BYTES": 1 << 20, "_SLICE": 1 << 18}
    for name, value in limits.items():
        monkeypatch.setattr(writing, name, value)
    most = 0
    make_room = Writer._make_room

    def watched(self: Writer) -> None:
        nonlocal most
        make_room(self)
        most = max(most, self._waiting)
        assert self._waiting == sum(out.waiting for out in self._outs.values())
        assert sum(job.size for job in self._encoders._jobs if not job.done.done()) <= 2 << 20

    monkeypatch.setattr(Writer, "_make_room", watched)
    random = np.random.default_rng(1)

    def batches() -> Iterator[pa.RecordBatch]:
        for _ in range(16):
            yield pa.record_batch({"k": random.integers(0, 5, 1 << 17), "x": random.integers(0, 1 << 62, 1 << 17)})

    files = written(tmp_path, batches(), ["k"])
    assert 0 < most <= 2 << 20
    assert len(files) > 5
    assert max(path.stat().st_size for _, path in files) < 2 << 20
    assert opened(files).count_rows() == 16 << 17
