"""`mem://`: objects in a dict, for tests and trials.

The smallest adapter. It is thread-safe, and its data ends with the process.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from lakebed_engine.stores.objects.base import BlobStat, PutResult
from lakebed_engine.stores.objects.local.keys import key_bytes
from lakebed_engine.stores.objects.local.read import check_range
from lakebed_engine.vocabulary.corruption import refuse_larger
from lakebed_engine.vocabulary.errors import BlobExists, BlobNotFound
from lakebed_engine.vocabulary.ports import Clock, SystemClock
from lakebed_engine.vocabulary.streams import CHUNK


@dataclass(frozen=True, slots=True, eq=False)
class _Blob:
    data: bytes
    mtime: float


class MemoryObjects:
    """One namespace in one dict."""

    def __init__(self, uri: str, clock: Clock | None = None) -> None:
        self._uri = uri
        self._clock = clock or SystemClock()
        self._blobs: dict[str, _Blob] = {}
        self._version = object()
        self._sorted: tuple[object, Sequence[str]] = (self._version, ())

    @property
    def uri(self) -> str:
        """The namespace's URI."""
        return self._uri

    def reset(self) -> None:
        """Remove all objects."""
        self._blobs, self._version = {}, object()

    async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
        """Store the bytes."""
        self._put(key, bytes(data), if_absent)

    async def put_stream(
        self, key: str, chunks: AsyncIterable[bytes], *, if_absent: bool = False, fresh: bool = False
    ) -> PutResult:
        """Store a stream. It becomes visible at its end."""
        key_bytes(key)
        data = b"".join([bytes(chunk) async for chunk in chunks])
        self._put(key, data, if_absent)
        return PutResult(len(data), hashlib.md5(data, usedforsecurity=False).hexdigest())

    async def get(self, key: str) -> bytes:
        """A whole file, of bounded size."""
        data = self._get(key).data
        refuse_larger(self._uri, key, len(data))
        return data

    async def get_range(self, key: str, start: int, length: int) -> bytes:
        """`length` bytes from `start`. Returns fewer only at the end of the object."""
        check_range(start, length)
        return self._get(key).data[start : start + length]

    def open(
        self, key: str, start: int = 0, length: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Stream an object or a part of it. A running stream survives a delete."""
        check_range(start, length)
        return self._open(key, start, length)

    async def head(self, key: str) -> BlobStat:
        """Size and mtime."""
        return _stat(key, self._get(key))

    async def list(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        """Objects in byte order of the key. For UTF-8 this is also the order of the characters."""
        keys = self._keys()
        for index in range(max(bisect_right(keys, start_after), bisect_left(keys, prefix)), len(keys)):
            key = keys[index]
            if not key.startswith(prefix):
                return
            blob = self._blobs.get(key)
            if blob is not None:
                yield _stat(key, blob)

    async def any_key(self) -> str | None:
        """The first key."""
        return next(iter(self._keys()), None)

    async def list_partial(self) -> AsyncIterator[BlobStat]:
        """Yields nothing, because an interrupted put leaves nothing."""
        leftovers: tuple[BlobStat, ...] = ()
        for blob in leftovers:
            yield blob

    async def delete_partial(self, handle: str) -> None:
        """Does nothing."""

    async def delete(self, keys: Sequence[str]) -> None:
        """Remove objects. Ignores absent ones."""
        for key in keys:
            key_bytes(key)
        for key in keys:
            self._blobs.pop(key, None)
        self._version = object()

    async def delete_older(self, keys: Sequence[str], before: float) -> Sequence[str]:
        """Remove the older objects. Returns their keys."""
        old = [key for key in keys if self._is_older(key, before)]
        await self.delete(old)
        return old

    async def copy(self, source: str, target: str) -> None:
        """Store the same bytes under another key."""
        key_bytes(target)
        self._put(target, self._get(source).data, False)

    async def concat(self, keys: Sequence[str], target: str) -> None:
        """Store the joined bytes of several objects."""
        key_bytes(target)
        self._put(target, b"".join([self._get(key).data for key in keys]), False)

    def _is_older(self, key: str, before: float) -> bool:
        blob = self._blobs.get(key)
        return blob is not None and blob.mtime < before

    def _put(self, key: str, data: bytes, if_absent: bool) -> None:
        key_bytes(key)
        blob = _Blob(data, self._clock.now())
        if not if_absent:
            self._blobs[key] = blob
        elif self._blobs.setdefault(key, blob) is not blob:  # atomic, also between threads
            raise BlobExists(f"{self._uri}/{key} exists already; nothing was written")
        self._version = object()

    def _keys(self) -> Sequence[str]:
        version = self._version  # read before the keys: a put of another thread then invalidates this order
        kept, keys = self._sorted
        if kept is not version:
            keys = tuple(sorted(self._blobs))
            self._sorted = (version, keys)
        return keys

    def _get(self, key: str) -> _Blob:
        key_bytes(key)
        try:
            return self._blobs[key]
        except KeyError:
            raise BlobNotFound(f"nothing is stored at {self._uri}/{key}") from None

    @asynccontextmanager
    async def _open(self, key: str, start: int, length: int | None) -> AsyncIterator[AsyncIterator[bytes]]:
        data = self._get(key).data
        yield _chunks(data, start, len(data) if length is None else min(start + length, len(data)))


async def _chunks(data: bytes, start: int, end: int) -> AsyncIterator[bytes]:
    for at in range(start, end, CHUNK):
        yield data[at : min(at + CHUNK, end)]


def _stat(key: str, blob: _Blob) -> BlobStat:
    return BlobStat(key, len(blob.data), blob.mtime)
