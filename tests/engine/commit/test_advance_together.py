"""Workspace commits of one process that wait for the same branch share a swap. Each has its own commit and result."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.keys import branch_key
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Commit, Workspace
from lakebed_engine.vocabulary.requests import LogRequest

from tests.engine.gates import Gate, in_line, lake, line
from tests.engine.support import REPO, HookedKV, content, new_engine, put
from tests.engine.support import run as run_job
from tests.engine.workspacing import advance, now, workspace
from tests.support.waiting import until


async def filled(engine: Engine, path: str, text: str, **options: Any) -> Workspace:
    """A workspace with one change."""
    made = await workspace(engine, **options)
    await put(engine, path, text, branch=made.name)
    return made


class Swaps:
    """Counts the batches that move the head of main."""

    def __init__(self, kv: HookedKV) -> None:
        self.count = 0

        async def before(name: str, what: Any) -> None:
            if name == "apply" and isinstance(what, Batch):
                self.count += any(one.key == branch_key("main") for one in what.puts)

        kv.before = before


async def held(
    engine: Engine, store: Gate, found: list[Workspace], policies: dict[int, str] | None = None
) -> list[asyncio.Task[Commit]]:
    """Commits of these workspaces: the first one held at the store's gate, the others waiting for their turn."""
    store.opened.clear()
    store.waiting = 0
    tasks = []
    for number, one in enumerate(found):
        policy = (policies or {}).get(number, "rebase")
        tasks.append(asyncio.ensure_future(advance(engine, one, policy)))
        await until(in_line(engine, store, number))
    return tasks


async def ends(store: Gate, tasks: list[asyncio.Task[Commit]]) -> list[Commit | BaseException]:
    store.opened.set()
    return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 60)


async def ids(engine: Engine) -> list[str]:
    """The history of main, oldest first."""
    page = await engine.commits.log(REPO, "main", LogRequest(amount=100))
    return [one.id for one in reversed(page.items)]


def test_waiting_commits_share_one_swap_and_keep_their_own_commits() -> None:
    async def job() -> None:
        async with lake() as (engine, store, kv, _):
            found = [await filled(engine, f"p/{number}", str(number)) for number in range(6)]
            tasks = await held(engine, store, found)
            swaps = Swaps(kv)
            made = await ends(store, tasks)
            kv.before = None
            assert swaps.count == 2, "the first one, and the five who waited meanwhile"
            commits = [one for one in made if isinstance(one, Commit)]
            assert (await ids(engine))[1:] == [one.id for one in commits], "each once, in order of arrival"
            assert await content(engine) == {f"p/{number}": str(number) for number in range(6)}
            for number, (one, landed) in enumerate(zip(found, commits, strict=True)):
                record = await now(engine, one)
                assert (record.state, record.result) == ("committed", landed.id)
                assert await content(engine, landed.id) == {f"p/{n}": str(n) for n in range(number + 1)}

    run_job(job())


def test_commit_of_paths_that_another_commit_took_names_that_commit() -> None:
    async def job() -> None:
        async with lake() as (engine, store, _, _):
            found = [await filled(engine, path, f"{n}") for n, path in enumerate(["a", "b", "b", "c"])]
            made = await ends(store, await held(engine, store, found))
            assert [type(one) for one in made] == [Commit, Commit, errors.ConcurrentCommitError, Commit]
            error = made[2]
            assert isinstance(error, errors.ConcurrentCommitError)
            assert [one.path for one in error.conflicts] == ["b"]
            assert error.conflicts[0].ours is not None, "what the commit that landed has there"
            assert (await now(engine, found[2])).state == "open"
            assert await content(engine) == {"a": "0", "b": "1", "c": "3"}
            assert len(await ids(engine)) == 4

    run_job(job())


