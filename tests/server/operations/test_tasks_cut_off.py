"""A server stops or dies after the work of a task: before it writes the end, or before it cleans up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.ingest import import_task
from lakebed_engine.operations.recovery import dump_restore
from lakebed_engine.operations.tasks import runner as tasks_module

from tests.server.lake import REPO
from tests.server.slow_tasks import IMPORT, Held, Working

FOLDER = ("common_prefix", "mem://elsewhere/in/", "dest/")
MISSING = ("object", "mem://elsewhere/none", "a")

CutOff = Callable[[], None]
"""Lets another server take over what the first one, which is held, was at."""


@pytest.fixture
def lake() -> Iterator[Working]:
    lake = Working()
    yield lake
    lake.close()


@pytest.fixture
def hold(lake: Working, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str], Held]:
    """Make callers of this function wait until the event is set; `cut_off` ends that for later calls."""

    def hold(where: Any, name: str) -> Held:
        go, inner = Held(), getattr(where, name)

        async def held(*args: Any, **options: Any) -> Any:
            go.reached = True
            await go.wait()
            return await inner(*args, **options)

        monkeypatch.setattr(where, name, held)
        return go

    return hold


@pytest.fixture(params=["dead", "only slow"])
def cut_off(lake: Working, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[CutOff]:
    firsts: list[Engine] = []

    def cut_off() -> None:
        monkeypatch.undo()
        if request.param == "dead":
            lake.restart()
        else:
            firsts.append(lake.another())
        lake.clock.time += lake.tuning.task_silence + 1

    yield cut_off
    for engine in firsts:
        lake.runner.run(engine.close())


def wakes_up(lake: Working, held: Held) -> None:
    """The first server continues its task to the end, if it lives."""
    held.set()
    lake.until_idle()


def workspaces(lake: Working, state: str) -> list[str]:
    return [row["id"] for row in lake("GET", f"{REPO}/workspaces?state={state}")["results"]]


def test_failed_import_has_its_error_when_another_server_ends_it(
    lake: Working, hold: Callable[[Any, str], Held], cut_off: CutOff
) -> None:
    """Seed 379369616965 of the simulation: the error was "workspace closed", as the first server had dropped it."""
    held = hold(tasks_module.Work, "fail")
    task = lake.start(MISSING)["id"]
    lake.until(lambda: held.reached)
    assert workspaces(lake, "open") == [task]  # it is still the other server's to work in
    cut_off()
    status = lake.ended(f"{IMPORT}?id={task}")
    assert status["error"]["kind"] == "object_not_found"
    assert "mem://elsewhere/none" in status["error"]["message"]
    wakes_up(lake, held)
    assert lake("GET", f"{IMPORT}?id={task}")["error"] == status["error"]
    assert (workspaces(lake, "open"), workspaces(lake, "reverted")) == ([], [task])


def test_import_without_changes_is_done_when_another_server_ends_it(
    lake: Working, hold: Callable[[Any, str], Held], cut_off: CutOff
) -> None:
    lake.outside("in/a.csv")
    commit = lake.ended(f"{IMPORT}?id={lake.start(FOLDER)['id']}")["commit"]
    held = hold(tasks_module.Work, "end")
    task = lake.start(FOLDER)["id"]
    lake.until(lambda: held.reached)
    cut_off()
    status = lake.ended(f"{IMPORT}?id={task}")
    assert "error" not in status
    assert status["commit"] == commit
    wakes_up(lake, held)
    assert lake("GET", f"{IMPORT}?id={task}") == status
    assert lake.log() == ["imported", "Repository created"]
    assert (workspaces(lake, "open"), workspaces(lake, "reverted")) == ([], [task])


def test_workspace_of_a_failed_import_is_dropped_after_the_server_dies(
    lake: Working, hold: Callable[[Any, str], Held], cut_off: CutOff
) -> None:
    held = hold(import_task, "drop")
    task = lake.start(MISSING)["id"]
    lake.until(lambda: held.reached)
    status = lake.ended(f"{IMPORT}?id={task}")
    assert status["error"]["kind"] == "object_not_found"
    assert workspaces(lake, "open") == [task]
    cut_off()
    tidied_up(lake, task)
    wakes_up(lake, held)
    assert lake("GET", f"{IMPORT}?id={task}") == status


def test_workspace_of_a_cancelled_import_is_dropped_after_the_server_dies(
    lake: Working, hold: Callable[[Any, str], Held], cut_off: CutOff
) -> None:
    held = hold(import_task, "advance")
    lake.outside("in/a.csv")
    task = lake.start(FOLDER)["id"]
    lake.until(lambda: held.reached)
    lake("DELETE", f"{IMPORT}?id={task}", expect=204)
    assert workspaces(lake, "open") == [task]
    cut_off()
    tidied_up(lake, task)
    wakes_up(lake, held)
    assert lake("GET", f"{IMPORT}?id={task}")["error"]["kind"] == "cancelled"
    assert lake.log() == ["Repository created"]


def test_workspace_of_an_import_is_dropped_after_an_internal_error(
    lake: Working, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(import_task, "_objects", broken)
    task = lake.start(MISSING)["id"]
    error = lake.ended(f"{IMPORT}?id={task}")["error"]
    assert error["kind"] == "internal"
    lake.clock.time += lake.tuning.task_silence + 1
    tidied_up(lake, task)
    assert lake("GET", f"{IMPORT}?id={task}")["error"] == error


def tidied_up(lake: Working, task: str) -> None:
    """One pass over all repositories drops the workspace of a task that is over, and does not begin the task again."""
    assert lake.runner.run(lake.engine.tasks.resume()) == 0
    assert (workspaces(lake, "open"), workspaces(lake, "reverted")) == ([], [task])


def test_completed_restore_is_done_when_another_server_ends_it(
    lake: Working, hold: Callable[[Any, str], Held], cut_off: CutOff
) -> None:
    """Before, the task reported that nothing was restored, because the branches of the first server existed already."""
    lake.put("a", b"1")
    lake.commit("one")
    dump = lake("PUT", REPO + "/refs/dump", None, 201)
    lake("POST", "/repositories?bare=true", {"name": "copy", "storage_namespace": "mem://copy"}, 201)
    lake.runner.run(copied(lake))
    held = hold(tasks_module.Work, "end")
    task = lake("POST", "/repositories/copy/restore", dump, 202)["id"]
    lake.until(lambda: held.reached)
    cut_off()
    status = lake.ended(f"/repositories/copy/restore?task_id={task}")
    assert "error" not in status
    wakes_up(lake, held)
    assert lake("GET", f"/repositories/copy/restore?task_id={task}") == status
    assert [row["id"] for row in lake("GET", "/repositories/copy/branches")["results"]] == ["main"]


def test_two_servers_at_one_restore_restore_once(
    lake: Working, hold: Callable[[Any, str], Held], cut_off: CutOff
) -> None:
    """The second one is faster: the first finds the branches, and that they are those of its own task."""
    lake.put("a", b"1")
    lake.commit("one")
    dump = lake("PUT", REPO + "/refs/dump", None, 201)
    lake("POST", "/repositories?bare=true", {"name": "copy", "storage_namespace": "mem://copy"}, 201)
    lake.runner.run(copied(lake))
    held = hold(dump_restore, "apply")
    task = lake("POST", "/repositories/copy/restore", dump, 202)["id"]
    lake.until(lambda: held.reached)
    cut_off()
    status = lake.ended(f"/repositories/copy/restore?task_id={task}")
    wakes_up(lake, held)
    assert lake("GET", f"/repositories/copy/restore?task_id={task}") == status
    assert "error" not in status


async def copied(lake: Working) -> None:
    """The bucket, without what is staged."""
    source, target = lake.stores.open("mem://lake"), lake.stores.open("mem://copy")
    async for blob in source.list("_lakebed/"):
        if blob.key.startswith(("_lakebed/dumps/", "_lakebed/ranges/", "_lakebed/metaranges/", "_lakebed/patches/")):
            await target.put(blob.key, await source.get(blob.key))
