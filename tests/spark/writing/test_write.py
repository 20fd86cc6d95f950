"""Writing: one commit per job, by mode; what is refused; exactly once by key."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import lakebed
import lakebed_spark
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession


@pytest.fixture
def main(repo: lakebed.Repository) -> lakebed.Branch:
    return repo.branch("main")


def frame(spark: SparkSession, start: int = 0, rows: int = 30) -> DataFrame:
    return spark.range(start, start + rows, 1, 2).selectExpr("id", "date'2026-01-01' + cast(id % 3 as int) as day")


def ids(spark: SparkSession, ref: lakebed.Ref, path: str = "t") -> list[int]:
    return sorted(row.id for row in lakebed_spark.read(spark, ref, path).collect())


def test_a_write_is_one_commit_with_its_message(spark: SparkSession, main: lakebed.Branch) -> None:
    main.put("open.txt", b"not committed")
    before = main.commit_info()
    commit = lakebed_spark.write(
        frame(spark), main, "t", partition_by="day", message="load", metadata={"job": "7"}, compression="zstd"
    )
    assert commit.parents == (before.id,)
    assert commit.message == "load"
    assert commit.metadata["job"] == "7"
    assert commit.metadata["spark.app.id"] == spark.sparkContext.applicationId
    assert main.commit_info().id == commit.id
    assert [change.path for change in main.uncommitted()] == ["open.txt"]
    rows = main.list("t/").all()
    assert {row.path.split("/")[1] for row in rows} == {f"day=2026-01-0{n}" for n in (1, 2, 3)}
    assert all(row.path.endswith(".zstd.parquet") for row in rows)
    for row in rows:
        assert isinstance(row, lakebed.ObjectInfo)
        assert row.content_type == "application/vnd.apache.parquet"
        main.get(row.path)  # compares the checksum
    assert ids(spark, main) == list(range(30))
    assert len(main.read_parquet("t/")) == 30


def test_write_leaves_only_data_files_in_the_store(
    spark: SparkSession, repo: lakebed.Repository, main: lakebed.Branch
) -> None:
    lakebed_spark.write(frame(spark), main, "t", partition_by="day")
    top = Path(repo.info().local_path) / "workspaces"
    names = [path.name for path in top.rglob("*") if path.is_file()]
    assert [name for name in names if not name.endswith((".parquet", ".committed", ".used"))] == []
    assert len([name for name in names if name.endswith(".parquet")]) == len(main.list("t/").all())


def test_modes(spark: SparkSession, main: lakebed.Branch) -> None:
    lakebed_spark.write(frame(spark), main, "t", partition_by="day")
    lakebed_spark.write(frame(spark, 30), main, "t", partition_by="day")
    assert ids(spark, main) == list(range(60))

    some = frame(spark, 100).filter("day = '2026-01-02'")
    lakebed_spark.write(some, main, "t", partition_by="day", mode="overwrite_partitions")
    wanted = [n for n in range(60) if n % 3 != 1] + [n for n in range(100, 130) if n % 3 == 1]
    assert ids(spark, main) == wanted

    with pytest.raises(lakebed.ObjectExistsError, match="already exists: choose another path, or mode='append'"):
        lakebed_spark.write(frame(spark), main, "t", partition_by="day", mode="error")
    assert ids(spark, main) == wanted

    lakebed_spark.write(frame(spark, 5, 2), main, "t", mode="overwrite")
    assert ids(spark, main) == [5, 6]
    lakebed_spark.write(frame(spark, 5, 2), main, "fresh", mode="error")
    assert ids(spark, main, "fresh") == [5, 6]


def test_many_partitions_are_overwritten_too(spark: SparkSession, main: lakebed.Branch) -> None:
    rows = spark.range(0, 150, 1, 1).selectExpr("id", "id % 150 as k")
    lakebed_spark.write(rows, main, "t", partition_by="k")
    later = spark.range(1000, 1120, 1, 1).selectExpr("id", "id - 1000 as k")
    lakebed_spark.write(later, main, "t", partition_by="k", mode="overwrite_partitions")
    assert ids(spark, main) == [*range(120, 150), *range(1000, 1120)]


def test_an_empty_frame(spark: SparkSession, main: lakebed.Branch) -> None:
    nothing = frame(spark).filter("id < 0")
    before = main.commit_info()
    assert lakebed_spark.write(nothing, main, "t", partition_by="day").id == before.id
    assert list(main.repository.workspaces()) == []
    lakebed_spark.write(frame(spark), main, "t", partition_by="day")
    commit = lakebed_spark.write(nothing, main, "t", partition_by="day", mode="overwrite")
    assert main.commit_info().id == commit.id
    assert main.list("t/").all() == []


def test_a_frame_that_was_read_replaces_what_it_was_read_from(spark: SparkSession, main: lakebed.Branch) -> None:
    lakebed_spark.write(frame(spark), main, "t")
    read = lakebed_spark.read(spark, main, "t")
    lakebed_spark.write(read.selectExpr("id + 1 as id", "day"), main, "t", mode="overwrite")
    assert ids(spark, main) == list(range(1, 31))
    assert sorted(row.id for row in read.collect()) == list(range(30))


def test_a_key_is_written_once(spark: SparkSession, main: lakebed.Branch) -> None:
    first = lakebed_spark.write(frame(spark), main, "t", key="day-1")
    lakebed_spark.write(frame(spark, 30), main, "t")
    again = lakebed_spark.write(frame(spark), main, "t", key="day-1")
    assert again.id == first.id
    assert ids(spark, main) == list(range(60))
    other = lakebed_spark.write(frame(spark, 60), main, "t", key="day-2")
    assert other.id == main.commit_info().id
    dev = main.repository.branch("dev").create("main")
    assert lakebed_spark.write(frame(spark, 90), dev, "t", key="day-1").id == dev.commit_info().id


def test_key_of_a_failed_write_can_be_used_again(spark: SparkSession, main: lakebed.Branch) -> None:
    bad = frame(spark).selectExpr("id", "raise_error('broken') as day")
    with pytest.raises(Exception, match="broken"):
        lakebed_spark.write(bad, main, "t", key="k")
    lakebed_spark.write(frame(spark), main, "t", key="k")
    assert ids(spark, main) == list(range(30))


def test_concurrent_commit_is_a_conflict_only_on_the_same_paths(spark: SparkSession, main: lakebed.Branch) -> None:
    lakebed_spark.write(frame(spark), main, "t", partition_by="day")

    def meanwhile(path: str) -> DataFrame:
        """A frame whose job commits something else while it runs."""
        access = lakebed_spark.Access.of(main)
        repository = main.repository.id

        def rows(batches: object) -> object:
            branch = access.connect().repository(repository).branch("main")
            with branch.workspace("meanwhile") as ws:
                ws.put(path, b"x")
            yield from batches  # type: ignore[misc]

        return frame(spark, 200).coalesce(1).mapInPandas(rows, "id long, day date")  # type: ignore[arg-type]

    lakebed_spark.write(meanwhile("t/day=2026-01-01/_a"), main, "t", partition_by="day")
    lakebed_spark.write(meanwhile("other/a"), main, "t", partition_by="day", mode="overwrite")
    with pytest.raises(lakebed.ConcurrentCommitError) as caught:
        lakebed_spark.write(meanwhile("t/day=2026-01-01/_b"), main, "t", partition_by="day", mode="overwrite")
    assert caught.value.paths == ("t/day=2026-01-01/_b",)
    assert "nothing was committed" in caught.value.__notes__[-1]
    with pytest.raises(lakebed.ConcurrentCommitError):
        lakebed_spark.write(meanwhile("new/_c"), main, "new", mode="error", on_conflict="overwrite")
    with pytest.raises(lakebed.ConcurrentCommitError):
        lakebed_spark.write(meanwhile("other/d"), main, "t", partition_by="day", on_conflict="abort")
    assert list(main.repository.workspaces()) == []


def test_uncommitted_changes_block_a_write(spark: SparkSession, main: lakebed.Branch) -> None:
    main.put("t/draft.parquet", b"x")
    with pytest.raises(lakebed.DirtyBranchError):
        lakebed_spark.write(frame(spark), main, "t", mode="overwrite")
    with pytest.raises(lakebed.ObjectExistsError, match="draft"):
        lakebed_spark.write(frame(spark), main, "t", mode="error")


def test_a_uri_and_a_whole_branch(
    spark: SparkSession, main: lakebed.Branch, server: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in server.environment.items():  # type: ignore[attr-defined]
        monkeypatch.setenv(name, value)
    uri = f"lakebed://{main.repository.id}/main"
    lakebed_spark.write(frame(spark), uri, "t")
    lakebed_spark.write(frame(spark), f"{uri}/u/v/")
    assert lakebed_spark.read(spark, f"{uri}/u/v").count() == 30
    lakebed_spark.write(frame(spark, 7, 3), uri, mode="overwrite")
    assert ids(spark, main, "") == [7, 8, 9]


def test_pandas_and_spark_share_a_table(spark: SparkSession, main: lakebed.Branch) -> None:
    rows = pd.DataFrame({"id": [1, 2], "day": [dt.date(2026, 1, 1), dt.date(2026, 1, 2)]})
    main.write_parquet("t/", rows, partition_by="day", message="pandas")
    lakebed_spark.write(frame(spark, 10, 6), main, "t", partition_by="day")
    assert ids(spark, main) == [1, 2, *range(10, 16)]
    assert sorted(main.read_parquet("t/")["id"]) == [1, 2, *range(10, 16)]