def test_overwrite_replaces_a_path_of_an_earlier_commit_in_the_group() -> None:
    async def job() -> None:
        async with lake() as (engine, store, _, _):
            found = [await filled(engine, path, f"{n}") for n, path in enumerate(["a", "b", "b"])]
            made = await ends(store, await held(engine, store, found, {2: "overwrite"}))
            assert [type(one) for one in made] == [Commit] * 3
            assert await content(engine) == {"a": "0", "b": "2"}

    run_job(job())


@pytest.mark.parametrize("how", ["abort", "claims", "empty", "dropped"])
def test_commit_that_fails_in_a_group_gets_its_own_error(how: str) -> None:
    """`abort` and claims are checked against the head at the time of the swap."""

    async def job() -> None:
        async with lake() as (engine, store, _, _):
            second = await (
                workspace(engine)
                if how == "empty"
                else filled(engine, "t/mine", "1", **({"claims": ("t/",)} if how == "claims" else {}))
            )
            found = [
                await filled(engine, "a", "0"),
                await filled(engine, "t/b", "2"),
                second,
                await filled(engine, "c", "3"),
            ]
            tasks = await held(engine, store, found, {2: "abort"} if how == "abort" else {})
            if how == "dropped":
                await engine.workspaces.delete(REPO, second.uid)
            made = await ends(store, tasks)
            wanted = {
                "abort": errors.ConcurrentCommitError,
                "claims": errors.ConcurrentCommitError,
                "empty": errors.NoChangesError,
                "dropped": errors.WorkspaceClosedError,
            }
            assert [type(one) for one in made] == [Commit, Commit, wanted[how], Commit]
            assert await content(engine) == {"a": "0", "t/b": "2", "c": "3"}

    run_job(job())


def test_row_staged_during_group_commit_is_kept_and_blocks_no_commit() -> None:
    async def job() -> None:
        async with lake() as (engine, store, kv, _):
            found = [await filled(engine, f"p/{number}", "1") for number in range(4)]
            tasks = await held(engine, store, found)
            late = 0

            async def before(name: str, what: Any) -> None:
                nonlocal late
                moves = name == "apply" and any(one.key == branch_key("main") for one in what.puts)
                if moves and len([one for one in what.puts if one.key.startswith(b"commit/")]) > 1:
                    late += 1  # into a workspace of the group, just before each swap
                    await put(engine, f"late/{late}", "2", branch=found[2].name)

            kv.before = before
            made = await ends(store, tasks)
            kv.before = None
            assert late == 2, "the first one went on alone, and so did found[2] when it was the first"
            assert [type(one) for one in made] == [Commit] * 4
            assert await content(engine) == {
                **{f"p/{number}": "1" for number in range(4)},
                "late/1": "2",
                "late/2": "2",
            }
            assert len(await ids(engine)) == 5

    run_job(job())


def test_abort_is_not_committed_with_others_even_on_its_base() -> None:
    async def job() -> None:
        async with lake() as (engine, store, _, _):
            found = [await filled(engine, path, "1") for path in ("a", "b", "c")]
            tasks = await held(engine, store, found, {2: "abort"})
            store.failures.append(errors.StoreUnavailableError("gone"))  # the first one does not move the head
            made = await ends(store, tasks)
            assert [type(one) for one in made] == [errors.StoreUnavailableError, Commit, errors.ConcurrentCommitError]
            assert await content(engine) == {"b": "1"}

    run_job(job())


def test_a_lost_answer_is_settled_for_all_of_them() -> None:
    async def job() -> None:
        async with lake() as (engine, store, _, lossy):
            found = [await filled(engine, f"p/{number}", "1") for number in range(4)]
            tasks = await held(engine, store, found)
            lossy.lose = lambda batch: "after" if any(one.key == branch_key("main") for one in batch.puts) else ""
            made = await ends(store, tasks)
            lossy.lose = lambda _: ""
            assert lossy.lost == 2
            assert [type(one) for one in made] == [Commit] * 4
            assert (await ids(engine))[1:] == [one.id for one in made if isinstance(one, Commit)]

    run_job(job())


