"""A stream reads what each commit added, once, in the same way after every restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lakebed
import lakebed_spark
import pandas as pd
import pytest
from lakebed_spark import pipelines
from lakebed_spark.streaming.added_files import AddedFile
from lakebed_spark.streaming.commit_cursor import Line
from lakebed_spark.streaming.source import Following, TableStreamReader
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles
from pyspark.sql.types import StructType

from tests.spark import streams

COLUMNS = "x long, day string"


@pytest.fixture(autouse=True)
def known(spark: SparkSession, lake: lakebed.Lake) -> None:
    lakebed_spark.register(spark, lake)


def add(repo: lakebed.Repository, *starts: int, branch: str = "main") -> list[str]:
    """A commit for each start, of three rows in a file; their ids."""
    target = repo.branch(branch)
    for start in starts:
        rows = pd.DataFrame({"x": [10 * start + row for row in range(3)], "day": [f"d {start % 2}"] * 3})
        target.write_parquet("t/", rows, partition_by="day", message=f"add {start}")
    return [commit.id for commit in target.log(limit=len(starts))][::-1]


def expected(*starts: int) -> list[tuple[int, str]]:
    return sorted((10 * start + row, f"d {start % 2}") for start in starts for row in range(3))


class Catcher:
    """Keeps what a stream brings, batch by batch."""

    def __init__(self, spark: SparkSession, repo: lakebed.Repository, checkpoint: Path) -> None:
        self._spark, self._uri, self._checkpoint = spark, f"lakebed://{repo.id}/main/t", checkpoint
        self.batches: list[list[tuple[int, str]]] = []

    def catch(self, frame: DataFrame, batch: int) -> None:
        self.batches.append(sorted((row["x"], row["day"]) for row in frame.collect()))

    @property
    def rows(self) -> list[tuple[int, str]]:
        return sorted(row for batch in self.batches for row in batch)

    def run(self, **options: Any) -> None:
        """Run the stream up to the head of the branch."""
        frame = self._spark.readStream.format("lakebed").schema(COLUMNS).options(**options).load(self._uri)
        writer = frame.writeStream.foreachBatch(self.catch).option("checkpointLocation", str(self._checkpoint))
        streams.run(writer)


def reader(repo: lakebed.Repository, lake: lakebed.Lake, branch: str = "main", **options: str) -> TableStreamReader:
    """The reader itself, in this process."""
    place = lakebed_spark.locate(f"lakebed://{repo.id}/{branch}/t")
    following = Following.of(lakebed_spark.Access.of(lake), place, options, 4)
    schema = StructType().add("x", "long").add("day", "string")
    return TableStreamReader(following, schema)


def files(reader: TableStreamReader, start: dict[str, Any], end: dict[str, Any]) -> list[AddedFile]:
    return [file for part in reader.partitions(start, end) for file in part.value]


def test_the_table_first_then_commit_by_commit(spark: SparkSession, repo: lakebed.Repository, tmp_path: Path) -> None:
    add(repo, 0, 1)
    caught = Catcher(spark, repo, tmp_path / "ck")
    caught.run()
    assert caught.batches == [expected(0, 1)]
    add(repo, 2, 3, 4, 5, 6)
    repo.branch("main").put("elsewhere.parquet", b"no table")
    repo.branch("main").put("t/_hidden/x.parquet", b"no part of the table")
    repo.branch("main").commit("elsewhere")
    caught.run(maxCommitsPerTrigger=2)
    assert [len(batch) for batch in caught.batches] == [6, 6, 6, 3]
    assert caught.rows == expected(0, 1, 2, 3, 4, 5, 6)
    caught.run()
    assert caught.rows == expected(0, 1, 2, 3, 4, 5, 6)


def test_a_failed_batch_is_read_again(spark: SparkSession, repo: lakebed.Repository, tmp_path: Path) -> None:
    caught = Catcher(spark, repo, tmp_path / "ck")
    add(repo, 0)
    caught.run(startingCommit="now")
    assert caught.rows == []
    caught = Catcher(spark, repo, tmp_path / "ck2")
    fails = Catcher(spark, repo, tmp_path / "ck2")
    begin = repo.branch("main").commit_info().id
    add(repo, 1)

    def fail(frame: DataFrame, batch: int) -> None:
        raise RuntimeError("broken")

    fails.catch = fail  # type: ignore[method-assign]
    with pytest.raises(StreamingQueryException, match="broken"):
        fails.run(startingCommit=begin)
    add(repo, 2)
    caught.run(startingCommit="now")  # the stream began at its first start, whatever is said now
    assert caught.batches == [expected(1), expected(2)]


def test_a_file_that_is_replaced_or_deleted(spark: SparkSession, repo: lakebed.Repository, tmp_path: Path) -> None:
    main = repo.branch("main")
    add(repo, 0, 1)
    caught = Catcher(spark, repo, tmp_path / "ck")
    caught.run()
    first, second = (row.path for row in main.list("t/") if isinstance(row, lakebed.ObjectInfo))
    changed = pd.DataFrame({"x": [777]})
    main.write_parquet(first, changed, mode="overwrite")
    main.delete(second)
    main.commit("change and delete")
    with pytest.raises(StreamingQueryException, match=r"replaced.*onChange=ignore"):
        caught.run()
    again = Catcher(spark, repo, tmp_path / "ck")
    again.run(onChange="reread")
    assert [row[0] for row in again.rows] == [777]
    add(repo, 3)
    caught.run(onChange="ignore")
    assert caught.rows == expected(0, 1, 3)


def test_a_compaction_is_skipped(
    spark: SparkSession, lake: lakebed.Lake, repo: lakebed.Repository, tmp_path: Path
) -> None:
    bare = repo.branch("bare").create("main")
    add(repo, 0, 1, 2, 3)
    caught = Catcher(spark, repo, tmp_path / "ck")
    caught.run()
    report = pipelines.compact(f"lakebed://{repo.id}/main/t", lake=lake)
    assert (report.files, report.files_after) == (4, 2)
    add(repo, 4)
    caught.run()  # not even with onChange=error is it a change
    assert caught.batches == [expected(0, 1, 2, 3), expected(4)]

    before = bare.commit_info().id
    bare.cherry_pick("main~1")  # where the small files never were, it brings rows
    stream = reader(repo, lake, branch="bare", startingCommit=before)
    found = files(stream, stream.initialOffset(), {"commit": bare.commit_info().id})
    assert sorted(file.info.path for file in found) == sorted(str(group.target) for group in report.groups)
    assert repo.commit("main~1").metadata == {"lakebed.rewrite": "compact"}


def test_offsets_are_repeatable(repo: lakebed.Repository, lake: lakebed.Lake) -> None:
    begin = repo.branch("main").commit_info().id
    ids = add(repo, 0, 1, 2, 3)
    stream = reader(repo, lake, startingCommit=begin, maxCommitsPerTrigger="3")
    start = stream.initialOffset()
    limit = stream.getDefaultReadLimit()
    assert limit == ReadMaxFiles(3)
    end = stream.latestOffset(start, limit)
    assert end["commit"] == ids[2]
    assert stream.latestOffset(start, ReadAllAvailable())["commit"] == ids[3]
    found = files(stream, start, end)
    assert [file.commit for file in found] == ids[:3]
    assert stream.latestOffset(end, limit)["commit"] == ids[3]

    restarted = reader(repo, lake, startingCommit="now")  # an offset that was noted, and another beginning
    assert files(restarted, restarted.initialOffset(), end) == found
    last = restarted.latestOffset(end, limit)
    assert restarted.latestOffset(last, limit) == last
    assert [file.commit for file in files(restarted, end, last)] == ids[3:]


def test_a_merge_brings_what_it_merged(repo: lakebed.Repository, lake: lakebed.Lake) -> None:
    add(repo, 0)
    begin = repo.branch("main").commit_info().id
    repo.branch("dev").create("main")
    add(repo, 1, 2, branch="dev")
    repo.branch("dev").merge_into("main")
    stream = reader(repo, lake, startingCommit=begin)
    start = stream.initialOffset()
    end = stream.latestOffset(start, stream.getDefaultReadLimit())
    merge = repo.branch("main").commit_info().id
    assert [file.commit for file in files(stream, start, end)] == [merge, merge]


def test_history_that_was_rewritten(spark: SparkSession, repo: lakebed.Repository, tmp_path: Path) -> None:
    add(repo, 0)
    repo.branch("side").create("main")
    add(repo, 5, branch="side")
    stood = repo.branch("side").commit_info().id
    add(repo, 1, 2, 3)
    line = Line(repo, "main")
    head = repo.branch("main").commit_info().id
    with pytest.raises(lakebed.PreconditionFailedError, match="reset or created again") as caught:
        line.after(stood, head)
    assert caught.value.kind == "history_rewritten"
    assert caught.value.repository == repo.id
    with pytest.raises(lakebed.PreconditionFailedError):
        line.after("0" * 64, head)
    with pytest.raises(lakebed.PreconditionFailedError):
        line.after(head, repo.commit("main~1").id)


def test_a_long_history_is_read_once(repo: lakebed.Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = repo.branch("main").commit_info().id
    ids = add(repo, *range(6))
    line = Line(repo, "main")
    walks: list[str] = []
    log = lakebed.Ref.log

    def watched(self: lakebed.Ref, **options: Any) -> Any:
        walks.append(options["stop_at"])
        return log(self, **options)

    monkeypatch.setattr(lakebed.Ref, "log", watched)
    at = begin
    for following in ids:
        assert line.after(at, ids[-1])[0] == following
        at = following
    assert walks == [begin]
    monkeypatch.undo()
    more = add(repo, 7, 8)
    assert line.after(ids[-1], more[-1]) == more
    assert line.after(begin, more[0]) == [*ids, more[0]]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"maxCommitsPerTrigger": "0"}, "maxCommitsPerTrigger must be"),
        ({"maxCommitsPerTrigger": "²"}, "maxCommitsPerTrigger must be"),
        ({"onChange": "shrug"}, "onChange must be one of"),
    ],
)
def test_bad_options(repo: lakebed.Repository, lake: lakebed.Lake, options: dict[str, str], said: str) -> None:
    with pytest.raises(lakebed.InvalidRequestError, match=said):
        reader(repo, lake, **options)
