"""A KV store on top of another one: it reads through and keeps every change in memory. The store below never changes.

For a dry run: the startup code of a server runs on it, and `changes` lists the changes that it would have made.

`ObservedKV` is also on top of another store: it reports the calls to an observer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Final, NamedTuple, TypeVar

from lakebed_engine.stores.kv.base import ABSENT, Batch, Delete, KVStore, Row, Versioned
from lakebed_engine.vocabulary.errors import PredicateFailed
from lakebed_engine.vocabulary.observer import Observer

_FIRST: Final = 1 << 62
"""Versions of changed rows are above this. No store reaches it."""


class Change(NamedTuple):
    """A row that would be put, or deleted when `value` is None."""

    partition: str
    key: bytes
    value: bytes | None


class OverlayKV:
    """A KVStore that keeps changes in memory. Only for one event loop. Closing it closes the store below."""

    def __init__(self, below: KVStore) -> None:
        self._below = below
        self._changed: dict[tuple[str, bytes], Versioned | None] = {}
        self._version = _FIRST

    @property
    def changes(self) -> list[Change]:
        """The rows that differ from the store below, in order."""
        return [
            Change(partition, key, None if row is None else row.value)
            for (partition, key), row in sorted(self._changed.items())
        ]

    async def get(self, partition: str, key: bytes) -> Versioned | None:
        """The value and its version, or None."""
        if (partition, key) in self._changed:
            return self._changed[partition, key]
        return await self._below.get(partition, key)

    async def get_many(self, partition: str, keys: Sequence[bytes]) -> list[Versioned | None]:
        """As `get`, for several keys, in the given order."""
        below = await self._below.get_many(partition, keys)
        return [self._changed.get((partition, key), found) for key, found in zip(keys, below, strict=True)]

    async def scan(self, partition: str, start: bytes = b"", end: bytes | None = None, limit: int = 1000) -> list[Row]:
        """Rows with start <= key < end in byte order, at most `limit`."""
        changed = {
            key: row
            for (name, key), row in self._changed.items()
            if name == partition and key >= start and (end is None or key < end)
        }
        # a changed row may hide a row of the store below
        below = await self._below.scan(partition, start, end, max(limit, 0) + len(changed))
        rows = {row.key: row for row in below if row.key not in changed}
        rows |= {key: Row(key, *row) for key, row in changed.items() if row is not None}
        return [rows[key] for key in sorted(rows)][: max(limit, 0)]

    async def apply(self, batch: Batch) -> int:
        """Apply atomically, in memory. Returns the version that every put row now has. Raises PredicateFailed."""
        for partition, key, expected in batch.checks:
            found = await self.get(partition, key)
            if (ABSENT if found is None else found.version) != expected:
                raise PredicateFailed(f"a row is no longer at the expected version: {key!r} in {partition!r}")
        for partition, key in batch.deletes:
            self._changed[partition, key] = None
        if not batch.puts:
            return ABSENT
        self._version += 1
        for partition, key, value in batch.puts:
            self._changed[partition, key] = Versioned(value, self._version)
        return self._version

    async def drop_partition(self, partition: str) -> None:
        """Delete every row of a partition, in memory."""
        start = b""
        while rows := await self.scan(partition, start):
            await self.apply(Batch(deletes=[Delete(partition, row.key) for row in rows]))
            start = rows[-1].key + b"\0"

    async def partitions(self, start: str = "", end: str | None = None, limit: int = 1000) -> list[str]:
        """Names of partitions that hold rows, start <= name < end, in order, at most `limit`.

        Includes partitions whose rows were all deleted.
        """
        below = await self._below.partitions(start, end, limit)
        added = {name for (name, _), row in self._changed.items() if row is not None}
        fits = {name for name in added if name >= start and (end is None or name < end)}
        return sorted({*below, *fits}, key=lambda name: name.encode("utf-8", "surrogatepass"))[: max(limit, 0)]

    async def close(self) -> None:
        """Forget the changes, and close the store below."""
        self._changed.clear()
        await self._below.close()


T = TypeVar("T")


class ObservedKV:
    """Passes every call on, and reports its time and its error."""

    def __init__(self, kv: KVStore, observer: Observer) -> None:
        self._kv = kv
        self._begin = observer.begin

    async def get(self, partition: str, key: bytes) -> Versioned | None:
        """As the store."""
        return await self._observed("get", self._kv.get(partition, key))

    async def get_many(self, partition: str, keys: Sequence[bytes]) -> list[Versioned | None]:
        """As the store."""
        return await self._observed("get_many", self._kv.get_many(partition, keys))

    async def scan(self, partition: str, start: bytes = b"", end: bytes | None = None, limit: int = 1000) -> list[Row]:
        """As the store."""
        return await self._observed("scan", self._kv.scan(partition, start, end, limit))

    async def apply(self, batch: Batch) -> int:
        """As the store."""
        return await self._observed("apply", self._kv.apply(batch))

    async def drop_partition(self, partition: str) -> None:
        """As the store."""
        await self._observed("drop_partition", self._kv.drop_partition(partition))

    async def partitions(self, start: str = "", end: str | None = None, limit: int = 1000) -> list[str]:
        """As the store."""
        return await self._observed("partitions", self._kv.partitions(start, end, limit))

    async def close(self) -> None:
        """As the store."""
        await self._kv.close()

    async def _observed(self, call: str, job: Awaitable[T]) -> T:
        work = self._begin("kv", call)
        try:
            found = await job
        except BaseException as error:
            work.end(error)
            raise
        work.end()
        return found
