"""Workspaces through both doors, against a real server over a local store."""

from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import lakebed
import lakebed.aio
import pandas as pd
import pytest
from lakebed import errors

from tests.sdk.doors import Door
from tests.sdk.live import KEY, SECRET, Proxy, serving
from tests.support.processes.server import clean_environment

pytestmark = pytest.mark.slow

Body = Any


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("server")) as address:
        yield address


@pytest.fixture
def live(door: Door, endpoint: str) -> Any:
    """Run a body with the branch `main` of a fresh repository, through one of the doors."""

    def run(body: Body, address: str = endpoint) -> None:
        async def with_branch(lake: Any) -> None:
            name = f"r{uuid.uuid4().hex[:12]}"
            repo = await lake.repository(name).create(f"local://{name}")
            await body(repo.branch("main"))

        door.run(with_branch, endpoint=address, key=KEY, secret=SECRET, quick=False)

    return run


@pytest.fixture
def main(endpoint: str) -> Iterator[lakebed.Branch]:
    name = f"r{uuid.uuid4().hex[:12]}"
    with lakebed.connect(endpoint, KEY, SECRET) as lake:
        yield lake.repository(name).create(f"local://{name}").branch("main")


async def paths(listing: Any) -> list[str]:
    return [row.path async for row in listing]


# the life of a workspace


def test_with_block_commits_at_its_end_and_shows_nothing_before(live: Any) -> None:
    async def body(main: Any) -> None:
        async with main.workspace("load orders") as ws:
            await ws.put("a", b"1", content_type="text/plain", metadata={"k": "v"})
            await ws.put_many({"b/1": b"2", "b/2": b"3"})
            assert await ws.get("a") == b"1"
            assert (await ws.stat("a")).metadata == {"k": "v"}
            assert await paths(ws.list()) == ["a", "b/1", "b/2"]
            assert await paths(main.list()) == []
            assert [(c.type, c.path) async for c in ws.changes("b/")] == [("added", "b/1"), ("added", "b/2")]
        commit = await main.commit_info()
        assert commit.message == "load orders"
        assert await paths(main.list()) == ["a", "b/1", "b/2"]
        assert (await main.stat("a")).content_type == "text/plain"
        info = await ws.info()
        assert (info.state, info.commit_id, info.is_open) == ("committed", commit.id, False)
        assert commit.operation_id
        assert commit.metadata == {}

    live(body)


def test_exception_keeps_the_work_and_names_the_next_step(live: Any) -> None:
    async def body(main: Any) -> None:
        with pytest.raises(RuntimeError) as caught:
            async with main.workspace() as ws:
                await ws.put("a", b"1")
                raise RuntimeError("the job failed")
        (note,) = caught.value.__notes__
        for said in (
            f'repo.workspace("{ws.workspace_id}")',
            f"lakebed workspace show lakebed://{main.repository.id}/{ws.id}",
            f"lakebed workspace drop lakebed://{main.repository.id}/{ws.id}",
        ):
            assert said in note
        assert await paths(main.list()) == []
        again = await main.repository.workspace(ws.workspace_id)
        assert await paths(again.list()) == ["a"]
        commit = await again.commit("after all")
        assert (await main.commit_info()).id == commit.id
        assert await main.get("a") == b"1"

    live(body)


def test_no_note_when_nothing_was_created_or_kept(live: Any) -> None:
    async def body(main: Any) -> None:
        with pytest.raises(errors.NotFoundError) as caught:
            async with main.repository.branch("nowhere").workspace():
                raise AssertionError("entered")
        assert not getattr(caught.value, "__notes__", None)
        with pytest.raises(ValueError, match="after") as late:
            async with main.workspace() as ws:
                await ws.put("a", b"1")
                await ws.commit("done")
                raise ValueError("after the commit")
        assert not getattr(late.value, "__notes__", None)
        assert await main.exists("a")

    live(body)


def test_a_block_that_changed_nothing_commits_nothing(live: Any) -> None:
    async def body(main: Any) -> None:
        before = (await main.commit_info()).id
        async with main.workspace("nothing") as ws:
            pass
        assert (await main.commit_info()).id == before
        assert (await ws.info()).state == "reverted"
        async with main.workspace("one") as first:
            await first.put("a", b"1")
        head = (await main.commit_info()).id
        async with main.workspace("the same again") as second:
            await second.put("a", b"1")
        assert (await main.commit_info()).id == head
        assert (await second.info()).state == "reverted"
        with pytest.raises(errors.NothingToCommitError):
            await main.workspace().commit("asked for")

    live(body)


