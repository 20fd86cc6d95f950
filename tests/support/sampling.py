"""A sample of many cases for `make test`: another one after each change of the engine. `make soak` runs all cases."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest
from _pytest.mark import ParameterSet

from tests.support.seeds import seed_of_the_engine

T = TypeVar("T")


def sampled(cases: Iterable[T], count: int, name: Callable[[T], str] = str) -> list[ParameterSet]:
    """All cases, as parameters of a test: `count` of them for `make test`, the others marked `soak`."""
    every = list(cases)
    chosen = random.Random(seed_of_the_engine()).sample(range(len(every)), min(count, len(every)))
    return [
        pytest.param(case, id=name(case), marks=() if number in chosen else pytest.mark.soak)
        for number, case in enumerate(every)
    ]
