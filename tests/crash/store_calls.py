"""Wraps both stores with a counter of calls, which kills its own process before or after a given call.

Every method of both interfaces is one call. A listing and an opened stream are one call each, from their first step to
their last.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

from lakebed_engine.stores.kv.base import Batch, KVStore, Row, Versioned
from lakebed_engine.stores.objects.base import BlobStat, ObjectStore, ObjectStores, PutResult

T = TypeVar("T")


class Doom:
    """Counts the calls of both stores; SIGKILL right before or right after number `number`, counted from 1.

    After means: it took effect, and its answer was lost. `say` gets the name of the call first.
    """

    def __init__(self, number: int, *, after: bool, say: Callable[[str], None]) -> None:
        self._number = number
        self._after = after
        self._say = say
        self._count = 0

    def begin(self, name: str) -> Callable[[], None]:
        """A call begins: before it. What is returned says that it has ended."""
        self._count += 1
        mine = self._count
        self._reached(name, mine, after=False)
        return lambda: self._reached(name, mine, after=True)

    async def call(self, name: str, job: Callable[[], Awaitable[T]]) -> T:
        """One call, from beginning to end."""
        end = self.begin(name)
        try:
            return await job()
        finally:
            end()

    def _reached(self, name: str, number: int, *, after: bool) -> None:
        if number == self._number and after == self._after:
            self._say(name)
            os.kill(os.getpid(), signal.SIGKILL)
            signal.pause()  # the signal may reach another thread first: this one does nothing more


class DoomedKV:
    """A KVStore whose calls are counted."""

    def __init__(self, inner: KVStore, doom: Doom) -> None:
        self._inner = inner
        self._doom = doom

    async def get(self, partition: str, key: bytes) -> Versioned | None:
        return await self._doom.call("kv get", lambda: self._inner.get(partition, key))

    async def get_many(self, partition: str, keys: Sequence[bytes]) -> list[Versioned | None]:
        return await self._doom.call("kv get_many", lambda: self._inner.get_many(partition, keys))

    async def scan(self, partition: str, start: bytes = b"", end: bytes | None = None, limit: int = 1000) -> list[Row]:
        return await self._doom.call("kv scan", lambda: self._inner.scan(partition, start, end, limit))

    async def apply(self, batch: Batch) -> int:
        return await self._doom.call("kv apply", lambda: self._inner.apply(batch))

    async def drop_partition(self, partition: str) -> None:
        await self._doom.call("kv drop_partition", lambda: self._inner.drop_partition(partition))

    async def partitions(self, start: str = "", end: str | None = None, limit: int = 1000) -> list[str]:
        return await self._doom.call("kv partitions", lambda: self._inner.partitions(start, end, limit))

    async def close(self) -> None:
        await self._inner.close()


class DoomedObjects:
    """An ObjectStore whose calls are counted."""

    def __init__(self, inner: ObjectStore, doom: Doom) -> None:
        self._inner = inner
        self._doom = doom

    @property
    def uri(self) -> str:
        return self._inner.uri

    async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
        await self._doom.call(
            f"put {key}", lambda: self._inner.put(key, data, if_absent=if_absent, by_content=by_content)
        )

    async def put_stream(
        self, key: str, chunks: AsyncIterable[bytes], *, if_absent: bool = False, fresh: bool = False
    ) -> PutResult:
        return await self._doom.call(
            f"put_stream {key}", lambda: self._inner.put_stream(key, chunks, if_absent=if_absent, fresh=fresh)
        )

    async def get(self, key: str) -> bytes:
        return await self._doom.call(f"get {key}", lambda: self._inner.get(key))

    async def get_range(self, key: str, start: int, length: int) -> bytes:
        return await self._doom.call(f"get_range {key}", lambda: self._inner.get_range(key, start, length))

    def open(
        self, key: str, start: int = 0, length: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        return self._open(key, start, length)

    @asynccontextmanager
    async def _open(self, key: str, start: int, length: int | None) -> AsyncIterator[AsyncIterator[bytes]]:
        end = self._doom.begin(f"open {key}")
        try:
            async with self._inner.open(key, start, length) as chunks:
                yield chunks
        finally:
            end()

    async def head(self, key: str) -> BlobStat:
        return await self._doom.call(f"head {key}", lambda: self._inner.head(key))

    def list(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        return self._each("list", lambda: self._inner.list(prefix, start_after))

    async def any_key(self) -> str | None:
        return await self._doom.call("any_key", self._inner.any_key)

    def list_partial(self) -> AsyncIterator[BlobStat]:
        return self._each("list_partial", self._inner.list_partial)

    async def _each(self, name: str, start: Callable[[], AsyncIterator[BlobStat]]) -> AsyncIterator[BlobStat]:
        end = self._doom.begin(name)
        try:
            async for blob in start():
                yield blob
        finally:
            end()

    async def delete_partial(self, handle: str) -> None:
        await self._doom.call("delete_partial", lambda: self._inner.delete_partial(handle))

    async def delete(self, keys: Sequence[str]) -> None:
        await self._doom.call(f"delete {len(keys)}", lambda: self._inner.delete(keys))

    async def delete_older(self, keys: Sequence[str], before: float) -> Sequence[str]:
        return await self._doom.call(f"delete_older {len(keys)}", lambda: self._inner.delete_older(keys, before))

    async def copy(self, source: str, target: str) -> None:
        await self._doom.call(f"copy {source}", lambda: self._inner.copy(source, target))


class DoomedStores:
    """Object stores whose calls are counted."""

    def __init__(self, inner: ObjectStores, doom: Doom) -> None:
        self._inner = inner
        self._doom = doom

    def open(self, uri: str, store_id: str = "") -> ObjectStore:
        return DoomedObjects(self._inner.open(uri, store_id), self._doom)

    def check_new(self, uri: str, store_id: str) -> None:
        self._inner.check_new(uri, store_id)
