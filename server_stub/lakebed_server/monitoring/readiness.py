"""Whether this server should get requests. Load balancers ask, without a key."""

from __future__ import annotations

import asyncio
import time
from typing import Final

import msgspec
from lakebed_engine.engine import Engine

from lakebed_server.bounds.admission import Stopping

STORE_SECONDS: Final = 2.0
"""How long a store may take to answer."""
MOST_LAG: Final = 1.0
"""Seconds for a turn of the event loop. A server that needs longer has too much to do."""
KEPT: Final = 1.0
"""Seconds for which an answer counts: anybody may ask, and must not make work for the stores."""


class StoreAnswers(msgspec.Struct, frozen=True):
    """How many object stores, of a sample of those in use, answer."""

    asked: int
    answering: int


class Readiness(msgspec.Struct, frozen=True):
    """The answer. It names no store, no repository and no address. `reasons`: why the server is not ready."""

    ready: bool
    reasons: list[str]
    kv: bool
    object_stores: StoreAnswers
    lag_ms: float


class ReadinessCheck:
    """Checks at most once a second, for all who ask."""

    def __init__(self, engine: Engine, stopping: Stopping, store_seconds: float = STORE_SECONDS) -> None:
        self._store_seconds = store_seconds
        self._engine = engine
        self._stopping = stopping
        self._last: tuple[float, Readiness] | None = None
        self._running: asyncio.Task[Readiness] | None = None

    async def answer(self) -> Readiness:
        """The state of this server, at most `KEPT` seconds old. A stop shows immediately."""
        if self._last is None or time.monotonic() - self._last[0] > KEPT:
            if self._running is None or self._running.done():
                self._running = asyncio.create_task(self._check(), name="readiness")
            found = await asyncio.shield(self._running)
        else:
            found = self._last[1]
        if self._stopping.drains:
            found = msgspec.structs.replace(found, ready=False, reasons=["stopping", *found.reasons])
        return found

    async def _check(self) -> Readiness:
        began = time.monotonic()
        await asyncio.sleep(0)
        lag = time.monotonic() - began
        answers = await self._engine.maintenance.answers(self._store_seconds)
        reasons = []
        if not answers.kv:
            reasons.append("the key-value store does not answer")
        if answers.stores_asked and not answers.stores:
            reasons.append("no object store answers")
        if lag > MOST_LAG:
            reasons.append("the server is overloaded")
        stores = StoreAnswers(answers.stores_asked, answers.stores)
        found = Readiness(not reasons, reasons, answers.kv, stores, round(1000 * lag, 1))
        self._last = time.monotonic(), found
        return found
