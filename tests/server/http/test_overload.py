"""Twenty times what the machine can do: answers come soon, nothing acknowledged is lost, memory is bounded.

The *capacity* of the machine is what the settings of this server say: CAPACITY requests that are worked on at the same
time, and LINKS connections. Twenty times as many clients ask without a pause but for the `Retry-After` of a refusal,
and twenty times as many connections are opened; most of them never send a whole request. Latencies are medians of the
answered requests of each kind, seen by the clients; *unloaded* is one client alone, on the same server, just before. A
user of the SDK works all the time, and health is asked for on a new connection each time. LAKEBED_OVERLOAD: seconds of
the load, on a machine that does nothing else.
"""

from __future__ import annotations

import http.client
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import lakebed
import psutil
import pytest

from tests.server.overloading import KINDS, Seen, hostile, load
from tests.server.serving import PAIR, Process, request
from tests.support.waiting import PATIENCE, wait_until

SECONDS = float(os.environ.get("LAKEBED_OVERLOAD", "5"))
ALONE = "LAKEBED_OVERLOAD" in os.environ
SLOWER = 3
"""Times as long as alone that an answer may take; without admission it is 40. Judged only on a machine that does
nothing else: among other tests the figure says what they were doing. `test_admission` checks the queue."""
CAPACITY = 2
"""Requests at the same time: one for each core, as docs/operations.md advises for short answer times."""
LINKS = 150
TIMES = 20
CACHE = 64 << 20
HEALTH_TRIES = 3
"""Load balancers take a server out after some failures in a row."""

TRIES = 3
"""Of the latencies: other work on the machine may come to one of the two measurements only."""

Start = Callable[..., tuple[Process, int]]
KEYS = (PAIR["LAKEBED_ADMIN_ACCESS_KEY_ID"], PAIR["LAKEBED_ADMIN_SECRET_ACCESS_KEY"])
MEMORY = CACHE + LINKS * (128 << 10) + CAPACITY * (2 << 20)
"""What the server may take beyond what it has when it is idle: the sum that docs/operations.md gives."""


