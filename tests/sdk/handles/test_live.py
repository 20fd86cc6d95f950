"""Both doors against a real server: what users do, and what goes wrong for them."""

from __future__ import annotations

import asyncio
import datetime as dt
import gc
import multiprocessing
import os
import pickle
import uuid
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import lakebed
import lakebed.aio
import pandas as pd
import pyarrow as pa
import pytest

from tests.sdk.doors import Door
from tests.sdk.live import KEY, SECRET, Proxy, serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.fixture
def live(door: Door, endpoint: str) -> Any:
    """Run a body with a fresh repository through one of the doors."""

    def run(body: Any) -> None:
        async def with_repository(lake: Any) -> None:
            name = f"r{uuid.uuid4().hex[:12]}"
            await body(await lake.repository(name).create(f"local://{name}"))

        door.run(with_repository, endpoint=endpoint, key=KEY, secret=SECRET, quick=False)

    return run


@pytest.fixture
def main(endpoint: str) -> Iterator[lakebed.Branch]:
    name = f"r{uuid.uuid4().hex[:12]}"
    with lakebed.connect(endpoint, KEY, SECRET) as lake:
        yield lake.repository(name).create(f"local://{name}").branch("main")


def test_the_lake(door: Door, endpoint: str) -> None:
    async def body(lake: Any) -> None:
        assert await lake.healthy()
        assert (await lake.user()).id
        assert (await lake.version())[0].isdigit()
        name = f"r{uuid.uuid4().hex[:12]}"
        repo = lake.repository(name)
        assert not await repo.exists()
        await repo.create(f"local://{name}", exist_ok=True)
        await repo.create(f"local://{name}/", exist_ok=True)
        with pytest.raises(lakebed.AlreadyExistsError):
            await repo.create(f"local://{name}")
        with pytest.raises(lakebed.AlreadyExistsError, match="not local://elsewhere"):
            await repo.create("local://elsewhere", exist_ok=True)
        with pytest.raises(lakebed.AlreadyExistsError):
            await lake.repository(name + "x").create(f"local://{name}", exist_ok=True)
        assert (await repo.info()).default_branch == "main"
        assert [row.id async for row in lake.repositories(prefix=name)] == [name]
        await repo.set_metadata({"owner": "ü", "k": ""})
        await repo.delete_metadata(["k", "never"])
        assert await repo.metadata() == {"owner": "ü"}
        await repo.delete()
        with pytest.raises(lakebed.NotFoundError):
            await repo.info()
        with pytest.raises(lakebed.InvalidRequestError):
            await lake.repository("No").create("local://no")

    door.run(body, endpoint=endpoint, key=KEY, secret=SECRET, quick=False)

    async def stranger(lake: Any) -> None:
        with pytest.raises(lakebed.AuthenticationError):
            await lake.user()
        assert await lake.healthy()

    door.run(stranger, endpoint=endpoint, key=KEY, secret="wrong")


PATHS = ["a//b", "/lead", "..", "a/../b", "😀/é", "a b%2F?#&+;=", "x" * 1024, "tail/", " ", "\x01"]


def test_objects(live: Any, tmp_path: Path) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        for path in PATHS:
            await main.put(path, path.encode())
        for path in PATHS:
            assert await main.get(path) == path.encode()
        assert [row.path async for row in main.list()] == sorted(PATHS, key=str.encode)
        data = os.urandom(3_000_000)
        info = await main.put("big", iter([data[:7], data[7:]]), metadata={"k": "wörld"}, content_type="image/png")
        assert (info.size, info.content_type, info.metadata) == (len(data), "image/png", {"k": "wörld"})
        assert await main.stat("big") == info
        assert await main.get("big", 1_000_000, 5) == data[1_000_000:1_000_005]
        assert await main.get("big", 2_999_999) == data[-1:]
        downloaded = await main.download("big", tmp_path / "big")
        assert (downloaded.size, downloaded.checksum, downloaded.mtime) == (info.size, info.checksum, info.mtime)
        assert (tmp_path / "big").read_bytes() == data
        await main.put("empty", b"")
        assert await main.get("empty") == b""
        with pytest.raises(lakebed.InvalidRequestError):
            await main.get("empty", 1)
        with pytest.raises(lakebed.ObjectNotFoundError):
            await main.get("nothing")
        with pytest.raises(lakebed.NotFoundError) as caught:
            await repo.branch("no").exists("big")
        assert not isinstance(caught.value, FileNotFoundError)
        assert await main.exists("big")
        assert not await main.exists("bi")
        with pytest.raises(FileExistsError):
            await main.put("big", b"", if_absent=True)
        await main.put("new", b"1", if_absent=True)
        with pytest.raises(lakebed.PreconditionFailedError):
            await main.put("new", b"2", if_match="0" * 32)
        await main.put("new", b"2", if_match="c4ca4238a0b923820dcc509a6f75849b")
        assert (await main.copy("big", "copy")).checksum == info.checksum
        await main.commit("objects")
        await main.delete("big")
        await main.delete("never there")
        assert await main.copy("big", "back", src_ref="main@")
        assert await main.delete_many(["back", "copy", "empty", "nothing"]) == 4
        assert {change.path: change.type async for change in main.uncommitted()} == {
            "big": "removed",
            "copy": "removed",
            "empty": "removed",
        }
        await main.reset("copy")
        assert await main.exists("copy")
        await main.reset()
        assert await main.uncommitted().all() == []
        rows = await main.list(delimiter="/", prefix="a").all()
        assert [(row.path, row.is_prefix) for row in rows] == [("a b%2F?#&+;=", False), ("a/", True)]

    live(body)


