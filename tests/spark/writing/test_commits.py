"""`lakebed.commits` and `lakebed.branches` show what the SDK lists."""

from __future__ import annotations

import lakebed
import lakebed_spark
import pytest
from lakebed_spark.history.columns import COMMITS
from lakebed_spark.history.lists import CommitsReader, CommitsSource
from pyspark.sql import SparkSession

from tests.spark.histories import load, rows_of


@pytest.fixture
def written(spark: SparkSession, lake: lakebed.Lake, repo: lakebed.Repository) -> lakebed.Repository:
    lakebed_spark.register(spark, lake)
    main = repo.branch("main")
    for number in range(4):
        main.put(f"{'ab'[number % 2]}/{number}", b"%d" % number)
        main.commit(f"commit {number}", metadata={"number": str(number), "ö": ""})
    dev = repo.branch("dev").create("main~1")
    dev.put("c", b"c")
    dev.commit("on dev")
    dev.merge_into("main", "merged")
    repo.branch("hidden").create("main", hidden=True)
    return repo


def test_commits_are_the_log(spark: SparkSession, written: lakebed.Repository) -> None:
    frame = load(spark, "lakebed.commits", written, "main")
    log = written.ref("main").log().all()
    expected = [
        (one.id, list(one.parents), one.message, one.committer, one.created, dict(one.metadata), one.generation,
         one.metarange_id, one.operation_id)
        for one in log
    ]  # fmt: skip
    assert rows_of(frame) == expected
    assert rows_of(load(spark, "lakebed.commits", written).select("id")) == [(one.id,) for one in log]


def test_a_part_of_the_log(spark: SparkSession, written: lakebed.Repository) -> None:
    main = written.ref("main")
    of_a = load(spark, "lakebed.commits", written, "main/a/").select("id")
    assert rows_of(of_a) == [(one.id,) for one in main.log(prefixes=["a/"])]
    line = load(spark, "lakebed.commits", written, "main", firstParent="true", limit=3).select("id")
    assert rows_of(line) == [(one.id,) for one in main.log(first_parent=True, limit=3)]
    with pytest.raises(Exception, match="firstParent must be true or false"):
        load(spark, "lakebed.commits", written, "main", firstParent="yes").count()


def test_retried_task_reads_the_same_log(written: lakebed.Repository, lake: lakebed.Lake) -> None:
    from lakebed_spark.history import Binding, bind

    made = bind(CommitsSource, Binding(lakebed_spark.Access.of(lake)))({"path": f"lakebed://{written.id}/main"})
    reader = made.reader(COMMITS)
    assert isinstance(reader, CommitsReader)
    (part,) = reader.partitions()
    before = [batch.to_pydict() for batch in reader.read(part)]
    written.branch("main").put("late", b"late")
    written.branch("main").commit("late")
    assert [batch.to_pydict() for batch in reader.read(part)] == before


def test_branches(spark: SparkSession, written: lakebed.Repository) -> None:
    shown = [(one.id, one.commit_id) for one in written.branches()]
    assert rows_of(load(spark, "lakebed.branches", written)) == shown
    everything = [(one.id, one.commit_id) for one in written.branches(hidden=True)]
    assert rows_of(load(spark, "lakebed.branches", written, hidden="true")) == everything != shown
