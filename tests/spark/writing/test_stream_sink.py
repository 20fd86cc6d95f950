"""Each micro-batch is one commit, exactly once: over restarts, killed drivers, two drivers, and commits of others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lakebed
import lakebed_spark
import pytest
from lakebed_spark.streaming.sink import BATCH_KEY, MARKS, QUERY_KEY, Mark, Sink
from pyspark.sql import DataFrame, SparkSession

from tests.support.processes.server import RunningServer
from tests.support.waiting import PATIENCE

SCHEMA = "n int"


def feed(folder: Path, number: int, rows: int = 3) -> None:
    """A file that the stream finds, whole: one more micro-batch."""
    folder.mkdir(exist_ok=True)
    text = "".join(json.dumps({"n": 10 * number + row}) + "\n" for row in range(rows))
    hidden = folder / f".{number}.json"
    hidden.write_text(text)
    hidden.rename(folder / f"{number}.json")


def run(spark: SparkSession, folder: Path, sink: Sink, checkpoint: Path) -> None:
    """All that is there, in batches of one file."""
    frame = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(folder))
    writer = frame.writeStream.foreachBatch(sink).option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    assert query.awaitTermination(int(PATIENCE))


def numbers(repo: lakebed.Repository) -> list[int]:
    return sorted(repo.ref("main").read_parquet("t/")["n"])


def batches(repo: lakebed.Repository) -> list[tuple[str, int]]:
    """Query and batch of each commit of the sink, oldest first."""
    log = [commit for commit in repo.ref("main").log() if BATCH_KEY in commit.metadata]
    return [(commit.metadata[QUERY_KEY], int(commit.metadata[BATCH_KEY])) for commit in reversed(log)]


def forget(checkpoint: Path, batch: int) -> None:
    """As if the driver had been killed after the commit of this batch, and before Spark noted it."""
    (checkpoint / "commits" / str(batch)).unlink()
    (checkpoint / "commits" / f".{batch}.crc").unlink(missing_ok=True)


def frame_of(spark: SparkSession, start: int) -> DataFrame:
    return spark.range(start, start + 3).selectExpr("cast(id as int) as n").coalesce(1)


def test_a_restart_goes_on_and_a_replay_does_nothing(
    spark: SparkSession, repo: lakebed.Repository, tmp_path: Path
) -> None:
    main = repo.branch("main")
    sink = lakebed_spark.foreach_batch(main, "t", message="load")
    for number in range(2):
        feed(tmp_path / "in", number)
    run(spark, tmp_path / "in", sink, tmp_path / "ck")
    (first, second) = batches(repo)
    assert (first[1], second[1]) == (0, 1)
    assert first[0] == second[0]  # the query's id, over all of its life
    assert main.commit_info().message == "load"

    for number in range(30):  # many commits of others in between
        main.put(f"other/{number}", b"x")
        main.commit(f"other {number}")
    forget(tmp_path / "ck", 1)
    run(spark, tmp_path / "in", sink, tmp_path / "ck")
    assert batches(repo) == [first, second]
    feed(tmp_path / "in", 2)
    run(spark, tmp_path / "in", sink, tmp_path / "ck")
    assert [batch for _, batch in batches(repo)] == [0, 1, 2]
    assert numbers(repo) == [0, 1, 2, 10, 11, 12, 20, 21, 22]
    assert repo.workspaces().all() == []


DRIVER = """
import sys, os, time
import lakebed, lakebed_spark
from lakebed_spark.streaming import sink as sinks

folder, checkpoint, uri, flag = sys.argv[1:]
finish = lakebed_spark.Transaction._finish

def and_stop(self, metadata):
    finish(self, metadata)
    if metadata[sinks.BATCH_KEY] == "1":
        open(flag, "w").close()
        time.sleep(600)

lakebed_spark.Transaction._finish = and_stop
spark = lakebed_spark.session(spark_master="local[1]", spark_ui_enabled=False, spark_driver_bindAddress="127.0.0.1",
                              spark_driver_memory="1g")
frame = spark.readStream.schema("n int").option("maxFilesPerTrigger", 1).json(folder)
query = (frame.writeStream.foreachBatch(lakebed_spark.foreach_batch(uri))
         .option("checkpointLocation", checkpoint).trigger(availableNow=True).start())
