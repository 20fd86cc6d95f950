"""A real server under load that is killed repeatedly, and the check of what it had acknowledged.

Writers and committers keep it busy over plain HTTP, without retries, and note what was acknowledged. It is killed at a
random moment, started again over the same data, and every acknowledged upload, delete and commit must be there. How
many requests each kill cuts off is counted at its moment.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import lakebed

from tests.support.processes.server import RunningServer, running_server
from tests.support.waiting import PATIENCE, wait_until

WRITERS = 8
COMMITTERS = 2
_BUSY = 50
"""Operations of a round that are acknowledged before its kill: it must meet a server at work."""


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
        """Count a request whose answer is not known yet."""
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

    def assert_met(self, kills: int) -> None:
        """Assert the number of kills, each of a server at work."""
        assert len(self.cut_off) == kills
        assert self.operations >= _BUSY * kills
        assert min(self.cut_off) >= 1, f"a kill met an idle server: {self.cut_off}"

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
    wait_until(lambda: load.operations >= before + _BUSY, "the server is busy", every=0.01)
    time.sleep(seconds)  # a random moment is what this is about: no condition can replace "anywhere in the work"
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


def killed_and_checked(
    data: Path, kills: int, environment: Mapping[str, str], after_kill: Callable[[], None] = lambda: None
) -> Load:
    """Kill a server over `data` `kills` times under load, and check after each that all acknowledged is there.

    Prints its seed. Calls `after_kill` while no server runs. The caller checks how much work there was.
    """
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    load = Load()
    for round_number in range(kills):
        with running_server(data, environment=environment) as server:
            if round_number == 0:
                lake = lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key)
                lake.repository("lake").create("local://lake")
            else:
                check(server, load)
            kill_under_load(server, load, round_number, chance.uniform(0, 0.3))
        after_kill()
    with running_server(data, environment=environment) as server:
        check(server, load)
    return load
