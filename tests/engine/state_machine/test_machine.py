"""Any sequence of the engine's verbs is what dictionaries say (`machine.py`): in memory, and on SQLite and files.

A failure prints the steps and a blob: `@reproduce_failure(...)` above the test repeats it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.engine.state_machine.machine import Machine
from tests.engine.state_machine.machine_base import Base
from tests.engine.state_machine.machine_world import tiny
from tests.support.sizes import sized

pytestmark = pytest.mark.medium  # drawn sequences of operations

Record = Callable[[str, object], None]


@pytest.fixture(autouse=True, scope="module")
def _tiny() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        tiny(patch)
        yield


def go(machine: type[Machine], examples: int, steps: int, record: Record, *, shrink: bool = True) -> None:
    """Run the machine `examples` times. Each run must reach its last checks.

    To `shrink` a failure takes up to five minutes.
    """
    before = Base.ended
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            print_blob=True,
            derandomize=False,
            phases=[Phase.reuse, Phase.generate, *[Phase.shrink] * shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert Base.ended - before >= examples // 2
    record("sequences", Base.ended - before)


def test_random_operation_sequences_match_the_model(record_property: Record) -> None:
    go(Machine, 4, 20, record_property, shrink=False)


@pytest.mark.slow
def test_many_sequences(record_property: Record) -> None:
    go(Machine, sized(35, soak=100), 50, record_property)


@pytest.mark.slow
def test_sequences_on_sqlite_and_files(tmp_path: Path, record_property: Record) -> None:
    class OnDisk(Machine):
        root = tmp_path

    go(OnDisk, sized(15, soak=40), 40, record_property)
