"""The connections and the running calls of a PostgreSQL KV store in one event loop."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Final

import asyncpg

from lakebed_engine.stores.kv.base import Versioned
from lakebed_engine.stores.kv.postgres.batching import Answers, Batcher, Item
from lakebed_engine.stores.kv.postgres.errors import wrong_dsn
from lakebed_engine.stores.kv.postgres.pool import Pool, TimedConnection
from lakebed_engine.stores.kv.postgres.schema import APPLY, GET, GET_MANY, Connection, ensure_schema, quoted
from lakebed_engine.stores.kv.postgres.writer import Work, Writer, choose
from lakebed_engine.vocabulary.errors import StoreError

_Wanted = tuple[bytes, bytes]
_Found = Versioned | None

_READ_BATCHES: Final = 2
_WRITE_BATCHES: Final = 4
_GETS: Final = 256  # keys in a statement
_LOCK_SECONDS: Final = 10.0
_NOTHING: Final[list[list[object]]] = [[]] * 13

# Every plan must use an index: plans are kept, and a plan for a small table would later read the whole table.
# READ COMMITTED, because each statement of `apply` must see what was committed before it.
_SETTINGS: Final = {
    "application_name": "lakebed",
    "default_transaction_isolation": "read committed",
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
    **dict.fromkeys(("enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin"), "off"),
}
_DURABLE: Final = """
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
"""


@dataclass(slots=True)
class Access:
    """How to connect to the store. `is_made`: this process has checked its tables. `read_only`: it makes no table, and
    every statement that writes fails.
    """

    dsn: str = field(repr=False)
    schema: str
    place: str
    size: int
    patience: float
    timeout: float
    is_made: bool = False
    read_only: bool = False

    async def connect(self) -> Connection:
        """Open a connection and prepare its statements. Raises asyncpg's errors, OSError and StoreError."""
        try:
            connection: Connection = await asyncpg.connect(
                self.dsn,
                timeout=self.patience,
                connection_class=TimedConnection,
                command_timeout=self.timeout + 5,  # the server gives up first, and reports why
                max_cached_statement_lifetime=0,
                server_settings={
                    **_SETTINGS,
                    **({"default_transaction_read_only": "on"} if self.read_only else {}),
                    "search_path": quoted(self.schema),
                    "statement_timeout": f"{self.timeout * 1000:.0f}",
                    "lock_timeout": f"{min(self.timeout, _LOCK_SECONDS) * 1000:.0f}",
                },
            )
        except ValueError:
            raise wrong_dsn() from None
        try:
            if self.read_only:
                return connection
            if not self.is_made:
                await ensure_schema(connection, self.schema, self.place)
                self.is_made = True
            await connection.execute(_DURABLE)
            await connection.fetchrow(APPLY, *_NOTHING)  # prepares the statement: each later call takes one round trip
        except BaseException:
            connection.terminate()
            raise
        return connection


class Session:
    """Belongs to the running event loop. Its connections end with the loop. `on_end` is called then."""

    def __init__(self, access: Access, on_end: Callable[[], object]) -> None:
        self.pool = Pool(access.connect, size=access.size, patience=access.patience, place=access.place)
        self.gets: Batcher[_Wanted, _Found] = Batcher(_choose_gets, self._get, _READ_BATCHES)
        self.batches: Batcher[Work, int] = Batcher(
            choose, Writer(self.pool, access.schema, access.place).run, _WRITE_BATCHES
        )
        self._on_end = on_end
        self._stay = self._until_the_loop_ends()

    async def open(self) -> None:
        """Begin to wait for the end of the event loop."""
        await anext(self._stay)

    async def close(self) -> None:
        """Finish accepted calls, then close the connections."""
        await self.gets.drain()
        await self.batches.drain()
        await self.pool.close()
        await self._stay.aclose()

    async def _until_the_loop_ends(self) -> AsyncGenerator[None, None]:
        # before it closes the loop, asyncio.run() finishes every open generator, and nothing else
        try:
            yield
        finally:
            self._on_end()
            await self.pool.abandon()

    async def _get(self, wanted: list[_Wanted]) -> Answers[_Found]:
        try:
            if len(wanted) == 1:
                rows = await self.pool.fetch(GET, *wanted[0])
                return [to_versioned(rows[0]) if rows else None]
            rows = await self.pool.fetch(GET_MANY, [one[0] for one in wanted], [one[1] for one in wanted])
        except StoreError as error:
            return [error] * len(wanted)
        return [to_versioned(row) for row in rows]


def to_versioned(row: asyncpg.Record) -> Versioned | None:
    """The value of a row of GET or GET_MANY. GET_MANY returns nulls for an absent key."""
    value, version = row
    return None if version is None else Versioned(value, version)


def _choose_gets(queue: deque[Item[_Wanted, _Found]]) -> list[Item[_Wanted, _Found]]:
    return [queue.popleft() for _ in range(min(len(queue), _GETS))]
