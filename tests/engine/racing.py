"""A lake on each KV store, for two writers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.base import Batch, KVStore
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.stores.objects.registry import Stores

from tests.engine.support import (
    HookedKV,
    LossyKV,
    make_engine,
    put_commit,
)


class Jittery(HookedKV):
    """Gives other tasks a turn before calls, as the seed says."""

    def __init__(self, inner: KVStore, seed: int) -> None:
        super().__init__(inner)
        dice = random.Random(seed)

        async def turn(*_: object) -> None:
            for _turn in range(dice.choice([0, 0, 1, 2, 5])):
                await asyncio.sleep(0)

        self.turn = turn

    async def _call(self, name: str, what: object) -> None:
        await self.turn()


@asynccontextmanager
async def lake(
    kind: str, tmp_path: Path, seed: int, lose: Callable[[Batch], str] | None = None
) -> AsyncIterator[Engine]:
    """An engine over this kind of KV store; answers are lost only once the repository is made."""
    inner: KVStore = SqliteKV(tmp_path / f"kv-{seed}.db") if kind == "sqlite" else Jittery(MemoryKV(), seed)
    lossy = LossyKV(inner, lambda _: "")
    stores = Stores(tmp_path / f"objects-{seed}")
    engine = await make_engine(lossy, stores, namespace="local://lake" if kind == "sqlite" else "mem://lake")
    await put_commit(engine, {"first": "1"})
    lossy.lose = lose or lossy.lose
    yield engine
    lossy.lose = lambda _: ""
    await engine.close()
    await inner.close()
    stores.close()
