"""Random draws use the same seed until the engine changes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import core

from tests.support import seeds
from tests.support.seeds import seed_of_the_engine


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the engine's sources, elsewhere, which the seed is taken of."""
    sources, formats = seeds.packages()
    copy = tmp_path / "elsewhere" / "lakebed_engine"
    shutil.copytree(sources, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(seeds, "packages", lambda: [copy, formats])
    return copy


def test_the_seed_is_of_the_sources_alone(engine: Path) -> None:
    (engine / "notes.txt").write_text("no source")
    assert seed_of_the_engine.__wrapped__() == seed_of_the_engine()


def test_another_engine_has_another_seed(engine: Path) -> None:
    before = seed_of_the_engine.__wrapped__()
    with (engine / "engine.py").open("a") as file:
        file.write("# changed\n")
    changed = seed_of_the_engine.__wrapped__()
    (engine / "engine.py").rename(engine / "engines.py")
    assert len({before, changed, seed_of_the_engine.__wrapped__()}) == 3


def test_hypothesis_draws_from_it(request: pytest.FixtureRequest) -> None:
    """Or from the seed of the command line."""
    reported = any("--hypothesis-seed" in str(one) for one in request.config.invocation_params.args)
    assert reported or core.global_force_seed == seed_of_the_engine()
    assert str(core.global_force_seed) == request.config.getoption("--hypothesis-seed")
