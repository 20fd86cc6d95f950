"""What goes wrong, and when: a plan drawn from a seed, and the threads that carry it out.

Each server, the database and the bucket have a plan of their own, one fault after another. Faults of different targets
overlap.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.histories.cluster import SERVERS, Cluster
from tests.support.faults.tcp_proxy import TcpProxy

DATABASE, BUCKET = SERVERS, SERVERS + 1
"""Targets behind the servers, which have their numbers."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong, `at` seconds after the start of the load, for `seconds`."""

    at: float
    target: int
    kind: str
    seconds: float


@dataclass(frozen=True, slots=True)
class _Kind:
    weight: int
    least: float
    most: float


_OF_A_SERVER = {
    "pause": _Kind(5, 0.1, 8.0),
    "kill": _Kind(4, 0.0, 2.0),
    "drop connections": _Kind(3, 0.0, 0.0),
    "refuse connections": _Kind(2, 0.1, 3.0),
    "lose answers": _Kind(5, 0.05, 1.0),
    "stall requests": _Kind(2, 0.1, 6.0),
    "stall answers": _Kind(3, 0.1, 6.0),
    "delay": _Kind(2, 0.5, 4.0),
    "half-close to the server": _Kind(1, 0.0, 0.0),
    "half-close to the database": _Kind(1, 0.0, 0.0),
}
_OF_THE_DATABASE = {"database crash": _Kind(1, 0.0, 0.0)}
_OF_THE_BUCKET = {
    "drop bucket connections": _Kind(1, 0.0, 0.0),
    "stall bucket": _Kind(2, 0.1, 3.0),
    "delay bucket": _Kind(1, 0.5, 3.0),
}
_DELAY = 0.1
"""Seconds that each piece of data waits in a delay."""


def plan(seed: int, seconds: float, crashes: float = 20.0) -> list[Fault]:
    """The faults of a run, the same for the same seed. `crashes`: mean seconds between crashes of the database."""
    targets = [(_OF_A_SERVER, 2.0)] * SERVERS + [(_OF_THE_DATABASE, crashes), (_OF_THE_BUCKET, 8.0)]
    found = []
    for target, (kinds, gap) in enumerate(targets):
        chance = random.Random(f"{seed} {target}")
        at = chance.uniform(1.0, 1.0 + gap)
        while at < seconds - 1.0:
            name = chance.choices(list(kinds), [one.weight for one in kinds.values()])[0]
            kind = kinds[name]
            lasting = min(kind.least + (kind.most - kind.least) * chance.random() ** 2, seconds - at)
            found.append(Fault(round(at, 3), target, name, round(lasting, 3)))
            at += lasting + chance.uniform(0.3, 2 * gap)
    return sorted(found, key=lambda one: one.at)


class Faults:
    """Carries out a plan while inside; at the end everything runs again. Then raises what went wrong on our side."""

    def __init__(self, cluster: Cluster, planned: list[Fault]) -> None:
        self.done: Counter[str] = Counter()
        self._cluster = cluster
        self._planned = planned
        self._ending = threading.Event()
        self._broken: list[BaseException] = []
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._run, args=(target,), name=f"faults-{target}")
            for target in sorted({one.target for one in planned})
        ]

    def __enter__(self) -> Faults:
        self._started = time.monotonic()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join()
        if self._broken:
            raise self._broken[0]

    def _run(self, target: int) -> None:
        try:
            for fault in [one for one in self._planned if one.target == target]:
                if self._ending.wait(max(0.0, self._started + fault.at - time.monotonic())):
                    return
                with self._happening(fault):
                    self._ending.wait(fault.seconds)
                with self._lock:
                    self.done[fault.kind] += 1
        except BaseException as error:
            self._broken.append(error)

    @contextmanager
    def _happening(self, fault: Fault) -> Iterator[None]:
        """While inside, it is so; at the end, it is over."""
        match fault.kind:
            case "pause":
                self._cluster.pause(fault.target)
                try:
                    yield
                finally:
                    self._cluster.go_on(fault.target)
            case "kill":
                self._cluster.kill(fault.target)
                try:
                    yield
                finally:
                    self._cluster.start(fault.target)
            case "database crash":
                self._cluster.crash_the_database()
                yield
            case _:
                proxy = self._cluster.bucket if fault.target == BUCKET else self._cluster.databases[fault.target]
                with _broken_connections(proxy, fault.kind.replace(" bucket", "")):
                    yield


@contextmanager
def _broken_connections(proxy: TcpProxy, kind: str) -> Iterator[None]:
    match kind:
        case "drop connections":
            proxy.reset()
            yield
        case "refuse connections":
            with proxy.refusing():
                yield
        case "lose answers":
            with proxy.losing("answers"):
                yield
        case "stall requests":
            with proxy.stalled("requests"):
                yield
        case "stall answers":
            with proxy.stalled("answers"):
                yield
        case "stall":
            with proxy.stalled("requests", "answers"):
                yield
        case "delay":
            with proxy.delayed(_DELAY):
                yield
        case "half-close to the server":
            proxy.half_close("answers")
            yield
        case "half-close to the database":
            proxy.half_close("requests")
            yield
        case _:
            raise AssertionError(f"no such fault: {kind}")
