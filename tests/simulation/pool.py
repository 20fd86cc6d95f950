"""Many schedules in several processes, and what they came to.

Each process remembers pure work of its own (`memo`); the outcome of a seed depends on nothing but the seed, so it does
not matter which process runs it.
"""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field

from tests.simulation.simulate import simulate

_CHUNK = 100
"""Schedules that a process takes in one piece: half a second."""


@dataclass(slots=True)
class Failure:
    """A seed whose schedule broke a property."""

    seed: int
    mix: str
    violation: str


@dataclass(slots=True)
class Run:
    """What a row of schedules came to. `seconds` are of the wall clock, `cpu_seconds` of all processes together."""

    start: int
    jobs: int = 1
    schedules: int = 0
    steps: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    mixes: Counter[str] = field(default_factory=Counter)
    policies: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def add(self, other: Run) -> None:
        """Take in what a part of the row came to."""
        self.schedules += other.schedules
        self.steps += other.steps
        self.cpu_seconds += other.cpu_seconds
        self.mixes.update(other.mixes)
        self.policies.update(other.policies)
        self.failures += other.failures


def part(seeds: Sequence[int]) -> Run:
    """Run some schedules here, one after another."""
    gc.set_threshold(100_000, 20, 100)  # schedules make garbage in bulk, and little of it has cycles
    done, started = Run(seeds[0]), time.process_time()
    for seed in seeds:
        outcome = simulate(seed)
        done.schedules += 1
        done.steps += outcome.steps
        done.mixes[outcome.mix] += 1
        done.policies[outcome.policy] += 1
        if outcome.violation:
            done.failures.append(Failure(seed, outcome.mix, outcome.violation))
    done.cpu_seconds = time.process_time() - started
    return done


def run(
    seeds: range, jobs: int, stop: int = 20, show: Callable[[int, str, str], None] = lambda seed, mix, found: None
) -> Run:
    """Run the schedules of these seeds in `jobs` processes; stop soon after `stop` failures. Calls `show` for each."""
    total, started = Run(seeds.start, jobs), time.monotonic()
    parts = iter([seeds[at : at + _CHUNK] for at in range(0, len(seeds), _CHUNK)])
    for done in _parts(parts, jobs):
        total.add(done)
        for failure in done.failures:
            show(failure.seed, failure.mix, failure.violation)
        if len(total.failures) >= stop:
            break
    total.failures.sort(key=lambda failure: failure.seed)
    total.seconds = time.monotonic() - started
    return total


def _parts(parts: Iterator[range], jobs: int) -> Iterator[Run]:
    if jobs == 1:
        yield from map(part, parts)
        return
    # not forked: Arrow has threads
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        running: set[Future[Run]] = set()
        try:
            while True:
                while len(running) < 2 * jobs and (seeds := next(parts, None)) is not None:
                    running.add(pool.submit(part, seeds))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for one in done:
                    yield one.result()
        finally:
            for one in running:
                one.cancel()
