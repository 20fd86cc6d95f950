"""A transport that creates a workspace before the first request about it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

from lakebed._async.http.transport import Transport


class Opening(Transport):
    """The transport of a workspace that does not exist yet: the first request creates it."""

    def __init__(self, inner: Transport, opened: Callable[[], Any]) -> None:
        super().__init__(inner.settings)
        self.policy = inner.policy
        self.outside, self.addresses = inner.outside, inner.addresses
        self._inner = inner
        self._opened = opened

    async def call(self, call: Any, body: Any = None) -> Any:
        """As the transport does."""
        await self._opened()
        return await self._inner.call(call, body)

    async def once(self, call: Any, body: Any = None) -> Any:
        """As the transport does."""
        await self._opened()
        return await self._inner.once(call, body)

    @asynccontextmanager
    async def stream(self, call: Any) -> Any:
        """As the transport does."""
        await self._opened()
        async with self._inner.stream(call) as opened:
            yield opened
