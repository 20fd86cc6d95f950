"""Pages of tables: rows, their order, columns, cells and statistics."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from lakebed_server.tables.messages import InvalidTableRequest, TableTooLarge, UnreadableTable

from tests.server.tables.support import Files, Reader, Sparse, one, parquet

NUMBERS = pa.table({"id": list(range(1000)), "name": [f"n{number % 7}" for number in range(1000)]})


def arrow(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, **options)
    return sink.getvalue()


def arrow_stream(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=100)
    return sink.getvalue()


def csv(table: pa.Table) -> bytes:
    lines = [",".join(table.column_names), *(",".join(map(str, row.values())) for row in table.to_pylist())]
    return ("\n".join(lines) + "\n").encode()


def json_lines(table: pa.Table) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode()


WRITERS: dict[str, tuple[str, str, Callable[[pa.Table], bytes]]] = {
    "parquet": ("a.parquet", "parquet", lambda table: parquet(table, row_group_size=70)),
    "csv": ("a.csv", "csv", csv),
    "csv.gz": ("a.csv.gz", "csv", lambda table: gzip.compress(csv(table))),
    "json lines": ("a.jsonl", "json", json_lines),
    "json array": ("a.json", "json", lambda table: json.dumps(table.to_pylist()).encode()),
    "arrow": ("a.arrow", "arrow", lambda table: arrow(table, max_chunksize=100)),
    "arrow stream": ("a.arrows", "arrow", arrow_stream),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_has_the_same_rows_pages_and_order(name: str) -> None:
    path, format, write = WRITERS[name]
    files = one(path, write(NUMBERS))
    reader = Reader()
    for offset, limit in ((0, 200), (69, 3), (998, 10), (1000, 5), (5000, 5), (0, 0)):
        found = reader.page(files, format, offset=offset, limit=limit)
        assert found["rows"] == [list(row.values()) for row in NUMBERS.slice(offset, limit).to_pylist()]
        assert found["total_rows"] == 1000
        assert found["has_more"] == (offset + len(found["rows"]) < 1000)
        assert found["complete"] is True
    assert [column["kind"] for column in found["schema"]] == ["integer", "text"]
    found = reader.page(files, format, order="id", descending=True, offset=1, limit=2, columns=("name", "id"))
    assert found["rows"] == [["n4", 998], ["n3", 997]]
    assert found["columns"] == ["name", "id"]
    found = reader.page(files, format, order="name", columns=("id",), limit=1)
    assert found["rows"] == [[0]]
    (statistics,) = reader.page(files, format, statistics=True, columns=("id",), limit=0)["statistics"]
    assert statistics["source"] == "rows"
    assert [statistics[name] for name in ("nulls", "distinct", "minimum", "maximum")] == [0, 1000, 0, 999]
    assert [one["count"] for one in statistics["histogram"]] == [50] * 20


def test_a_table_of_several_files_with_partitions_and_other_columns() -> None:
    files = Files(
        {
            "t/day=2026-01-01/a.parquet": parquet(pa.table({"id": [1, 2]})),
            "t/day=2026-01-02/b.parquet": parquet(pa.table({"id": [3], "more": ["x"]})),
        }
    )
    reader = Reader()
    found = reader.page(files, "parquet", folder="t/")
    last = reader.page(files, "parquet", folder="t/", order="id", descending=True, limit=1)
    with pytest.raises(InvalidTableRequest, match="no column 'none': the columns are 'id', 'day', 'more'"):
        reader.page(files, "parquet", folder="t/", columns=("none",))
    assert found["columns"] == ["id", "day", "more"]
    assert found["rows"] == [[1, "2026-01-01", None], [2, "2026-01-01", None], [3, "2026-01-02", "x"]]
    assert last["rows"] == [[3, "2026-01-02", "x"]]
    assert found["files"] == 2


def test_cells_keep_what_json_numbers_would_lose() -> None:
    moment = dt.datetime(2026, 1, 2, 3, 4, 5, 600000)
    columns: dict[str, tuple[Any, Any, str]] = {
        "bool": (pa.array([True]), True, "boolean"),
        "largest safe": (pa.array([2**53 - 1]), 2**53 - 1, "integer"),
        "beyond": (pa.array([2**53]), str(2**53), "integer"),
        "unsigned": (pa.array([2**64 - 1], pa.uint64()), str(2**64 - 1), "integer"),
        "nan": (pa.array([float("nan")]), "NaN", "number"),
        "infinite": (pa.array([float("-inf")]), "-Infinity", "number"),
        "decimal": (pa.array([decimal.Decimal("1.10")]), "1.10", "decimal"),
        "naive": (pa.array([moment]), "2026-01-02T03:04:05.6", "time"),
        "zone": (pa.array([moment], pa.timestamp("ns", "Europe/Paris")), "2026-01-02T03:04:05.6Z", "time"),
        "date": (pa.array([dt.date(2026, 1, 10)]), "2026-01-10", "time"),
        "duration": (pa.array([5], pa.duration("ms")), "5 ms", "time"),
        "binary": (pa.array([b"\x00\xff"]), "00ff", "binary"),
        "fixed": (pa.array([b"\x01\x02"], pa.binary(2)), "0102", "binary"),
        "category": (pa.array(["a"]).dictionary_encode(), "a", "text"),
        "nested": (
            pa.array([{"a": [1, None, float("nan")], "b": b"\x01"}]),
            '{"a": [1.0, null, "NaN"], "b": "01"}',
            "nested",
        ),
        "map": (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())), '[["k", 1]]', "nested"),
        "null": (pa.nulls(1), None, "null"),
        "long": (pa.array(["é" * 1001]), {"cut": "é" * 1000, "length": 1001}, "text"),
        "markup": (pa.array(["<img src=x>\u202e😀\0"]), "<img src=x>\u202e😀\0", "text"),
    }
    table = pa.table({name: values for name, (values, _, _) in columns.items()})
    reader = Reader()
    for files, format in ((one("a.parquet", parquet(table)), "parquet"), (one("a.arrow", arrow(table)), "arrow")):
        found = reader.page(files, format, statistics=True)
        assert dict(zip(found["columns"], found["rows"][0], strict=True)) == {
            name: cell for name, (_, cell, _) in columns.items()
        }
        assert {one["name"]: one["kind"] for one in found["schema"]} == {
            name: kind for name, (_, _, kind) in columns.items()
        }
        assert len(found["statistics"]) == len(columns)


def test_text_that_is_not_utf8_is_shown() -> None:
    invalid = pa.array([b"caf\xe9"]).view(pa.binary())
    column = pa.StringArray.from_buffers(1, invalid.buffers()[1], invalid.buffers()[2])
    reader = Reader()
    found = reader.page(one("a.parquet", parquet(pa.table({"a": column}))), "parquet")
    assert found["rows"] == [["caf\ufffd"]]


@pytest.mark.parametrize(
    ("encoding", "named"),
    [
        ("utf-8", "utf-8"), ("utf-8-sig", "utf-8"), ("utf-16", "utf-16"), ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"), ("utf-32", "utf-32"), ("cp1252", "windows-1252"),
    ],
)  # fmt: skip
def test_csv_of_unusual_encodings(encoding: str, named: str) -> None:
    text = 'name;"größe; cm"\nJürgen;180\n"two\nlines";1\nbroken;row;here\n'
    reader = Reader()
    found = reader.page(one("a.csv", text.encode(encoding)), "csv")
    assert found["columns"] == ["name", "größe; cm"]
    assert found["rows"] == [["Jürgen", 180], ["two\nlines", 1]]
    assert found["encoding"] == named
    assert found["skipped_rows"] == 1


def test_csv_of_10000_columns() -> None:
    text = ",".join(f"c{number}" for number in range(10_000)) + "\n" + ",".join("1" * 10_000) + "\n"
    reader = Reader()
    found = reader.page(one("a.csv", text.encode()), "csv")
    assert len(found["schema"]) == 10_000
    assert found["columns"] == [f"c{number}" for number in range(200)]
    found = reader.page(one("a.csv", text.encode()), "csv", columns=("c9999",))
    assert found["rows"] == [[1]]


def test_csv_with_names_that_occur_twice_and_values_that_change_their_type() -> None:
    reader = Reader()
    found = reader.page(one("a.csv", b"a,a,\n1,2,3\nx,2,3\n"), "csv")
    assert found["columns"] == ["a", "a_2", ""]
    assert found["rows"] == [["1", 2, 3], ["x", 2, 3]]


def test_json_lines_with_values_of_several_types() -> None:
    lines = b'{"a": 1, "b": {"c": 2}}\n{"a": "x", "d": null}\n\n{"a": [1]}\n'
    reader = Reader()
    found = reader.page(one("a.jsonl", lines), "json")
    assert found["rows"] == [["1", '{"c": 2}', None], ["x", None, None], ["[1]", None, None]]


@pytest.mark.parametrize("format", ["csv", "json"])
@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_a_text_file_without_rows_is_an_empty_table(format: str, data: bytes) -> None:
    reader = Reader()
    found = reader.page(one("a", data), format, statistics=True)
    assert (found["schema"], found["rows"], found["total_rows"], found["has_more"]) == ([], [], 0, False)


def test_the_beginning_of_a_text_file_beyond_the_bound_is_read() -> None:
    data = csv(pa.table({"id": list(range(200_000))}))
    bound = 100_000
    files = one("a.csv", data)
    reader = Reader()
    found = reader.page(files, "csv", most_bytes=bound, limit=5)
    assert found["rows"] == [[0], [1], [2], [3], [4]]
    assert "total_rows" not in found
    assert (found["complete"], found["has_more"]) == (False, True)
    assert files.read <= bound
    with pytest.raises(TableTooLarge, match="narrow by columns or use Python"):
        reader.page(files, "csv", most_bytes=bound, offset=199_000)
    with pytest.raises(TableTooLarge):
        reader.page(files, "csv", most_bytes=bound, statistics=True)


def test_parquet_reads_the_wanted_columns_of_the_wanted_row_groups_only() -> None:
    wide = pa.table({"small": list(range(2000)), "large": [f"{number:05000d}" for number in range(2000)]})
    files = one(
        "a.parquet", parquet(wide, row_group_size=500, compression="none", use_dictionary=False, write_batch_size=20)
    )
    reader = Reader()
    found = reader.page(files, "parquet", columns=("small",), offset=700, limit=1)
    assert found["rows"] == [[700]]
    assert files.read < 80_000, "the footer's 64 KiB and a chunk of 4 KB"
    files.read = 0
    reader.page(files, "parquet", columns=("small",), offset=701, limit=1)
    assert files.read == 0, "the row group is kept"
    with pytest.raises(TableTooLarge):
        reader.page(files, "parquet", order="small", most_bytes=5_000_000)
    first = reader.page(files, "parquet", most_bytes=2_000_000, limit=2, columns=("large",))
    assert first["rows"][1] == [{"cut": "0" * 1000, "length": 5000}], (
        "the first pages of a row group beyond the bound are read"
    )


def test_statistics_of_a_large_parquet_file_are_those_of_its_footer() -> None:
    names = [None, *(f"n{number:05}" for number in range(1, 20_000))]
    table = pa.table({"id": pa.array([*range(3, 20_002), None]), "name": names, "nested": [[1]] * 20_000})
    files = one("a.parquet", parquet(table, row_group_size=5000, compression="none"))
    reader = Reader()
    footers = reader.page(files, "parquet", statistics=True, most_bytes=400_000, limit=1)["statistics"]
    rows = reader.page(files, "parquet", statistics=True)["statistics"]
    assert footers[0] == {"column": "id", "source": "footers", "nulls": 1, "minimum": 3, "maximum": 20_001}
    assert footers[1] == {"column": "name", "source": "footers", "nulls": 1, "minimum": "n00001", "maximum": "n19999"}
    assert footers[2] == {"column": "nested", "source": "footers"}
    assert (rows[0]["source"], rows[0]["distinct"]) == ("rows", 19_999)
    assert len(rows[1]["frequent"]) == 10


def test_page_1000_reads_no_more_than_page_1() -> None:
    """The measure is bytes and row groups, because a busy machine says nothing about time."""
    table = pa.table({"id": pa.array(range(250_000)), "value": pc.random(250_000)})
    files = one("a.parquet", parquet(table, row_group_size=25_000))
    read = []
    for number in (0, 999):
        reader = Reader()
        files.read = 0
        found = reader.page(files, "parquet", offset=number * 200, limit=200)
        assert found["rows"][0][0] == number * 200
        read.append(files.read)
    assert read[1] <= 1.5 * read[0]


@pytest.mark.parametrize(
    ("path", "format", "data"),
    [
        ("a.parquet", "parquet", b""),
        ("a.parquet", "parquet", b"PAR1"),
        ("a.parquet", "parquet", b"x" * 100),
        ("a.parquet", "parquet", b"PAR1" + b"\xff" * 100 + (100).to_bytes(4, "little") + b"PAR1"),
        ("a.parquet", "parquet", b"PAR1" + (2**32 - 1).to_bytes(4, "little") + b"PAR1"),
        ("a.arrow", "arrow", b""),
        ("a.arrow", "arrow", b"ARROW1\0\0" + b"\xff" * 100),
        ("a.jsonl", "json", b'{"a": '),
        ("a.csv.gz", "csv", b"not gzip"),
    ],
)
def test_a_damaged_file_is_an_error_with_its_name(path: str, format: str, data: bytes) -> None:
    reader = Reader()
    with pytest.raises(UnreadableTable, match=path):
        reader.page(one(path, data), format)


@pytest.mark.parametrize(("path", "format"), [("a.parquet", "parquet"), ("a.csv", "csv"), ("a.jsonl", "json")])
def test_a_sparse_file_of_50_gib_is_an_error_after_few_bytes(path: str, format: str) -> None:
    files = Sparse(path, 50 << 30)
    with pytest.raises(UnreadableTable, match=path):
        Reader().page(files, format)
    assert files.read <= 8 << 20


def test_a_sparse_arrow_file_of_50_gib_is_an_error() -> None:
    with pytest.raises((UnreadableTable, TableTooLarge)):
        Reader().page(Sparse("a.arrow", 50 << 30), "arrow")


def test_a_parquet_file_that_unpacks_to_much_more_than_its_size() -> None:
    """64 MiB of equal text in a few KB: the cells are cut before they are decoded."""
    table = pa.table({"a": pa.array(["x" * (16 << 20)] * 4), "b": [1, 2, 3, 4]})
    files = one("a.parquet", parquet(table, compression="zstd", use_dictionary=False))
    found = Reader().page(files, "parquet")
    assert found["rows"][3] == [{"cut": "x" * 1000, "length": 16 << 20}, 4]
