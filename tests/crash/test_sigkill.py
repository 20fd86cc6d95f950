"""SIGKILL of a real server under load: nothing that it acknowledged is lost (`PROTOCOL.md` 7.5).

Writers and committers keep a server busy over plain HTTP, without retries, and note what was acknowledged. It is
killed at a random moment, started again over the same data, and every acknowledged upload, delete and commit must be
there. On SQLite and on PostgreSQL. The seed is printed; LAKEBED_KILLS asks for more kills than the usual number.
Each kill must cut off requests: how many is counted at the moment of the kill.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import lakebed
import pytest

from tests.support.postgres import Postgres, running_postgres
from tests.support.server import RunningServer, running_server
from tests.support.waiting import PATIENCE

KILLS = int(os.environ.get("LAKEBED_KILLS", "50"))
WRITERS = 8
COMMITTERS = 2
"""Seconds: a machine that stands still for a while is no answer, and leaves nobody whom a kill could cut off."""


class Load:
    """What was asked for and what was acknowledged. Each writer has its own paths, so each path has one history."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.acknowledged: dict[str, str | None] = {}
        self.maybe: dict[str, set[str | None]] = {}
        self.commits: list[str] = []
        self.operations = 0
        self.unexpected: list[str] = []
        self.under_way = 0
        self.cut_off: list[int] = []
        """How many requests were under way at each kill."""

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request while nobody knows its answer."""
        with self.lock:
            self.under_way += 1
        try:
            yield
        finally:
            with self.lock:
                self.under_way -= 1

    def kill(self, server: RunningServer) -> None:
        """SIGKILL, and note how many requests it meets."""
        with self.lock:  # held: no request ends in between
            self.cut_off.append(self.under_way)
            server.process.kill()

    def write(self, client: httpx.Client, writer: int, number: int) -> None:
        """Upload or delete one path; what was asked without an answer may or may not be there."""
        path = f"w{writer}/{number % 40:02d}"
        value = None if number % 7 == 6 else f"{writer}:{number}"
        with self.lock:
            self.maybe.setdefault(path, set()).add(value)
        url = "/branches/main/objects"
        with self.request():
            if value is None:
                answer = client.delete(url, params={"path": path})
            else:
                answer = client.post(url, params={"path": path}, content=value.encode())
        with self.lock:
            if answer.status_code not in (201, 204):
                self.unexpected.append(f"{answer.status_code} {answer.text[:200]}")
                return
            self.acknowledged[path] = value
            self.maybe[path] = set()
            self.operations += 1

    def commit(self, client: httpx.Client, number: int) -> None:
        """Commit; having nothing to commit is fine."""
        with self.request():
            answer = client.post("/branches/main/commits", json={"message": f"commit {number}"})
        with self.lock:
            if answer.status_code == 201:
                self.commits.append(answer.json()["id"])
                self.operations += 1
            elif answer.status_code not in (400, 429):
                self.unexpected.append(f"{answer.status_code} {answer.text[:200]}")


def client_of(server: RunningServer) -> httpx.Client:
    return httpx.Client(
        base_url=f"{server.endpoint}/api/v1/repositories/lake",
        auth=(server.access_key_id, server.secret_access_key),
        timeout=PATIENCE,
    )


def run_until_dead(server: RunningServer, job: Callable[[httpx.Client, int], None], numbers: range) -> threading.Thread:
    """A thread that works until the server is gone."""

    def work() -> None:
        with client_of(server) as client:
            for number in numbers:
                try:
                    job(client, number)
                except httpx.TransportError:
                    return

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def kill_under_load(server: RunningServer, load: Load, round_number: int, seconds: float) -> None:
    begin = round_number * 1_000_000
    before = load.operations
    threads = [
        run_until_dead(server, lambda client, n, w=writer: load.write(client, w, n), range(begin, begin + 1_000_000))  # type: ignore[misc]
        for writer in range(WRITERS)
    ]
    threads += [run_until_dead(server, load.commit, range(begin, begin + 1_000_000)) for _ in range(COMMITTERS)]
    deadline = time.monotonic() + PATIENCE
    while load.operations < before + 50 and time.monotonic() < deadline:
        time.sleep(0.01)  # the kill must meet a server that is busy
    time.sleep(seconds)  # a random moment is what this is about: no condition stands for "anywhere in the work"
    load.kill(server)
    server.process.wait()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def check(server: RunningServer, load: Load) -> None:
    """Everything acknowledged is there, nothing else is, and the branch still works."""
    main = (
        lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key, timeout=PATIENCE)
        .repository("lake")
        .branch("main")
    )
    assert load.unexpected == []
    history = [commit.id for commit in main.log()]
    assert len(history) == len(set(history))
    assert set(load.commits) <= set(history), "an acknowledged commit is not in history"
    found = {item.path: main.get(item.path).decode() for item in main.list()}
    for path in load.maybe.keys() | load.acknowledged.keys():
        possible = {load.acknowledged.get(path), *load.maybe.get(path, ())}
        assert found.get(path) in possible, f"{path}: {found.get(path)!r}, not one of {possible}"
    assert found.keys() <= load.maybe.keys()
    for path in load.maybe:  # what is there now is what later rounds start from
        load.acknowledged[path] = found.get(path)
        load.maybe[path] = set()


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running_postgres() as started:
        yield started


@pytest.fixture(params=["sqlite", "postgres"])
def environment(request: pytest.FixtureRequest) -> dict[str, str]:
    """The settings of the KV store that is tried."""
    if request.param == "sqlite":
        return {}
    started: Postgres = request.getfixturevalue("postgres")
    return {"LAKEBED_KV_TYPE": "postgres", "LAKEBED_KV_POSTGRES_DSN": started.dsn}


@pytest.mark.slow
def test_killed_under_load(
    tmp_path: Path, environment: dict[str, str], record_property: Callable[[str, object], None]
) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    load = Load()
    data = tmp_path / "data"
    for round_number in range(KILLS):
        with running_server(data, environment=environment) as server:
            if round_number == 0:
                lake = lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key)
                lake.repository("lake").create("local://lake")
            else:
                check(server, load)
            kill_under_load(server, load, round_number, chance.uniform(0, 0.3))
    with running_server(data, environment=environment) as server:
        check(server, load)
    record_property("kills", len(load.cut_off))
    record_property("operations_checked", load.operations)
    record_property("commits_checked", len(load.commits))
    record_property("requests_cut_off", sum(load.cut_off))
    record_property("fewest_requests_cut_off", min(load.cut_off))
    assert len(load.cut_off) == KILLS
    assert load.operations >= 50 * KILLS
    assert len(load.commits) >= KILLS
    assert min(load.cut_off) >= 1, f"a kill met an idle server: {load.cut_off}"
    assert sum(load.cut_off) >= (WRITERS + COMMITTERS) * KILLS / 2, "the server was hardly busy"
