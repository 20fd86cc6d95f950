"""Collects rows of the access history, and writes them to the buckets of their repositories.

Rows about no repository, or about a repository that does not exist (any more), are in a namespace of the server.

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
from lakebed_engine.vocabulary.ports import HistoryFiles

from lakebed_server.access_history.rows import SCHEMA, Row, Wanted, by_day, chosen, days, encode, second

log = logging.getLogger("lakebed.server")

INTERVAL: Final = 60.0
"""Seconds between two writes."""
WRITE_AT: Final = 50_000
"""Rows after which the recorder writes without waiting for the interval."""
MOST_ROWS: Final = 200_000
MOST_WITHOUT_USER: Final = 20_000
"""Rows of requests without a user that wait: clients without a key must not push out the rows of users."""


class Recorder:
    """The access history of this process.

    `server_namespace`: the storage namespace for rows about no repository. If it is empty, the recorder drops them.
    """

    def __init__(self, engine: Engine, server_namespace: str = "") -> None:
        self._engine = engine
        self._server_namespace = server_namespace
        self._rows: dict[str, list[Row]] = {}
        self._waiting = 0
        self._without_user = 0
        self._reported = 0
        self._full = asyncio.Event()
        self._lock = asyncio.Lock()
        self.dropped = 0
        """Rows that were dropped since the start."""

    def record(self, row: Row) -> None:
        """Add a row. Never blocks and never raises."""
        if not row.repository and not self._server_namespace:
            return
        self._without_user += not row.user
        if self._waiting >= MOST_ROWS or (not row.user and self._without_user > MOST_WITHOUT_USER):
            self.dropped += 1
            return
        self._rows.setdefault(row.repository, []).append(row)
        self._waiting += 1
        if self._waiting >= WRITE_AT:
            self._full.set()

    @property
    def waiting(self) -> int:
        """Rows that wait to be written."""
        return self._waiting

    @property
    def age(self) -> float:
        """Age of the oldest row that waits, in seconds."""
        oldest = min((rows[0].time for rows in self._rows.values()), default=None)
        return 0.0 if oldest is None else max(0.0, time.time() - oldest / 1e6)

    @property
    def has_server_rows(self) -> bool:
        """Whether rows about no repository are recorded."""
        return bool(self._server_namespace)

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
            rows, self._rows, self._waiting, self._without_user = self._rows, {}, 0, 0
            for repository, found in rows.items():
                await self._write(repository, found)
        if self.dropped > self._reported:
            log.error("access history: %d rows were dropped since the start", self.dropped)
            self._reported = self.dropped

    async def _write(self, repository: str, rows: list[Row]) -> None:
        try:
            files = await self._files_or_server(repository)
            if files is None:
                return
            for day, some in by_day(rows):
                data = await asyncio.to_thread(encode, some)
                await files.write(day, second(some[0].time / 1e6), data)
        except EngineError as error:
            where = repository or "the server"
            log.warning("access history of %s: %d rows were not written: %s", where, len(rows), error.message)
            for row in rows:
                self.record(row)

    async def _files(self, repository: str) -> HistoryFiles:
        history = self._engine.access_history
        return await (history.of_repository(repository) if repository else history.of_server(self._server_namespace))

    async def _files_or_server(self, repository: str) -> HistoryFiles | None:
        """The files of a repository, or those of the server if it was deleted or never existed."""
        try:
            return await self._files(repository)
        except NotFoundError:
            return await self._files("") if self._server_namespace else None

    async def read(self, repository: str, wanted: Wanted) -> AsyncGenerator[pa.Table]:
        """The wanted rows of a repository, or of the server if it is empty: a table for each file, in their order."""
        await self.flush()
        first, last = days(wanted.since, min(wanted.until, time.time() + 1))
        files = await self._files(repository)
        return _tables(files, await files.files(first, last), wanted)


async def _tables(files: HistoryFiles, keys: list[str], wanted: Wanted) -> AsyncGenerator[pa.Table]:
    yield SCHEMA.empty_table()
    for key in keys:
        table = await asyncio.to_thread(chosen, await files.read(key), wanted)
        if table.num_rows:
            yield table
