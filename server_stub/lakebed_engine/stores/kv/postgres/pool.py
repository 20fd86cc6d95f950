"""The connections to PostgreSQL of one event loop: asyncpg's pool, which waits for a server that is starting.

The pool does not reset a returned connection. That would take a round trip, and no statement here leaves anything to
reset.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final, TypeAlias

import asyncpg

from lakebed_engine.stores.kv.postgres.errors import closed, is_lost, is_passing, store_error
from lakebed_engine.stores.kv.postgres.schema import Connection
from lakebed_engine.vocabulary.errors import StoreError, StoreUnavailableError

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

Records = list[asyncpg.Record]
Lent: TypeAlias = "PoolConnectionProxy[asyncpg.Record]"
"""A connection of the pool, until it is returned."""

_PAUSE: Final = 0.1
"""Seconds between two attempts to connect."""
WAIT: Final = 30.0
"""Seconds that a caller waits for a connection when all are busy."""
_FRESH_SECONDS: Final = 1.0
"""Seconds after its last use for which a connection is assumed to be alive."""
_PING_SECONDS: Final = 2.0
_READS: Final = 3
"""Attempts of a read. Each may find a lost connection."""
_ALWAYS: Final = 1 << 62
"""Statements per connection: the pool never replaces one for its age."""


class TimedConnection(asyncpg.Connection):
    """A connection that records its last use."""

    used: float = 0.0


class Pool:
    """At most `size` connections, made by `connect`. Tries for `patience` seconds to reach a server."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]], *, size: int, patience: float, place: str) -> None:
        self._connect = connect
        self._patience = patience
        self._place = place
        self._size = size
        self._closed = False
        self._pool: asyncpg.Pool[asyncpg.Record] = asyncpg.create_pool(  # type: ignore[call-overload]
            min_size=0,
            max_size=size,
            max_queries=_ALWAYS,
            connect=self._one_more,
            connection_class=TimedConnection,
            setup=_check,
            reset=_note_use,
        )

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[Lent]:
        """A working connection. Raises StoreError when there is none."""
        connection = await self._take()
        try:
            yield connection
        finally:
            await self._pool.release(connection)

    async def _take(self) -> Lent:
        if self._closed:
            raise closed(self._place)
        await self._pool  # opens the pool at the first call, without a connection
        end = _now() + self._patience
        while True:
            try:
                return await self._pool.acquire(timeout=WAIT)
            except StoreError:
                raise
            except _LostError:
                continue
            except TimeoutError:
                text = f"all {self._size} connections to PostgreSQL were busy for {WAIT:g} s; try again later"
                raise StoreUnavailableError(f"{text}: {self._place}", public_message=text) from None
            except _NotConnectedError as error:
                if not is_passing(error.cause) or _now() + _PAUSE > end:
                    raise store_error(error.cause, self._place) from error.cause
            await asyncio.sleep(_PAUSE)  # after it, a connection may be free, or the server may take one more

    async def fetch(self, statement: str, *arguments: object) -> Records:
        """The rows of a statement that may be run twice. After a lost connection it is run again."""
        lost: Exception | None = None
        for _ in range(_READS):
            async with self.lend() as connection:
                try:
                    return await connection.fetch(statement, *arguments)
                except Exception as error:
                    if not is_lost(error) or isinstance(error, TimeoutError):
                        raise store_error(error, self._place) from error
                    cut(connection)
                    lost = error
        assert lost is not None, "every try ended with a lost connection"
        raise store_error(lost, self._place) from lost

    async def close(self) -> None:
        """Wait for running calls, then close every connection."""
        self._closed = True
        await self._pool
        try:
            async with asyncio.timeout(WAIT):
                await self._pool.close()
        except TimeoutError:
            return  # the pool has cut the connections

    async def abandon(self) -> None:
        """Close every connection without waiting, because the event loop ends."""
        self._closed = True
        await self._pool
        self._pool.terminate()
        for _ in range(3):  # the transports close in the next rounds of the event loop
            await asyncio.sleep(0)

    async def _one_more(self, *_: object, **__: object) -> Connection:
        try:
            return await self._connect()
        except StoreError:
            raise
        except Exception as error:
            raise _NotConnectedError(error) from error


class _NotConnectedError(Exception):
    """A new connection could not be made. Distinguishes its timeout from that of a caller who waits for a free one."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class _LostError(Exception):
    """A pooled connection does not respond."""


def cut(connection: Lent) -> None:
    """Close a lost connection. The pool may have noticed the loss and already taken it back."""
    with suppress(asyncpg.InterfaceError):
        connection.terminate()


async def _check(connection: Lent) -> None:
    """Before a connection is used again, ping the server, unless the last use was very recent."""
    used: float = connection.used  # type: ignore[attr-defined]
    if not used or _now() - used < _FRESH_SECONDS:
        return
    try:
        await connection.fetchval("SELECT 1", timeout=_PING_SECONDS)
    except Exception:
        cut(connection)
        raise _LostError from None


async def _note_use(connection: TimedConnection) -> None:
    connection.used = _now()


def _now() -> float:
    return asyncio.get_running_loop().time()
