"""Several writes and deletes as one commit."""

from __future__ import annotations

import lakebed
import lakebed_spark
import pytest
from pyspark.sql import SparkSession


@pytest.fixture
def main(spark: SparkSession, repo: lakebed.Repository) -> lakebed.Branch:
    branch = repo.branch("main")
    lakebed_spark.write(spark.range(10), branch, "t", message="first")
    return branch


def ids(spark: SparkSession, ref: lakebed.Ref, path: str = "t") -> list[int]:
    return sorted(row.id for row in lakebed_spark.read(spark, ref, path).collect())


def test_transaction_is_a_single_commit_and_reads_its_own_changes(spark: SparkSession, main: lakebed.Branch) -> None:
    main.put_many({"old/a.txt": b"1", "old/b.txt": b"2", "one.txt": b"3"})
    before = main.commit("files")
    with lakebed_spark.transaction(spark, main, message="tidy up", metadata={"step": "3"}) as tx:
        assert tx.read("t").count() == 10
        tx.write(spark.range(10, 15), "t")
        tx.write(tx.read("t").selectExpr("id * 2 as id"), "t", mode="overwrite")
        tx.write(spark.range(3), "u")
        tx.delete("old/")
        tx.delete("one.txt")
        tx.delete("never/was")
        assert sorted(row.id for row in tx.read("t").collect()) == [n * 2 for n in range(15)]
        assert lakebed_spark.read(spark, f"lakebed://{main.repository.id}/{tx.ref}/u", lake=main).count() == 3
        assert ids(spark, main) == list(range(10))
        assert main.exists("one.txt")
    assert tx.commit is not None
    assert tx.commit.parents == (before.id,)
    assert (tx.commit.message, tx.commit.metadata["step"]) == ("tidy up", "3")
    assert ids(spark, main) == [n * 2 for n in range(15)]
    assert {row.path.split("/")[0] for row in main.list()} == {"t", "u"}
    with pytest.raises(lakebed.InvalidRequestError, match="has ended"):
        tx.write(spark.range(1), "t")


def test_after_an_exception_nothing_is_there(spark: SparkSession, main: lakebed.Branch) -> None:
    before = main.commit_info().id
    with pytest.raises(RuntimeError, match="no") as caught, lakebed_spark.transaction(spark, main) as tx:
        tx.write(spark.range(5), "t", mode="overwrite")
        raise RuntimeError("no")
    assert tx.commit is None
    assert main.commit_info().id == before
    assert ids(spark, main) == list(range(10))
    assert list(main.repository.workspaces()) == []
    assert "nothing was committed" in caught.value.__notes__[-1]


def test_a_write_that_fails_leaves_the_rest(spark: SparkSession, main: lakebed.Branch) -> None:
    with lakebed_spark.transaction(spark, main) as tx:
        tx.write(spark.range(3), "u")
        with pytest.raises(lakebed.ObjectExistsError):
            tx.write(spark.range(3), "u", mode="error")
        with pytest.raises(lakebed.ObjectNotFoundError):
            tx.read("nothing")
    assert ids(spark, main, "u") == [0, 1, 2]


def test_without_changes_there_is_no_commit(spark: SparkSession, main: lakebed.Branch) -> None:
    before = main.commit_info().id
    with lakebed_spark.transaction(spark, main) as tx:
        tx.delete("never/")
    assert tx.commit is None
    assert main.commit_info().id == before


def test_concurrent_change_of_overwritten_files_is_a_conflict(spark: SparkSession, main: lakebed.Branch) -> None:
    with pytest.raises(lakebed.ConcurrentCommitError), lakebed_spark.transaction(spark, main) as tx:
        tx.write(spark.range(2), "t", mode="overwrite")
        lakebed_spark.write(spark.range(100, 101), main, "t")
    assert ids(spark, main) == [*range(10), 100]


def test_below_a_path_and_in_a_workspace(spark: SparkSession, main: lakebed.Branch) -> None:
    with lakebed_spark.transaction(spark, f"lakebed://{main.repository.id}/main/area/7", lake=main) as tx:
        tx.write(spark.range(4), "x")
    assert ids(spark, main, "area/7/x") == [0, 1, 2, 3]
    workspace = main.workspace("by hand").create()
    workspace.put("note.txt", b"n")
    with lakebed_spark.transaction(spark, workspace) as tx:
        tx.write(spark.range(2), "y")
    assert main.get("note.txt") == b"n"
    assert ids(spark, main, "y") == [0, 1]
