"""A sample of many cases for `make test`: another one after each change of the engine. `make soak` runs all cases."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import pytest
from _pytest.mark import ParameterSet

from tests.support.seeds import seed_of_the_engine
from tests.support.sizes import tier

T = TypeVar("T")


def drawn(cases: Sequence[T], count: int) -> list[T]:
    """At most `count` of the cases."""
    return random.Random(seed_of_the_engine()).sample(cases, min(count, len(cases)))


def sampled(cases: Iterable[T], count: int, name: Callable[[T], str] = str) -> list[ParameterSet]:
    """All cases, as parameters of a test: `count` of them for `make test`, the others marked `soak`."""
    every = list(cases)
    chosen = drawn(range(len(every)), count)
    return [
        pytest.param(case, id=name(case), marks=() if number in chosen else pytest.mark.soak)
        for number, case in enumerate(every)
    ]


def after(call: int) -> int:
    """The number of the next call ahead of which a test interferes.

    In `make soak` it is the next one. Otherwise it is one of the next three: each case of a matrix draws its own calls,
    and others after each change of the engine.
    """
    if tier() == "soak":
        return call + 1
    test = os.environ["PYTEST_CURRENT_TEST"].partition(" ")[0]
    return call + random.Random(f"{seed_of_the_engine()} {test} {call}").choice((1, 2, 3))