class Watch:
    """Checks the server continuously: its memory, its health, and the calls of an SDK client."""

    def __init__(self, server: Process, port: int) -> None:
        self._process = psutil.Process(server.process.pid)
        self._port = port
        self._stop = threading.Event()
        self.most_memory = 0
        self.health: list[float] = []
        self.health_refused = 0
        self.written = 0
        self.failures: list[BaseException] = []
        self._threads = [threading.Thread(target=self._guard, args=(job,)) for job in (self._look, self._work)]

    def __enter__(self) -> Watch:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _guard(self, job: Callable[[], None]) -> None:
        try:
            while not self._stop.wait(0.1):
                job()
        except BaseException as error:
            self.failures.append(error)

    def _look(self) -> None:
        self.most_memory = max(self.most_memory, self._process.memory_info().rss)
        began = time.monotonic()
        # a burst can fill all connections between two turns of the server's loop: a health check then comes again
        assert any(self._is_healthy() for _ in range(HEALTH_TRIES))
        self.health.append(time.monotonic() - began)

    def _is_healthy(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        try:
            connection.request("GET", "/_health")
            status = connection.getresponse().status
        except OSError:
            status = 0
        finally:
            connection.close()
        self.health_refused += status != 200
        return status == 200

    def _work(self) -> None:
        """As a user does: the SDK repeats what the server refuses, and the user what the SDK gives up."""
        with lakebed.connect(f"http://127.0.0.1:{self._port}", *KEYS) as lake, suppress(lakebed.errors.ThrottledError):
            branch = lake.repository("lake").branch("sdk")
            branch.put(f"o-{self.written}", b"x" * 1000)
            branch.commit(f"c-{self.written}", allow_empty=True)
            assert branch.get(f"o-{self.written}") == b"x" * 1000
            self.written += 1


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    made: list[Process] = []
    small = {
        "LAKEBED_LIMITS_REQUESTS": str(CAPACITY),
        "LAKEBED_LIMITS_HEAVY_REQUESTS": "1",
        "LAKEBED_LIMITS_QUEUE": "2",
        "LAKEBED_LIMITS_CONNECTIONS": str(LINKS),
        "LAKEBED_CACHE_MEMORY": str(CACHE),
    }

    def start(limits: Mapping[str, str] = small) -> tuple[Process, int]:
        flags = ("--port", "0", "--data-dir", str(tmp_path / "data"), "--log-level", "NONE")
        made.append(Process(*flags, HOME=str(tmp_path), **PAIR, **limits))
        return made[-1], made[-1].ready()

    yield start
    for one in made:
        one.end()


@pytest.mark.slow
def test_overloaded(start: Start, record_property: Callable[[str, object], None]) -> None:
    server, port = start()
    assert request(port, "POST", "/repositories", b'{"name":"lake","storage_namespace":"local://lake"}')[0] == 201
    assert request(port, "POST", "/repositories/lake/branches", b'{"name":"sdk","source":"main"}')[0] == 201
    assert request(port, "POST", "/repositories/lake/branches/main/objects?path=known", b"known")[0] == 201
    for number in range(100):
        body = b'{"message":"%d","allow_empty":true}' % number
        assert request(port, "POST", "/repositories/lake/branches/main/commits", body)[0] == 201
    load(port, KEYS, 1, 1)  # warm
    idle = psutil.Process(server.process.pid).memory_info().rss
    written, sdk = Seen(), list[int]()
    for _ in range(TRIES):
        alone = load(port, KEYS, 1, max(2.0, SECONDS / 4))
        with hostile(port, TIMES * (LINKS - CAPACITY)), Watch(server, port) as watch:
            seen = load(port, KEYS, TIMES * CAPACITY, SECONDS, processes=2)
        written.add(alone)
        written.add(seen)
        sdk.append(watch.written)
        ratios = {kind: seen.median(kind) / alone.median(kind) for kind in KINDS}
        if not ALONE or max(ratios.values()) <= SLOWER:
            break
    for name, value in {
        "answered": sum(map(len, seen.seconds.values())),
        "refused": seen.refusals,
        **{f"{kind}_ms_alone": round(1000 * alone.median(kind), 2) for kind in KINDS},
        **{f"{kind}_ratio": round(ratio, 2) for kind, ratio in ratios.items()},
        "memory_mib": (watch.most_memory - idle) >> 20,
        "slowest_health_ms": round(1000 * max(watch.health)),
        "health_refused": watch.health_refused,
        "sdk_commits": sum(sdk),
    }.items():
        record_property(name, value)
    assert watch.failures == []
    assert written.others == []
    assert seen.refusals > CAPACITY, "the server had not enough to do"
    assert watch.written >= 1
    assert watch.most_memory - idle < MEMORY
    assert not ALONE or max(ratios.values()) <= SLOWER, ratios
    assert server.stop() == 0
    server, port = start()
    for path in written.stored:
        assert request(port, "GET", f"/repositories/lake/refs/main/objects?path={path}") == (200, path.encode() * 20)
    for path in written.refused:
        assert request(port, "GET", f"/repositories/lake/refs/main/objects?path={path}")[0] == 404
    for number in range(max(sdk)):
        assert request(port, "GET", f"/repositories/lake/refs/sdk/objects?path=o-{number}")[0] == 200


@pytest.mark.slow
def test_500_silent_and_half_open_connections(start: Start, record_property: Callable[[str, object], None]) -> None:
    """With the default settings: clients work as if they were not there."""
    server, port = start({})
    assert request(port, "POST", "/repositories", b'{"name":"lake","storage_namespace":"local://lake"}')[0] == 201
    assert request(port, "POST", "/repositories/lake/branches", b'{"name":"sdk","source":"main"}')[0] == 201
    assert request(port, "POST", "/repositories/lake/branches/main/objects?path=known", b"known")[0] == 201
    with hostile(port, 500):
        wait_until(lambda: open_connections(server) >= 500, "all of them are connected")
        with Watch(server, port) as watch:
            seen = load(port, KEYS, 4, SECONDS / 2)
    record_property("answered_with_500_silent", sum(map(len, seen.seconds.values())))
    assert (watch.failures, seen.others, seen.refusals) == ([], [], 0)
    assert watch.written >= 1
    assert all(seen.seconds[kind] for kind in KINDS)
    assert server.stop() == 0


def open_connections(server: Process) -> int:
    found = psutil.Process(server.process.pid).net_connections("tcp")
    return sum(1 for one in found if one.status == psutil.CONN_ESTABLISHED)
