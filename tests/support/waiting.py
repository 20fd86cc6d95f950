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

PATIENCE = 240.0
"""Seconds after which something is taken to hang."""


def wait_until(condition: Callable[[], object], what: str = "what was waited for") -> None:
    """Return when it is true. Fails, and says what did not happen, after `PATIENCE` seconds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"it did not happen in {PATIENCE:.0f} s: {what}"
        time.sleep(0.005)


async def until(condition: Callable[[], object], what: str = "what was waited for") -> None:
    """The same for an event loop, which keeps running during the wait."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"it did not happen in {PATIENCE:.0f} s: {what}"
        await asyncio.sleep(0.001)
