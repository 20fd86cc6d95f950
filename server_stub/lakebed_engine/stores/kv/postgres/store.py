"""The KV store in PostgreSQL: for production, and for several servers on several machines.

`postgres.schema` has the tables and the function that applies batches. `postgres.writer` has the locks that make it
correct, `postgres.pool` the connections, and `postgres.batching` the sharing of round trips. The driver needs its own
connections, or a pooler in session mode.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from lakebed_engine.stores.kv.base import Batch, Row, Versioned
from lakebed_engine.stores.kv.postgres.errors import closed, place_of
from lakebed_engine.stores.kv.postgres.schema import (
    DROP_BELOW,
    DROP_REST,
    GET_MANY,
    NTH_KEY,
    PARTITIONS,
    SCAN,
    SCAN_TO,
)
from lakebed_engine.stores.kv.postgres.session import Access, Session, to_versioned
from lakebed_engine.stores.kv.postgres.writer import partition_bytes, work_of

_DROP_STEP = 10_000  # rows that drop_partition deletes in one step

_to_row = partial(tuple.__new__, Row)


class PostgresKV:
    """A KVStore in a PostgreSQL database, in the SQL schema `schema`. Makes a missing schema.

    Connects at the first use, with at most `pool` connections. When all are busy, the caller waits. Tries for
    `patience` seconds to reach a server that does not respond. Gives up on a statement after `timeout` seconds. Each
    event loop has its own connections, and so has each process after a fork.

    All calls may raise SchemaTooNewError, CorruptDataError (another program uses the schema), StoreFullError and
    StoreUnavailableError.
    """

    def __init__(
        self,
        dsn: str,
        *,
        schema: str = "lakebed",
        pool: int = 8,
        patience: float = 5.0,
        timeout: float = 30.0,
        read_only: bool = False,
    ) -> None:
        """`read_only`: makes no table, and every change raises StoreFullError."""
        self._place = place_of(dsn, schema)
        self._access = Access(dsn, schema, self._place, pool, patience, timeout, read_only=read_only)
        self._sessions: dict[asyncio.AbstractEventLoop, Session] = {}
        self._closed = False

    def __repr__(self) -> str:
        return f"PostgresKV({self._place})"  # without the DSN, which has a password

    async def get(self, partition: str, key: bytes) -> Versioned | None:
        """The value and its version, or None."""
        return await (await self._session()).gets.submit((partition_bytes(partition), key))

    async def get_many(self, partition: str, keys: Sequence[bytes]) -> list[Versioned | None]:
        """As `get`, for several keys, from one consistent view, in the given order."""
        session = await self._session()
        rows = await session.pool.fetch(GET_MANY, [partition_bytes(partition)] * len(keys), list(keys))
        return [to_versioned(row) for row in rows]

    async def scan(self, partition: str, start: bytes = b"", end: bytes | None = None, limit: int = 1000) -> list[Row]:
        """Rows with start <= key < end in byte order, at most `limit`, from one consistent view."""
        session = await self._session()
        arguments = (partition_bytes(partition), start, max(limit, 0))
        if end is None:
            rows = await session.pool.fetch(SCAN, *arguments)
        else:
            rows = await session.pool.fetch(SCAN_TO, *arguments, end)
        return [_to_row(row) for row in rows]

    async def apply(self, batch: Batch) -> int:
        """Apply atomically and durably. Returns the version that every put row now has.

        Raises PredicateFailed when a check does not hold: then nothing was changed. Raises OutcomeUnknownError when
        the connection was lost after the statement was sent. After a cancellation, the outcome is unknown too.
        """
        return await (await self._session()).batches.submit(work_of(batch))

    async def drop_partition(self, partition: str) -> None:
        """Delete every row of a partition, a bounded number at a time."""
        pool = (await self._session()).pool
        name, start = partition_bytes(partition), b""
        while bound := await pool.fetch(NTH_KEY, name, start, _DROP_STEP):
            await pool.fetch(DROP_BELOW, name, start, bound[0]["key"])
            start = bound[0]["key"]
        await pool.fetch(DROP_REST, name, start)

    async def partitions(self, start: str = "", end: str | None = None, limit: int = 1000) -> list[str]:
        """Names of partitions that hold rows, start <= name < end, in order, at most `limit`."""
        last = None if end is None else partition_bytes(end)
        pool = (await self._session()).pool
        rows = await pool.fetch(PARTITIONS, partition_bytes(start), last, max(limit, 0))
        return [row["name"].decode("utf-8", "surrogatepass") for row in rows]

    async def close(self) -> None:
        """Finish accepted calls of this event loop, then close every connection. May be called twice."""
        self._closed = True
        session = self._sessions.pop(asyncio.get_running_loop(), None)
        if session is not None:
            await session.close()

    async def _session(self) -> Session:
        """The session of the running event loop. After a fork, the parent's session is not used and not closed."""
        if self._closed:
            raise closed(self._place)
        loop = asyncio.get_running_loop()  # a forked child has another event loop
        session = self._sessions.get(loop)
        if session is None:
            session = Session(self._access, partial(self._sessions.pop, loop, None))
            self._sessions[loop] = session
            await session.open()
        return session
