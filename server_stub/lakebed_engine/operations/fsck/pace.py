"""How fast a check reads, and how far it has come: for a check that runs in the background of a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lakebed_engine.operations.context import Context

_BREATH = 60.0
"""Seconds of sleep between two calls of `alive`."""


async def _nothing() -> None:
    """Nobody waits for a sign of life."""


async def _forget(address: str) -> None:
    """Nobody goes on from there."""


class Pace:
    """At most `rate` bytes per second; 0: as fast as it goes."""

    def __init__(
        self,
        ctx: Context,
        rate: float = 0.0,
        after: str = "",
        *,
        alive: Callable[[], Awaitable[None]] = _nothing,
        passed: Callable[[str], Awaitable[None]] = _forget,
    ) -> None:
        """`after`: the objects up to this address were read before. `alive` is awaited now and then.

        `passed` gets an address up to which all objects were read and found whole.
        """
        self._ctx = ctx
        self._rate = rate
        self._free_at = ctx.clock.monotonic()
        self._alive = alive
        self.after = after
        self.spent = 0
        self.passed = passed

    async def spend(self, size: int) -> None:
        """So many bytes were read: wait until the next may be."""
        self.spent += size
        if not self._rate:
            return
        await self._alive()
        self._free_at = max(self._free_at, self._ctx.clock.monotonic()) + size / self._rate
        while (left := self._free_at - self._ctx.clock.monotonic()) > 0:
            await self._ctx.runtime.sleep(min(left, _BREATH))
            await self._alive()
