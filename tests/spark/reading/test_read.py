"""Reading: rows and partitions follow from the paths, for files of any writer at any address."""

from __future__ import annotations

import datetime as dt
import io
import pickle
import re
from typing import Any
from unittest.mock import Mock

import lakebed
import lakebed_spark
import pandas as pd
import pyarrow as pa
import pytest
from lakebed_spark import source
from lakebed_spark._access import Access
from lakebed_spark._tables.partitions import NULL, type_of
from lakebed_spark._tables.resolve import resolve as real_resolve
from pyspark.sql import DataFrame, SparkSession, functions

DAYS = ["2026-01-01", "2026-01-02", "2026-01-03"]


def orders(spark: SparkSession, start: int = 0, days: int = 3) -> DataFrame:
    return spark.range(start, start + 30).selectExpr(
        "id", "cast(id as double) as n", f"date'2026-01-01' + cast(id % {days} as int) as day"
    )


def parquet(**columns: list[object]) -> bytes:
    target = io.BytesIO()
    pd.DataFrame(columns).to_parquet(target, index=False)
    return target.getvalue()


def counts(frame: DataFrame, column: str = "day") -> dict[object, int]:
    return {row[0]: row[1] for row in frame.groupBy(column).count().collect()}


def plan(frame: DataFrame) -> str:
    inner = frame._jdf.queryExecution().executedPlan()
    return str(inner.toString())


def pruned(frame: DataFrame) -> int:
    """Files that a plan reads, by its metrics."""
    frame.collect()
    leaves = frame._jdf.queryExecution().executedPlan().collectLeaves()
    return sum(int(leaves.apply(at).metrics().apply("numFiles").value()) for at in range(leaves.size()))


@pytest.fixture
def main(repo: lakebed.Repository) -> lakebed.Branch:
    return repo.branch("main")


def test_a_table_of_several_transactions_keeps_partition_filters(spark: SparkSession, main: lakebed.Branch) -> None:
    for start in (0, 30, 60):
        lakebed_spark.write(orders(spark, start), main, "orders", partition_by=["day"])
    main.write_parquet("orders/", pd.DataFrame({"id": [1], "n": [1.0], "day": [DAYS[0]]}), partition_by="day")

    frame = lakebed_spark.read(spark, main, "orders")
    assert frame.columns == ["id", "n", "day"]
    assert dict(frame.dtypes)["day"] == "date"
    assert counts(frame) == {dt.date(2026, 1, 1): 31, dt.date(2026, 1, 2): 30, dt.date(2026, 1, 3): 30}
    one = frame.filter(f"day = '{DAYS[1]}'")
    assert re.search(r"PartitionFilters: \[[^\]]*day#\d+ = 2026-01-02", plan(one))
    assert "Union" not in plan(one)
    per_day = len([row for row in main.list("orders/") if DAYS[1] in row.path])
    assert pruned(one) == per_day < len(main.list("orders/").all())


def test_files_uploaded_by_rest_are_in_their_partitions(spark: SparkSession, main: lakebed.Branch) -> None:
    lakebed_spark.write(orders(spark, days=2), main, "orders", partition_by=["day"])
    main.put("orders/day=2026-01-02/more.parquet", parquet(id=[100, 101], n=[1.0, 2.0]))
    main.put(f"orders/day={NULL}/none.parquet", parquet(id=[200], n=[3.0]))

    frame = lakebed_spark.read(spark, "lakebed://" + f"{main.repository.id}/main/orders/", lake=main)
    assert frame.columns == ["id", "n", "day"]
    assert dict(frame.dtypes)["day"] == "date"
    assert counts(frame) == {dt.date(2026, 1, 1): 15, dt.date(2026, 1, 2): 17, None: 1}
    assert sorted(row.id for row in frame.filter("day = '2026-01-02' and id >= 100").collect()) == [100, 101]
    assert "PartitionFilters: [isnotnull" in plan(frame.filter("day = '2026-01-01'"))


def test_partitions_are_typed_once_over_all_files(spark: SparkSession, main: lakebed.Branch) -> None:
    rows = spark.range(4).selectExpr("id", "cast(id as int) as k")
    lakebed_spark.write(rows, main, "t", partition_by="k")
    main.put("t/k=word/x.parquet", parquet(id=[9]))
    frame = lakebed_spark.read(spark, main, "t")
    assert dict(frame.dtypes)["k"] == "string"
    assert {row.k for row in frame.collect()} == {"0", "1", "2", "3", "word"}
    given = lakebed_spark.read(spark, main, "t", schema="id long, k string, other int").filter("k = '2'")
    assert [row.asDict() for row in given.collect()] == [{"id": 2, "k": "2", "other": None}]