def test_put_many_stores_and_deletes_many_objects(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        contents = {path: path.encode() * 3 for path in PATHS}
        infos = await main.put_many(contents)
        assert {info.path for info in infos} == set(PATHS)
        for path, content in contents.items():
            assert await main.get(path) == content
        await main.put_many({"only": b""}, delete=PATHS)
        assert [row.path async for row in main.list()] == ["only"]
        with pytest.raises(lakebed.NotFoundError):
            await repo.branch("nope").put_many({"a": b"1"})
        with pytest.raises(ZeroDivisionError):
            await main.put_many({"half": b"1", "broken": (bytes(1 // n) for n in (1, 0))})
        assert [row.path async for row in main.list()] == ["only"]

    live(body)


def test_history(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        await main.put("a", b"1")
        first = await main.commit("first", metadata={"who": "é"}, date=dt.datetime(2020, 1, 1, tzinfo=dt.UTC))
        assert (first.metadata, first.created.year) == ({"who": "é"}, 2020)
        with pytest.raises(lakebed.NothingToCommitError):
            await main.commit("again")
        assert (await main.commit("empty", allow_empty=True)).parents == (first.id,)
        assert await repo.commit(first.id[:10]) == first
        assert await main.find_operation(first.operation_id or "") == first
        assert await main.find_operation("unknown") is None
        dev = await repo.branch("dev").create("main")
        await repo.branch("dev").create("main", exist_ok=True)
        with pytest.raises(lakebed.AlreadyExistsError):
            await repo.branch("dev").create("main")
        await dev.put("a", b"dev")
        await dev.put("b", b"new")
        await dev.commit("on dev")
        assert [(c.type, c.path) async for c in main.diff(dev)] == [("changed", "a"), ("added", "b")]
        assert await main.changes_since(dev).all() == []
        assert [c.type async for c in main.diff("dev", two_dot=True)] == ["changed", "added"]
        await main.put("a", b"main")
        with pytest.raises(lakebed.DirtyBranchError):
            await dev.merge_into(main)
        await main.commit("on main")
        with pytest.raises(lakebed.MergeConflictError) as caught:
            await dev.merge_into(main)
        assert caught.value.paths == ("a",)
        result = await dev.merge_into(main, "merged", strategy="theirs", metadata={"m": "1"})
        merged = await main.commit_info()
        assert (merged.id, len(merged.parents), merged.metadata["m"]) == (result.commit_id, 2, "1")
        assert merged.operation_id
        assert (await main.get("a"), await main.get("a", 1)) == (b"dev", b"ev")
        assert await main.merge_base(dev) == (await dev.info()).commit_id
        with pytest.raises(lakebed.NothingToCommitError):
            await dev.merge_into("main")
        tag = await repo.tag("v1").create("main")
        await repo.tag("v1").create(main, exist_ok=True)
        with pytest.raises(lakebed.AlreadyExistsError, match="exists, but at"):
            await repo.tag("v1").create("main~1", exist_ok=True)
        assert (await tag.info()).commit_id == merged.id
        assert await repo.ref("main~1").get("a") == b"main"
        assert [c.message async for c in main.log(first_parent=True, limit=2)] == ["merged", "on main"]
        assert [c.message async for c in main.log(paths=["b"])] == ["on dev"]
        assert [row.id async for row in repo.branches()] == ["dev", "main"]
        assert [row.id async for row in repo.tags()] == ["v1"]
        graph = await repo.graph()
        assert graph.splitlines()[0] == f"* {merged.short_id}  (main, tag: v1) merged"
        assert graph.count("*") == 6
        await tag.drop()
        await dev.drop()
        with pytest.raises(lakebed.PermissionDeniedError):
            await main.drop()
        with pytest.raises(lakebed.NotFoundError):
            await dev.info()

    live(body)


FRAME = pd.DataFrame(
    {"day": [dt.date(2026, 1, 1), dt.date(2026, 1, 2), None], "name": ["a/b", None, "c"], "x": [1, 2, 3]}
)


def test_tables(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        infos = await main.write_parquet("orders", FRAME, partition_by=["day", "name"], partition_values="hive")
        assert len(infos) == 3
        back = await main.read_parquet("orders/")
        pd.testing.assert_frame_equal(back.sort_values("x", ignore_index=True)[list(FRAME.columns)], FRAME)
        table = await main.read_table("orders", columns=["x"], filters=[("day", "=", dt.date(2026, 1, 2))])
        assert table.to_pydict() == {"x": [2]}
        await main.write_parquet("orders", FRAME, partition_by=["day", "name"], mode="append", partition_values="hive")
        assert len(await main.read_parquet("orders")) == 6
        with pytest.raises(lakebed.AlreadyExistsError):
            await main.write_parquet("orders", FRAME, mode="error")
        await main.put("orders/_SUCCESS", b"")
        await main.write_parquet("orders", pa.Table.from_pandas(FRAME), mode="overwrite", max_rows_per_file=1)
        assert len([row async for row in main.list("orders/")]) == 3
        assert list((await main.read_parquet("orders"))["x"]) == [1, 2, 3]
        await main.write_parquet("one.parquet", FRAME)
        pd.testing.assert_frame_equal(await main.read_parquet("one.parquet"), FRAME)
        with pytest.raises(FileExistsError):
            await main.write_parquet("one.parquet", FRAME, mode="error")
        with pytest.raises(lakebed.InvalidRequestError):
            await main.write_parquet("one.parquet", FRAME, mode="append")
        with pytest.raises(FileNotFoundError):
            await main.read_parquet("nothing")
        await main.write_csv("t.csv.gz", FRAME)
        assert (await main.get("t.csv.gz"))[:2] == b"\x1f\x8b"
        csv = await main.read_csv("t.csv.gz", usecols=["x"])
        assert list(csv["x"]) == [1, 2, 3]
        with pytest.raises(lakebed.InvalidRequestError):
            await main.read_csv("t.csv.gz", chunksize=1)
        frame = await main.list("orders/").to_pandas()
        assert list(frame["size"]) == [info.size for info in await main.list("orders/").all()]

    live(body)


def test_files(live: Any) -> None:
    async def body(repo: Any) -> None:
        main = repo.branch("main")
        async with main.open("t", "w") as file:
            await file.write("é 1\n")
            await file.write("2\n")
            assert not await main.exists("t")
        async with main.open("t", "r") as file:
            assert [line async for line in file] == ["é 1\n", "2\n"]
        async with main.open("t") as file:
            await file.seek(-2, 2)
            assert await file.read() == b"2\n"
            assert file.tell() == 7
        with pytest.raises(RuntimeError):
            async with main.open("half", "wb") as file:
                await file.write(b"x")
                raise RuntimeError
        assert not await main.exists("half")
        with pytest.raises(FileExistsError):
            async with main.open("t", "xb"):
                pass
        with pytest.raises(FileNotFoundError):
            async with main.open("nothing"):
                pass
        with pytest.raises(lakebed.InvalidRequestError):
            repo.ref("main").open("t", "w")
        await main.put("moving", b"a" * 100)
        with pytest.raises(lakebed.PreconditionFailedError):
            async with main.open("moving") as file:
                await main.put("moving", b"b" * 100)
                await file.read(10)

    live(body)


def test_other_libraries_read_and_write_through_files(main: lakebed.Branch) -> None:
    with main.open("f.parquet", "wb") as file:
        FRAME.to_parquet(file)
    with main.open("f.parquet") as file:
        pd.testing.assert_frame_equal(pd.read_parquet(file), FRAME)
    with main.open("f.csv", "w") as file:
        FRAME.to_csv(file, index=False)
    with main.open("f.csv") as file:
        assert list(pd.read_csv(file)["x"]) == [1, 2, 3]


def test_concurrent_commits_of_one_branch_succeed_or_have_no_changes(main: lakebed.Branch) -> None:
    def work(number: int) -> int:
        landed = 0
        for step in range(4):
            main.put(f"{number}/{step}", b"x")
            try:
                main.commit(f"{number}/{step}")
                landed += 1
            except lakebed.NothingToCommitError:
                pass
        return landed

    with ThreadPoolExecutor(8) as pool:
        landed = sum(pool.map(work, range(8)))
    assert len(main.log().all()) == landed + 1
    assert main.uncommitted().all() == []
    assert len(main.list().all()) == 32


def test_commit_with_a_lost_answer_is_made_once(door: Door, endpoint: str, main: lakebed.Branch) -> None:
    """The answer is dropped between server and client, after the server did its work."""
    proxy = Proxy(endpoint)

    async def body(lake: Any) -> None:
        branch = lake.repository(main.repository.id).branch("main")
        await branch.put("a", b"1")
        proxy.swallow = lambda line: line.startswith("POST") and "/commits " in line
        commit = await branch.commit("lost and found")
        assert len(proxy.swallowed) == 1
        await branch.put("a", b"2")
        dev = await lake.repository(main.repository.id).branch("dev").create("main~1")
        await dev.put("b", b"1")
        proxy.swallow = lambda line: False
        await dev.commit("on dev")
        await branch.commit("on main")
        proxy.swallow = lambda line: line.startswith("POST") and "/merge/" in line and "/async" not in line
        merged = await dev.merge_into("main")
        assert len(proxy.swallowed) == 2
        proxy.swallow = lambda line: line.startswith("POST") and "/tags" in line
        with pytest.raises(lakebed.OutcomeUnknownError):
            await lake.repository(main.repository.id).tag("v1").create("main")
        log = await branch.log(first_parent=True).all()
        assert [row.message for row in log][1:] == ["on main", "lost and found", "Repository created"]
        assert (log[0].id, log[2]) == (merged.commit_id, commit)

    try:
        door.run(body, endpoint=proxy.endpoint, key=KEY, secret=SECRET, quick=False)
    finally:
        proxy.close()


def _elsewhere(main: lakebed.Branch) -> bytes:
    return main.get("a")


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_handles_work_in_other_processes(main: lakebed.Branch, method: str) -> None:
    main.put("a", b"there")
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(_elsewhere, [main] * 4) == [b"there"] * 4
    assert main.get("a") == b"there"


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_connections_of_closed_event_loops_are_released(endpoint: str, main: lakebed.Branch) -> None:
    main.put("a", b"there")
    lake = lakebed.aio.connect(endpoint, KEY, SECRET)
    branch = lake.repository(main.repository.id).branch("main")
    seen = []

    async def read() -> None:
        await branch.get("a")
        seen.append(weakref.ref(lake._transport._clients.get()))

    for _ in range(4):
        asyncio.run(read())
    gc.collect()
    assert [one() is None for one in seen] == [True, True, True, False]
    asyncio.run(lake.close())
    gc.collect()
    assert seen[-1]() is None


def test_lake_works_in_several_event_loops(endpoint: str, main: lakebed.Branch) -> None:
    main.put("a", b"there")
    lake = lakebed.aio.connect(endpoint, KEY, SECRET)
    branch = lake.repository(main.repository.id).branch("main")

    async def read() -> list[bytes]:
        assert await lake is lake
        try:
            return await asyncio.gather(*[branch.get("a") for _ in range(4)])
        finally:
            await lake._transport._clients.get().aclose()  # this loop ends: leave no socket to it

    for _ in range(2):
        assert asyncio.run(read()) == [b"there"] * 4
    again = pickle.loads(pickle.dumps(branch))

    async def read_again() -> bytes:
        try:
            content: bytes = await again.get("a")
            return content
        finally:
            await again._transport.close()

    assert asyncio.run(read_again()) == b"there"


def test_closed_lake_raises_a_clear_error(endpoint: str) -> None:
    lake = lakebed.connect(endpoint, KEY, SECRET)
    lake.close()
    with pytest.raises(lakebed.ConfigurationError, match="closed"):
        lake.user()


def test_unreachable_server_raises_network_error(door: Door) -> None:
    async def body(lake: Any) -> None:
        with pytest.raises(ConnectionError, match=r"cannot connect to http://127\.0\.0\.1:9"):
            await lake.user()
        assert not await lake.healthy()

    door.run(body, endpoint="http://127.0.0.1:9")
