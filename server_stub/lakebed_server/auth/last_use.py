"""Records when access keys were last used.

A request only notes the key in memory. A background task writes the notes once a minute, and at most every 15 minutes
for each key. A crash loses the notes of the last minute.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from lakebed_engine.stores.kv.base import Batch, Check, KVStore, Put
from lakebed_engine.vocabulary.errors import EngineError, PredicateFailed

from lakebed_server.auth.key_index import Use, last_used
from lakebed_server.auth.records import PARTITION, owner_key

log = logging.getLogger("lakebed.auth")

COARSE_SECONDS: Final = 900
"""The shown time of a last use is at most this much and a minute too old."""
EVERY_SECONDS: Final = 60.0
MOST: Final = 100_000
"""Keys that a process notes. Further ones are not recorded until the next write."""
_STEP: Final = 100


class LastUses:
    """The uses of access keys since the last write."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._noted: dict[str, tuple[str, int]] = {}
        self._written: dict[str, int] = {}

    def note(self, access_key_id: str, user: str) -> None:
        """Note that a request used an access key of a user now."""
        if access_key_id in self._noted or len(self._noted) < MOST:
            self._noted[access_key_id] = (user, int(self._clock()))

    async def write(self, kv: KVStore) -> None:
        """Write what was noted. A failure of the store drops the notes: the next use of a key is noted again."""
        noted, self._noted = self._noted, {}
        due = self._clock() - COARSE_SECONDS
        self._written = {id: at for id, at in self._written.items() if at > due}
        pending = [(owner_key(user, id), id, at) for id, (user, at) in noted.items() if id not in self._written]
        for start in range(0, len(pending), _STEP):
            try:
                await self._write(kv, pending[start : start + _STEP])
            except PredicateFailed:
                pass  # a key was removed, or another server wrote its use in the time between
            except EngineError as error:
                log.warning("cannot record the last uses of access keys: %s", error.message)
                return

    async def _write(self, kv: KVStore, pending: list[tuple[bytes, str, int]]) -> None:
        rows = await kv.get_many(PARTITION, [key for key, _, _ in pending])
        checks, puts = [], []
        for (key, id, at), row in zip(pending, rows, strict=True):
            if row is None:
                continue  # the key was removed
            written = last_used(row.value)
            if written <= at - COARSE_SECONDS:
                written = at
                checks.append(Check(PARTITION, key, row.version))
                puts.append(Put(PARTITION, key, msgspec.json.encode(Use(at))))
            self._written[id] = written
        if puts:
            await kv.apply(Batch(checks=checks, puts=puts))

    async def run(self, kv: KVStore, further: Callable[[KVStore], Awaitable[None]]) -> None:
        """Write every minute, until cancelled, and then do the `further` work."""
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            await self.write(kv)
            await further(kv)
