"""The speed of a check and its progress, for a check in the background of a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from lakebed_engine.operations.context import Context

_BREATH = 60.0
"""The longest sleep in seconds between two calls of `alive`."""


async def _nothing() -> None:
    """The default of `alive`."""


async def _forget(address: str) -> None:
    """The default of `passed`."""


class Pace:
    """Limits a check to `rate` bytes per second. 0: no limit."""

    def __init__(
        self,
        ctx: Context,
        rate: float = 0.0,
        after: str = "",
        *,
        alive: Callable[[], Awaitable[None]] = _nothing,
        passed: Callable[[str], Awaitable[None]] = _forget,
    ) -> None:
        """`after`: the objects up to this address were read before.

        `alive` is awaited regularly. `passed` gets an address when all objects up to it were read and undamaged.
        """
        self._ctx = ctx
        self._rate = rate
        self._free_at = ctx.clock.monotonic()
        self._alive = alive
        self.after = after
        self.spent = 0
        self.passed = passed

    async def spend(self, size: int) -> None:
        """Count `size` bytes as read, and wait until the next read may begin."""
        self.spent += size
        if not self._rate:
            return
        await self._alive()
        self._free_at = max(self._free_at, self._ctx.clock.monotonic()) + size / self._rate
        while (left := self._free_at - self._ctx.clock.monotonic()) > 0:
            await self._ctx.runtime.sleep(min(left, _BREATH))
            await self._alive()
