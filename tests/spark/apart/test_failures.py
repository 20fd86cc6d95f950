"""Failures of tasks, jobs and drivers, and lost responses. The branch shows a whole write or nothing of it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lakebed
import lakebed_spark
import pytest
from lakebed._compat import sync_http
from lakebed._http.exchange import BrokenError, Request
from pyspark.sql import DataFrame, SparkSession

from tests.spark import drivers
from tests.support.processes.server import RunningServer


@pytest.fixture
def main(repo: lakebed.Repository) -> lakebed.Branch:
    return repo.branch("main")


def failing(spark: SparkSession, attempts: int) -> DataFrame:
    """A hundred rows in four partitions; the task of one fails, after it has written a part, in each attempt."""

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        for batch in batches:
            yield batch
            if context.partitionId() == 2 and context.attemptNumber() < attempts:
                raise RuntimeError("injected")

    return spark.range(0, 100, 1, 4).mapInPandas(rows, "id long")


def ids(spark: SparkSession, ref: lakebed.Ref) -> list[int]:
    return sorted(row.id for row in lakebed_spark.read(spark, ref, "t").collect())


def test_a_task_that_is_tried_again_writes_its_rows_once(spark: SparkSession, main: lakebed.Branch) -> None:
    lakebed_spark.write(failing(spark, 2), main, "t")
    assert ids(spark, main) == list(range(100))


def test_a_job_that_fails_leaves_nothing(spark: SparkSession, main: lakebed.Branch) -> None:
    before = lakebed_spark.write(spark.range(5), main, "t")
    with pytest.raises(Exception, match="injected") as caught:
        lakebed_spark.write(failing(spark, 9), main, "t", mode="overwrite")
    assert "nothing was committed: " in caught.value.__notes__[-1]
    assert main.commit_info().id == before.id
    assert ids(spark, main) == list(range(5))
    assert list(main.repository.workspaces()) == []


def test_a_driver_that_is_killed(
    spark: SparkSession, lake: lakebed.Lake, main: lakebed.Branch, server: RunningServer
) -> None:
    other = lake.repository(f"{main.repository.id}-b").create(f"local://{main.repository.id}-b").branch("main")
    before = main.commit_info()
    started = [drivers.start(server, verb, branch.repository.id) for verb, branch in _killed(main, other)]
    for process in started:
        output = drivers.finish(process, 600)
        assert process.returncode == -signal.SIGKILL, output

    assert main.commit_info().id == before.id  # before the commit: nothing of it, but a workspace
    (left,) = main.repository.workspaces()
    assert left.is_open
    again = lakebed_spark.write(spark.range(100), main, "t", key=drivers.KEY)
    assert main.commit_info().id == again.id
    assert again.parents == (before.id,)
    assert ids(spark, main) == list(range(100))
    assert list(main.repository.workspaces()) == []

    landed = other.commit_info()  # after it: all of it, and never twice
    assert ids(spark, other) == list(range(100))
    assert lakebed_spark.write(spark.range(100), other, "t", key=drivers.KEY).id == landed.id
    assert ids(spark, other) == list(range(100))


def _killed(first: lakebed.Branch, second: lakebed.Branch) -> list[tuple[str, lakebed.Branch]]:
    return [("kill-before", first), ("kill-after", second)]


def test_slow_tasks_that_are_begun_twice_write_their_rows_once(
    spark: SparkSession, main: lakebed.Branch, server: RunningServer, tmp_path: Path
) -> None:
    process = drivers.start(server, "speculate", main.repository.id, str(tmp_path))
    output = drivers.finish(process, 600)
    assert process.returncode == 0, output
    assert {"0", "1"} <= {mark.name for mark in tmp_path.iterdir()}
    assert ids(spark, main) == list(range(400))


def test_a_lost_answer_is_settled(spark: SparkSession, main: lakebed.Branch, monkeypatch: pytest.MonkeyPatch) -> None:
    lost: list[str] = []
    send = sync_http.HttpClient.send

    def losing(self: sync_http.HttpClient, request: Request, *, stream: bool) -> sync_http.Urllib3Response:
        response = send(self, request, stream=stream)
        if "/workspaces/" in request.url and "/commit?" in request.url and not lost:
            lost.append(request.url)
            raise BrokenError("the response was lost")
        return response

    monkeypatch.setattr(sync_http.HttpClient, "send", losing)
    before = main.commit_info()
    commit = lakebed_spark.write(spark.range(10), main, "t")
    assert lost
    assert commit.parents == (before.id,)
    assert main.commit_info().id == commit.id
    assert ids(spark, main) == list(range(10))


def test_unknown_outcome_is_raised_and_nothing_is_dropped(
    spark: SparkSession, main: lakebed.Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(self: lakebed.Workspace, *arguments: Any, **options: Any) -> Any:
        raise lakebed.CommitStateUnknownError("lost", operation="commitWorkspace")

    with monkeypatch.context() as patch:
        patch.setattr(lakebed.Workspace, "commit", unknown)
        with pytest.raises(lakebed.CommitStateUnknownError):
            lakebed_spark.write(spark.range(10), main, "t")
        with pytest.raises(lakebed.CommitStateUnknownError), lakebed_spark.transaction(spark, main) as tx:
            tx.write(spark.range(3), "u")
    left = list(main.repository.workspaces())
    assert len(left) == 2
    main.repository.workspace(left[0].id).commit(scan=False)
    main.repository.workspace(left[1].id).commit(scan=False)
    assert ids(spark, main) == list(range(10))


def test_two_jobs_race_on_one_branch(spark: SparkSession, main: lakebed.Branch) -> None:
    lakebed_spark.write(spark.range(10), main, "t")
    outcomes = _both(lambda start: lakebed_spark.write(spark.range(start, start + 10), main, "t"))
    assert all(isinstance(one, lakebed.Commit) for one in outcomes), outcomes
    assert ids(spark, main) == [*range(10), *range(100, 110), *range(200, 210)]

    outcomes = _both(lambda start: lakebed_spark.write(spark.range(start, start + 5), main, "t", mode="overwrite"))
    won = [one for one in outcomes if isinstance(one, lakebed.Commit)]
    assert won, outcomes
    assert all(isinstance(one, lakebed.Commit | lakebed.ConcurrentCommitError) for one in outcomes), outcomes
    assert ids(spark, main) in (list(range(100, 105)), list(range(200, 205)))


def _both(job: Callable[[int], object]) -> list[object]:
    """Two jobs at the same time, and what they gave or raised."""
    outcomes: list[object] = []
    ready = threading.Barrier(2)

    def run(start: int) -> None:
        ready.wait()
        try:
            outcomes.append(job(start))
        except Exception as error:
            outcomes.append(error)

    threads = [threading.Thread(target=run, args=(start,)) for start in (100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def test_five_million_rows(spark: SparkSession, main: lakebed.Branch) -> None:
    rows = spark.range(0, 5_000_000, 1, 4).selectExpr("id", "id * 2 as v", "cast(id % 10 as int) as k")
    lakebed_spark.write(rows, main, "t", partition_by="k")
    found = lakebed_spark.read(spark, main, "t")
    (row,) = found.selectExpr("count(*)", "sum(id)", "sum(v)", "count(distinct k)").collect()
    total = 5_000_000 * 4_999_999 // 2
    assert tuple(row) == (5_000_000, total, 2 * total, 10)
    assert found.filter("k = 3").count() == 500_000