def test_an_address_that_two_paths_share_is_read_twice(spark: SparkSession, main: lakebed.Branch) -> None:
    lakebed_spark.write(spark.range(10).coalesce(1), main, "t")
    (row,) = main.list("t/").all()
    main.copy(row.path, "t/copy.parquet")
    main.copy(row.path, "p/k=1/a.parquet")
    main.copy(row.path, "p/k=2/a.parquet")
    assert lakebed_spark.read(spark, main, "t").count() == 20
    assert counts(lakebed_spark.read(spark, main, "p"), "k") == {1: 10, 2: 10}


def test_any_ref_is_a_snapshot(spark: SparkSession, repo: lakebed.Repository, main: lakebed.Branch) -> None:
    first = lakebed_spark.write(orders(spark), main, "t")
    repo.tag("v1").create(first.id)
    before = lakebed_spark.read(spark, main, "t")
    lakebed_spark.write(orders(spark, 30), main, "t", mode="overwrite")
    lakebed_spark.write(orders(spark, 60), main, "t")
    main.put("t/open.parquet", parquet(id=[1000], n=[1.0], day=[dt.date(2026, 1, 1)]))

    assert sorted(row.id for row in before.collect()) == list(range(30))
    for ref, rows in (("main", 61), ("main@", 60), ("main~1", 30), ("v1", 30), (first.id[:16], 30)):
        assert lakebed_spark.read(spark, repo.ref(ref), "t").count() == rows, ref
    with main.workspace("more") as ws:
        ws.put("t/ws.parquet", parquet(id=[1], n=[1.0], day=[dt.date(2026, 1, 1)]))
        assert lakebed_spark.read(spark, ws, "t").count() == 61
        assert lakebed_spark.read(spark, f"lakebed://{main.repository.id}/{ws.id}/t", lake=ws).count() == 61
        ws.revert()


def test_a_part_of_a_table_and_one_file(spark: SparkSession, main: lakebed.Branch) -> None:
    rows = spark.range(8).selectExpr("id", "id % 2 as a", "id % 4 as b")
    lakebed_spark.write(rows, main, "t", partition_by=["a", "b"])
    inside = lakebed_spark.read(spark, main, "t/a=1")
    assert inside.columns == ["id", "b"]
    assert sorted(row.id for row in inside.collect()) == [1, 3, 5, 7]
    leaf = lakebed_spark.read(spark, main, "t/a=1/b=3")
    assert leaf.columns == ["id"]
    assert sorted(row.id for row in leaf.collect()) == [3, 7]
    path = next(row.path for row in main.list("t/a=0/b=2/"))
    assert lakebed_spark.read(spark, main, path).columns == ["id"]


@pytest.mark.parametrize("value", ["a/b", "[x] {y}", "50% off + é", "*?", "a=b"])
def test_odd_names_come_back(spark: SparkSession, main: lakebed.Branch, value: str) -> None:
    frame = spark.createDataFrame([(1, value)], "id int, q string")
    lakebed_spark.write(frame, main, f"odd {value.replace('/', '-')}/[t]", partition_by="q")
    (row,) = main.list("odd").all()
    folder = row.path.rpartition("/")[0]
    main.put(f"{folder}/rest [1].parquet", parquet(id=[2]))
    found = lakebed_spark.read(spark, main, folder.rpartition("/")[0]).collect()
    assert sorted((one.id, one.q) for one in found) == [(1, value), (2, value)]


def test_hidden_and_empty_objects_are_skipped(spark: SparkSession, main: lakebed.Branch) -> None:
    lakebed_spark.write(spark.range(5), main, "t")
    for name in ("_SUCCESS", "_delta_log/0.json", ".part.crc", "empty.parquet"):
        main.put(f"t/{name}", b"" if name.endswith("parquet") else b"x")
    assert lakebed_spark.read(spark, main, "t").count() == 5


@pytest.mark.parametrize("kind", ["csv", "json", "orc", "text"])
def test_other_formats(spark: SparkSession, main: lakebed.Branch, kind: str) -> None:
    frame = spark.range(10).selectExpr("cast(id as string) as value", "id % 2 as k")
    options: dict[str, Any] = {"header": True} if kind == "csv" else {}
    lakebed_spark.write(frame, main, "t", format=kind, partition_by="k", **options)
    found = lakebed_spark.read(spark, main, "t", format=kind, **options)
    assert sorted(int(row.value) for row in found.filter("k = 1").collect()) == [1, 3, 5, 7, 9]


