"""Each mutant of the protocol (PROTOCOL.md 6) is caught; the same seeds pass without it.

Here from few fresh starting seeds; `python -m tests.simulation.run --mutants --sets 20` takes twenty.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulation.mutants import fresh_starts, hunt, hunt_mutant, mutated, patches

STARTS = fresh_starts(2)
_needed: dict[int, int] = {}


def name(patch: Path) -> str:
    return patch.stem


def test_the_mutants_are_there() -> None:
    numbers = [patch.stem[:3] for patch in patches()]
    assert numbers == [f"M{number:02d}" for number in range(1, 15) if number != 5]  # M5: with the workspaces


@pytest.mark.parametrize("patch", patches(), ids=name)
def test_a_mutant_still_applies(patch: Path, tmp_path: Path) -> None:
    assert (mutated(patch, tmp_path) / "lakebed_engine" / "engine.py").exists()


@pytest.mark.slow
@pytest.mark.parametrize("patch", patches(), ids=name)
def test_a_mutant_is_caught(patch: Path) -> None:
    found = hunt_mutant(patch, STARTS)
    assert [one.start for one in found] == STARTS
    assert [one for one in found if one.needed is None] == []
    for one in found:
        _needed[one.start] = max(_needed.get(one.start, 0), one.needed or 0)


@pytest.mark.slow
def test_the_same_seeds_pass_without_a_mutant() -> None:
    assert [one for one in hunt(None, list(_needed.items())) if one.needed is not None] == []
