"""Inspects a PostgreSQL KV store without changing it: each connection is read-only."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import asyncpg

from lakebed_engine.stores.kv.base import KvState
from lakebed_engine.stores.kv.postgres.errors import place_of, store_error, wrong_dsn
from lakebed_engine.stores.kv.postgres.schema import FUNCTION_VERSION, SCHEMA_VERSION, Connection, quoted
from lakebed_engine.vocabulary.ports import Clock, SystemClock

_SPARE: Final = 10
"""Connections that a server should leave to others."""


async def inspect(dsn: str, schema: str, pool: int = 0, clock: Clock | None = None) -> KvState:
    """The state of a store. `pool`: the connections of one server process. Raises StoreError."""
    place = place_of(dsn, schema)
    try:
        connection: Connection = await asyncpg.connect(
            dsn,
            timeout=10.0,
            command_timeout=30.0,
            server_settings={
                "application_name": "lakebed",
                "default_transaction_read_only": "on",
                "search_path": quoted(schema),
            },
        )
    except ValueError:
        raise wrong_dsn() from None
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
        raise store_error(error, place) from error
    try:
        return await _look(connection, place, pool, clock or SystemClock())
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
        raise store_error(error, place) from error
    finally:
        await connection.close(timeout=5.0)


async def _look(connection: Connection, place: str, pool: int, clock: Clock) -> KvState:
    before = clock.now()
    now = await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())::float8")
    between = (before + clock.now()) / 2
    version, function, size = None, 0, 0
    if await connection.fetchval("SELECT to_regclass('lakebed_schema') IS NOT NULL"):
        version = await connection.fetchval("SELECT version FROM lakebed_schema")
        said = await connection.fetchval("SELECT obj_description(to_regproc('apply'), 'pg_proc')")
        function = int(said or 0)
        size = await connection.fetchval(
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relkind = 'r'"
        )
    return KvState(
        place=place,
        software=f"PostgreSQL {await connection.fetchval('SHOW server_version')}",
        version=version,
        known=SCHEMA_VERSION,
        size=size,
        ahead=now - between,
        function=function,
        known_function=FUNCTION_VERSION,
        remarks=tuple([text async for text in _remarks(connection, pool)]),
    )


async def _remarks(connection: Connection, pool: int) -> AsyncIterator[str]:
    if await connection.fetchval("SELECT pg_is_in_recovery()"):
        yield "it is a standby, which takes no writes: use the primary in kv.postgres.dsn"
    for name in ("fsync", "full_page_writes"):
        if await connection.fetchval(f"SHOW {name}") == "off":
            yield f"{name} is off: a crash of its machine can lose or damage every commit"
    allowed = int(await connection.fetchval("SHOW max_connections"))
    if pool + _SPARE > allowed:
        yield f"max_connections is {allowed}, and one server process takes {pool}: lower kv.postgres.pool or raise it"
    if await connection.fetchval("SHOW server_encoding") == "SQL_ASCII":
        yield "its encoding is SQL_ASCII: make the database with ENCODING 'UTF8'"
