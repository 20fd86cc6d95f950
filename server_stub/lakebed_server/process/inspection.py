"""Inspects the stores of a server, and changes nothing, for `lakebed doctor --server` and `lakebed upgrade check`."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.base import KvState, KVStore
from lakebed_engine.stores.kv.overlay import OverlayKV
from lakebed_engine.vocabulary.errors import EngineError

from lakebed_server.process import object_stores, wiring
from lakebed_server.settings.schema import Settings
from lakebed_server.vocabulary import StartError


class Rehearsal(NamedTuple):
    """An engine over the real stores. Changes of rows stay in memory. It is not started: it does no work by itself."""

    kv: OverlayKV
    engine: Engine


async def kv_state(settings: Settings) -> KvState | None:
    """The state of the KV store; None when there is no database file yet. Raises StartError."""
    try:
        if settings.kv.type == "postgres":
            from lakebed_engine.stores.kv.postgres.inspect import inspect as look

            postgres = settings.kv.postgres
            return await look(postgres.dsn, postgres.schema, postgres.pool)
        if settings.kv.type == "memory":
            return None
        return _file_state(Path(settings.kv.sqlite.path))
    except ModuleNotFoundError as error:
        if error.name != "asyncpg":
            raise
        raise StartError("kv.type is postgres, and asyncpg is not installed: lakebed[postgres]") from None
    except EngineError as error:
        raise StartError(error.message) from None


def _file_state(path: Path) -> KvState | None:
    from lakebed_engine.stores.kv.sqlite.read_only import inspect

    return inspect(path) if path.exists() else None


@contextlib.asynccontextmanager
async def rehearse(settings: Settings) -> AsyncIterator[Rehearsal]:
    """The stores of a server, with every change of a row kept in memory. Raises StartError.

    Reads of files go to the real object stores. Only what writes files is forbidden here: nothing prevents it.
    """
    kv = OverlayKV(_read_only(settings))
    stores = object_stores.build(settings, cached=False)
    engine = wiring.build_engine(settings, kv, stores)
    try:
        yield Rehearsal(kv, engine)
    finally:
        await engine.close()
        await kv.close()
        stores.close()


def _read_only(settings: Settings) -> KVStore:
    if settings.kv.type == "postgres":
        from lakebed_engine.stores.kv.postgres.store import PostgresKV

        postgres = settings.kv.postgres
        return PostgresKV(postgres.dsn, schema=postgres.schema, pool=2, read_only=True)
    from lakebed_engine.stores.kv.sqlite.read_only import ReadOnlySqliteKV

    try:
        return ReadOnlySqliteKV(Path(settings.kv.sqlite.path))
    except EngineError as error:
        raise StartError(error.message) from None
