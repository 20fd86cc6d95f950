"""Tests of the product's own time limits, which hold only on a machine that does not pause.

    @steady()
    def test_a_store_that_is_silent_for_two_seconds_is_asked_again(...):

A store that a busy machine stops is silent, too. A failure counts only where neither this process nor a server that is
watched stood still for long; else the test is made again, and the last time counts in any case. What it uses must bear
to be used again: names of its own each time, no file of a fixed name.
"""

from __future__ import annotations

import functools
import inspect
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Self

import httpx
import pytest

_STILL = 0.5
"""Seconds: shorter than most limits that are tested."""

_EVERY = 0.02
_TIMES = 6


class Pulse:
    """Notes for how long this process stood still at most, and passes over a failure where that was too long.

    `addresses`: servers that are polled all the time; a slow answer counts as a pause too.
    """

    def __init__(self, addresses: Sequence[str] = (), clock: Callable[[], float] = time.monotonic) -> None:
        self.longest = 0.0
        self._clock = clock
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._beat, name="pulse", daemon=True)]
        for one in addresses:
            self._threads.append(threading.Thread(target=self._ask, args=(one,), name="pulse", daemon=True))

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: object, failure: BaseException | None, _: object) -> bool:
        self._over.set()
        for thread in self._threads:
            thread.join()  # the last beat is behind the failure
        forgiven = isinstance(failure, (Exception, pytest.fail.Exception)) and self.longest > _STILL
        if forgiven:
            print(f"the machine stood still for {self.longest:.1f} s: made again after {failure!r}")
        return forgiven

    def _beat(self) -> None:
        before, over = self._clock(), False
        while not over:
            over = self._over.wait(_EVERY)
            now = self._clock()
            self._note(now - before - _EVERY)
            before = now

    def _ask(self, address: str) -> None:
        over = False
        with httpx.Client(timeout=30.0) as client:
            while not over:
                begun = self._clock()
                with suppress(httpx.HTTPError):
                    client.get(address)
                self._note(self._clock() - begun)
                over = self._over.wait(10 * _EVERY)

    def _note(self, seconds: float) -> None:
        self.longest = max(self.longest, seconds)


def steady(
    watched: Callable[..., Sequence[str]] = lambda **_: (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The test, made again when it failed while the machine stood still.

    `watched`: what the test is called with, to the addresses of servers that are to be watched.
    """

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def made(**given: Any) -> Any:
            for _ in range(_TIMES - 1):
                with Pulse(watched(**given)):
                    return test(**given)
            return test(**given)

        @functools.wraps(test)
        async def made_in_a_loop(**given: Any) -> Any:
            for _ in range(_TIMES - 1):
                with Pulse(watched(**given)):
                    return await test(**given)
            return await test(**given)

        return made_in_a_loop if inspect.iscoroutinefunction(test) else made

    return decorate
