"""Undo, the newest stash, commits by author, and reading by `[]` and `in`: both doors against a real server."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from lakebed import errors

from tests.sdk.doors import Door, unwrap
from tests.support.processes.server import RunningServer


@pytest.fixture
def live(door: Door, server: RunningServer) -> Any:
    """Run a body with a lake and a fresh repository."""

    def run(body: Any) -> None:
        async def with_repository(lake: Any) -> None:
            name = f"undo{uuid.uuid4().hex[:12]}"
            await body(lake, await lake.repository(name).create(f"local://{name}"))

        door.run(
            with_repository,
            endpoint=server.endpoint,
            key=server.access_key_id,
            secret=server.secret_access_key,
            quick=False,
        )

    return run


async def put_commit(branch: Any, rows: dict[str, bytes], message: str = "c") -> Any:
    await branch.put_many(rows)
    return await branch.commit(message)


def test_undo_reverts_and_a_second_undo_restores(live: Any) -> None:
    async def body(lake: Any, repo: Any) -> None:
        main = repo.branch("main")
        await put_commit(main, {"a": b"1"})
        bad = await put_commit(main, {"a": b"2"}, "bad\n\nlong text")
        done = await main.undo()
        assert (done.how, done.commit.id) == ("revert", bad.id)
        assert await main.get("a") == b"1"
        made = await main.commit_info()
        assert (made.id, made.message, made.parents) == (done.commit_id, f"Revert {bad.short_id}: bad", (bad.id,))
        await main.undo("back")
        assert await main.get("a") == b"2"
        assert (await main.commit_info()).message == "back"

    live(body)


def test_undo_of_a_merge_goes_to_the_first_parent(live: Any) -> None:
    async def body(lake: Any, repo: Any) -> None:
        main = repo.branch("main")
        await put_commit(main, {"a": b"1"})
        dev = await repo.branch("dev").create("main")
        await put_commit(dev, {"d": b"1"})
        await put_commit(main, {"a": b"2"})
        await dev.merge_into("main")
        await main.undo()
        assert not await main.exists("d")
        assert await main.get("a") == b"2"

    live(body)


def test_reset_moves_the_branch_and_loses_no_commit(live: Any) -> None:
    async def body(lake: Any, repo: Any) -> None:
        main = repo.branch("main")
        good = await put_commit(main, {"a": b"1"})
        bad = await put_commit(main, {"a": b"2"})
        done = await main.undo(how="reset")
        assert (done.how, done.commit_id) == ("reset", good.id)
        assert (await main.info()).commit_id == good.id
        assert await repo.ref(bad.id).get("a") == b"2"
        await main.commit("nothing", allow_empty=True)
        assert (await main.undo()).how == "reset"  # there is nothing to revert
        assert (await main.info()).commit_id == good.id

    live(body)


def test_what_undo_refuses(live: Any) -> None:
    async def body(lake: Any, repo: Any) -> None:
        main = repo.branch("main")
        with pytest.raises(errors.InvalidRequestError, match="is the first commit"):
            await main.undo()
        head = await put_commit(main, {"a": b"1"})
        await main.put("b", b"uncommitted")
        for how in ("auto", "reset"):
            with pytest.raises(errors.DirtyBranchError):
                await main.undo(how=how)
        await main.reset()
        await repo.set_protection(["main"])
        with pytest.raises(errors.PermissionDeniedError) as caught:
            await main.undo(how="reset")
        assert caught.value.kind == "protected_branch"
        with pytest.raises(errors.InvalidRequestError):
            await main.undo(how="amend")
        with pytest.raises(errors.InvalidRequestError, match="takes no message"):
            await main.undo("m", how="reset")
        assert (await main.info()).commit_id == head.id
        assert (await main.undo()).how == "revert"

    live(body)


def test_undo_keeps_a_concurrent_commit(live: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(lake: Any, repo: Any) -> None:
        main = repo.branch("main")
        await put_commit(main, {"a": b"1"})
        bad = await put_commit(main, {"a": b"2"})
        from lakebed._async.commits import revert as flow
        from lakebed._sync.commits import revert as sync_flow

        of_others = await put_commit(main, {"b": b"theirs"})

        async def earlier(_: Any) -> Any:
            return bad

        monkeypatch.setattr(flow, "last_commit", earlier)
        monkeypatch.setattr(sync_flow, "last_commit", lambda _: bad)
        await main.undo()
        assert (await main.get("a"), await main.get("b")) == (b"1", b"theirs")
        assert (await main.commit_info()).parents == (of_others.id,)

    live(body)


def test_pop_takes_the_newest_stash_only(live: Any) -> None:
    async def body(lake: Any, repo: Any) -> None:
        main = repo.branch("main")
        await put_commit(main, {"a": b"1"})
        for number in (b"1", b"2"):
            await main.put("s" + number.decode(), number)
            stashed = await main.stash("half done")
            assert re.fullmatch(r"Stash of main at [0-9T:.-]{23}Z: half done", (await stashed.info()).message)
        other = await main.workspace("Load").create()
        await other.put("w", b"w")
        assert len(await main.stashes()) == 2
        popped = await main.pop()
        assert await main.exists("s2")
        assert not await main.exists("s1")
        await main.pop()
        assert await main.exists("s1")
        with pytest.raises(errors.NotFoundError, match="there is no stash of branch 'main'"):
            await main.pop()
        assert (await other.info()).state == "open"
        assert popped.state == "open"  # as it was

    live(body)


def test_a_stash_of_another_user_is_left_alone(live: Any, door: Door, server: RunningServer) -> None:
    async def body(lake: Any, repo: Any) -> None:
        main = repo.branch("main")
        await main.put("a", b"mine")
        await main.stash()
        name = f"u{uuid.uuid4().hex[:8]}"
        await lake.users.create(name)
        await lake.groups.add("Admins", name)
        key = await lake.keys.create(name)

        async def as_other(lake_of_other: Any) -> None:
            with pytest.raises(errors.NotFoundError, match="that you made"):
                await lake_of_other.repository(unwrap(repo).id).branch("main").pop()

        other = door.connect(server.endpoint, key.id, key.secret, quick=False)
        await as_other(other)
        assert len(await main.stashes()) == 1
        await lake.users.drop(name)

    live(body)


def test_log_of_an_author(live: Any) -> None:
    async def body(lake: Any, repo: Any) -> None:
        main, name = repo.branch("main"), f"u{uuid.uuid4().hex[:8]}"
        await lake.users.create(name)
        for number in range(4):
            await main.put("a", str(number).encode())
            await main.commit(f"c{number}", author=name if number % 2 else "")
        titles = [commit.message async for commit in main.log(author=name)]
        assert titles == ["c3", "c1"]
        assert [commit.message async for commit in main.log(author=name, limit=1)] == ["c3"]
        assert (await main.log(author=name).first()).message == "c3"
        assert await main.log(author="no such user").first() is None
        assert name in (await main.log(author=name)._look())
        dates = [datetime(2025, 3, day, tzinfo=UTC) for day in (5, 6, 7)]
        for date in dates:
            await main.put("a", date.isoformat().encode())
            await main.commit(f"of {date:%d}", date=date)
        titles = [commit.message async for commit in main.log(since=dates[0], until=dates[2])]
        assert titles == ["of 06", "of 05"]

    live(body)


def test_objects_by_path_and_rows_by_number(live: Any, door: Door) -> None:
    async def body(lake: Any, repo: Any) -> None:
        main = repo.branch("main")
        await put_commit(main, {"a": b"1", "b": b"2", "c": b"3"})
        plain, listing = unwrap(main), unwrap(main.list())
        with pytest.raises(TypeError, match="not iterable"):
            iter(plain)
        with pytest.raises(TypeError, match="is found by its path"):
            plain[0]
        with pytest.raises(TypeError, match=r"listing\.all\(\)"):
            len(listing)
        with pytest.raises(TypeError, match=r"listing\.first\(\)"):
            bool(listing)
        if door.name == "aio":
            assert await plain["b"] == b"2"
            for use in (lambda: "a" in plain, lambda: listing[0]):
                with pytest.raises(TypeError, match="cannot wait for the server"):
                    use()
            return
        assert plain["b"] == b"2"
        assert "a" in plain
        assert "x" not in plain
        with pytest.raises(errors.ObjectNotFoundError):
            plain["x"]
        assert (listing[0].path, listing[2].path) == ("a", "c")
        assert len(list(listing)) == 3
        assert [row.path for row in listing[1:3]] == ["b", "c"]
        for wrong, kind in ((3, IndexError), (-1, TypeError), (slice(1, None), TypeError)):
            with pytest.raises(kind):
                listing[wrong]

    live(body)


@pytest.mark.parametrize("message", ["", " \n"])
def test_a_commit_without_a_message_is_refused_before_any_request(live: Any, message: str) -> None:
    async def body(lake: Any, repo: Any) -> None:
        missing = lake.repository("no-such-repository").branch("main")
        for ask in (missing.commit, missing.start_commit):
            with pytest.raises(errors.InvalidRequestError, match="the commit message is empty"):
                await ask(message)
        with pytest.raises(errors.InvalidRequestError, match="must be a string"):
            await missing.commit(5)

    live(body)
