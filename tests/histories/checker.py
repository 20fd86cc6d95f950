"""Is a history of one register linearizable? The search of Wing and Gong with the memory of Lowe, as Porcupine has it.

    order_of(steps, "initial value")        # an order that explains every step, or None: there is none
    smallest(steps, "initial value")        # of a history without an order: the few steps that already have none

A step is the request and the effect of one operation on the register, between its call and its end. An order is
valid when no step comes after a step that was called after its end, and when each test holds at its place.
A step that may be left out (`must=False`) took effect between its call and its end, or never.
After a lost answer, the end is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

State = str | None

BOUND = 2_000_000
"""Configurations that one search may visit before it gives up."""

_SMALL = 20_000
"""The same for each search of `smallest`, which makes many."""


class TooHardError(Exception):
    """The search gave up: whether there is an order is not known."""


@dataclass(frozen=True, slots=True)
class Step:
    """`test` compares the register with `against` where the step takes effect; then `value` is stored, if it writes."""

    call: float
    end: float
    test: Literal["any", "is", "not"] = "any"
    against: State = None
    writes: bool = False
    value: State = None
    must: bool = True
    label: str = ""

    def holds(self, state: State) -> bool:
        """Whether the step can take effect on this state."""
        return self.test == "any" or (state == self.against) == (self.test == "is")


def order_of(steps: Sequence[Step], start: State = None, bound: int = BOUND) -> list[Step] | None:
    """An order of all steps that must be in one, with the others where they help; None when there is none.

    Raises TooHardError after `bound` configurations.
    """
    history = sorted((one for one in steps if one.must or one.writes), key=lambda one: one.call)
    needed = sum(1 << at for at, one in enumerate(history) if one.must)
    over = _over(history)
    visited: set[tuple[int, State]] = set()
    taken: list[int] = []
    ways = [_next(history, over, 0, start)]
    states, done = [start], [0]
    while True:
        if done[-1] & needed == needed:
            return [history[at] for at in taken]
        at = next(ways[-1], None)
        if at is None:
            if not taken:
                return None
            taken.pop()
            for stack in (ways, states, done):
                stack.pop()
            continue
        state = history[at].value if history[at].writes else states[-1]
        mask = done[-1] | 1 << at
        mask |= over[mask.bit_length() - 1]
        if (mask, state) in visited:
            continue
        if len(visited) >= bound:
            raise TooHardError(f"no order found within {bound} configurations of {len(history)} steps")
        visited.add((mask, state))
        taken.append(at)
        ways.append(_next(history, over, mask, state))
        states.append(state)
        done.append(mask)


def _over(history: Sequence[Step]) -> list[int]:
    """For each step, the optional steps that cannot come after it, because they ended before its call."""
    ends = sorted((one.end, at) for at, one in enumerate(history) if not one.must)
    found, gone, passed = [], 0, 0
    for one in history:
        while passed < len(ends) and ends[passed][0] < one.call:
            gone |= 1 << ends[passed][1]
            passed += 1
        found.append(gone)
    return found


def _next(history: Sequence[Step], over: Sequence[int], mask: int, state: State) -> Iterator[int]:
    """The steps that may come next: called before the end of every other step that is left, and with a test that holds.

    A step that only tests is taken where its test holds first, if that rules nothing out: a later place would explain
    nothing more.
    """
    first = (~mask & (mask + 1)).bit_length() - 1
    earliest_end, window = math.inf, []
    for at in range(first, len(history)):
        if mask >> at & 1:
            continue
        one = history[at]
        if one.call > earliest_end:
            break
        if one.must:
            earliest_end = min(earliest_end, one.end)
        if one.holds(state):
            if not one.writes and not over[at] & ~mask:
                return iter((at,))
            window.append(at)
    return iter(sorted(window, key=lambda at: (not history[at].must, history[at].end)))


def smallest(steps: Sequence[Step], start: State = None) -> list[Step]:
    """The steps of a history without an order that are enough to see that it has none.

    Each change that it tries can only make a history easier to explain: a test is dropped, a write becomes optional.
    """
    left = sorted(steps, key=lambda one: one.call)
    low, high = 0, len(left)
    while high - low > 1:  # a short beginning that has no order
        middle = (low + high) // 2
        low, high = (low, middle) if _hopeless(_beginning(left, middle), start) else (middle, high)
    left = _beginning(left, high) if high < len(left) else left
    size = len(left)
    while size := size // 2:
        for at in range(0, len(left), size):
            chunk = left[at : at + size]
            weaker = left[:at] + [replace(one, must=False) for one in chunk] + left[at + size :]
            if any(one.must for one in chunk) and _hopeless(weaker, start):
                left = weaker
    named = {one.against for one in left if one.must and one.test == "is"}
    return [one for one in left if one.must or (one.writes and one.value in named)]


def _beginning(history: Sequence[Step], count: int) -> list[Step]:
    """The first steps by their calls. What they answered later than the last call is not known yet."""
    last = history[count - 1].call
    return [one if one.end <= last else replace(one, must=False, end=math.inf) for one in history[: count - 1]] + [
        history[count - 1]
    ]


def _hopeless(steps: Sequence[Step], start: State) -> bool:
    try:
        return order_of(steps, start, _SMALL) is None
    except TooHardError:
        return False