query.awaitTermination()
"""


def test_a_driver_killed_between_commit_and_checkpoint(
    spark: SparkSession, server: RunningServer, repo: lakebed.Repository, tmp_path: Path
) -> None:
    for number in range(3):
        feed(tmp_path / "in", number)
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    flag = tmp_path / "committed"
    arguments = [tmp_path / "in", tmp_path / "ck", f"lakebed://{repo.id}/main/t", flag]
    with (tmp_path / "driver.log").open("wb") as log:
        driver = subprocess.Popen(
            [sys.executable, str(script), *map(str, arguments)],
            stdout=log, stderr=log, start_new_session=True,
            env={**os.environ, **server.environment},
        )  # fmt: skip
        try:
            end = time.monotonic() + 2 * PATIENCE
            while not flag.exists():
                assert driver.poll() is None, (tmp_path / "driver.log").read_text()[-3000:]
                assert time.monotonic() < end
                time.sleep(0.05)
        finally:
            if driver.poll() is None:
                os.killpg(driver.pid, signal.SIGKILL)
            driver.wait()
    assert [batch for _, batch in batches(repo)] == [0, 1]
    assert not (tmp_path / "ck" / "commits" / "1").exists()

    run(spark, tmp_path / "in", lakebed_spark.foreach_batch(repo.branch("main"), "t"), tmp_path / "ck")
    assert [batch for _, batch in batches(repo)] == [0, 1, 2]
    assert len({query for query, _ in batches(repo)}) == 1
    assert numbers(repo) == [0, 1, 2, 10, 11, 12, 20, 21, 22]


def test_two_drivers_of_one_query(
    spark: SparkSession, repo: lakebed.Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = lakebed_spark.foreach_batch(repo.branch("main"), "t", query_id="q")
    both = threading.Barrier(2, timeout=PATIENCE)
    stands = Mark.is_in

    def looked(self: Mark, ref: lakebed.Ref) -> bool:
        found = stands(self, ref)
        if isinstance(ref, lakebed.Workspace):
            both.wait()  # neither has committed when the other reads
        return found

    monkeypatch.setattr(Mark, "is_in", looked)
    failures: list[BaseException] = []

    def drive() -> None:
        try:
            sink(frame_of(spark, 0), 0)
        except BaseException as error:
            failures.append(error)

    drivers = [threading.Thread(target=drive) for _ in range(2)]
    for one in drivers:
        one.start()
    for one in drivers:
        one.join(PATIENCE)
    assert failures == []
    assert batches(repo) == [("q", 0)]
    assert numbers(repo) == [0, 1, 2]


def test_sink_with_concurrent_commits_of_others(spark: SparkSession, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    sink = lakebed_spark.foreach_batch(main, "t", query_id="q")
    stop = threading.Event()

    def rival() -> None:
        number = 0
        while not stop.is_set():
            with main.workspace(f"rival {number}") as work:
                work.put(f"rival/{number}", b"x")
            number += 1

    thread = threading.Thread(target=rival)
    thread.start()
    try:
        for batch in range(3):
            sink(frame_of(spark, 10 * batch), batch)
            sink(frame_of(spark, 10 * batch), batch)
    finally:
        stop.set()
        thread.join()
    assert batches(repo) == [("q", 0), ("q", 1), ("q", 2)]
    assert numbers(repo) == [0, 1, 2, 10, 11, 12, 20, 21, 22]


def test_a_lost_answer_is_settled(
    spark: SparkSession, repo: lakebed.Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the first case the commit is made and its response is lost. In the second case it is not made."""
    sink = lakebed_spark.foreach_batch(repo.branch("main"), "t", query_id="q")
    finish = lakebed_spark.Transaction._finish

    def unheard(self: lakebed_spark.Transaction, metadata: dict[str, str]) -> None:
        finish(self, metadata)
        raise lakebed.CommitStateUnknownError("the answer was lost")

    monkeypatch.setattr(lakebed_spark.Transaction, "_finish", unheard)
    sink(frame_of(spark, 0), 0)
    assert batches(repo) == [("q", 0)]

    def unmade(self: lakebed_spark.Transaction, metadata: dict[str, str]) -> None:
        raise lakebed.CommitStateUnknownError("the answer was lost")

    monkeypatch.setattr(lakebed_spark.Transaction, "_finish", unmade)
    with pytest.raises(lakebed.CommitStateUnknownError):
        sink(frame_of(spark, 10), 1)
    monkeypatch.undo()
    sink(frame_of(spark, 10), 1)
    assert batches(repo) == [("q", 0), ("q", 1)]
    assert numbers(repo) == [0, 1, 2, 10, 11, 12]


