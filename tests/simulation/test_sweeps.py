"""Sweeps under the seeded scheduler, with commits, pushes, merges, resets, crashes and lost answers."""

from __future__ import annotations

import pytest

from tests.simulation.sweeps import sweep_schedule
from tests.support.seeds import seed_of_the_engine

pytestmark = pytest.mark.medium  # drawn sweeps


def run(start: int, count: int) -> tuple[list[str], int]:
    found = [(seed, *sweep_schedule(seed)) for seed in range(start, start + count)]
    return [f"seed {seed}: {violation}" for seed, violation, _ in found if violation], sum(one[2] for one in found)


def test_random_sweeps_cause_no_violation() -> None:
    violations, deleted = run(0, 40)
    assert violations == []
    assert deleted > 50


@pytest.mark.soak
def test_many_sweeps() -> None:
    violations, deleted = run(40, 600)
    assert violations == []
    assert deleted > 800


@pytest.mark.slow
@pytest.mark.parametrize("count", [40, pytest.param(600, marks=pytest.mark.soak)])
def test_sweeps_that_are_others_after_each_change(count: int) -> None:
    assert run(seed_of_the_engine(), count)[0] == []
