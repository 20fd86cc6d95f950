"""Tests of limits in seconds that the product itself keeps: they hold on a machine that does not stand still.

    @steady
    def test_a_store_that_is_silent_for_two_seconds_is_asked_again(...):

A store that is stopped together with the test, by a busy machine, is silent as well. A failure counts only where this
process never stood still for long; else the test is made again. What it uses must bear to be used again: names of its
own each time, no file of a fixed name.
"""

from __future__ import annotations

import functools
import inspect
import threading
import time
from collections.abc import Callable
from typing import Any, Self

import pytest

_STILL = 0.5
"""Seconds: shorter than any limit that is tested."""

_EVERY = 0.02
_TIMES = 6


class Pulse:
    """Notes for how long this process stood still at most, and passes over a failure where that was too long."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.longest = 0.0
        self._clock = clock
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="pulse", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: object, failure: BaseException | None, _: object) -> bool:
        self._over.set()
        self._thread.join()  # the last beat is behind the failure
        forgiven = isinstance(failure, (Exception, pytest.fail.Exception)) and self.longest > _STILL
        if forgiven:
            print(f"the machine stood still for {self.longest:.1f} s: made again after {failure!r}")
        return forgiven

    def _beat(self) -> None:
        before, over = self._clock(), False
        while not over:
            over = self._over.wait(_EVERY)
            now = self._clock()
            self.longest, before = max(self.longest, now - before - _EVERY), now


def steady(test: Callable[..., Any]) -> Callable[..., Any]:
    """The test, made again when it failed while the machine stood still."""

    @functools.wraps(test)
    def made(*args: Any, **more: Any) -> Any:
        for _ in range(_TIMES - 1):
            with Pulse():
                return test(*args, **more)
        return test(*args, **more)

    @functools.wraps(test)
    async def made_in_a_loop(*args: Any, **more: Any) -> Any:
        for _ in range(_TIMES - 1):
            with Pulse():
                return await test(*args, **more)
        return await test(*args, **more)

    return made_in_a_loop if inspect.iscoroutinefunction(test) else made