def test_a_handle_is_created_at_first_use_and_only_once(live: Any) -> None:
    async def body(main: Any) -> None:
        ws = main.workspace("lazy")
        assert [info.id async for info in main.repository.workspaces()] == []
        assert await paths(ws.list()) == []
        assert [info.id async for info in main.repository.workspaces()] == [ws.workspace_id]
        twin = pickle.loads(pickle.dumps(getattr(ws, "inner", ws)))
        made = twin.put("a", b"1")
        if asyncio.iscoroutine(made):
            await made
        await ws.create()
        assert await ws.get("a") == b"1"
        await ws.drop()
        await ws.drop()

    live(body)


def test_closed_workspaces_refuse_everything(live: Any) -> None:
    async def body(main: Any) -> None:
        ws = await main.workspace().create()
        await ws.drop()
        verbs: list[Any] = [
            lambda: ws.put("a", b"1"),
            lambda: ws.put("a", b"1", if_absent=True),
            lambda: ws.get("a"),
            lambda: ws.delete("a"),
            ws.scan,
            ws.revert,
            lambda: ws.renew(600),
            ws.pop,
            lambda: ws.commit("x"),
        ]
        for verb in verbs:
            with pytest.raises(errors.WorkspaceClosedError):
                await verb()
        with pytest.raises(errors.WorkspaceClosedError):
            await paths(ws.list())
        with pytest.raises(errors.WorkspaceClosedError):
            await (await main.repository.workspace(ws.id)).path("a")

    live(body)


def test_listing_renewing_and_unknown_ones(live: Any) -> None:
    async def body(main: Any) -> None:
        repo = main.repository
        await repo.branch("dev").create("main")
        ws = await main.workspace("m", expires_in=600, claims=["t/"]).create()
        other = await repo.branch("dev").workspace().create()
        await other.drop()
        assert [info.id async for info in repo.workspaces()] == [ws.workspace_id]
        assert {info.id async for info in repo.workspaces(state="all")} == {ws.workspace_id, other.workspace_id}
        assert [info.state async for info in repo.workspaces(state="all", branch="dev")] == ["reverted"]
        info = await ws.info()
        assert (info.message, info.claims, info.branch) == ("m", ("t/",), "main")
        later = await ws.renew(86400)
        assert (later.expires - info.expires).total_seconds() > 80000
        with pytest.raises(errors.NotFoundError) as caught:
            await repo.workspace("0" * 32)
        assert caught.value.kind == "workspace_not_found"
        for wrong in (0, -1, 1.5, True):
            with pytest.raises(errors.InvalidRequestError):
                main.workspace(expires_in=wrong)
        with pytest.raises(errors.InvalidRequestError):
            main.workspace(on_conflict="theirs")

    live(body)


# writing


def test_files_tables_and_deletions(live: Any) -> None:
    async def body(main: Any) -> None:
        await main.put("old/1", b"x")
        await main.put("old/2", b"x")
        await main.commit("before")
        frame = pd.DataFrame({"day": ["mon", "tue"], "n": [1, 2]})
        async with main.workspace("tables") as ws:
            await ws.write_parquet("t", frame, partition_by=["day"])
            await ws.write_parquet("t", frame[:1], partition_by=["day"], mode="overwrite")
            await ws.write_csv("c.csv", frame)
            async with ws.open("notes.txt", "w") as file:
                await file.write("hello")
            with pytest.raises(errors.ObjectExistsError):
                async with ws.open("notes.txt", "x") as file:
                    await file.write("again")
            await ws.delete("old/1")
            await ws.put_many({}, delete=["old/2", "old/none"])
            await ws.copy("notes.txt", "copy.txt")
            assert (await ws.read_parquet("t")).to_dict("records") == [{"n": 1, "day": "mon"}]
        assert [path for path in await paths(main.list()) if not path.startswith("t/")] == [
            "c.csv",
            "copy.txt",
            "notes.txt",
        ]
        assert await main.get("copy.txt") == b"hello"
        assert (await main.read_parquet("t"))["n"].tolist() == [1]

    live(body)


def test_conditions_are_checked_with_the_write(live: Any) -> None:
    async def body(main: Any) -> None:
        ws = main.workspace()
        stored = await ws.put("a", b"1")
        with pytest.raises(errors.ObjectExistsError):
            await ws.put("a", b"2", if_absent=True)
        with pytest.raises(errors.PreconditionFailedError):
            await ws.put("a", b"2", if_match="0" * 32)
        await ws.put("a", b"2", if_match=stored.checksum)
        assert await ws.get("a") == b"2"

    live(body)


async def pieces() -> AsyncIterator[bytes]:
    for _ in range(3):
        yield b"x" * (1 << 20)


