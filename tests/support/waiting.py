"""How tests wait: for something to happen, not for time to pass. The limit only ends what hangs.

    wait_until(log.exists, "the server has a log")
    process.communicate(timeout=PATIENCE)

What takes a second here takes a minute on a busy machine, and any process may be stopped for ten seconds at any
moment. No test passes or fails by that: speed is what `make bench` measures.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 240.0
"""Seconds after which something is taken to hang."""


def wait_until(
    condition: Callable[[], T],
    what: str | Callable[[], str] = "what was waited for",
    *,
    seconds: float | None = None,
    every: float = 0.005,
) -> T:
    """Return the condition's value as soon as it is true.

    Fails after `seconds` (`PATIENCE` unless given), and says what did not happen and the condition's last value.
    `what` may be a function, for a text that is known only at the end, such as the log of a process. `every` is the
    pause between two calls, in seconds.
    """
    limit = PATIENCE if seconds is None else seconds
    deadline = time.monotonic() + limit
    while not (value := condition()):
        assert time.monotonic() < deadline, _failure(limit, what, value)
        time.sleep(every)
    return value


async def until(
    condition: Callable[[], T], what: str | Callable[[], str] = "what was waited for", *, every: float = 0.001
) -> T:
    """The same for an event loop, which keeps running during the wait."""
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < deadline, _failure(PATIENCE, what, value)
        await asyncio.sleep(every)
    return value


def _failure(limit: float, what: str | Callable[[], str], value: object) -> str:
    event = what if isinstance(what, str) else what()
    return f"it did not happen in {limit:.0f} s: {event}; the last value was {value!r}"
