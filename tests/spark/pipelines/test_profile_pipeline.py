"""Profile: sums that agree with the listing, on Spark as in threads, with and without patches in the tree."""

from __future__ import annotations

import lakebed
import pytest
from lakebed_spark import pipelines
from lakebed_spark.pipelines import FolderSize, TypeSize
from pyspark.sql import SparkSession

from tests.support.processes.server import lake_of


@pytest.fixture
def grown(repo: lakebed.Repository) -> lakebed.Repository:
    """Three commits: 40 files, some more, and some gone."""
    main = repo.branch("main")
    main.put_many({f"t/y={n % 3}/part-{n:03d}.parquet": b"x" * (10 * n) for n in range(40)})
    main.put_many({"t/top.CSV": b"1,2", "other/deep/er/LICENSE": b"free", "v.123": b""})
    main.commit("first")
    main.put_many({"t/y=1/more.parquet": b"y" * 500, "t/y=9/new.json": b"{}"})
    main.put("t/y=0/part-003.parquet", b"smaller")
    main.commit("second")
    main.delete_many([f"t/y={n % 3}/part-{n:03d}.parquet" for n in range(30, 33)])
    main.commit("third")
    return repo


def listed(ref: lakebed.Ref, prefix: str) -> list[lakebed.ObjectInfo]:
    return [row for row in ref.list(prefix) if isinstance(row, lakebed.ObjectInfo)]


def test_sums_equal_the_listing(grown: lakebed.Repository, spark: SparkSession) -> None:
    main = grown.branch("main")
    rows = listed(main, "t/")
    where, lake = f"lakebed://{grown.id}/main/t", lake_of(grown)
    here = pipelines.profile(where, small=100, commits=2, lake=lake)
    assert (here.files, here.bytes) == (len(rows), sum(row.size for row in rows))
    assert here.small_files == sum(row.size < 100 for row in rows)
    assert here.commit_id == main.commit_info().id
    assert here.since == main.repository.commit("main~2").id
    by_folder = {one.prefix: one for one in here.folders}
    assert list(by_folder) == ["t/", "t/y=0/", "t/y=1/", "t/y=2/", "t/y=9/"]
    in_one = [row.size for row in rows if row.path.startswith("t/y=1/")]
    before = [row.size for row in listed(grown.ref("main~2"), "t/y=1/")]
    assert by_folder["t/y=1/"] == FolderSize(
        "t/y=1/",
        len(in_one),
        sum(in_one),
        sum(size < 100 for size in in_one),
        sum(size for size in in_one if size < 100),
        len(in_one) - len(before),
        sum(in_one) - sum(before),
    )
    assert here.endings[-1] == TypeSize(".json", 1, 2)
    assert {one.ending for one in here.endings} == {".parquet", ".csv", ".json"}
    assert pipelines.profile(where, small=100, commits=2, spark=spark, lake=lake) == here
    frame = here.to_pandas()
    assert list(frame["files"]) == [one.files for one in here.folders]


def test_depth_and_a_folder_that_is_gone(grown: lakebed.Repository) -> None:
    whole = pipelines.profile(grown.ref("main"), depth=0)
    assert [one.prefix for one in whole.folders] == [""]
    assert whole.since is None
    assert whole.folders[0].growth_files is None
    deep = pipelines.profile(grown.ref("main"), depth=9)
    assert "other/deep/er/" in {one.prefix for one in deep.folders}
    assert {one.ending for one in deep.endings} == {".parquet", ".csv", ".json", ""}
    assert sum(one.bytes for one in deep.folders) == whole.bytes
    back = pipelines.profile(grown.ref("main~2"), since="main")
    gone = {one.prefix: one for one in pipelines.profile(grown.ref("main~2"), depth=2, since="main").folders}["t/y=9/"]
    assert (gone.files, gone.growth_files, gone.growth_bytes) == (0, -1, -2)
    assert {one.prefix: one.growth_files for one in back.folders} == {"": 0, "other/": 0, "t/": 1}


def test_profile_of_an_empty_folder_and_invalid_arguments(grown: lakebed.Repository) -> None:
    empty = pipelines.profile(f"lakebed://{grown.id}/main/nothing", lake=lake_of(grown))
    assert (empty.files, empty.bytes, empty.folders, empty.endings) == (0, 0, (), ())
    with pytest.raises(lakebed.InvalidRequestError, match=r"either since .* or commits"):
        pipelines.profile(grown.ref("main"), since="main~1", commits=1)
    with pytest.raises(lakebed.InvalidRequestError, match="must not be negative"):
        pipelines.profile(grown.ref("main"), depth=-1)
    with pytest.raises(lakebed.NotFoundError):
        pipelines.profile(grown.ref("nope"))
