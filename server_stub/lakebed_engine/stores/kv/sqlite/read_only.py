"""A SQLite KV store that is opened read-only: it enables no WAL, creates no table and writes no row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

import apsw

from lakebed_engine.stores.kv.base import Batch, KvState, Row, Versioned
from lakebed_engine.stores.kv.sqlite.file import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    patience,
    require_sqlite,
    store_error,
)
from lakebed_engine.stores.kv.sqlite.store import Reader
from lakebed_engine.vocabulary.errors import CorruptDataError, StoreFullError

_ABOUT = (
    "SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id), "
    "(SELECT count(*) FROM sqlite_schema)"
)


def connect_read_only(path: Path) -> apsw.Connection:
    """A connection that cannot write. Raises apsw's errors.

    Without a WAL, no server has the file open. With `immutable`, SQLite assumes that the file does not change, and
    creates no file next to it.
    """
    mode = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(f"file:{quote(str(path))}?{mode}", flags=flags)
    connection.set_busy_handler(patience())
    return connection


def inspect(path: Path) -> KvState:
    """The state of a file. Raises CorruptDataError (not a store of Lakebed) and StoreUnavailableError."""
    require_sqlite(apsw.sqlite_lib_version())
    try:
        connection = connect_read_only(path)
        try:
            version, application, tables = connection.execute(_ABOUT).get
        finally:
            connection.close()
    except apsw.Error as error:
        raise store_error(error, path) from error
    fresh = (version, application, tables) == (0, 0, 0)
    if not fresh and application != APPLICATION_ID:
        raise CorruptDataError(f"the database is not a KV store of Lakebed; choose another path: {path}")
    return KvState(
        place=f"SQLite at {path}",
        software=f"SQLite {apsw.sqlite_lib_version()}",
        version=None if fresh else version,
        known=SCHEMA_VERSION,
        size=path.stat().st_size,
    )


class ReadOnlySqliteKV:
    """The rows of a SQLite KV store. Every change raises StoreFullError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader = Reader(path, partial(connect_read_only, path))

    async def get(self, partition: str, key: bytes) -> Versioned | None:
        """The value and its version, or None."""
        return self._reader.get(partition, key)

    async def get_many(self, partition: str, keys: Sequence[bytes]) -> list[Versioned | None]:
        """As `get`, for several keys, from one consistent view, in the given order."""
        return self._reader.get_many(partition, keys)

    async def scan(self, partition: str, start: bytes = b"", end: bytes | None = None, limit: int = 1000) -> list[Row]:
        """Rows with start <= key < end in byte order, at most `limit`, from one consistent view."""
        return self._reader.scan(partition, start, end, limit)

    async def partitions(self, start: str = "", end: str | None = None, limit: int = 1000) -> list[str]:
        """Names of partitions that hold rows, start <= name < end, in order, at most `limit`."""
        return self._reader.partitions(start, end, limit)

    async def apply(self, batch: Batch) -> int:
        """Refuse. Raises StoreFullError."""
        raise self._refusal()

    async def drop_partition(self, partition: str) -> None:
        """Refuse. Raises StoreFullError."""
        raise self._refusal()

    async def close(self) -> None:
        """Close the file."""
        self._reader.close()

    def _refusal(self) -> StoreFullError:
        return StoreFullError(f"the KV store is opened for reading only: {self._path}")
