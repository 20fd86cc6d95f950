"""The KV store in one SQLite file: the embedded default. Several server processes may share it.

This module has the store and its readers, `sqlite.writer` the thread that writes, `sqlite.file` the file. Reads run on
the event loop, because a get takes microseconds and a thread would take longer. Only large scans run in a separate
thread. Every read starts from the newest commit of any process.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import apsw

from lakebed_engine.stores.kv.base import Batch, Row, Versioned
from lakebed_engine.stores.kv.sqlite.file import connect, open_store, store_error
from lakebed_engine.stores.kv.sqlite.writer import DropStep, Writer
from lakebed_engine.vocabulary.errors import StoreUnavailableError

T = TypeVar("T")

_GET: Final = "SELECT value, version FROM kv WHERE partition = ? AND key = ?"
_SCAN: Final = "SELECT key, value, version FROM kv WHERE partition = ? AND key >= ? ORDER BY key LIMIT ?"
_SCAN_TO: Final = "SELECT key, value, version FROM kv WHERE partition = ? AND key >= ? AND key < ? ORDER BY key LIMIT ?"
# From each name to the next through the index: a DISTINCT would read every row. In the order of UTF-8, as TEXT is.
_PARTITIONS: Final = """
    WITH RECURSIVE found (name) AS (
        SELECT min(partition) FROM kv WHERE partition >= ?1
        UNION ALL
        SELECT (SELECT min(partition) FROM kv WHERE partition > found.name) FROM found WHERE found.name IS NOT NULL
    )
    SELECT name FROM found WHERE name IS NOT NULL AND (?2 IS NULL OR name < ?2) LIMIT ?3
