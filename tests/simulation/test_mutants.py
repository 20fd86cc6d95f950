"""Each mutant of the protocol (PROTOCOL.md 6) is caught; the same seeds pass without it.

`make test` hunts a few of them, others after each change of the engine; `make soak` hunts all.

Here by two seeds that caught it before, which `python -m tests.simulation.run --remember` writes down, or, where those
do not, from two starting seeds that are others after each change of the engine. Twenty fresh ones:
`python -m tests.simulation.run --mutants --sets 20`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.simulation import hints, mutants
from tests.simulation.mutants import (
    BOUND,
    Hunt,
    Mutant,
    Report,
    hunt_with_hints,
    mutated,
    patches,
)
from tests.simulation.pool import part
from tests.support.sampling import sampled
from tests.support.seeds import seed_of_the_engine

STARTS = [seed_of_the_engine() + number * BOUND for number in range(1, 1 + hints.EACH)]


def name(patch: Path) -> str:
    return patch.stem


HUNTED = sampled(patches(), 3, name)


@cache
def hunted(patch: Path) -> list[Hunt]:
    return hunt_with_hints(patch, hints.known().get(patch.stem, []), STARTS)


def test_the_mutants_are_there() -> None:
    numbers = [patch.stem[:3] for patch in patches()]
    assert len(set(numbers)) == len(numbers)
    assert {f"M{number:02d}" for number in range(1, 40)} <= set(numbers)


@pytest.mark.slow
@pytest.mark.parametrize("patch", patches(), ids=name)
def test_a_mutant_still_applies(patch: Path, tmp_path: Path) -> None:
    assert (mutated(patch, tmp_path) / "lakebed_engine" / "engine.py").exists()


@pytest.mark.slow
@pytest.mark.parametrize("patch", HUNTED)
def test_a_mutant_is_caught(patch: Path, record_property: Callable[[str, object], None]) -> None:
    found = hunted(patch)
    assert len(found) == len(STARTS)
    assert [one for one in found if one.needed is None] == []
    assert len({*hints.seeds_of(found)}) == len(STARTS)
    record_property("seeds_needed", max(one.needed or 0 for one in found))


@pytest.mark.slow
@pytest.mark.parametrize("patch", HUNTED)
def test_the_same_seeds_pass_without_a_mutant(patch: Path) -> None:
    tried = {seed for one in hunted(patch) for seed in range(one.start, one.start + (one.needed or BOUND))}
    assert len(tried) >= len(STARTS)
    assert part(sorted(tried)).failures == []


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Hunts are not run: only even starts catch. Returns the requested hunts."""
    wanted: list[tuple[int, int]] = []

    def pretended(home: Path, sets: Sequence[tuple[int, int]]) -> list[Hunt]:
        wanted.extend(sets)
        return [Hunt(start, 1, "wrong") if start % 2 == 0 else Hunt(start, None, "") for start, _ in sets]

    monkeypatch.setattr(mutants, "hunt", pretended)
    monkeypatch.setattr(mutants, "mutated", lambda patch, into: into)
    monkeypatch.setattr(hints, "fresh_starts", lambda count: [100, 102])
    return wanted


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        ([4, 6], [(4, 1), (6, 1)]),
        ([5, 6], [(5, 1), (6, 1), (102, BOUND)]),
        ([5, 7], [(5, 1), (7, 1), (100, BOUND), (102, BOUND)]),
        ([4], [(4, 1), (102, BOUND)]),
        ([], [(100, BOUND), (102, BOUND)]),
    ],
)
def test_a_hint_that_catches_no_more_is_made_up_for(
    asked: list[tuple[int, int]], hint: list[int], expected: list[tuple[int, int]]
) -> None:
    found = hunt_with_hints(patches()[0], hint, [100, 102])
    assert asked == expected
    assert [one.start for one in found] == [start for start, _ in expected if start % 2 == 0]


def test_seeds_that_catch_a_mutant_are_stored(
    asked: list[tuple[int, int]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, first, *_ = tmp_path / "seeds.json", *patches()
    path.write_text(json.dumps({first.stem: [8, 9], "M00_gone": [2, 4]}))
    assert hints.remember(1, path) == []
    assert hints.known(path) == {**{patch.stem: [100, 102] for patch in patches()}, first.stem: [8, 102]}
    assert f"{first.stem:42s} 2 of 2 seeds, 1 new" in capsys.readouterr().out
    assert [one for one in asked if one[1] == 1] == [(8, 1), (9, 1)]


def test_uncaught_mutants_are_reported(
    asked: list[tuple[int, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "fresh_starts", lambda count: [100, 103])
    assert hints.remember(1, tmp_path / "seeds.json") == [patch.stem for patch in patches()]
    assert asked.count((103, BOUND)) == len(patches())


def test_a_report_is_good_only_if_every_hunt_was() -> None:
    caught, missed = Hunt(5, 7, "wrong"), Hunt(6, None, "")
    good = Mutant.of("M01", [caught, Hunt(6, 9, "wrong")])
    assert (good.sets, good.caught, good.most, good.violation) == (2, 2, 9, "wrong")
    assert Report(2, BOUND, [good]).good
    assert not Report(2, BOUND, []).good
    assert not Report(2, BOUND, [good, Mutant.of("M02", [caught, missed])]).good
    assert not Report(2, BOUND, [good], red=[caught]).good
