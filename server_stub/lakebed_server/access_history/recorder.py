"""Collects rows of the access history, and writes them to the buckets of their repositories.

A request never waits for it. When a bucket does not take rows, at most `MOST_ROWS` wait in memory, and the recorder
drops and counts the others. A process that is killed loses the rows that it had not written.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator
from typing import Final

import pyarrow as pa
from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.errors import EngineError, NotFoundError

from lakebed_server.access_history.rows import SCHEMA, Row, Wanted, by_day, chosen, days, encode, second

log = logging.getLogger("lakebed.server")

INTERVAL: Final = 60.0
"""Seconds between two writes."""
WRITE_AT: Final = 50_000
"""Rows after which the recorder writes without waiting for the interval."""
MOST_ROWS: Final = 200_000


class Recorder:
    """The access history of this process."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._rows: dict[str, list[Row]] = {}
        self._waiting = 0
        self._reported = 0
        self._full = asyncio.Event()
        self._lock = asyncio.Lock()
        self.dropped = 0
        """Rows that were dropped since the start."""

    def record(self, row: Row) -> None:
        """Add a row. Never blocks and never raises."""
        if self._waiting >= MOST_ROWS:
            self.dropped += 1
            return
        self._rows.setdefault(row.repository, []).append(row)
        self._waiting += 1
        if self._waiting >= WRITE_AT:
            self._full.set()

    async def run(self) -> None:
        """Write rows at the interval, until it is cancelled."""
        while True:
            try:
                await asyncio.wait_for(self._full.wait(), INTERVAL)
            except TimeoutError:
                pass
            self._full.clear()
            await self.flush()

    async def flush(self) -> None:
        """Write all rows that wait. Rows of a repository that cannot be written wait for the next time."""
        async with self._lock:
            rows, self._rows, self._waiting = self._rows, {}, 0
            for repository, found in rows.items():
                await self._write(repository, found)
        if self.dropped > self._reported:
            log.error("access history: %d rows were dropped since the start", self.dropped)
            self._reported = self.dropped

    async def _write(self, repository: str, rows: list[Row]) -> None:
        try:
            for day, some in by_day(rows):
                data = await asyncio.to_thread(encode, some)
                await self._engine.access_history.write(repository, day, second(some[0].time / 1e6), data)
        except NotFoundError:
            pass  # the repository was deleted, or never existed
        except EngineError as error:
            log.warning("access history of %s: %d rows were not written: %s", repository, len(rows), error.message)
            for row in rows:
                self.record(row)

    async def read(self, repository: str, wanted: Wanted) -> AsyncGenerator[pa.Table]:
        """The wanted rows of a repository, a table for each file, in the order of files."""
        await self.flush()
        first, last = days(wanted.since, min(wanted.until, time.time() + 1))
        yield SCHEMA.empty_table()
        for key in await self._engine.access_history.files(repository, first, last):
            data = await self._engine.access_history.read(repository, key)
            table = await asyncio.to_thread(chosen, data, wanted)
            if table.num_rows:
                yield table
