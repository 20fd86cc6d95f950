"""Tables through both doors, against a real server: reads, writes that are one change, and what is refused."""

from __future__ import annotations

import asyncio
import datetime as dt
import itertools
import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import lakebed
import lakebed._async.tables.upload
import lakebed._sync.tables.upload
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from lakebed import errors
from lakebed._async.tables import checks
from lakebed._gateway.operations import workspaces
from lakebed._tables.ranged_read import Ranged
from lakebed.model import ObjectInfo

from tests.sdk.doors import Door, unwrap
from tests.sdk.live import KEY, SECRET, Proxy, serving
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.slow

FRAME = pd.DataFrame({"day": ["mon", "tue", "wed"], "n": [1, 2, 3]})
COMMITTED = pd.DataFrame({"day": ["mon"], "n": [0]})


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.fixture
def live(door: Door, endpoint: str) -> Any:
    """Run a body with a fresh repository through one of the doors."""

    def run(body: Any, through: str = endpoint) -> None:
        async def with_repository(lake: Any) -> None:
            name = f"r{uuid.uuid4().hex[:12]}"
            await body(await lake.repository(name).create(f"local://{name}"))

        door.run(with_repository, endpoint=through, key=KEY, secret=SECRET, quick=False)

    return run


@pytest.fixture(params=["small", "large"])
def any_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Small tables go into a branch in one request, large ones through a workspace: here, all but the smallest."""
    size: str = request.param
    if size == "large":
        large(monkeypatch)
    return size


def large(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (lakebed._async.tables.upload, lakebed._sync.tables.upload):
        monkeypatch.setattr(module, "SMALL", 1)


async def days(ref: Any, path: str = "t/", **options: Any) -> dict[str, int]:
    table = await ref.read_table(path, columns=["day", "n"], **options)
    return dict(sorted(zip(*(table.column(name).to_pylist() for name in ("day", "n")), strict=True)))


async def nothing_is_left(repo: Any) -> None:
    """No workspace that was opened on the way."""
    assert [row async for row in repo.workspaces()] == []


# writing


def test_modes(live: Any, any_size: str) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        await main.write_parquet("t/", COMMITTED, partition_by="day")
        await main.commit("first")
        await main.put("t/_SUCCESS", b"")
        infos = await main.write_parquet("t", FRAME[1:], partition_by=["day"])
        assert [info.path.split("/")[1] for info in infos] == ["day=tue", "day=wed"]
        assert await days(main) == {"mon": 0, "tue": 2, "wed": 3}
        with pytest.raises(lakebed.ObjectExistsError, match=r"'t/_SUCCESS' already exists"):
            await main.write_parquet("t", FRAME, mode="error", partition_by="day")
        # partitions that the data have are replaced, committed or not; others and other files stay
        await main.write_parquet("t", FRAME[:2].assign(n=9), partition_by="day", mode="overwrite_partitions")
        assert await days(main) == {"mon": 9, "tue": 9, "wed": 3}
        assert await main.exists("t/_SUCCESS")
        await main.write_parquet("t", FRAME, mode="overwrite")
        assert await days(main) == {"mon": 1, "tue": 2, "wed": 3}
        assert len([row async for row in main.list("t/")]) == 1
        await main.write_parquet("new", FRAME, mode="error")
        assert await days(main, "new") == await days(main)
        await nothing_is_left(repo)

    live(body)


def test_a_single_file(live: Any, any_size: str) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        await main.write_parquet("one.parquet", FRAME)
        await main.write_parquet("one.parquet", FRAME[:1])
        assert await days(main, "one.parquet") == {"mon": 1}
        await main.commit("one file")
        for target in (main, main.workspace("w")):
            with pytest.raises(FileExistsError):
                await target.write_parquet("one.parquet", FRAME, mode="error")
            await target.write_parquet("two.parquet", FRAME, mode="error")
            assert await days(target, "two.parquet") == {"mon": 1, "tue": 2, "wed": 3}
        await main.write_parquet("three.parquet", FRAME, message="a file")
        assert (await main.commit_info()).message == "a file"

    live(body)


def test_message_argument_creates_a_separate_commit(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        await main.write_parquet("t", COMMITTED, partition_by="day", message="first")
        await main.put("mine", b"not committed")
        await main.write_parquet("t", FRAME[1:], partition_by="day", message="second")
        assert [commit.message async for commit in main.log(limit=2)] == ["second", "first"]
        assert [change.path async for change in main.uncommitted()] == ["mine"]
        await main.write_parquet("t", FRAME[:1], partition_by="day", mode="overwrite_partitions", message="third")
        assert await days(repo.ref("main@")) == {"mon": 1, "tue": 2, "wed": 3}
        await main.write_parquet("t", FRAME, mode="overwrite", message="fourth")
        assert len([row async for row in repo.ref("main@").list("t/")]) == 1
        # uncommitted objects below the table block its replacement
        await main.put("t/other", b"not committed")
        before = await main.commit_info()
        with pytest.raises(lakebed.DirtyBranchError) as caught:
            await main.write_parquet("t", FRAME, mode="overwrite", message="fifth")
        assert "t/other" in caught.value.paths
        assert await main.commit_info() == before
        await nothing_is_left(repo)

    live(body)


@pytest.mark.parametrize("on", ["branch", "message", "workspace"])
def test_table_files_become_visible_together(
    live: Any, endpoint: str, monkeypatch: pytest.MonkeyPatch, on: str
) -> None:
    large(monkeypatch)

    async def body(repo: Any) -> None:
        main = repo.branch("main")
        await main.write_parquet("t", COMMITTED, message="before")
        target: Any = main
        if on == "workspace":
            target = await main.workspace("work").create()
        looks = 0
        with lakebed.connect(endpoint, KEY, SECRET) as lake:
            other = lake.repository(repo.id).ref(target.id)

            def batches(end: Callable[[], None]) -> Iterator[pa.Table]:
                nonlocal looks
                for number in range(5):
                    yield pa.table({"day": ["mon"], "n": [number]})
                    assert [row.n for row in other.read_parquet("t").itertuples()] == [0]
                    looks += 1
                end()

            def fail() -> None:
                raise RuntimeError("the source went away")

            message = {"message": "after"} if on == "message" else {}
            with pytest.raises(RuntimeError, match="went away"):
                await target.write_parquet("t", batches(fail), mode="overwrite", max_rows_per_file=1, **message)
            assert (await target.read_table("t")).column("n").to_pylist() == [0]
            assert await main.uncommitted().all() == []
            done = await target.write_parquet(
                "t", batches(lambda: None), mode="overwrite", max_rows_per_file=1, **message
            )
            assert looks == 10
            assert len(done) == 5
            assert sorted((await target.read_table("t")).column("n").to_pylist()) == [0, 1, 2, 3, 4]
        if on == "workspace":
            await target.drop()
        await nothing_is_left(repo)

    live(body)


def test_a_cancelled_write_ends_and_leaves_nothing(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    large(monkeypatch)
    reached, go_on = threading.Event(), threading.Event()

    def batches() -> Iterator[pa.Table]:
        for number in range(3):
            yield pa.table({"n": [number]})
        reached.set()
        assert go_on.wait(PATIENCE)
        yield pa.table({"n": [9]})

    async def body(lake: Any) -> None:
        name = f"r{uuid.uuid4().hex[:12]}"
        repo = await lake.repository(name).create(f"local://{name}")
        main = repo.branch("main")
        task = asyncio.ensure_future(main.write_parquet("t", batches(), max_rows_per_file=1))
        assert await asyncio.to_thread(reached.wait, PATIENCE)
        task.cancel()
        await asyncio.sleep(0)
        go_on.set()  # the thread was in the middle of a step all the time
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await main.list().all() == []
        await nothing_is_left(repo)

    Door("aio").run(body, endpoint=endpoint, key=KEY, secret=SECRET)  # the other door has nothing to cancel


def test_a_workspace_registers_once(live: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    large(monkeypatch)
    asked: list[tuple[int, int]] = []
    register = workspaces.register

    def counted(repository: str, workspace: str, objects: Any, deletes: Any) -> Any:
        asked.append((len(objects), len(deletes)))
        return register(repository, workspace, objects, deletes)

    monkeypatch.setattr(workspaces, "register", counted)

    async def body(repo: Any) -> None:
        asked.clear()
        async with repo.branch("main").workspace("w") as ws:
            await ws.write_parquet("t", FRAME, partition_by="day")
            await ws.write_parquet("t", FRAME, mode="overwrite", max_rows_per_file=1)
            assert asked == [(3, 0), (3, 3)]
            with pytest.raises(lakebed.InvalidRequestError, match="committed as a whole"):
                await ws.write_parquet("t", FRAME, message="no")
        async with repo.branch("main").workspace("p", data_path="proxied") as ws:
            await ws.write_parquet("t", FRAME, mode="overwrite", max_rows_per_file=1)
            assert await days(ws) == {"mon": 1, "tue": 2, "wed": 3}
        assert len(asked) == 2
        assert len([row async for row in repo.branch("main").list("t/")]) == 3

    live(body)


def test_outcome_of_a_lost_response_is_found(
    door: Door, live: Any, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    large(monkeypatch)
    proxy = Proxy(endpoint)
    lost: list[str] = []

    def once(line: str) -> bool:
        if "/pop" not in line or lost:
            return False
        lost.append(line)
        return True

    async def body(repo: Any) -> None:
        transport = unwrap(repo)._transport
        transport.policy = type(transport.policy)(attempts=3, base=0.0, cap=0.0, settle_waits=(0.0, 0.1, 0.5))
        proxy.swallow = once
        await repo.branch("main").write_parquet("t", FRAME)
        assert len(proxy.swallowed) == 1
        assert await days(repo.branch("main")) == {"mon": 1, "tue": 2, "wed": 3}

    try:
        live(body, proxy.endpoint)
    finally:
        proxy.close()


def test_many_kinds_of_data(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        table = pa.table({"day": ["mon", "tue", "wed"], "n": [1, 2, 3]})
        kinds = {
            "frame": FRAME,
            "table": table,
            "batch": table.to_batches()[0],
            "reader": table.to_reader(),
            "polars": pl.from_arrow(table),
            "batches": iter(table.to_batches(max_chunksize=1)),
            "frames": [FRAME[:1], FRAME[1:]],
        }
        for name, data in kinds.items():
            await main.write_parquet(name, data)
            assert await days(main, name) == {"mon": 1, "tue": 2, "wed": 3}, name
        empty = FRAME[:0].astype({"day": "string"})  # in pandas 2 a column of objects without rows has no type
        assert await main.write_parquet("frame", empty) == []  # no rows: nothing to add
        assert len(await main.write_parquet("empty", empty)) == 1  # but the columns of a new table
        assert list((await main.read_parquet("empty")).columns) == ["day", "n"]
        await main.write_parquet("parts", empty, partition_by="day")
        await main.write_parquet("parts", FRAME, partition_by="day")
        assert await days(main, "parts") == {"mon": 1, "tue": 2, "wed": 3}

    live(body)


def test_schemas_of_what_is_added(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        seconds = pa.table({"at": pa.array([dt.datetime(2026, 1, 1)], pa.timestamp("s")), "n": [1]})
        for _ in range(2):  # Parquet has no seconds: what comes back is compared
            await main.write_parquet("t", seconds)
        more = seconds.append_column("more", pa.array(["x"]))
        other = pa.table({"at": seconds.column("at"), "n": ["one"]})
        before = await main.list().all()
        with pytest.raises(
            lakebed.SchemaMismatchError, match=r'the data. has an additional column .more. .*schema="unify"'
        ) as caught:
            await main.write_parquet("t", more)
        assert caught.value.differences == (errors.SchemaDifference("the data", "more", None, "string"),)
        for schema in ("same", "unify"):
            with pytest.raises(lakebed.SchemaMismatchError, match="'n' as string, not int64"):
                await main.write_parquet("t", other, schema=schema)
        with pytest.raises(lakebed.InvalidRequestError, match=r"written with no partition_by, not \['n'\]"):
            await main.write_parquet("t", seconds, partition_by="n")
        assert await main.list().all() == before
        await main.write_parquet("t", more, schema="unify")
        with pytest.raises(lakebed.SchemaMismatchError):
            await main.read_table("t")
        assert (await main.read_table("t", schema="unify")).column("more").to_pylist().count(None) == 2
        await main.write_parquet("t", other, mode="overwrite")
        assert (await main.read_table("t")).column("n").to_pylist() == ["one"]

    live(body)


def test_schema_is_compared_with_several_files(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        for name in ("t/a.parquet", "t/b.parquet", "t/c.parquet"):
            await main.write_parquet(name, pa.table({"n": [1]}))
        await main.write_parquet("t/b.parquet", pa.table({"n": ["one"], "m": [1]}))
        with pytest.raises(lakebed.SchemaMismatchError, match=r"\(compared with 't/b.parquet'\)"):
            await main.write_parquet("t", pa.table({"n": [2]}))
        with pytest.raises(lakebed.SchemaMismatchError, match=r"\(compared with 't/a.parquet'\)"):
            await main.write_parquet("t", pa.table({"n": ["two"], "m": [1]}), schema="unify")
        assert len(await main.list("t/").all()) == 3

    live(body)


def test_schema_check_samples_the_newest_and_other_files() -> None:
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    files = [ObjectInfo(f"t/{n:04}.parquet", 1, "c", start) for n in range(1000)]
    files[777] = replace(files[777], mtime=start + dt.timedelta(seconds=1))
    chosen = [int(one.path[2:6]) for one in checks._sample(files)]
    assert 777 in chosen
    assert chosen == sorted(chosen)
    assert len(chosen) <= 17
    assert max(b - a for a, b in itertools.pairwise([*chosen, 1000])) < 70
    assert checks._sample(files[:16]) == files[:16]


# what is refused


def test_table_writes_to_invalid_targets_are_refused(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        await main.write_parquet("dir/of.parquet", FRAME, message="first")
        await repo.tag("v1").create("main")
        commit = (await main.commit_info()).id
        refused: dict[str, Any] = {
            "tag": lambda: repo.tag("v1").write_parquet("x", FRAME),
            "commit": lambda: repo.ref(commit).write_csv("x.csv", FRAME),
        }
        for kind, write in refused.items():
            with pytest.raises(lakebed.ReadOnlyRefError, match=r'repo.branch\("fix"\).create') as caught:
                await write()
            assert caught.value.repository == repo.id, kind
        assert not hasattr(unwrap(repo.tag("v1")), "write_parquet")
        with pytest.raises(lakebed.ReadOnlyRefError, match="`drop` deletes the tag itself"):
            await repo.tag("v1").delete()
        for name in ("v1", commit):  # taken for branches
            with pytest.raises(lakebed.ReadOnlyRefError, match=r"is a tag or a commit, which is read-only") as caught:
                await repo.branch(name).write_parquet("x", FRAME)
            assert (caught.value.repository, caught.value.ref) == (repo.id, name)
            with pytest.raises(lakebed.ReadOnlyRefError):
                await repo.branch(name).write_json("x.json", FRAME)
        with pytest.raises(lakebed.NotFoundError, match="nowhere"):
            await repo.branch("nowhere").write_parquet("x", FRAME)
        where = f"lakebed://{repo.id}/main/"
        wrong: list[tuple[str, dict[str, Any], str]] = [
            ("dir", {"partition_by": ["nope"]}, rf"{where}dir: cannot partition by \['nope'\]: the columns are"),
            ("dir/of.parquet", {"mode": "append"}, "is one file.*'dir/of.parquet/'"),
            ("dir/of.parquet/", {}, "'dir/of.parquet' is an object"),
            ("new", {"mode": "replace"}, "mode must be one of"),
            ("new", {"mode": "overwrite_partitions"}, "needs partition_by"),
            ("new", {"compression": "rar"}, "unknown compression"),
            ("new", {"schema": "any"}, "schema must be"),
            ("new", {"max_rows_per_file": 0}, "must be positive"),
            ("new", {"partition_values": "any"}, "partition_values must be"),
        ]
        odd = pa.table({"k": [*range(500), None], "x": range(501)})
        with pytest.raises(
            lakebed.InvalidRequestError, match=rf"{where}new: cannot partition by 'k' .* null"
        ) as no_name:
            await main.write_parquet("new", odd, partition_by="k", max_rows_per_file=1)
        assert (no_name.value.repository, no_name.value.ref, no_name.value.path) == (repo.id, "main", "new")
        assert await main.list("new").first() is None
        for path, options, problem in wrong:
            with pytest.raises(lakebed.InvalidRequestError, match=problem) as invalid:
                await main.write_parquet(path, FRAME, **options)
            assert (invalid.value.repository, invalid.value.ref, invalid.value.path) == (repo.id, "main", path)
        await main.put("is.parquet/part", b"")
        with pytest.raises(lakebed.InvalidRequestError, match="this is a directory; to write into the directory"):
            await main.write_parquet("is.parquet", FRAME)
        assert [change.path async for change in main.uncommitted()] == ["is.parquet/part"]
        await nothing_is_left(repo)

    live(body)


def test_unreadable_tables_raise_errors_with_the_path(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        (info,) = await main.write_parquet("t", FRAME)
        where = f"lakebed://{repo.id}/main/"
        for read in (main.read_csv, main.read_json, main.read_feather):
            with pytest.raises(
                lakebed.ObjectNotFoundError, match=rf"{where}t: this is a directory.*{info.path}"
            ) as caught:
                await read("t")
            assert caught.value.kind == "is_a_directory"
            with pytest.raises(FileNotFoundError):
                await read("nothing")
        await main.put("other/readme.txt", b"no table")
        with pytest.raises(FileNotFoundError, match=rf"{where}other: .* 1 objects under it are of another kind"):
            await main.read_parquet("other")
        with pytest.raises(FileNotFoundError, match="nothing is under it"):
            await main.read_parquet("nothing")
        with pytest.raises(lakebed.InvalidRequestError, match=rf"{where}t: no column 'x': the columns are") as missing:
            await main.read_parquet("t", columns=["x"])
        assert missing.value.kind == "unknown_column"
        with pytest.raises(lakebed.InvalidRequestError, match="a list of names"):
            await main.read_parquet("t", columns="day")
        data = await main.get(info.path)
        for path, content, read in [
            ("t/cut.parquet", data[:-9], main.read_parquet),
            ("cut.feather", b"ARROW1\0\0", main.read_feather),
            ("cut.csv", b'a,b\n"1', main.read_csv),
            ("cut.csv.gz", b"\x1f\x8b\x08\0", main.read_csv),
            ("cut.json", b'[{"a": 1}, {"a"', main.read_json),
        ]:
            await main.put(path, content)
            with pytest.raises(lakebed.TableFormatError, match=where + path) as damaged:
                await read(path)
            assert damaged.value.path == path
        with pytest.raises(lakebed.TableFormatError, match=r"t/cut\.parquet"):
            await main.read_parquet("t")
        await main.delete("t/cut.parquet")
        await main.write_csv("c.csv", FRAME)
        with pytest.raises(lakebed.InvalidRequestError, match="not found"):
            await main.read_csv("c.csv", usecols=["x"])

    live(body)


# reading


def test_single_files_of_each_format(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        frame = FRAME.assign(x=[1.5, np.nan, 2.5])
        for data in (frame, pa.Table.from_pandas(frame)):
            for path in ("a.csv", "a.csv.gz"):
                await main.write_csv(path, data)
                pd.testing.assert_frame_equal(await main.read_csv(path), frame)
            for path in ("a.json", "a.jsonl", "a.ndjson.gz"):
                await main.write_json(path, data)
                pd.testing.assert_frame_equal(await main.read_json(path), frame)
            await main.write_feather("a.feather", data)
            pd.testing.assert_frame_equal(await main.read_feather("a.feather"), frame)
        assert list((await main.read_feather("a.feather", columns=["x"])).columns) == ["x"]
        with pytest.raises(lakebed.InvalidRequestError, match=r"a\.feather: no column 'q'"):
            await main.read_feather("a.feather", columns=["q"])
        assert (await main.get("a.jsonl")).count(b"\n") == 3
        assert (await main.stat("a.csv")).content_type == "text/csv"
        for path in ("a.csv", "a.jsonl", "a.feather"):
            assert await main.scan_table(path).count_rows() == 3
            table = await main.scan_table(path, columns=["n"], filters=[("day", "=", "tue")]).to_table()
            assert table.to_pydict() == {"n": [2]}
        nested = pa.table({"x": [[1], [2]]})
        for write, path in ((main.write_csv, "n.csv"), (main.write_feather, "n.feather")):
            options = {"sep": ";"} if path == "n.csv" else {"compression": "rar"}
            with pytest.raises(lakebed.InvalidRequestError, match=f"lakebed://{repo.id}/main/{path}"):
                await write(path, nested, **options)
        with pytest.raises(lakebed.InvalidRequestError, match="cannot be written as CSV"):
            await main.write_csv("n.csv", nested)
        assert not await main.exists("n.csv")

    live(body)


@pytest.mark.parametrize("way", ["direct", "proxied"])
def test_scans(live: Any, door: Door, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEBED_DATA_PATH", way)

    async def body(repo: Any) -> None:
        main = repo.branch("main")
        await main.write_parquet("t", pa.table({"k": np.repeat([1, 2], 500), "x": range(1000)}), partition_by="k")
        scan = main.scan_table("t", columns=["x", "k"], filters=[("k", "=", 2)], batch_size=100)
        assert repr(scan) == f"<Scan lakebed://{repo.id}/main/t>"
        assert (await scan.schema()).names == ["x", "k"]
        assert await scan.count_rows() == 500
        batches = [batch async for batch in scan]
        assert max(batch.num_rows for batch in batches) <= 100
        assert [x for batch in batches for x in batch.column("x").to_pylist()] == list(range(500, 1000))
        assert (await scan.to_pandas())["x"].sum() == sum(range(500, 1000))
        assert (await scan.to_table()).num_rows == 500
        async for batch in scan:  # and stop early
            assert batch.num_rows
            break
        reader = await scan.to_reader()
        if door.name == "aio":
            with pytest.raises(lakebed.InvalidRequestError, match="read it in another thread"):
                reader.read_all()
            reader = await scan.to_reader()
            assert (await asyncio.to_thread(reader.read_all)).num_rows == 500
        else:
            assert reader.read_all().num_rows == 500
            assert pl.DataFrame(scan.inner)["x"].to_list() == list(range(500, 1000))
            assert pa.table(scan.inner).num_rows == 500
            with ThreadPoolExecutor(4) as pool:
                assert list(pool.map(lambda _: scan.inner.count_rows(), range(8))) == [500] * 8

    live(body)


def test_reads_at_any_ref(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        await main.write_parquet("t", FRAME[:1], message="one")
        await repo.tag("v1").create("main")
        await main.write_parquet("t", FRAME[1:], message="two")
        await main.write_parquet("t", FRAME[:0].assign(n=pd.Series([], dtype="int64")), mode="overwrite")
        counts = {expression: await repo.ref(expression).scan_table("t").count_rows() for expression in
                  ("v1", "main~1", "main@", "main", (await main.commit_info()).id)}  # fmt: skip
        assert list(counts.values()) == [1, 1, 3, 0, 3]

    live(body)


def test_files_of_this_machine_are_read_without_the_server(live: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    async def body(repo: Any) -> None:
        main = repo.branch("main")
        await main.write_parquet("t", FRAME, partition_by="day")
        asked.clear()
        assert await days(main) == {"mon": 1, "tue": 2, "wed": 3}
        assert asked == []
        storage = unwrap(repo)._storage
        storage.shared = replace(storage.shared, directory="/nowhere")  # it was there, and is not any more
        assert await days(main) == {"mon": 1, "tue": 2, "wed": 3}
        assert len(set(asked)) == 3

    read = Ranged._read

    def watched(ranged: Ranged, info: ObjectInfo, *place: Any) -> Any:
        asked.append(info.path)
        return read(ranged, info, *place)

    monkeypatch.setattr(Ranged, "_read", watched)
    live(body)


_STREAMS = """
import resource, sys
import lakebed, numpy as np, pandas, pyarrow as pa, pyarrow.dataset, pyarrow.parquet
from lakebed._tables import reading, writing
endpoint, key, secret, repo, megabytes = sys.argv[1:]
main = lakebed.connect(endpoint, key, secret).repository(repo).branch("main")
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
def batches():
    random = np.random.default_rng(1)
    for _ in range(int(megabytes)):
        yield pa.record_batch({"x": random.integers(0, 1 << 62, 1 << 17)})
