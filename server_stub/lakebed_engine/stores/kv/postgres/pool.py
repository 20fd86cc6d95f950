"""Connections to PostgreSQL for one event loop: made when they are needed, kept, and made anew when they are lost.

Not asyncpg's own pool: that one cleans a connection with a round trip each time it comes back, and nothing here leaves
anything to clean.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import asyncpg

from lakebed_engine.stores.kv.postgres.errors import closed, is_lost, is_passing, store_error
from lakebed_engine.stores.kv.postgres.schema import Connection
from lakebed_engine.vocabulary.errors import StoreError, StoreUnavailableError

Records = list[asyncpg.Record]

_PAUSES: Final = (0.02, 0.05, 0.1, 0.2, 0.4)  # seconds between two tries to connect; the last is repeated
TURN: Final = 30.0
"""Seconds that a caller waits for a connection, before a database that hangs holds up everybody for ever."""
_FRESH_SECONDS: Final = 1.0  # a connection that was used this lately is taken to be alive
_PING_SECONDS: Final = 2.0
_READS: Final = 3  # tries of a read; each may find its connection lost


class Pool:
    """At most `size` connections. When all are busy a caller waits, `TURN` at most. `connect` makes a usable one."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]], *, size: int, patience: float, place: str) -> None:
        self._connect = connect
        self._patience = patience
        self._place = place
        self._size = size
        self._free = asyncio.Semaphore(size)
        self._idle: list[tuple[Connection, float]] = []  # the last one used is taken first
        self._lent: set[Connection] = set()
        self._closed = False

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[Connection]:
        """A connection that answered a moment ago. Raises StoreError when there is none."""
        if self._closed:
            raise closed(self._place)
        async with self._turn():
            connection = await self._take()
            self._lent.add(connection)
            try:
                yield connection
            finally:
                self._lent.discard(connection)
                if not connection.is_closed():
                    self._idle.append((connection, _now()))

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """One of the `size` connections may be used. Raises StoreError."""
        try:
            async with asyncio.timeout(TURN if self._free.locked() else None):
                await self._free.acquire()
        except TimeoutError:
            text = f"all {self._size} connections to PostgreSQL were busy for {TURN:g} s; try again later"
            raise StoreUnavailableError(f"{text}: {self._place}", told=text) from None
        try:
            yield
        finally:
            self._free.release()

    async def fetch(self, statement: str, *arguments: object) -> Records:
        """The rows of a statement that may be run twice: it is, when its connection was lost."""
        lost: Exception | None = None
        for _ in range(_READS):
            async with self.lend() as connection:
                try:
                    return await connection.fetch(statement, *arguments)
                except Exception as error:
                    if not is_lost(error) or isinstance(error, TimeoutError):
                        raise store_error(error, self._place) from error
                    connection.terminate()
                    lost = error
        assert lost is not None, "every try ended with a lost connection"
        raise store_error(lost, self._place) from lost

    async def close(self) -> None:
        """Wait for what is lent, then close every connection."""
        self._closed = True
        for _ in range(self._size):
            await self._free.acquire()
        for connection, _ in self._idle:
            try:
                await connection.close(timeout=5)
            except Exception:  # it was lost, or does not answer: nothing is left to say to it
                connection.terminate()
        self._idle.clear()

    async def abandon(self) -> None:
        """Cut every connection: the event loop ends."""
        self._closed = True
        for connection in [*self._lent, *(connection for connection, _ in self._idle)]:
            connection.terminate()
        self._idle.clear()
        for _ in range(3):  # the transports close in the next rounds of the loop
            await asyncio.sleep(0)

    async def _take(self) -> Connection:
        begun = _now()
        tries = 0
        while True:
            while self._idle:
                connection, used = self._idle.pop()
                if connection.is_closed():
                    continue
                if _now() - used < _FRESH_SECONDS or await _answers(connection):
                    return connection
            try:
                return await self._connect()
            except StoreError:
                raise
            except Exception as error:
                pause = _PAUSES[min(tries, len(_PAUSES) - 1)]
                if not is_passing(error) or _now() + pause - begun > self._patience:
                    raise store_error(error, self._place) from error
            tries += 1
            await asyncio.sleep(pause)


async def _answers(connection: Connection) -> bool:
    try:
        await connection.fetchval("SELECT 1", timeout=_PING_SECONDS)
    except Exception:
        connection.terminate()
        return False
    return True


def _now() -> float:
    return asyncio.get_running_loop().time()