@pytest.mark.parametrize("data_path", ["direct", "proxied"])
def test_any_data_any_path_any_way(live: Any, door: Door, data_path: str, tmp_path: Path) -> None:
    local = tmp_path / "file"
    local.write_bytes(b"from a file")

    async def body(main: Any) -> None:
        ws = main.workspace("all", data_path=data_path)
        moved: list[int] = []
        await ws.put("bytes", b"b" * 10, progress=moved.append)
        await ws.put("path", local)
        with local.open("rb") as file:
            await ws.put("file", file)
        await ws.put("pieces", [b"a", b"", b"b"])
        await ws.put("once", iter([b"1", b"2"]))
        await ws.put("empty", b"")
        await ws.put("odd//path/../\u00fc ?#.txt", b"odd")
        await ws.put("bytes/below", b"a file and a folder of one name")
        await ws.put("l" * 1000, b"long")
        if door.name == "aio":
            await ws.put("async", pieces())
            assert len(await ws.get("async")) == 3 << 20
        assert sum(moved) == 10
        await ws.commit()
        assert await main.get("bytes") == b"b" * 10
        assert await main.get("bytes/below") == b"a file and a folder of one name"
        assert await main.get("path") == await main.get("file") == b"from a file"
        assert await main.get("pieces") == b"ab"
        assert await main.get("once") == b"12"
        assert await main.get("empty") == b""
        assert await main.get("odd//path/../\u00fc ?#.txt") == b"odd"
        assert await main.get("l" * 1000) == b"long"

    live(body)


def test_second_write_replaces_the_entry_but_no_stored_bytes(live: Any) -> None:
    async def body(main: Any) -> None:
        ws = main.workspace("twice")
        first = await ws.put("a", b"first")
        second = await ws.put("a", b"second")
        assert first.physical_address != second.physical_address
        assert await ws.get("a") == b"second"
        await ws.add("a").commit("the second")
        third = await ws.put("a", b"third")
        assert await main.get("a") == b"second"
        assert third.physical_address.startswith((await ws.info()).storage_prefix)
        await ws.commit("the third")
        assert await main.get("a") == b"third"
        assert await main.repository.ref("main~1").get("a") == b"second"

    live(body)


def test_put_many_streams_any_number_of_objects(live: Any) -> None:
    async def body(main: Any) -> None:
        ws = main.workspace("many")
        asked: list[int] = []

        def source() -> Iterator[tuple[str, bytes]]:
            for number in range(2500):
                asked.append(number)
                yield f"n/{number:05}", str(number).encode()

        stored = await ws.put_many(source(), delete=["n/00001", "other"])
        assert [one.path for one in stored] == [f"n/{number:05}" for number in range(2500)]
        assert len(asked) == 2500
        assert len(await paths(ws.list("n/"))) == 2500  # buffered writes and deletes have been sent
        await ws.commit()
        assert await main.get("n/02499") == b"2499"

    live(body)


