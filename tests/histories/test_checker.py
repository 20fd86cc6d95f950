"""The checker: known histories, and generated ones against all permutations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.histories.checker import Step, TooHardError, order_of, smallest
from tests.support.sizes import examples


def write(value: str | None, call: float, end: float, must: bool = True) -> Step:
    return Step(call, end, writes=True, value=value, must=must)


def read(value: str | None, call: float, end: float) -> Step:
    return Step(call, end, "is", value)


def create(value: str, call: float, end: float, refused: bool = False) -> Step:
    return Step(call, end, "not", None) if refused else Step(call, end, "is", None, True, value)


def swap(old: str, new: str, call: float, end: float, must: bool = True) -> Step:
    return Step(call, end, "is", old, True, new, must)


NEVER = math.inf

LINEARIZABLE = {
    "nothing": [],
    "one after another": [write("a", 0, 1), read("a", 2, 3), write("b", 4, 5), read("b", 6, 7)],
    "a read beside a write sees the old or the new value": [write("a", 0, 9), read(None, 1, 2), read("a", 3, 4)],
    "two writes at the same time end either way": [
        write("a", 0, 9),
        write("b", 0, 9),
        read("b", 1, 2),
        read("a", 3, 4),
    ],
    "a lost answer: it took effect": [write("a", 0, NEVER, False), read(None, 1, 2), read("a", 8, 9)],
    "a lost answer: it never did": [write("a", 0, NEVER, False), read(None, 1, 2), read(None, 8, 9)],
    "a lost answer explains a refused creation": [write("a", 0, NEVER, False), create("b", 1, 2, refused=True)],
    "of two creations at the same time one is refused": [create("a", 0, 9), create("b", 0, 9, refused=True)],
    "a chain of swaps": [write("a", 0, 1), swap("b", "c", 2, 9), swap("a", "b", 2, 9), read("c", 3, 10)],
}

NOT_LINEARIZABLE = {
    "a stale read": [write("a", 0, 1), write("b", 2, 3), read("a", 4, 5)],
    "a lost write": [write("a", 0, 1), read(None, 2, 3)],
    "back to the old value": [write("a", 0, 9), read("a", 1, 2), read(None, 3, 4)],
    "a value that nobody wrote": [write("a", 0, 1), read("b", 2, 3)],
    "an unknown write takes effect twice": [
        write("a", 0, NEVER, False), write("b", 2, 3), read("a", 1, 1.5), read("b", 4, 5), read("a", 6, 7),
    ],
    "two creations": [create("a", 0, 1), create("b", 2, 3)],
    "both of two swaps of one value": [write("a", 0, 1), swap("a", "b", 2, 9), swap("a", "c", 2, 9)],
    "a creation refused where nothing is": [create("a", 0, 1, refused=True), write("b", 2, 3)],
}  # fmt: skip


@pytest.mark.parametrize("steps", LINEARIZABLE.values(), ids=LINEARIZABLE)
def test_a_history_with_an_order(steps: Sequence[Step]) -> None:
    found = order_of(steps)
    assert found is not None
    assert valid(found, None)
    assert {id(one) for one in steps if one.must} <= {id(one) for one in found}


@pytest.mark.parametrize("steps", NOT_LINEARIZABLE.values(), ids=NOT_LINEARIZABLE)
def test_a_history_without_an_order(steps: Sequence[Step]) -> None:
    assert order_of(steps) is None


def test_a_search_that_is_too_hard_says_so() -> None:
    steps = [write(str(number), 0, 99) for number in range(12)] + [read("none of them", 100, 101)]
    with pytest.raises(TooHardError, match="within 500 configurations of 13 steps"):
        order_of(steps, bound=500)


def test_a_long_history_is_searched_in_little_time() -> None:
    """Ten thousand appends to a log, eight at a time, each with a read."""
    steps = []
    for number in range(10_000):
        call = number - number % 8 + 0.0
        steps += [swap(f"{number}", f"{number + 1}", call, call + 8), read(f"{number + 1}", call, call + 8.5)]
    found = order_of(steps, "0", bound=100_000)
    assert found is not None
    assert len(found) == 20_000


def test_the_smallest_part_of_a_long_history() -> None:
    calm = [one for at in range(300) for one in (write(f"v{at}", at, at + 0.5), read(f"v{at}", at + 0.6, at + 0.9))]
    wrong = read("v250", 270.0, 270.55)
    found = smallest([*calm, wrong])
    assert order_of(found) is None
    assert len(found) <= 4
    assert any(one.against == "v250" for one in found)


def valid(order: Sequence[Step], start: str | None) -> bool:
    """By the definition: the tests hold one after the other, and nothing comes after what was called behind its end."""
    state = start
    for at, one in enumerate(order):
        if not one.holds(state) or any(later.end < one.call for later in order[at + 1 :]):
            return False
        state = one.value if one.writes else state
    return True


def has_order(steps: Sequence[Step], start: str | None) -> bool:
    """All permutations of all choices."""
    needed, others = [one for one in steps if one.must], [one for one in steps if not one.must]
    choices = chain.from_iterable(combinations(others, count) for count in range(len(others) + 1))
    return any(valid(order, start) for some in choices for order in permutations([*needed, *some]))


VALUES = st.sampled_from([None, "a", "b"])
STEPS = st.builds(
    lambda call, length, test, against, writes, value, lost: Step(
        call, NEVER if length == 6 else call + length, test, against, writes, value, must=not lost
    ),
    st.integers(0, 8),
    st.integers(0, 6),
    st.sampled_from(["any", "is", "is", "not"]),
    VALUES,
    st.booleans(),
    VALUES,
    st.sampled_from([False, False, False, True]),
)


@examples(500)
@given(st.lists(STEPS, max_size=6), VALUES)
def test_generated_histories_against_all_permutations(steps: list[Step], start: str | None) -> None:
    found = order_of(steps, start)
    assert (found is not None) == has_order(steps, start)
    if found is None:
        few = smallest(steps, start)
        assert not has_order(few, start)
        assert len(few) <= len(steps)
    else:
        assert valid(found, start)


@given(st.lists(STEPS, max_size=6), VALUES, st.integers(0, 5))
def test_weaker_history_still_has_an_order(steps: list[Step], start: str | None, which: int) -> None:
    """What `smallest` builds on: no weaker history is harder to explain."""
    if order_of(steps, start) is not None and which < len(steps):
        steps[which] = replace(steps[which], must=False)
        assert order_of(steps, start) is not None
