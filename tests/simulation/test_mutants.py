"""Each mutant of the protocol (PROTOCOL.md 6) is caught; the same seeds pass without it.

Here from few fresh starting seeds; `python -m tests.simulation.run --mutants --sets 20` takes twenty.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.simulation.mutants import BOUND, Hunt, Mutant, Report, fresh_starts, hunt_mutant, mutated, patches
from tests.simulation.pool import run

STARTS = fresh_starts(2)
CORES = os.cpu_count() or 1


def name(patch: Path) -> str:
    return patch.stem


@cache
def hunted(patch: Path) -> list[Hunt]:
    return hunt_mutant(patch, STARTS, jobs=CORES)


def test_the_mutants_are_there() -> None:
    numbers = [patch.stem[:3] for patch in patches()]
    assert len(set(numbers)) == len(numbers)
    assert {f"M{number:02d}" for number in range(1, 36)} <= set(numbers)


@pytest.mark.parametrize("patch", patches(), ids=name)
def test_a_mutant_still_applies(patch: Path, tmp_path: Path) -> None:
    assert (mutated(patch, tmp_path) / "lakebed_engine" / "engine.py").exists()


@pytest.mark.slow
@pytest.mark.parametrize("patch", patches(), ids=name)
def test_a_mutant_is_caught(patch: Path, record_property: Callable[[str, object], None]) -> None:
    found = hunted(patch)
    assert [one.start for one in found] == STARTS
    assert [one for one in found if one.needed is None] == []
    record_property("seeds_needed", max(one.needed or 0 for one in found))


@pytest.mark.slow
def test_the_same_seeds_pass_without_a_mutant() -> None:
    for at, start in enumerate(STARTS):
        most = max(hunted(patch)[at].needed or BOUND for patch in patches())
        assert run(range(start, start + most), CORES).failures == []


def test_a_report_is_good_only_if_every_hunt_was() -> None:
    caught, missed = Hunt(5, 7, "wrong"), Hunt(6, None, "")
    good = Mutant.of("M01", [caught, Hunt(6, 9, "wrong")])
    assert (good.sets, good.caught, good.most, good.violation) == (2, 2, 9, "wrong")
    assert Report(2, BOUND, [good]).good
    assert not Report(2, BOUND, []).good
    assert not Report(2, BOUND, [good, Mutant.of("M02", [caught, missed])]).good
    assert not Report(2, BOUND, [good], red=[caught]).good
