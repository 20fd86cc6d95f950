"""Commits, merges, reverts and cherry-picks with a key: they happen once, sent again plainly or as a task."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from lakebed_engine.operations.branch.compare_and_swap import Change
from lakebed_engine.operations.commit.fold import Fold
from lakebed_engine.operations.commit.group_commit import GroupCommit
from lakebed_engine.operations.expiry_clock import REMEMBERED
from lakebed_engine.operations.keys import TASK_KEYS, TASKS
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.vocabulary.errors import OutcomeUnknownError
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import CommitRequest, PickRequest

from tests.server.lake import MAIN, REPO
from tests.server.slow_tasks import Working
from tests.support.waiting import until

COMMIT, TASK = MAIN + "/commits", MAIN + "/commits/async?wait=10"
MERGE = REPO + "/refs/dev/merge/main"
REVERT, PICK = MAIN + "/revert", MAIN + "/cherry-pick"
ONE = {"message": "one"}


@pytest.fixture
def lake() -> Iterator[Working]:
    lake = Working()
    lake.put("a", b"1")
    yield lake
    lake.close()


def test_the_same_commit_again(lake: Working) -> None:
    made = lake("POST", COMMIT, ONE, 201, idempotency_key="k")
    lake.put("b", b"2")
    assert lake("POST", COMMIT, ONE, 201, idempotency_key="k") == made
    lake.restart()
    task = lake("POST", TASK, ONE, 202, idempotency_key="k")
    assert (task["completed"], task["commit"]) == (True, made)
    assert lake.log() == ["one", "Repository created"]
    assert lake("POST", COMMIT, {"message": "two"}, 409, idempotency_key="k")["kind"] == "idempotency_mismatch"
    assert lake("POST", COMMIT, ONE, 400, idempotency_key="x" * 257)["kind"] == "invalid_request"
    url = COMMIT + "?source_metarange=x"
    assert "Idempotency-Key" in lake("POST", url, ONE, 400, idempotency_key="k")["message"]


def test_the_same_empty_commit_twice_in_one_group(lake: Working) -> None:
    lake.commit("all")
    request = CommitRequest(message="one", committer="admin", allow_empty=True)

    async def race() -> list[Commit]:
        return await asyncio.gather(*(lake.engine.commits.create("lake", "main", request, "k") for _ in range(5)))

    assert len({one.id for one in lake.runner.run(race())}) == 1
    assert lake.log() == ["one", "all", "Repository created"]


def test_the_same_merge_again(lake: Working) -> None:
    lake.commit("base")
    lake("POST", REPO + "/branches", {"name": "dev", "source": "main"}, 201)
    lake.put("b", b"2", "dev")
    lake.commit("on dev", "dev")
    made = lake("POST", MERGE + "?conflicts_amount=7", None, 200, idempotency_key="m")["reference"]
    assert lake("POST", MERGE, None, 200, idempotency_key="m")["reference"] == made
    assert lake("POST", MERGE + "/async", None, 202, idempotency_key="m")["commit"]["id"] == made
    assert lake.log()[0] == "Merge 'dev' into 'main'"
    assert lake.log().count("Merge 'dev' into 'main'") == 1


def test_the_same_revert_again(lake: Working) -> None:
    lake.commit("all")
    body = {"ref": "main", "parent_number": 0, "commit_overrides": {"message": "back"}}
    lake("POST", REVERT, body, 204, idempotency_key="r")
    assert lake.paths() == []
    lake.restart()
    lake("POST", REVERT, body, 204, idempotency_key="r")
    assert lake.log() == ["back", "all", "Repository created"]
    other = {**body, "allow_empty": True}
    assert lake("POST", REVERT, other, 409, idempotency_key="r")["kind"] == "idempotency_mismatch"
    assert lake("POST", TASK, ONE, 409, idempotency_key="r")["kind"] == "idempotency_mismatch"
    lake("POST", REVERT, other, 204)  # without a key it is another one
    assert lake("POST", REVERT, body, 400, idempotency_key="x" * 257)["kind"] == "invalid_request"
    assert lake.log() == ["back", "back", "all", "Repository created"]


def test_the_same_cherry_pick_again(lake: Working) -> None:
    lake.commit("base")
    lake("POST", REPO + "/branches", {"name": "dev", "source": "main"}, 201)
    lake.put("b", b"2", "dev")
    lake.commit("on dev", "dev")
    lake.put("c", b"3")
    body = {"ref": "dev"}
    assert lake("POST", PICK, body, 400, idempotency_key="p")["kind"] == "dirty_branch"
    lake.commit("mine")  # a failure has not used up the key
    made = lake("POST", PICK, body, 201, idempotency_key="p")
    lake.put("d", b"4")
    assert lake("POST", PICK, body, 201, idempotency_key="p") == made
    assert (
        lake("POST", REVERT, {**body, "parent_number": 0}, 409, idempotency_key="p")["kind"] == "idempotency_mismatch"
    )
    assert lake.log()[:2] == ["on dev", "mine"]


def _hold_the_first_swap(monkeypatch: pytest.MonkeyPatch) -> tuple[list[int], asyncio.Event]:
    """Gets an item with every swap; the first one waits for the event."""
    inner, go = GroupCommit._swap, asyncio.Event()
    held: list[int] = []

    async def swap(self: GroupCommit[Any], fold: Fold[Any], change: Change) -> bool:
        held.append(1)
        if len(held) == 1:
            await go.wait()
        return await inner(self, fold, change)

    monkeypatch.setattr(GroupCommit, "_swap", swap)
    return held, go


def test_a_running_cherry_pick_and_its_retry_make_one_commit(lake: Working, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first request has folded everything when the second one arrives and commits."""
    lake.commit("base")
    lake("POST", REPO + "/branches", {"name": "dev", "source": "main"}, 201)
    lake.put("b", b"2", "dev")
    lake.commit("on dev", "dev")
    held, go = _hold_the_first_swap(monkeypatch)
    request = PickRequest(ref="dev", committer="admin")

    async def race() -> tuple[Commit, Commit]:
        begun = asyncio.ensure_future(lake.engine.commits.cherry_pick("lake", "main", request, "p"))
        await until(lambda: held, "the first call is held")
        second = await lake.engine.commits.cherry_pick("lake", "main", request, "p")
        go.set()
        return await begun, second

    first, second = lake.runner.run(race())
    assert first == second
    assert lake.log() == ["on dev", "base", "Repository created"]


