"""Schedules of the real engine under the seeded scheduler: 40 in `make check`, 240 in `make test`, 4,700 in
`make soak`.

A failure prints its seed; `python -m tests.simulation.run --seed N --trace` replays it. More: `make simulate`.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest

from tests.simulation import pool
from tests.simulation.pool import part, run
from tests.simulation.simulate import MIXES, Outcome, simulate
from tests.simulation.world.memo import forget
from tests.simulation.world.scheduler import Process, Scheduler, park
from tests.support.seeds import seed_of_the_engine
from tests.support.sizes import sized

pytestmark = pytest.mark.medium  # schedules of a run

PROCESS = Process("test")


def violations(start: int, count: int) -> list[str]:
    found = [simulate(seed) for seed in range(start, start + count)]
    return [f"seed {one.seed} ({one.mix}): {one.violation}" for one in found if one.violation]


def test_random_schedules_cause_no_violation() -> None:
    assert violations(0, sized(200, soak=400)) == []


def many(start: int, count: int, record: Callable[[str, object], None]) -> None:
    """Schedules on all cores, spread over the policies."""
    done = run(range(start, start + count), os.cpu_count() or 1)
    assert [f"seed {one.seed} ({one.mix}): {one.violation}" for one in done.failures] == []
    assert done.schedules == count
    assert set(done.policies) == {"random", "sticky", "pct"}
    assert min(done.policies.values()) > count / 8
    record("schedules", done.schedules)


@pytest.mark.soak
def test_schedules_that_are_always_the_same(record_property: Callable[[str, object], None]) -> None:
    many(400, 2000, record_property)


@pytest.mark.slow
@pytest.mark.parametrize("count", [160, pytest.param(2000, marks=pytest.mark.soak)])
def test_schedules_that_are_others_after_each_change(
    count: int, record_property: Callable[[str, object], None]
) -> None:
    many(seed_of_the_engine(), count, record_property)


def test_parts_of_a_run_add_up() -> None:
    done = run(range(7, 57), jobs=1)
    assert (done.schedules, done.start, done.failures) == (50, 7, [])
    assert sum(done.mixes.values()) == sum(done.policies.values()) == 50
    assert done.steps == part(range(7, 57)).steps


@pytest.mark.slow
def test_processes_do_not_matter_to_an_outcome() -> None:
    alone, together = run(range(900, 930), jobs=1), run(range(900, 930), jobs=3)
    assert (alone.steps, alone.mixes, alone.policies) == (together.steps, together.mixes, together.policies)
    assert alone.failures == together.failures


def test_run_stops_after_the_given_number_of_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(seed: int) -> Outcome:
        return Outcome(seed, "wrong" if seed % 10 == 3 else "", 1, "writes", "pct")

    monkeypatch.setattr(pool, "simulate", failing)
    heard: list[int] = []
    done = run(range(1000), jobs=1, stop=15, show=lambda seed, mix, violation: heard.append(seed))
    assert heard == [one.seed for one in done.failures] == list(range(3, 200, 10))
    assert done.schedules == 200


def test_equal_seeds_make_equal_schedules_in_any_order() -> None:
    forget()
    first, again = [
        {seed: traced(seed) for seed in seeds} for seeds in ([*range(30), 900, 901, 902], [902, 901, 900, *range(30)])
    ]
    assert first == again


def traced(seed: int) -> list[str]:
    lines: list[str] = []
    simulate(seed, lines.append)
    assert len(lines) > 10
    return lines


@pytest.mark.slow
def test_seeds_reach_every_mix_fault_and_policy() -> None:
    missing = {f"mix {mix}," for mix in MIXES}
    missing |= {"policy pct", "policy sticky", "lost_after", "crash_after", "late", "paused", "unavailable"}
    for seed in range(150):
        seen: list[str] = []
        simulate(seed, seen.append)
        missing = {word for word in missing if not any(word in line for line in seen)}
        if not missing:
            break
    assert missing == set()


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