main.write_parquet("warm", pa.table({"x": [1]}))
list(main.scan_table("warm"))
before = peak()
main.write_parquet("t", batches())
rows = sum(batch.num_rows for batch in main.scan_table("t"))
assert rows == int(megabytes) << 17, rows
print(peak() - before)
"""


@pytest.mark.slow
def test_streams_hold_little_memory(endpoint: str) -> None:
    name = f"r{uuid.uuid4().hex[:12]}"
    with lakebed.connect(endpoint, KEY, SECRET) as lake:
        lake.repository(name).create(f"local://{name}")
    command = [sys.executable, "-c", _STREAMS, endpoint, KEY, SECRET, name, "200"]
    environment = {**os.environ, "LAKEBED_DATA_PATH": "proxied"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 150, f"{done.stdout} MiB, of 200 that went up and down"


def test_progress_is_reported(live: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        reported: list[Any] = []
        infos = await main.write_parquet("t", FRAME, partition_by="day", progress=reported.append)
        assert reported[-1].bytes == sum(info.size for info in infos)
        reported.clear()
        monkeypatch.setenv("LAKEBED_DATA_PATH", "proxied")
        await main.read_table("t", progress=reported.append)
        assert reported[-1].bytes > 0
        await main.read_table("t")

    live(body)
    assert capsys.readouterr().err == ""  # no terminal: no bar is drawn
