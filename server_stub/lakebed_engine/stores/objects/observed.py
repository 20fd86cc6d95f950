"""Object stores whose calls are reported to an observer.

`observed` makes a subclass of an adapter, not a wrapper around it: an adapter may have more abilities than the protocol
(presigned URLs, a directory, multipart uploads), and callers find them by type.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

from lakebed_engine.stores.objects.base import BlobStat, ObjectStore, PutResult
from lakebed_engine.vocabulary.errors import BlobExists, BlobNotFound
from lakebed_engine.vocabulary.observer import Observer

T = TypeVar("T")
S = TypeVar("S", bound=ObjectStore)

CALLS = ("put", "put_stream", "get", "get_range", "open", "head", "list", "delete", "delete_older", "copy")
"""The reported calls. `open` ends when the first bytes can be read, `list` when the caller stops reading."""

EXPECTED = (BlobNotFound, BlobExists)
"""Not reported as failures: the engine requests files that may not exist."""


def observed(adapter: type[S], observer: Observer) -> type[S]:
    """The adapter, with reports of its calls."""
    made: Any = type(adapter.__name__, (_Observed, adapter), {"_observer": observer})
    return made  # type: ignore[no-any-return]


class _Observed:
    """The calls of an adapter. It precedes the adapter among the bases of the class."""

    _observer: Observer
    uri: str

    async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
        job = self._adapter.put(key, data, if_absent=if_absent, by_content=by_content)
        await self._report("put", job)

    async def put_stream(
        self, key: str, chunks: AsyncIterable[bytes], *, if_absent: bool = False, fresh: bool = False
    ) -> PutResult:
        job = self._adapter.put_stream(key, chunks, if_absent=if_absent, fresh=fresh)
        return await self._report("put_stream", job)

    async def get(self, key: str) -> bytes:
        return await self._report("get", self._adapter.get(key))

    async def get_range(self, key: str, start: int, length: int) -> bytes:
        return await self._report("get_range", self._adapter.get_range(key, start, length))

    def open(
        self, key: str, start: int = 0, length: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        return self._opened(self._adapter.open(key, start, length))

    @asynccontextmanager
    async def _opened(
        self, stream: AbstractAsyncContextManager[AsyncIterator[bytes]]
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        chunks = await self._report("open", stream.__aenter__())
        try:
            yield chunks
        except BaseException as error:
            if not await stream.__aexit__(type(error), error, error.__traceback__):
                raise
        else:
            await stream.__aexit__(None, None, None)

    async def head(self, key: str) -> BlobStat:
        return await self._report("head", self._adapter.head(key))

    async def list(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        work = self._observer.begin("store", "list", self._kind)
        try:
            async for found in self._adapter.list(prefix, start_after):
                yield found
        except GeneratorExit:
            work.end()  # the caller stopped reading
            raise
        except BaseException as error:
            work.end(error)
            raise
        work.end()

    async def delete(self, keys: Sequence[str]) -> None:
        await self._report("delete", self._adapter.delete(keys))

    async def delete_older(self, keys: Sequence[str], before: float) -> Sequence[str]:
        return await self._report("delete_older", self._adapter.delete_older(keys, before))

    async def copy(self, source: str, target: str) -> None:
        await self._report("copy", self._adapter.copy(source, target))

    @property
    def _adapter(self) -> ObjectStore:
        adapter: Any = super()
        return adapter  # type: ignore[no-any-return]

    @property
    def _kind(self) -> str:
        return self.uri.partition("://")[0]

    async def _report(self, call: str, job: Awaitable[T]) -> T:
        work = self._observer.begin("store", call, self._kind)
        try:
            found = await job
        except BaseException as error:
            work.end(None if isinstance(error, EXPECTED) else error)
            raise
        work.end()
        return found
