"""Compact: few files in place of many, the same rows, one commit, and no concurrently changed file lost."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lakebed
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lakebed_spark import pipelines
from pyspark.sql import SparkSession

from tests.support.processes.server import lake_of


def parquet(first: int, rows: int = 10, **more: Any) -> bytes:
    table = pa.table({"id": range(first, first + rows), "name": [f"n{n}" for n in range(first, first + rows)], **more})
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


@pytest.fixture
def table(repo: lakebed.Repository) -> lakebed.Repository:
    """Two partitions of small files, a large one between, and what is not data."""
    main = repo.branch("main")
    files = {f"t/dt={n % 2}/part-{n:03d}.parquet": parquet(10 * n) for n in range(20)}
    files["t/dt=0/part-011.parquet"] = parquet(10_000, 5000)
    files |= {"t/_delta/x.parquet": parquet(1), "t/dt=0/_tmp.parquet": parquet(2), "t/dt=0/notes.txt": b"no table"}
    main.put_many(files)
    main.commit("small files")
    return repo


def ids(ref: lakebed.Ref, prefix: str) -> list[int]:
    return [int(value) for value in ref.read_table(prefix)["id"].to_pylist()]


@pytest.mark.parametrize("engine", ["here", pytest.param("spark", marks=pytest.mark.soak)])  # see `test_both_runners`
def test_the_same_rows_in_fewer_files(table: lakebed.Repository, engine: str, request: pytest.FixtureRequest) -> None:
    spark: SparkSession | None = request.getfixturevalue("spark") if engine == "spark" else None
    where, lake = f"lakebed://{table.id}/main/t", lake_of(table)
    main = table.branch("main")
    before = {folder: ids(main, folder) for folder in ("t/dt=0/", "t/dt=1/")}
    head = main.commit_info()
    looked = pipelines.compact(where, spark=spark, small_bytes=5000, target_bytes=100_000, dry_run=True, lake=lake)
    assert (looked.files, looked.files_after, looked.commit) == (20, 3, None)
    assert main.commit_info() == head
    report = pipelines.compact(where, spark=spark, small_bytes=5000, target_bytes=100_000, lake=lake)
    assert (report.files, report.files_after, report.rows) == (20, 3, 200)
    assert [one.paths for one in report.groups] == [one.paths for one in looked.groups]
    assert {folder: sorted(ids(main, folder)) for folder in before} == {k: sorted(v) for k, v in before.items()}
    for group in report.groups:
        assert group.target is not None
        old = [value for path in group.paths for value in ids(table.ref("main~1"), path)]
        assert ids(main, group.target) == old
    paths = {row.path for row in main.list("t/")}
    assert {"t/_delta/x.parquet", "t/dt=0/_tmp.parquet", "t/dt=0/notes.txt", "t/dt=0/part-011.parquet"} < paths
    assert len(paths) == 7
    assert report.commit == main.commit_info()
    assert report.commit.parents == (head.id,)
    again = pipelines.compact(f"{where}/dt=1", spark=spark, small_bytes=5000, target_bytes=100_000, lake=lake)
    assert (again.files, again.commit) == (0, None)
    assert list(table.workspaces()) == []
    if spark is not None:
        frame = spark.createDataFrame(main.read_table("t/dt=1/").to_pandas())
        assert frame.count() == len(before["t/dt=1/"])


def test_both_runners_write_the_same_files(table: lakebed.Repository, spark: SparkSession) -> None:
    table.branch("other").create("main")
    for name, session in (("main", None), ("other", spark)):
        pipelines.compact(f"lakebed://{table.id}/{name}/t", spark=session, target_bytes=4000, lake=lake_of(table))
    assert list(table.ref("main").diff("other")) == []
    assert len(list(table.ref("main").list("t/"))) < 20


@pytest.mark.parametrize("engine", ["here", pytest.param("spark", marks=pytest.mark.soak)])  # see `test_both_runners`
def test_rounds_that_hold_few_files_make_the_same(
    repo: lakebed.Repository,
    tmp_path: Path,
    engine: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A tree of several ranges, read one after the other, and all together."""
    spark: SparkSession | None = request.getfixturevalue("spark") if engine == "spark" else None
    module, main = sys.modules["lakebed_spark.pipelines.compact"], repo.branch("main")
    with main.workspace("many") as work:
        seed = work.put("seed.parquet", parquet(0))
        rows = {
            "path": [f"t/{number:04d}.parquet" for number in range(160)],
            "physical_address": [seed.physical_address] * 160,
            "checksum": [seed.checksum] * 160,
            "size_bytes": pa.array([seed.size] * 160, pa.int64()),
            "metadata": pa.array([[("pad", "z" * 60_000)]] * 160, pa.map_(pa.string(), pa.string())),
        }
        pq.write_table(pa.table(rows), tmp_path / "layer.parquet")
        work.push_layer(tmp_path / "layer.parquet")
    repo.branch("other").create("main")
    looks: list[int] = []
    groups = module._groups

    def counted(run: Any, snapshot: Any, folder: str, pieces: Sequence[Any], sizes: tuple[int, int]) -> Any:
        looks.append(len(pieces))
        return groups(run, snapshot, folder, pieces, sizes)

    monkeypatch.setattr(module, "_groups", counted)
    monkeypatch.setattr(module, "_ROWS_PER_TASK", 50)
    given: dict[str, Any] = {"spark": spark, "lake": lake_of(repo), "target_bytes": 30 * seed.size}
    at_once = pipelines.compact(f"lakebed://{repo.id}/main/t", **given)
    assert len(looks) == 1
    ranges = looks.pop()
    assert ranges > 1
    by_round = pipelines.compact(f"lakebed://{repo.id}/other/t", memory_bytes=1, **given)
    assert looks == [1] * ranges
    assert (by_round.files, by_round.rows) == (at_once.files, at_once.rows) == (160, 1600)
    assert [one.paths for one in by_round.groups] == [one.paths for one in at_once.groups]
    assert list(repo.ref("main").diff("other")) == []