def test_unreadable_file_makes_put_many_store_nothing(live: Any, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.write_bytes(b"x")

    async def body(main: Any) -> None:
        ws = main.workspace("half")

        def source() -> Iterator[tuple[str, Any]]:
            yield "a", b"1"
            yield "b", iter(["no bytes"])

        with pytest.raises(errors.InvalidRequestError):
            await ws.put_many(source())
        assert await paths(ws.list()) == []
        assert (await ws.scan()).registered == 0

    live(body)


def test_registration_is_checked_by_the_server(live: Any) -> None:
    from dataclasses import replace

    async def body(main: Any) -> None:
        ws = main.workspace("register")
        stored = await ws.put("a", b"1")
        await ws.register([replace(stored, path="b")])
        assert await ws.get("b") == b"1"
        with pytest.raises(errors.InvalidRequestError) as caught:
            await ws.register([replace(stored, path="c", physical_address=stored.physical_address + "x")])
        assert caught.value.kind == "invalid_address"
        with pytest.raises(errors.CorruptTransferError):
            await ws.register([replace(stored, path="c", size=2)])
        assert await paths(ws.list()) == ["a", "b"]

    live(body)


def test_other_tools_write_where_path_says(live: Any) -> None:
    async def body(main: Any) -> None:
        async with main.workspace("spark") as ws:
            await ws.put("mine", b"mine")
            place = await ws.path("t/part-1.csv")
            Path(place).write_text("a,b\n")
            Path(await ws.path("t/part-2.csv")).write_text("c,d\n")
        assert await main.get("t/part-1.csv") == b"a,b\n"
        assert await paths(main.list()) == ["mine", "t/part-1.csv", "t/part-2.csv"]
        ws = main.workspace("by hand")
        Path(await ws.path("u")).write_text("u")
        found = await ws.scan()
        assert (found.registered, found.vanished) == (1, 0)
        assert (await ws.scan()).unchanged == 1
        with pytest.raises(errors.InvalidRequestError):
            await ws.path("a//b")
        await ws.commit(scan=False)
        assert await main.get("u") == b"u"

    live(body)


def test_partial_commit_keeps_the_rest_open(live: Any) -> None:
    async def body(main: Any) -> None:
        ws = main.workspace("parts")
        await ws.put_many({"a.csv": b"1", "x/b.csv": b"2", "x/c.txt": b"3", "d.txt": b"4"})
        first = await ws.add("*.csv").commit("tables")
        assert await paths(main.list()) == ["a.csv", "x/b.csv"]
        assert (await ws.info()).base_commit_id == first.id
        with pytest.raises(errors.InvalidRequestError, match="matches no change"):
            await ws.add("*.none").commit("nothing")
        await ws.revert("x/")
        await ws.put("e", b"5")
        second = await ws.commit("the rest")
        assert second.parents == (first.id,)
        assert await paths(main.list()) == ["a.csv", "d.txt", "e", "x/b.csv"]

    live(body)


def test_stash_and_pop(live: Any) -> None:
    async def body(main: Any) -> None:
        await main.put("a", b"1")
        ws = await main.stash("later")
        assert await paths(main.list()) == []
        assert await ws.get("a") == b"1"
        await ws.pop()
        assert [change.path async for change in main.uncommitted()] == ["a"]
        with pytest.raises(errors.WorkspaceClosedError):
            await ws.pop()
        await main.reset()
        with pytest.raises(errors.NothingToCommitError):
            await main.stash()
        await main.repository.branch("dev").create("main")
        other = main.workspace()
        await other.put("b", b"2")
        await other.pop(main.repository.branch("dev"))
        assert await paths(main.repository.branch("dev").list()) == ["b"]

    live(body)


# conflicts


def test_disjoint_work_is_rebased_and_a_real_conflict_is_not_retried(live: Any) -> None:
    async def body(main: Any) -> None:
        attempts: list[lakebed.CommitAttempt] = []
        one, two, three = (main.workspace(name, on_attempt=attempts.append) for name in ("one", "two", "three"))
        for ws in (one, two, three):
            await ws.create()
        await one.put("a", b"1")
        await two.put("b", b"2")
        await three.put("a", b"3")
        await one.commit()
        await two.commit()
        with pytest.raises(errors.ConcurrentCommitError) as caught:
            await three.commit()
        assert caught.value.paths == ("a",)
        (conflict,) = caught.value.conflicts
        assert (conflict.base, conflict.ours) == (None, (await main.stat("a")).checksum)
        assert attempts == []
        assert (await three.info()).state == "open"
        commit = await three.commit(on_conflict="overwrite")
        assert await main.get("a") == b"3"
        assert [entry.message async for entry in main.log(limit=3)] == ["three", "two", "one"]
        assert commit.message == "three"

    live(body)


def test_conflict_at_the_end_of_a_block_names_the_next_step(live: Any) -> None:
    async def body(main: Any) -> None:
        with pytest.raises(errors.ConcurrentCommitError) as caught:
            async with main.workspace("mine") as ws:
                await ws.put("a", b"mine")
                await main.put("a", b"theirs")
                await main.commit("first")
        assert ws.workspace_id in caught.value.__notes__[0]
        assert await ws.get("a") == b"mine"

    live(body)


def test_abort_claims_dirty_branches_and_replaced_prefixes(live: Any) -> None:
    async def body(main: Any) -> None:
        await main.put("t/1", b"1")
        await main.commit("table")
        strict = await main.workspace("strict", on_conflict="abort").create()
        claimed = await main.workspace("claimed", claims=["t/"]).create()
        replacing = await main.workspace("replacing").create()
        for ws in (strict, claimed):
            await ws.put("other/" + ws.workspace_id, b"x")
        await replacing.put("t/new", b"new")
        await main.put("t/2", b"2")
        with pytest.raises(errors.DirtyBranchError) as dirty:
            await replacing.commit(replace_prefix=["t/"])
        assert dirty.value.paths == ("t/2",)
        await main.commit("append")
        for ws in (strict, claimed):
            with pytest.raises(errors.ConcurrentCommitError):
                await ws.commit()
        with pytest.raises(errors.ConcurrentCommitError) as caught:
            await replacing.commit(replace_prefix=["t/"])
        assert caught.value.paths == ("t/2",)
        again = main.workspace("again")
        await again.put("t/new", b"new")
        await again.commit(replace_prefix=["t/"])
        assert await paths(main.list("t/")) == ["t/new"]

    live(body)


def test_another_ref_to_start_from(live: Any) -> None:
    async def body(main: Any) -> None:
        async with main.workspace("one") as ws:
            await ws.put("a", b"1")
        async with main.workspace("two") as ws:
            await ws.put("b", b"2")
        old = main.workspace("from the past", ref="main~1")
        assert await paths(old.list()) == ["a"]
        await old.put("c", b"3")
        await old.commit()
        assert await paths(main.list()) == ["a", "b", "c"]

    live(body)


# data paths


def test_no_object_byte_passes_through_the_server_on_the_direct_path(live: Any, endpoint: str) -> None:
    proxy = Proxy(endpoint)
    requests: list[str] = []

    def note(line: str) -> bool:
        requests.append(line)
        return False

    proxy.swallow = note

    async def body(main: Any) -> None:
        content = os.urandom(4 << 20)
        ws = main.workspace("direct")
        await ws.put("big", content)
        assert proxy.uploaded + proxy.downloaded < 64 << 10
        await ws.put_many({f"n/{number}": b"%d" % number for number in range(1000)})
        await ws.commit()
        posts = [line for line in requests if line.startswith("POST") and line.endswith("HTTP/1.1")]
        assert len(posts) == 5  # repository, workspace, two registrations, commit
        assert proxy.uploaded < 1 << 20  # rows of 1,000 objects
        assert await main.get("big") == content
        assert proxy.downloaded > len(content)  # the measure measures

    try:
        live(body, proxy.endpoint)
    finally:
        proxy.close()


def test_data_path_can_be_chosen(live: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(main: Any) -> None:
        with pytest.raises(errors.UnsupportedOperationError, match="presigned"):
            await main.workspace(data_path="presigned").put("a", b"1")
        monkeypatch.setenv("LAKEBED_DATA_PATH", "nonsense")
        with pytest.raises(errors.ConfigurationError, match="LAKEBED_DATA_PATH"):
            await main.workspace().put("a", b"1")
        monkeypatch.setenv("LAKEBED_DATA_PATH", "proxied")
        ws = main.workspace()
        stored = await ws.put("a", b"1")
        assert not stored.physical_address.startswith((await ws.info()).storage_prefix)

    live(body)


def test_a_directory_of_another_server_is_not_written_to(
    main: lakebed.Branch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from lakebed._sync.objects import sinks

    info = main.workspace().info()
    assert sinks.choose(info, None) == "direct"
    elsewhere = replace(info, local_path=f"{tmp_path}/workspaces/{info.id}/")
    assert sinks.choose(elsewhere, None) == "proxied"
    with pytest.raises(errors.UnsupportedOperationError, match="not on this machine"):
        sinks.choose(elsewhere, "direct")
    assert sinks.choose(replace(elsewhere, data_paths=("direct", "presigned", "proxied")), None) == "presigned"


# other processes

_ELSEWHERE = """
import pickle, sys
ws = pickle.loads(sys.stdin.buffer.read())
ws.put("from/elsewhere", b"hello")
ws.commit("in another process")
"""


def test_pickled_workspace_works_elsewhere_and_has_no_secrets(main: lakebed.Branch, endpoint: str) -> None:
    ws = main.workspace("shared")
    ws.put("from/here", b"1")
    carried = pickle.dumps(ws)
    assert SECRET.encode() not in carried
    variables = {"LAKEBED_ENDPOINT": endpoint, "LAKEBED_ACCESS_KEY_ID": KEY, "LAKEBED_SECRET_ACCESS_KEY": SECRET}
    command = [sys.executable, "-c", _ELSEWHERE]
    subprocess.run(command, input=carried, check=True, env=clean_environment(**variables))
    assert [row.path for row in main.list()] == ["from/elsewhere", "from/here"]
    with pytest.raises(errors.WorkspaceClosedError):
        ws.put("late", b"1")
    bare = clean_environment(HOME="/nonexistent")
    without = subprocess.run(command, input=carried, env=bare, capture_output=True, check=False)
    assert b"ConfigurationError: no credentials" in without.stderr


def test_a_pickled_handle_uses_the_connection_settings_of_its_process(main: lakebed.Branch) -> None:
    ws = main.workspace("here")
    again = pickle.loads(pickle.dumps(ws))
    assert (again.id, again.options) == (ws.id, ws.options)
    assert again.repository.id == main.repository.id
    again.put("a", b"1")
    assert ws.get("a") == b"1"
    assert again._transport is main._transport