def test_a_task_that_came_first_answers(lake: Working) -> None:
    task = lake("POST", TASK, ONE, 202, idempotency_key="k")
    lake.put("b", b"2")
    assert lake("POST", COMMIT, ONE, 201, idempotency_key="k") == task["commit"]
    failed = lake("POST", TASK, {"message": "x", "metadata": {"k": "v"}}, 202, idempotency_key="other")
    assert failed["completed"] is True
    assert lake.log()[:2] == ["x", "one"]


def test_a_failure_of_a_task_is_the_answer_too(lake: Working) -> None:
    lake.commit("all")
    assert lake("POST", TASK, ONE, 202, idempotency_key="k")["error"]["kind"] == "no_changes"
    assert lake("POST", COMMIT, ONE, 400, idempotency_key="k")["kind"] == "no_changes"


def test_a_failed_commit_uses_up_no_idempotency_key(lake: Working) -> None:
    lake.commit("all")
    assert lake("POST", COMMIT, ONE, 400, idempotency_key="k")["kind"] == "no_changes"
    lake.put("b", b"2")
    assert lake("POST", COMMIT, ONE, 201, idempotency_key="k")["message"] == "one"


@pytest.mark.parametrize("first", ["plain", "task"])
def test_a_running_commit_and_its_task_make_one_commit(
    lake: Working, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a timeout of a proxy: the first request has folded everything when the second one arrives."""
    held, go = _hold_the_first_swap(monkeypatch)
    request = CommitRequest(message="one", committer="admin", allow_empty=True)

    async def plain() -> str:
        return (await lake.engine.commits.create("lake", "main", request, "k")).id

    async def task() -> str:
        return (await lake.engine.tasks.begin_commit("lake", "main", request, key="k", wait=10))[0].result["commit"]

    async def race() -> tuple[str, str]:
        ways = (plain, task) if first == "plain" else (task, plain)
        begun = asyncio.ensure_future(ways[0]())
        await until(lambda: held, "the first call is held")
        other = asyncio.ensure_future(ways[1]())
        await asyncio.sleep(0.02)  # time for the other call to find the first one at work
        go.set()
        return await begun, await other

    mine, others = lake.runner.run(race())
    assert mine == others
    assert lake.log() == ["one", "Repository created"]


@pytest.mark.parametrize("what", ["commit", "revert", "cherry-pick"])
def test_a_lost_answer_of_the_database_is_settled_by_the_key(
    lake: Working, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch is applied, but the store never reports it, however often it is asked."""
    asked: dict[str, tuple[str, dict[str, Any], int]] = {
        "commit": (COMMIT, ONE, 201),
        "revert": (REVERT, {"ref": "main", "parent_number": 0, "commit_overrides": {"message": "one"}}, 204),
        "cherry-pick": (PICK, {"ref": "dev"}, 201),
    }
    if what != "commit":
        lake.commit("base")
        lake("POST", REPO + "/branches", {"name": "dev", "source": "main"}, 201)
        lake.put("b", b"2", "dev")
        lake.commit("one", "dev")
    before = lake.log()
    inner = lake.kv.apply

    async def apply(batch: Batch) -> None:
        await inner(batch)
        if any(put.key.startswith(TASK_KEYS) for put in batch.puts):
            raise OutcomeUnknownError("the answer was lost")

    monkeypatch.setattr(lake.kv, "apply", apply)
    url, body, status = asked[what]
    made = lake("POST", url, body, status, idempotency_key="k")
    assert lake.log() == ["one", *before]
    again = lake("POST", url, body, status, idempotency_key="k")
    assert what == "revert" or again == made
    assert lake.log() == ["one", *before]


def test_keys_are_forgotten_by_the_cleaner(lake: Working) -> None:
    for n in range(150):
        lake("POST", COMMIT, {"message": "x", "allow_empty": True}, 201, idempotency_key=str(n))
    partition = next(name for name in lake.kv._partitions if name.startswith("repo/"))

    def left() -> int:
        return sum(
            len(lake.runner.run(lake.kv.scan(partition, start, start + b"\xff", 1000))) for start in (TASKS, TASK_KEYS)
        )

    assert left() == 300
    lake.runner.run(lake.engine.maintenance.clean())
    assert left() == 300
    lake.clock.time += REMEMBERED + 1
    lake.runner.run(lake.engine.maintenance.clean())
    assert left() == 0
