"""Schedules of the real engine under the seeded scheduler: a few hundred always, a few thousand in `make test`.

A failure prints its seed; `python -m tests.simulation.run --seed N --trace` replays it. More: `make simulate`.
"""

from __future__ import annotations

import random
import secrets

import pytest

from tests.simulation.scheduler import Process, Scheduler, park
from tests.simulation.simulate import MIXES, simulate

PROCESS = Process("test")


def violations(start: int, count: int) -> list[str]:
    found = [simulate(seed) for seed in range(start, start + count)]
    return [f"seed {one.seed} ({one.mix}): {one.violation}" for one in found if one.violation]


def test_some_schedules() -> None:
    assert violations(0, 400) == []


@pytest.mark.slow
def test_many_schedules() -> None:
    assert violations(400, 4000) == []


@pytest.mark.slow
def test_schedules_that_nobody_ran_before() -> None:
    assert violations(secrets.randbelow(1 << 40), 4000) == []


def test_one_seed_is_one_schedule() -> None:
    traces: list[list[str]] = []
    for _ in range(2):
        traces.append([])
        for seed in range(40):
            simulate(seed, traces[-1].append)
    assert traces[0] == traces[1]


def test_seeds_reach_every_mix_fault_and_policy() -> None:
    seen: list[str] = []
    for seed in range(150):
        simulate(seed, seen.append)
    lines = "\n".join(seen)
    for mix in MIXES:
        assert f"mix {mix}," in lines
    for word in ("policy pct", "policy sticky", "lost_after", "crash_after", "late", "paused", "unavailable"):
        assert word in lines


def test_a_gather_fails_as_a_whole_and_the_others_are_cancelled() -> None:
    scheduler = Scheduler(random.Random(1))
    ended: list[str] = []

    async def job(name: str) -> str:
        try:
            await park(5.0 if name == "slow" else 0.0)
            if name == "bad":
                raise ValueError(name)
            return name
        finally:
            ended.append(name)

    async def parent() -> None:
        assert await scheduler.gather([lambda: job("one"), lambda: job("two")], 2) == ["one", "two"]
        with pytest.raises(ValueError, match="bad"):
            await scheduler.gather([lambda: job("slow"), lambda: job("bad")], 2)
        ended.append("parent")

    scheduler.spawn("parent", PROCESS, parent())
    scheduler.run(1000)
    assert ended[-1] == "parent"
    assert sorted(ended[2:4]) == ["bad", "slow"]
    assert scheduler.time < 5


def test_a_crash_runs_no_handler() -> None:
    scheduler = Scheduler(random.Random(1))
    ran: list[str] = []

    async def victim() -> None:
        try:
            await park(1.0)
        finally:
            ran.append("handler")

    process = Process("victim")
    scheduler.spawn("victim", process, victim())
    scheduler._advance(scheduler._pick())
    scheduler.crash(process)
    scheduler.run(10)
    assert ran == []
    scheduler.close()