def test_task_has_at_most_the_given_number_of_files(table: lakebed.Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    module, main = sys.modules["lakebed_spark.pipelines.compact"], table.branch("main")
    monkeypatch.setattr(module, "_MOST_FILES", 4)
    monkeypatch.setattr(module, "PATHS_SHOWN", 9)
    report = pipelines.compact(main, small_bytes=5000, target_bytes=100_000, dry_run=True)
    assert (report.files, [len(one.paths) for one in report.groups]) == (20, [4, 2, 2])
    assert report.files_after == 6


def test_a_task_that_fails_after_its_work_doubles_nothing(
    table: lakebed.Repository, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, main, marks = sys.modules["lakebed_spark.pipelines.compact"], table.branch("main"), str(tmp_path)
    before, join = sorted(ids(main, "t/dt=0/") + ids(main, "t/dt=1/")), module.join_group

    def stumbling(task: Any) -> Any:
        done, mark = join(task), Path(marks, task.files[0][0].replace("/", "-"))
        if not mark.exists():
            mark.touch()
            raise OSError("stumbles")
        return done

    monkeypatch.setattr(module, "join_group", stumbling)
    report = pipelines.compact(main, spark=spark, small_bytes=5000, target_bytes=100_000)
    assert len(list(tmp_path.iterdir())) == report.files_after == 3
    assert (report.files, report.rows) == (20, 200)
    assert sorted(ids(main, "t/dt=0/") + ids(main, "t/dt=1/")) == before
    assert list(table.workspaces()) == []


def test_runs_of_one_schema_and_types_that_spark_writes(repo: lakebed.Repository) -> None:
    """INT96 stays INT96. A new column begins another file."""
    main = repo.branch("main")
    for number in range(6):
        more = {"price": pa.array([1.5] * 10)} if number > 3 else {}
        moments = pa.array([1_700_000_000_000_000 + number] * 10, pa.timestamp("us", tz="UTC"))
        sink = io.BytesIO()
        rows = pa.table({"id": range(10 * number, 10 * number + 10), "at": moments, **more})
        pq.write_table(rows, sink, use_deprecated_int96_timestamps=True, compression="gzip")
        main.put(f"t/{number}.parquet", sink.getvalue())
    main.commit("two schemas")
    report = pipelines.compact(main, target_bytes=1 << 20)
    assert [len(one.paths) for one in report.groups] == [4, 2]
    for group in report.groups:
        assert group.target is not None
        file = pq.ParquetFile(io.BytesIO(main.get(group.target)))
        assert file.schema.column(1).physical_type == "INT96"
        assert file.metadata.row_group(0).column(0).compression == "GZIP"
        assert file.metadata.num_row_groups == 1
    assert sorted(main.read_table("t/", schema="unify")["id"].to_pylist()) == list(range(60))


def test_file_changed_during_compact_is_a_conflict(table: lakebed.Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    main, module = table.branch("main"), sys.modules["lakebed_spark.pipelines.compact"]
    join, raced = module.join_group, []

    def racing(task: Any) -> Any:
        raced.append(task)
        if len(raced) == 1:
            main.put("t/dt=1/part-003.parquet", parquet(777))
            main.commit("meanwhile")
        return join(task)

    monkeypatch.setattr(module, "join_group", racing)
    with pytest.raises(lakebed.ConcurrentCommitError) as caught:
        pipelines.compact(main, target_bytes=100_000, small_bytes=5000)
    assert [one.path for one in caught.value.conflicts] == ["t/dt=1/part-003.parquet"]
    assert main.commit_info().message == "meanwhile"
    assert 777 in ids(main, "t/dt=1/")
    assert len(list(main.list("t/dt=1/"))) == 10
    assert list(table.workspaces()) == []


def test_file_added_during_compact_stays(table: lakebed.Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    main = table.branch("main")
    commit = lakebed.Workspace.commit
    raced: list[lakebed.ObjectInfo] = []

    def late(self: lakebed.Workspace, *given: Any, **more: Any) -> lakebed.Commit:
        if not raced:
            raced.append(main.put("t/dt=1/new.parquet", parquet(5000)))
            main.commit("meanwhile")
        return commit(self, *given, **more)

    monkeypatch.setattr(lakebed.Workspace, "commit", late)
    pipelines.compact(main, target_bytes=100_000, small_bytes=5000)
    assert len(list(main.list("t/dt=1/"))) == 2
    assert len(ids(main, "t/dt=1/")) == 110


def test_a_damaged_file_leaves_everything_as_it_was(table: lakebed.Repository) -> None:
    main = table.branch("main")
    main.put("t/dt=1/part-005.parquet", parquet(1)[:-9])
    head = main.commit("damaged")
    with pytest.raises(lakebed.TableFormatError, match=r"part-005.parquet: not a complete Parquet file"):
        pipelines.compact(main, target_bytes=100_000, small_bytes=5000)
    assert main.commit_info() == head
    assert list(table.workspaces()) == []


def test_invalid_compact_arguments_are_refused(table: lakebed.Repository) -> None:
    with pytest.raises(lakebed.InvalidRequestError, match="target_bytes must be"):
        pipelines.compact(table.ref("main"), target_bytes=0)
    with pytest.raises(lakebed.InvalidRequestError, match="memory_bytes must be"):
        pipelines.compact(table.ref("main"), memory_bytes=0)
    with pytest.raises(lakebed.ReadOnlyRefError, match="is not a branch"):
        pipelines.compact(table.ref("main~0"))
    assert pipelines.compact(f"lakebed://{table.id}/main/nothing", lake=lake_of(table)).files == 0
