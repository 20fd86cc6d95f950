"""Bad input through every interface to tables: the error names the object, the ref and a way out, and nothing is
half-written.

What pandas, pyarrow, Polars and DuckDB say themselves is theirs: of those it is held that they fail, and with the
column or the path where they know it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import lakebed
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest

FRAME = pd.DataFrame({"day": ["a", "b", "a"], "n": [1, 2, 3]})
ODD = pd.DataFrame({"day": ["a/b", None, "c"], "n": [1, 2, 3]})

Read = Callable[[str, "list[str] | None"], Any]
Write = Callable[[str], Any]


class Doors:
    """Every way to read and to write tables."""

    def __init__(self, fs: Any, repo: lakebed.Repository) -> None:
        self.repo = repo
        self.fs = fs
        self.db = duckdb.connect()
        self.db.register_filesystem(fs)

    def url(self, path: str, ref: str = "main") -> str:
        return f"lakebed://{self.repo.id}/{ref}/{path}"

    def readers(self) -> dict[str, Read]:
        main, top = self.repo.branch("main"), f"{self.repo.id}/main/"
        return {
            "read_parquet": lambda path, columns: main.read_parquet(path, columns=columns),
            "scan_table": lambda path, columns: list(main.scan_table(path, columns=columns)),
            "pandas": lambda path, columns: pd.read_parquet(self.url(path), columns=columns),
            "pyarrow": lambda path, columns: pads.dataset(top + path, filesystem=self.fs).to_table(columns=columns),
            "polars": lambda path, columns: pl.read_parquet(self.fs.open(self.url(path)), columns=columns),
            "duckdb": lambda path, columns: self.db.sql(
                f"select {', '.join(columns or ['*'])} from read_parquet('{self.url(path)}')"
            ).fetchall(),
        }

    def writers(self, ref: str) -> dict[str, Write]:
        branch, table = self.repo.branch(ref), pa.Table.from_pandas(FRAME)

        def polars(path: str) -> None:
            with self.fs.open(self.url(path, ref), "wb") as file:
                pl.DataFrame(FRAME).lazy().sink_parquet(file)

        def transaction(path: str) -> None:
            with self.fs.transaction:
                FRAME.to_parquet(self.url(path, ref))

        return {
            "write_parquet": lambda path: branch.write_parquet(path, FRAME),
            "write_csv": lambda path: branch.write_csv(path, FRAME),
            "put": lambda path: branch.put(path, b"1"),
            "pandas": lambda path: FRAME.to_parquet(self.url(path, ref)),
            "pandas in partitions": lambda path: FRAME.to_parquet(self.url(path, ref), partition_cols=["day"]),
            "pyarrow": lambda path: pq.write_table(table, f"{self.repo.id}/{ref}/{path}", filesystem=self.fs),
            "polars": polars,
            "duckdb": lambda path: self.db.sql(f"copy (select 1 as a) to '{self.url(path, ref)}' (format parquet)"),
            "transaction": transaction,
        }


@pytest.fixture
def doors(fs: Any, repo: lakebed.Repository) -> Iterator[Doors]:
    doors = Doors(fs, repo)
    yield doors
    doors.db.close()


def nothing_was_written(repo: lakebed.Repository) -> None:
    assert list(repo.branch("main").uncommitted()) == []
    assert list(repo.workspaces()) == []


READERS = ["read_parquet", "scan_table", "pandas", "pyarrow", "polars", "duckdb"]


@pytest.mark.parametrize("door", READERS)
def test_damaged_parquet_files_are_refused(door: str, doors: Doors, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.write_parquet("one.parquet", FRAME)
    data = main.get("one.parquet")
    main.put_many(
        {"cut.parquet": data[:-9], "empty.parquet": b"", "head.parquet": data[:99], "t/cut.parquet": data[:-9]}
    )
    read = doors.readers()[door]
    ours = door in ("read_parquet", "scan_table")
    for path in ("cut.parquet", "empty.parquet", "head.parquet", "t/cut.parquet"):
        with pytest.raises(lakebed.TableFormatError if ours else Exception) as damaged:
            read(path, None)
        named = f"lakebed://{repo.id}/main/{path}" if ours else path
        assert named in str(damaged.value) or door == "polars", damaged.value  # Polars has no name of an open file
        assert "earlier commit" in str(damaged.value) or not ours
    with pytest.raises(lakebed.InvalidRequestError if ours else Exception, match="nope") as column:
        read("one.parquet", ["nope"])
    if ours:
        assert f"lakebed://{repo.id}/main/one.parquet: no column 'nope': the columns are" in str(column.value)
    with pytest.raises((FileNotFoundError, duckdb.IOException), match=rf"{repo.id}/main/nothing"):
        read("nothing", None)


@pytest.mark.parametrize("door", ["polars", "duckdb", "read_csv", "pandas.read_csv"])
def test_directory_target_is_refused(door: str, doors: Doors, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    (info,) = main.write_parquet("t/", FRAME)
    read: dict[str, Callable[[], Any]] = {
        "read_csv": lambda: main.read_csv("t"),
        "pandas.read_csv": lambda: pd.read_csv(doors.url("t")),
        "polars": lambda: doors.readers()["polars"]("t", None),
        "duckdb": lambda: doors.readers()["duckdb"]("t", None),
    }
    with pytest.raises(
        (FileNotFoundError, duckdb.Error), match=rf"lakebed://{repo.id}/main/t: this is a directory.*{info.path}"
    ):
        read[door]()


@pytest.mark.parametrize("door", ["read_parquet", "scan_table"])
def test_different_schemas_are_reported_only_by_our_own_reader(
    door: str, doors: Doors, repo: lakebed.Repository
) -> None:
    main = repo.branch("main")
    main.write_parquet("more/a.parquet", FRAME)
    main.write_parquet("more/b.parquet", FRAME.assign(extra=1))
    main.write_parquet("other/a.parquet", FRAME)
    main.write_parquet("other/b.parquet", FRAME.assign(n=["x", "y", "z"]))
    read = doors.readers()
    for path, said in (
        ("more", "'more/b.parquet' has an additional column 'extra'"),
        ("other", "'other/b.parquet' has 'n' as"),
    ):
        with pytest.raises(
            lakebed.SchemaMismatchError, match=rf"lakebed://{repo.id}/main/{path}: .*{said}.*schema=\"unify\""
        ):
            read[door](path, None)
    assert len(read["pandas"]("more", None)) == 6  # docs/fsspec.md: it takes the columns of the first file
    with pytest.raises(pa.ArrowInvalid):
        read["pandas"]("other", None)


WRITERS = [
    "write_parquet",
    "write_csv",
    "put",
    "pandas",
    "pandas in partitions",
    "pyarrow",
    "polars",
    "duckdb",
    "transaction",
]


@pytest.mark.parametrize("door", WRITERS)
def test_tags_and_commits_are_not_written_to(door: str, doors: Doors, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put("x.csv", b"1")
    commit = main.commit("one")
    repo.tag("v1").create("main")
    for ref in ("v1", commit.id, "main~1"):
        with pytest.raises(
            (lakebed.LakebedError, duckdb.Error), match=rf"lakebed://{repo.id}/{ref}/x\.parquet"
        ) as caught:
            doors.writers(ref)[door]("x.parquet")
        assert ref in str(caught.value)
        own = door in ("write_parquet", "write_csv", "put")
        way_out = f'repo.branch("fix").create({ref!r})' if own else "write to a branch"
        assert way_out in str(caught.value)
    nothing_was_written(repo)
    assert [one.path for one in repo.ref("v1").list()] == ["x.csv"]


@pytest.mark.parametrize("door", ["write_parquet", "write_csv", "write_json", "write_feather"])
def test_a_file_is_not_written_over_a_directory(door: str, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.write_parquet("t.parquet/", FRAME)
    main.commit("a table")
    for path in ("t.parquet", "t.parquet/") if door != "write_parquet" else ("t.parquet",):
        with pytest.raises(
            lakebed.InvalidRequestError, match=rf"{door} lakebed://{repo.id}/main/{path}: this is a directory; "
        ) as caught:
            getattr(main, door)(path, FRAME)
        assert (caught.value.ref, caught.value.path) == ("main", path)
    nothing_was_written(repo)


def broken(batches: int) -> Iterator[pa.RecordBatch]:
    for _ in range(batches):
        yield pa.record_batch({"a": range(100_000)})
    raise RuntimeError("the source broke")


# pyarrow drops the files of a failed data set without closing them: Lakebed stores none, and warns
@pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <function Writer.__del__:pytest.PytestUnraisableExceptionWarning"
)
def test_failed_table_writes_leave_nothing(doors: Doors, repo: lakebed.Repository) -> None:
    main, url = repo.branch("main"), doors.url
    late = "select case when range = 1_500_000 then error('broken') else range end as a from range(2_000_000)"
    schema = pa.schema([("a", pa.int64())])
    slow = pl.LazyFrame({"a": range(1000)}).with_columns(
        pl.col("a").map_batches(lambda values: values / (1 // 0), return_dtype=pl.Float64)
    )

    def polars() -> None:
        with doors.fs.open(url("p.parquet"), "wb") as file:
            slow.sink_parquet(file)

    def in_a_transaction() -> None:
        with doors.fs.transaction, pq.ParquetWriter(f"{repo.id}/main/w", schema, filesystem=doors.fs) as writer:
            for batch in broken(3):
                writer.write_batch(batch)

    attempts: list[Callable[[], Any]] = [
        lambda: main.write_parquet("s/", broken(3)),
        lambda: main.write_parquet("s.parquet", broken(3)),
        lambda: main.write_parquet("o/", ODD, partition_by="day"),
        lambda: main.write_parquet("o/", FRAME, partition_by="nope"),
        lambda: FRAME.to_parquet(url("o"), partition_cols=["nope"]),
        lambda: pd.DataFrame({"a": [1, "x", b"1"]}).to_parquet(url("m.parquet")),
        lambda: pads.write_dataset(
            broken(3), f"{repo.id}/main/d", schema=schema, filesystem=doors.fs, format="parquet"
        ),
        lambda: doors.db.sql(f"copy ({late}) to '{url('d.parquet')}'"),
        lambda: doors.db.sql(f"copy ({late}) to '{url('d.csv')}'"),
        polars,
    ]
    for number, attempt in enumerate(attempts):
        with pytest.raises(Exception):  # noqa: B017
            attempt()
        assert [change.path for change in main.uncommitted()] == [], number
    with pytest.raises(RuntimeError, match="the source broke") as kept:
        in_a_transaction()
    assert list(main.uncommitted()) == []
    assert kept.value.__notes__  # the workspace stays, and the note says how to go on with it or drop it


def test_odd_partitions_of_other_writers_come_back(doors: Doors, repo: lakebed.Repository) -> None:
    """pandas, pyarrow and DuckDB write null and `/` as Hive does, by themselves."""
    ODD.to_parquet(doors.url("pandas"), partition_cols=["day"])
    doors.db.register("odd", ODD)
    doors.db.sql(f"copy odd to '{doors.url('duckdb')}' (format parquet, partition_by (day), overwrite_or_ignore)")
    for path in ("pandas", "duckdb"):
        found = repo.branch("main").read_parquet(path).sort_values("n")
        assert found["day"].fillna("null").tolist() == ["a/b", "null", "c"]
