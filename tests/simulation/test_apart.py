"""Callers that pause past the grace, under the seeded scheduler; and what the schedules of `apart` must catch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simulation.apart import KINDS, PATCHES, hunt, kind_of, violations
from tests.simulation.mutants import mutated
from tests.support.sampling import sampled
from tests.support.seeds import seed_of_the_engine
from tests.support.sizes import sized

pytestmark = pytest.mark.medium  # drawn schedules

MUTANTS = sorted(PATCHES.glob("*.patch"))


def test_every_kind_has_mutants() -> None:
    assert {kind_of(patch) for patch in MUTANTS} == set(KINDS)


@pytest.mark.slow
@pytest.mark.parametrize("patch", sampled(MUTANTS, 2, lambda patch: patch.stem))
def test_a_mutant_is_caught(patch: Path, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    found = hunt(mutated(patch, tmp_path), kind_of(patch), 0)
    assert found.startswith("seed "), "it got away"
    seed = int(found.split()[1].rstrip(":"))
    assert violations(kind_of(patch), [seed]) == [], "the same seed without the mutant"
    record_property("mutants_caught", 1)


def test_random_pauses_cause_no_violation() -> None:
    assert violations("pauses", range(sized(100))) == []


@pytest.mark.slow
def test_pauses_that_are_others_after_each_change() -> None:
    start = seed_of_the_engine()
    assert violations("pauses", range(start, start + sized(150, soak=300))) == []