def test_python_workers_read_what_spark_cannot_open(
    spark: SparkSession, main: lakebed.Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    lakebed_spark.write(orders(spark), main, "t", partition_by="day")
    main.put("t/day=2026-01-09/rest.parquet", parquet(id=[500], n=[1.0]))
    native = lakebed_spark.read(spark, main, "t")
    with monkeypatch.context() as patch:
        patch.setenv("LAKEBED_DATA_PATH", "proxied")
        remote = lakebed_spark.read(spark, main, "t")
    assert "BatchScan lakebed_" in plan(remote)
    assert remote.schema == native.schema
    assert sorted(remote.collect()) == sorted(native.collect())
    assert "secret" not in plan(remote).lower()


def test_read_format_lakebed_reads_a_table(spark: SparkSession, main: lakebed.Branch) -> None:
    lakebed_spark.write(orders(spark), main, "t", partition_by="day")
    lakebed_spark.register(spark, main)
    uri = f"lakebed://{main.repository.id}/main/t"
    frame = spark.read.format("lakebed").load(uri)
    assert frame.schema == lakebed_spark.read(spark, main, "t").schema
    assert frame.filter("day = '2026-01-02'").count() == 10
    few = spark.read.format("lakebed").schema("day string, id int").load(uri)
    assert few.agg(functions.min("day"), functions.sum("id")).collect() == [("2026-01-01", sum(range(30)))]
    secret = main._transport.settings.secret_access_key
    frame.createOrReplaceTempView("lakebed_view")
    explained = spark.sql("explain extended select * from lakebed_view").collect()[0][0]
    assert secret not in explained


def test_the_threshold_of_listing_jobs_is_restored(spark: SparkSession, main: lakebed.Branch) -> None:
    name = "spark.sql.sources.parallelPartitionDiscovery.threshold"
    before = spark.conf.get(name)
    lakebed_spark.write(spark.range(80).repartition(40), main, "t")
    status = spark.sparkContext.statusTracker()
    spark.sparkContext.setJobGroup("listing", "no job may list files")
    try:
        frame = lakebed_spark.read(spark, main, "t", schema="id long")
        assert len(status.getJobIdsForGroup("listing")) == 0
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    assert frame.count() == 80
    assert spark.conf.get(name) == before


VALUES = [
    *("1", "-7", "+5", "007", "2147483647", "2147483648", "9223372036854775808", "1e5", "1.5", ".5", "5.", "1d", "NaN"),
    *("Infinity", "-Infinity", "inf", "1_000", "0x1p3", "99999999999999999999999999999999999999", "1" * 39, "-0"),
    *("2026-01-01", "2026-13-01", "2026-1-2", "2026-01", "2026-01-01 10%3A00%3A00", "2026-01-01 10%3A00%3A00.5"),
    *("2026-01-01T10%3A00%3A00", "2026-01-01 25%3A00%3A00", "word", "true", NULL, "1 ", "a%2Fb", "2026-02-30"),
]


def test_inferred_types_equal_the_types_of_spark(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    top = tmp_path_factory.mktemp("inference")
    content = parquet(id=[1])
    pairs = [
        ("1", "2147483648"),
        ("1", "1.5"),
        ("2147483648", "1.5"),
        ("1", "9223372036854775808"),
        ("2026-01-01", "1"),
    ]
    pairs += [
        ("2026-01-01", "2026-01-01 10%3A00%3A00"),
        ("2026-01-01", "word"),
        ("1", NULL),
        (NULL, NULL),
        ("1e5", "1"),
    ]
    pairs += [("1e5", "1.5"), ("1e5", "9223372036854775808"), ("1.5", "2026-01-01")]
    wrong = {}
    for at, values in enumerate([*((value, value) for value in VALUES), *pairs]):
        for value in set(values):
            folder = top / str(at) / f"k={value}"
            folder.mkdir(parents=True)
            (folder / "x.parquet").write_bytes(content)
        reported = dict(spark.read.parquet(str(top / str(at))).dtypes)["k"]
        ours = type_of(values)
        if reported != ("string" if ours == "void" else ours) and not (reported == "void" and ours == "void"):
            wrong[values] = (reported, ours)
    assert wrong == {}


def test_a_frame_is_of_one_commit_though_the_branch_moves(spark: SparkSession, main: lakebed.Branch) -> None:
    """A commit is made between the calls for the schema and for a reader, which Spark makes on copies."""
    main.write_parquet("t/a.parquet", pa.table({"x": [1, 2]}))
    main.commit("two rows")
    lakebed_spark.register(spark, main)
    frame = spark.read.format("lakebed").load(f"lakebed://{main.repository.id}/main/t")
    main.write_parquet("t/b.parquet", pa.table({"y": [3]}))
    main.delete("t/a.parquet")
    main.commit("other rows, of another schema")
    assert frame.columns == ["x"]
    assert sorted(row.x for row in frame.collect()) == [1, 2]
    assert spark.read.format("lakebed").load(f"lakebed://{main.repository.id}/main/t").columns == ["y"]


def test_a_source_resolves_its_table_once(main: lakebed.Branch, monkeypatch: pytest.MonkeyPatch) -> None:
    main.write_parquet("t/a.parquet", pa.table({"x": [1, 2]}))
    main.commit("two rows")
    resolve = Mock(wraps=real_resolve)
    monkeypatch.setattr("lakebed_spark.source.resolve", resolve)
    table = source.LakebedSource({"path": f"lakebed://{main.repository.id}/main/t"})
    table.access = Access.of(main)
    schema = table.schema()
    pickle.loads(pickle.dumps(table)).reader(schema)
    assert resolve.call_count == 1