def test_a_batch_is_computed_once(spark: SparkSession, repo: lakebed.Repository) -> None:
    """It is not computed a second time to check for rows or to commit it."""
    worked = spark.sparkContext.accumulator(0)

    def count(frames: Iterator[Any]) -> Iterator[Any]:
        for frame in frames:
            worked.add(len(frame))
            yield frame

    lakebed_spark.foreach_batch(repo.branch("main"), "t", query_id="q")(
        frame_of(spark, 0).mapInPandas(count, SCHEMA), 0
    )
    assert numbers(repo) == [0, 1, 2]
    assert worked.value == 3


def test_a_batch_may_replace(spark: SparkSession, repo: lakebed.Repository) -> None:
    sink = lakebed_spark.foreach_batch(repo.branch("main"), "t", query_id="q", mode="overwrite")
    for batch in range(2):
        sink(frame_of(spark, 10 * batch), batch)
    sink(frame_of(spark, 10), 1)
    assert numbers(repo) == [10, 11, 12]
    assert repo.ref("main").exists(f"{MARKS}t/q.json")
    assert lakebed_spark.read(spark, repo.ref("main"), "t").count() == 3


def test_a_failed_batch_leaves_nothing(spark: SparkSession, repo: lakebed.Repository) -> None:
    head = repo.branch("main").info().commit_id
    sink = lakebed_spark.foreach_batch(repo.branch("main"), "t", query_id="q")
    broken = spark.range(3).selectExpr("cast(raise_error('broken') as int) as n")
    with pytest.raises(Exception, match="broken"):
        sink(broken, 0)
    assert repo.branch("main").info().commit_id == head
    assert repo.workspaces().all() == []
    sink(frame_of(spark, 0), 0)
    assert numbers(repo) == [0, 1, 2]


@pytest.mark.parametrize(
    ("ref", "path", "options", "said"),
    [
        ("main", "", {}, "the path is missing"),
        ("main", "t", {"mode": "error"}, "unknown mode"),
        ("main~1", "t", {}, "the target must be a branch"),
        ("main", "t", {"query_id": "a/b"}, "without '/'"),
    ],
)
def test_bad_targets(repo: lakebed.Repository, ref: str, path: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(lakebed.InvalidRequestError, match=said):
        lakebed_spark.foreach_batch(repo.ref(ref), path, **options)


def test_outside_of_a_query_it_needs_a_name(spark: SparkSession, repo: lakebed.Repository) -> None:
    with pytest.raises(lakebed.InvalidRequestError, match="query_id="):
        lakebed_spark.foreach_batch(repo.branch("main"), "t")(frame_of(spark, 0), 0)


def test_an_invalid_mark_is_refused(spark: SparkSession, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    main.put(f"{MARKS}t/q.json", b"not a mark")
    main.commit("broken")
    with pytest.raises(lakebed.InvalidRequestError, match="another program replaced it"):
        lakebed_spark.foreach_batch(main, "t", query_id="q")(frame_of(spark, 0), 0)


def test_a_batch_without_rows_makes_no_commit(spark: SparkSession, repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    sink = lakebed_spark.foreach_batch(main, "t", query_id="some")
    sink(frame_of(spark, 0), 0)
    head = main.commit_info()
    sink(frame_of(spark, 0).where("n < 0"), 1)
    assert main.commit_info() == head
    assert list(repo.workspaces()) == []
    sink(frame_of(spark, 10), 2)
    sink(frame_of(spark, 10), 2)
    assert numbers(repo) == [0, 1, 2, 10, 11, 12]
    clearing = lakebed_spark.foreach_batch(main, "t", query_id="other", mode="overwrite")
    clearing(frame_of(spark, 0).where("n < 0"), 0)  # no rows, and yet a change
    assert lakebed_spark.read(spark, main, "t").count() == 0
    assert batches(repo) == [("some", 0), ("some", 2), ("other", 0)]
