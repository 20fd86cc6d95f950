"""Eight processes commit workspaces onto one branch of a real server: each acknowledged commit is in history once.

LAKEBED_WORKSPACES asks for more workspaces of each process than the usual number: `make correctness` takes 200. They
are forked from a process that has imported the SDK.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import lakebed
import pytest

from tests.support.processes.server import RunningServer, running_server
from tests.support.sizes import sized
from tests.support.waiting import PATIENCE

PROCESSES = 8
WORKSPACES = int(os.environ.get("LAKEBED_WORKSPACES", sized(25)))


def path_of(process: int, number: int) -> str:
    return f"p{process}/{number:04}"


def text_of(process: int, number: int) -> str:
    return f"object {number} of process {process}"


def work(endpoint: str, key: str, secret: str, process: int, count: int) -> list[str]:
    """Commit `count` workspaces with one object each, as fast as possible. Returns the ids in order.

    Runs in a process of its own.
    """
    with lakebed.connect(endpoint, key, secret, timeout=PATIENCE) as lake:
        main = lake.repository("lake").branch("main")
        return [_one(main, process, number) for number in range(count)]


def _one(main: lakebed.Branch, process: int, number: int) -> str:
    work = main.workspace(retry_for=300)
    work.put(path_of(process, number), text_of(process, number).encode())
    return work.commit(path_of(process, number)).id


@pytest.mark.slow
def test_eight_processes_commit_onto_one_branch(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    with running_server(tmp_path / "data") as server:
        main = connected(server).repository("lake").create("local://lake").branch("main")
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["pytest", __name__])
        with ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
            access = (server.endpoint, server.access_key_id, server.secret_access_key)
            jobs = [pool.submit(work, *access, process, WORKSPACES) for process in range(PROCESSES)]
            answered = [job.result() for job in jobs]
        check(main, answered)
        record_property("workspace_commits", sum(map(len, answered)))


def connected(server: RunningServer) -> lakebed.Lake:
    return lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key, timeout=PATIENCE)


def check(main: lakebed.Branch, answered: list[list[str]]) -> None:
    """History has what was answered, nothing else and nothing twice; and each object is there as it was written."""
    wanted = {
        answered[process][number]: path_of(process, number)
        for process in range(PROCESSES)
        for number in range(WORKSPACES)
    }
    assert len(wanted) == PROCESSES * WORKSPACES
    *made, first = main.log(first_parent=True)
    assert {commit.id: commit.message for commit in made} == wanted
    assert len(made) == len(wanted)
    assert first.parents == ()
    line = [commit.id for commit in made]
    for ids in answered:  # each process made its next one when the one before was answered
        assert [one for one in reversed(line) if one in set(ids)] == ids
    assert main.uncommitted().first() is None
    assert {item.path: main.get(item.path).decode() for item in main.list()} == {
        path_of(process, number): text_of(process, number)
        for process in range(PROCESSES)
        for number in range(WORKSPACES)
    }
    for number, commit in enumerate(made):
        if number % 20 == 0:  # each holds its own object and those of the ones before, no more
            assert [change.path for change in main.repository.ref(commit.parents[0]).diff(commit.id)] == [
                commit.message
            ]
