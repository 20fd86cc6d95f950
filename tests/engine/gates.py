"""A store that holds the writes of commits, and a lake over it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from lakebed_engine.engine import Engine
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_format.keys import COMMITS

from tests.engine.support import HookedKV, LossyKV, make_engine
from tests.support.services.object_stores import OneStore
from tests.support.waiting import PATIENCE


class Gate(MemoryObjects):
    """Writes of commits wait while the gate is closed, or fail."""

    def __init__(self) -> None:
        super().__init__("mem://lake")
        self.opened = asyncio.Event()
        self.opened.set()
        self.waiting = 0
        self.failures: list[Exception] = []

    async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
        if key.startswith(COMMITS):
            self.waiting += 1
            await self.opened.wait()
            if self.failures:
                raise self.failures.pop()
        await super().put(key, data, if_absent=if_absent, by_content=by_content)


@asynccontextmanager
async def lake() -> AsyncIterator[tuple[Engine, Gate, HookedKV, LossyKV]]:
    """An engine whose commits wait for their turn, and its stores."""
    store = Gate()
    lossy = LossyKV(MemoryKV(), lambda _: "")
    kv = HookedKV(lossy)
    engine = await make_engine(kv, OneStore(store), tuning=Tuning(commit_wait=PATIENCE))
    yield engine, store, kv, lossy
    await engine.close()


def in_line(engine: Engine, store: Gate, number: int) -> Callable[[], bool]:
    """Returns a condition: a committer is held at the gate (0), or `number` committers wait behind it."""
    return lambda: store.waiting > 0 if number == 0 else len(line(engine)) == number


def line(engine: Engine) -> list[object]:
    """The waiting committers."""
    lines = list(engine.context.queues.values())
    return [] if not lines else list(lines[0].waiting)
