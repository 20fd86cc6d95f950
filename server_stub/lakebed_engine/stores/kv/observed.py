"""A KV store whose calls are reported to an observer."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TypeVar

from lakebed_engine.stores.kv.base import Batch, KVStore, Row, Versioned
from lakebed_engine.vocabulary.observer import Observer

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
