"""The KV store in memory, for tests and the in-process server.

It implements exactly the semantics of the interface, and no other database feature. The rows are lost with the object.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

from lakebed_engine.stores.kv.base import ABSENT, Batch, Row, Versioned
from lakebed_engine.vocabulary.errors import PredicateFailed, StoreUnavailableError

_FEW = 64  # up to this number, new keys are inserted one by one. For more, sorting again is cheaper


class _Partition:
    """Rows by key, and the keys in byte order. New keys are put in order only at a scan."""

    __slots__ = ("_new", "_order", "rows")

    def __init__(self) -> None:
        self.rows: dict[bytes, Versioned] = {}
        self._order: list[bytes] = []
        self._new: set[bytes] = set()  # in rows, not yet in _order

    def put(self, key: bytes, row: Versioned) -> None:
        if key not in self.rows:
            self._new.add(key)
        self.rows[key] = row

    def delete(self, key: bytes) -> None:
        if self.rows.pop(key, None) is None:
            return
        if key in self._new:
            self._new.remove(key)
        else:
            del self._order[bisect_left(self._order, key)]

    def keys(self, start: bytes, end: bytes | None, limit: int) -> Iterator[bytes]:
        if len(self._new) <= _FEW:
            for key in self._new:
                insort(self._order, key)
        else:
            self._order.extend(self._new)
            self._order.sort()
        self._new.clear()
        first = bisect_left(self._order, start)
        last = len(self._order) if end is None else bisect_left(self._order, end, lo=first)
        return iter(self._order[first : min(last, first + max(limit, 0))])


class MemoryKV:
    """A KVStore in this process's memory.

    Safe to use from several event loops and threads. Raises StoreUnavailableError after `close`.
    """

    def __init__(self) -> None:
        self._partitions: dict[str, _Partition] = {}
        self._version = ABSENT
        self._closed = False
        self._lock = threading.Lock()  # a test resets the store from its own thread while a server runs in another

    def reset(self) -> None:
        """Delete every row. Versions continue, so that no version is repeated."""
        with self._lock:
            self._partitions.clear()

    async def get(self, partition: str, key: bytes) -> Versioned | None:
        """The value and its version, or None."""
        with self._lock:
            self._check_open()
            found = self._partitions.get(partition)
            return found.rows.get(key) if found is not None else None

    async def get_many(self, partition: str, keys: Sequence[bytes]) -> list[Versioned | None]:
        """As `get`, for several keys, in the given order."""
        with self._lock:
            self._check_open()
            found = self._partitions.get(partition)
            return [found.rows.get(key) for key in keys] if found is not None else [None] * len(keys)

    async def scan(self, partition: str, start: bytes = b"", end: bytes | None = None, limit: int = 1000) -> list[Row]:
        """Rows with start <= key < end in byte order, at most `limit`."""
        with self._lock:
            self._check_open()
            found = self._partitions.get(partition)
            if found is None:
                return []
            return [Row(key, *found.rows[key]) for key in found.keys(start, end, limit)]

    async def apply(self, batch: Batch) -> int:
        """Apply atomically. Returns the version that every put row now has.

        Raises PredicateFailed when a check does not hold: then nothing was changed.
        """
        with self._lock:
            self._check_open()
            for partition, key, expected in batch.checks:
                found = self._partitions.get(partition)
                row = found.rows.get(key) if found is not None else None
                if (ABSENT if row is None else row.version) != expected:
                    raise PredicateFailed(f"a row is no longer at the expected version: {key!r} in {partition!r}")
            for partition, key in batch.deletes:
                if (found := self._partitions.get(partition)) is not None:
                    found.delete(key)
            if not batch.puts:
                return ABSENT
            self._version += 1
            for partition, key, value in batch.puts:
                self._partitions.setdefault(partition, _Partition()).put(key, Versioned(value, self._version))
            return self._version

    async def drop_partition(self, partition: str) -> None:
        """Delete every row of a partition."""
        with self._lock:
            self._check_open()
            self._partitions.pop(partition, None)

    async def partitions(self, start: str = "", end: str | None = None, limit: int = 1000) -> list[str]:
        """Names of partitions that hold rows, start <= name < end, in order, at most `limit`."""
        with self._lock:
            self._check_open()
            held = [name for name, found in self._partitions.items() if found.rows]
            wanted = sorted(name for name in held if start <= name and (end is None or name < end))
            return wanted[: max(limit, 0)]

    async def close(self) -> None:
        """Release the rows. May be called twice."""
        with self._lock:
            self._closed = True
            self._partitions.clear()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailableError("the KV store is closed; open a new one")