def test_an_answer_that_nothing_can_settle_is_unknown_to_all_of_them() -> None:
    """A follower's own retry would fail because its workspace is closed, although its commit is in history."""

    async def job() -> None:
        async with lake() as (engine, store, kv, lossy):
            found = [await filled(engine, f"p/{number}", "1") for number in range(3)]
            tasks = await held(engine, store, found)

            async def before(name: str, what: Any) -> None:
                if name == "get" and what[1].startswith(b"op/") and lossy.lost:
                    raise errors.StoreUnavailableError("gone")

            def lose(batch: Batch) -> str:
                return "after" if sum(one.key.startswith(b"commit/") for one in batch.puts) > 1 else ""

            kv.before, lossy.lose = before, lose
            made = await ends(store, tasks)
            kv.before, lossy.lose = None, lambda _: ""
            assert [type(one) for one in made] == [Commit, errors.OutcomeUnknownError, errors.OutcomeUnknownError]
            assert [(await now(engine, one)).state for one in found] == ["committed"] * 3
            assert len(await ids(engine)) == 4

    run_job(job())


@pytest.mark.parametrize("key", ["", "once"])
def test_workspace_sent_twice_is_committed_once(key: str) -> None:
    async def job() -> None:
        async with lake() as (engine, store, _, _):
            first, twice = await filled(engine, "a", "1"), await workspace(engine)
            tasks = await held(engine, store, [first])
            for _ in range(2):
                tasks.append(asyncio.ensure_future(advance(engine, twice, allow_empty=True, idempotency_key=key)))
            await until(lambda: len(line(engine)) == 2)
            made = await ends(store, tasks)
            assert isinstance(made[1], Commit)
            if key:
                assert made[2] == made[1]
            else:
                assert isinstance(made[2], errors.WorkspaceClosedError)
            assert len(await ids(engine)) == 3

    run_job(job())


def test_the_store_fails_for_the_first_one_and_the_others_go_on() -> None:
    async def job() -> None:
        async with lake() as (engine, store, _, _):
            found = [await filled(engine, f"p/{number}", "1") for number in range(4)]
            tasks = await held(engine, store, found)
            store.failures.append(errors.StoreUnavailableError("gone"))
            made = await ends(store, tasks)
            assert [type(one) for one in made] == [errors.StoreUnavailableError, Commit, Commit, Commit]
            assert (await now(engine, found[0])).state == "open"
            assert await content(engine) == {f"p/{number}": "1" for number in range(1, 4)}

    run_job(job())


def test_cancelled_advance_is_committed_at_most_once() -> None:
    async def job() -> None:
        async with lake() as (engine, store, _, _):
            found = [await filled(engine, f"p/{number}", "1") for number in range(4)]
            tasks = await held(engine, store, found)
            tasks[0].cancel()  # the leader: it continues
            tasks[2].cancel()  # a waiting commit: it has left the queue
            made = await ends(store, tasks)
            assert isinstance(made[0], asyncio.CancelledError)
            assert isinstance(made[2], asyncio.CancelledError)
            await until(lambda: not engine.context.queues)
            assert await content(engine) == {"p/0": "1", "p/1": "1", "p/3": "1"}
            assert [(await now(engine, one)).state for one in found] == ["committed", "committed", "open", "committed"]

    run_job(job())


def test_two_processes_do_not_lose_each_others() -> None:
    async def job() -> None:
        async with lake() as (engine, store, hooked, _):
            other = new_engine(hooked, engine.context.stores)
            found = [await filled(engine, f"p/{number}", "1") for number in range(6)]
            tasks = await held(engine, store, found[:3])
            tasks += [asyncio.ensure_future(advance(other, one)) for one in found[3:]]
            made = await ends(store, tasks)
            assert [type(one) for one in made] == [Commit] * 6
            landed = {one.id for one in made if isinstance(one, Commit)}
            assert len(landed) == 6
            assert set((await ids(engine))[1:]) == landed
            assert len(await ids(engine)) == 7
            await other.close()

    run_job(job())
