"""Waiting commits of one process share a swap (docs/decisions/0012). Each has its own commit and result."""

from __future__ import annotations

import asyncio

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import LogRequest

from tests.engine.gates import Gate, in_line, lake, line
from tests.engine.support import REPO, commit, put
from tests.support.waiting import until

pytestmark = pytest.mark.medium  # races


async def queued(engine: Engine, store: Gate, count: int) -> list[asyncio.Task[Commit]]:
    """A committer held at the gate, and `count` more behind it, each with a row of its own."""
    store.opened.clear()
    store.waiting = 0
    tasks = []
    for number in range(count + 1):
        await put(engine, f"p/{number}", str(number))
        tasks.append(asyncio.ensure_future(commit(engine, f"m{number}")))
        before = len((await engine.branches.get(REPO, "main")).layers)
        await until(in_line(engine, store, number))
        assert len((await engine.branches.get(REPO, "main")).layers) >= before
    return tasks


async def first_parents(engine: Engine) -> list[tuple[str, list[str]]]:
    """Messages from the oldest, each with the paths that its commit has."""
    page = await engine.commits.log(REPO, "main", LogRequest(first_parent=True))
    found = []
    for one in reversed(page.items):
        listed = await engine.objects.list(REPO, one.id)
        found.append((one.message, [row.path for row in listed.items]))
    return found[1:]


async def test_queued_commits_are_separate_and_share_a_single_swap() -> None:
    async with lake() as (engine, store, kv, _):
        tasks = await queued(engine, store, 5)
        swaps = []

        async def look(name: str, what: Batch) -> None:
            if name == "apply":
                swaps.append([put.key for put in what.puts if put.key.startswith(b"commit/")])

        kv.before = look
        store.opened.set()
        made = await asyncio.gather(*tasks)
        kv.before = None
        assert [one.message for one in made] == [f"m{n}" for n in range(6)]
        assert [one.parents[0] for one in made[1:]] == [one.id for one in made[:-1]]
        assert await first_parents(engine) == [(f"m{n}", [f"p/{other}" for other in range(n + 1)]) for n in range(6)]
        # the first tries again, for the seals of the others have changed the record
        assert [len(one) for one in swaps] == [1, 1, 5], "the one that came first, then all who waited"
        assert swaps[0] == swaps[1]
        assert (await engine.branches.get(REPO, "main")).layers == ()
        assert engine.context.queues == {}
        assert engine.context.trees._unwritten == {}


async def test_commit_without_changes_fails_alone_in_a_group() -> None:
    async with lake() as (engine, store, _, _):
        tasks = await queued(engine, store, 2)
        extra = asyncio.ensure_future(commit(engine, "nothing"))
        await until(lambda: len(line(engine)) == 3)
        empty = asyncio.ensure_future(commit(engine, "empty", allow_empty=True))
        await until(lambda: len(line(engine)) == 4)
        store.opened.set()
        made = await asyncio.gather(*tasks)
        with pytest.raises(errors.NoChangesError, match=r"nothing to commit: commit .* contains all staged changes"):
            await extra
        assert (await empty).parents == (made[-1].id,)
        assert [message for message, _ in await first_parents(engine)] == ["m0", "m1", "m2", "empty"]


async def test_a_cancelled_leader_leaves_its_work_to_be_finished() -> None:
    async with lake() as (engine, store, _, _):
        tasks = await queued(engine, store, 2)
        tasks[0].cancel()  # at the gate, with its own commit in its hands
        store.opened.set()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(done[0], asyncio.CancelledError)
        assert [one.message for one in done[1:] if isinstance(one, Commit)] == ["m1", "m2"]
        await until(lambda: not engine.context.trees._unwritten)
        made = [message for message, _ in await first_parents(engine)]
        assert made == ["m0", "m1", "m2"], "cancelled too late: made all the same, as after any lost answer"


async def test_cancelled_waiting_commit_is_not_made() -> None:
    async with lake() as (engine, store, _, _):
        tasks = await queued(engine, store, 3)
        tasks[1].cancel()
        await until(lambda: len(line(engine)) == 2)
        store.opened.set()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(done[1], asyncio.CancelledError)
        assert await first_parents(engine) == [
            ("m0", ["p/0"]),
            ("m2", ["p/0", "p/1", "p/2"]),
            ("m3", ["p/0", "p/1", "p/2", "p/3"]),
        ]


async def test_a_store_failure_fails_the_leader_and_the_others_retry() -> None:
    async with lake() as (engine, store, _, _):
        tasks = await queued(engine, store, 3)
        store.failures.append(errors.StoreUnavailableError("gone for a moment"))
        store.opened.set()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(done[0], errors.StoreUnavailableError)
        assert [one.message for one in done[1:] if isinstance(one, Commit)] == ["m1", "m2", "m3"]
        assert await first_parents(engine) == [
            ("m1", ["p/0", "p/1"]),
            ("m2", ["p/0", "p/1", "p/2"]),
            ("m3", ["p/0", "p/1", "p/2", "p/3"]),
        ]
        assert engine.context.trees._unwritten == {}


@pytest.mark.parametrize("how", ["before", "after"])
@pytest.mark.parametrize("settled", [True, False])
async def test_a_lost_answer_counts_for_all_of_them(how: str, settled: bool) -> None:
    async with lake() as (engine, store, kv, lossy):
        tasks = await queued(engine, store, 3)
        left = [1 if settled else 1000]

        def lose(batch: Batch) -> str:
            mine = sum(put.key.startswith(b"commit/") for put in batch.puts) == 3
            if mine and left[0]:
                left[0] -= 1
                return how
            return ""

        async def blind(name: str, what: object) -> None:
            if name == "get" and left[0] < 1000 and not settled and str(what).find("op/") >= 0:
                raise errors.StoreUnavailableError("cannot be read back")

        lossy.lose = lose
        kv.before = blind
        store.opened.set()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        kv.before = None
        assert isinstance(done[0], Commit)
        messages = [message for message, _ in await first_parents(engine)]
        if settled:
            assert [one.message for one in done if isinstance(one, Commit)] == ["m0", "m1", "m2", "m3"] == messages
        else:
            assert [type(one) for one in done[1:]] == [errors.OutcomeUnknownError] * 3
            assert len({id(one) for one in done[1:]}) == 3, "each has its own error"
            assert messages in (["m0"], ["m0", "m1", "m2", "m3"])


async def test_commit_to_a_deleted_and_recreated_branch_is_refused() -> None:
    async with lake() as (engine, store, _, _):
        await engine.branches.create(REPO, "work", "main")
        store.opened.clear()
        store.waiting = 0
        await put(engine, "a", "1", "work")
        first = asyncio.ensure_future(commit(engine, "first", "work"))
        await until(lambda: store.waiting)
        await put(engine, "b", "1", "work")
        second = asyncio.ensure_future(commit(engine, "second", "work"))
        await until(lambda: len(line(engine)) == 1)
        await engine.branches.delete(REPO, "work")
        await engine.branches.create(REPO, "work", "main")
        await put(engine, "c", "1", "work")
        third = asyncio.ensure_future(commit(engine, "third", "work"))
        await until(lambda: len(line(engine)) == 2)
        store.opened.set()
        done = await asyncio.gather(first, second, third, return_exceptions=True)
        assert [type(one) for one in done] == [errors.BranchNotFoundError, errors.BranchNotFoundError, Commit]
        assert [row.path for row in (await engine.objects.list(REPO, "work@")).items] == ["c"]