"""

_INLINE_ROWS = 2_000  # about a millisecond of the event loop's time

# The named tuples' own constructors are Python functions; these stay in C. fetchall() and list() also run a
# statement to its end: a statement that stops at a row holds its view of the file, and the WAL can only grow.
_to_versioned = partial(tuple.__new__, Versioned)
_to_row = partial(tuple.__new__, Row)


class Reader:
    """A reading connection, for one thread at a time."""

    def __init__(self, path: Path, opened: Callable[[], apsw.Connection]) -> None:
        self._path = path
        self._lock = threading.Lock()
        try:
            self._connection = opened()
            self._connection.pragma("query_only", True)
        except apsw.Error as error:
            raise store_error(error, path) from error
        self._execute = self._connection.cursor().execute

    def get(self, partition: str, key: bytes) -> Versioned | None:
        """The value and its version, or None."""
        with self._lock:
            try:
                rows = self._execute(_GET, (partition, key)).fetchall()
            except apsw.Error as error:
                raise store_error(error, self._path) from error
        return _to_versioned(rows[0]) if rows else None

    def get_many(self, partition: str, keys: Sequence[bytes]) -> list[Versioned | None]:
        """As `get`, for several keys, from one consistent view."""
        with self._lock:
            try:
                self._execute("BEGIN")
                try:
                    found = [self._execute(_GET, (partition, key)).fetchall() for key in keys]
                finally:
                    self._execute("COMMIT")
            except apsw.Error as error:
                raise store_error(error, self._path) from error
        return [_to_versioned(rows[0]) if rows else None for rows in found]

    def scan(self, partition: str, start: bytes, end: bytes | None, limit: int) -> list[Row]:
        """Rows with start <= key < end in byte order."""
        limit = max(limit, 0)  # SQLite treats a negative limit as no limit
        with self._lock:
            try:
                if end is None:
                    return list(map(_to_row, self._execute(_SCAN, (partition, start, limit))))
                return list(map(_to_row, self._execute(_SCAN_TO, (partition, start, end, limit))))
            except apsw.Error as error:
                raise store_error(error, self._path) from error

    def partitions(self, start: str, end: str | None, limit: int) -> list[str]:
        """Names of partitions that hold rows, in order."""
        with self._lock:
            try:
                return [name for (name,) in self._execute(_PARTITIONS, (start, end, max(limit, 0)))]
            except apsw.Error as error:
                raise store_error(error, self._path) from error

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()


class _Last(NamedTuple):
    """The last row that was read. Callers that read it in the same turn of the event loop share it, until another read.

    Callers that group commit wakes together read the same branch record one after another. Everything that they know
    happened before this turn began, so a shared read is as current as a separate one. Any other read ends the sharing,
    so a caller never sees two rows from different times in the wrong order.
    """

    loop: asyncio.AbstractEventLoop
    name: tuple[str, bytes]
    found: Versioned | None


class SqliteKV:
    """A KVStore in a SQLite file. Creates a missing file and its directory.

    A file that cannot be written opens for reading. Raises SchemaTooNewError, CorruptDataError, StoreFullError and
    StoreUnavailableError. Not bound to an event loop: each call uses the one it runs in. `vfs` names a SQLite VFS, for
    tests that make the disk fail. Without `durable`, nothing waits for the disk: applied batches survive a crash of the
    process but not of the machine.
    """

    def __init__(self, path: Path | str, *, vfs: str | None = None, durable: bool = True) -> None:
        self._path = Path(path).absolute()
        self._vfs = vfs
        self._durable = durable
        connection = open_store(self._path, vfs, durable=durable)
        try:
            self._reader = self._new_reader()
        except BaseException:
            connection.close()
            raise
        self._writer = Writer(connection, self._path)
        self._last: _Last | None = None
        self._scanner: Reader | None = None
        self._scan_thread = ThreadPoolExecutor(1, thread_name_prefix="lakebed-kv-scan")

    async def get(self, partition: str, key: bytes) -> Versioned | None:
        """The value and its version, or None."""
        loop = asyncio.get_running_loop()
        name = partition, key
        last = self._last
        if last is None or last.loop is not loop:
            loop.call_soon(self._forget)  # before the read: callbacks that are queued earlier are older than the read
        elif last.name == name:
            return last.found
        found = self._reader.get(partition, key)
        self._last = _Last(loop, name, found)
        return found

    def _new_reader(self) -> Reader:
        return Reader(self._path, lambda: connect(self._path, self._vfs, durable=self._durable))

    def _forget(self) -> None:
        self._last = None

    async def get_many(self, partition: str, keys: Sequence[bytes]) -> list[Versioned | None]:
        """As `get`, for several keys, from one consistent view, in the given order."""
        if len(keys) > _INLINE_ROWS:
            return await self._in_thread(lambda reader: reader.get_many(partition, keys))
        self._last = None
        return self._reader.get_many(partition, keys)

    async def scan(self, partition: str, start: bytes = b"", end: bytes | None = None, limit: int = 1000) -> list[Row]:
        """Rows with start <= key < end in byte order, at most `limit`, from one consistent view."""
        if limit > _INLINE_ROWS:
            return await self._in_thread(lambda reader: reader.scan(partition, start, end, limit))
        self._last = None
        return self._reader.scan(partition, start, end, limit)

    async def apply(self, batch: Batch) -> int:
        """Apply atomically and durably. Returns the version that every put row now has.

        Raises PredicateFailed when a check does not hold: then nothing was changed. Raises OutcomeUnknownError when
        the disk failed during COMMIT. After a cancellation, the outcome is unknown too.
        """
        return await self._writer.submit(batch)

    async def drop_partition(self, partition: str) -> None:
        """Delete every row of a partition, a bounded number at a time. Other batches run in between."""
        while await self._writer.submit(DropStep(partition)):
            pass

    async def partitions(self, start: str = "", end: str | None = None, limit: int = 1000) -> list[str]:
        """Names of partitions that hold rows, start <= name < end, in order, at most `limit`."""
        return await self._in_thread(lambda reader: reader.partitions(start, end, limit))

    async def close(self) -> None:
        """Finish accepted calls, then close every connection. May be called twice."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._last = None
        self._scan_thread.shutdown()
        if self._scanner is not None:
            self._scanner.close()
        self._reader.close()
        self._writer.close()  # last: the last connection folds the WAL into the file when it closes

    async def _in_thread(self, read: Callable[[Reader], T]) -> T:
        def job() -> T:
            if self._scanner is None:
                self._scanner = self._new_reader()
            return read(self._scanner)

        try:
            future = asyncio.get_running_loop().run_in_executor(self._scan_thread, job)
        except RuntimeError as error:  # the error of the executor when it is closed
            raise StoreUnavailableError(f"the KV store is closed; open a new one: {self._path}") from error
        return await future
