"""Counts the requests of clients with credentials, by month.

A request only adds one in memory. A background task adds the counts to those of all servers once a minute, in the KV
store. A server that is killed loses the counts of its last minute.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec
from lakebed_engine.stores.kv.base import Batch, Check, KVStore, Put
from lakebed_engine.vocabulary.errors import EngineError, PredicateFailed

log = logging.getLogger("lakebed.auth")

PARTITION: Final = "usage"
INSTALLATION: Final = b"installation"
"""The key of the id of the installation, which all servers over one KV store share."""
_MONTHS: Final = b"month/"
_ATTEMPTS: Final = 20
_MOST: Final = 10_000


class Month(NamedTuple):
    """A month of the calendar (UTC), and its number of requests."""

    year: int
    month: int
    requests: int


class Usage:
    """The requests since the last write."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._counted = 0

    def note(self) -> None:
        """Count a request."""
        self._counted += 1

    async def write(self, kv: KVStore) -> None:
        """Add what was counted to the month. If the store fails, it stays for the next time."""
        counted = self._counted
        if not counted:
            return
        moment = time.gmtime(self._clock())
        key = _MONTHS + f"{moment.tm_year:04}-{moment.tm_mon:02}".encode()
        try:
            for _ in range(_ATTEMPTS):
                row = await kv.get(PARTITION, key)
                before = 0 if row is None else msgspec.json.decode(row.value, type=int)
                check = Check(PARTITION, key, 0 if row is None else row.version)
                try:
                    await kv.apply(Batch([check], [Put(PARTITION, key, msgspec.json.encode(before + counted))]))
                except PredicateFailed:
                    continue  # another server has added its own
                self._counted -= counted
                return
        except EngineError as error:
            log.warning("cannot record the number of requests: %s", error.message)

    async def report(self, kv: KVStore) -> tuple[str, list[Month]]:
        """The id of the installation, and the months in their order."""
        await self.write(kv)
        rows = await kv.scan(PARTITION, _MONTHS, _MONTHS[:-1] + b"0", _MOST)
        months = []
        for row in rows:
            year, month = row.key.removeprefix(_MONTHS).decode().split("-")
            months.append(Month(int(year), int(month), msgspec.json.decode(row.value, type=int)))
        return await self._installation(kv), months

    async def _installation(self, kv: KVStore) -> str:
        row = await kv.get(PARTITION, INSTALLATION)
        if row is None:
            made = uuid.uuid4().hex.encode()
            try:
                await kv.apply(Batch([Check(PARTITION, INSTALLATION, 0)], [Put(PARTITION, INSTALLATION, made)]))
            except PredicateFailed:
                row = await kv.get(PARTITION, INSTALLATION)
            else:
                return made.decode()
        return "" if row is None else row.value.decode()
