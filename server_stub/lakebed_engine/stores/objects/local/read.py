"""Reading from `local://`.

The event loop reads small objects: 1 KiB from the page cache takes less time than waking a thread. Threads read larger
ones, one chunk ahead of the caller.
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import AsyncGenerator, AsyncIterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from types import TracebackType

from lakebed_engine.stores.objects.local.keys import Places, key_bytes
from lakebed_engine.stores.objects.local.paths import UNREACHED, look, open_file
from lakebed_engine.stores.objects.local.syscalls import refuse_file, refuse_without, store_error
from lakebed_engine.stores.objects.threads import Threads
from lakebed_engine.vocabulary.corruption import refuse_larger
from lakebed_engine.vocabulary.errors import BlobNotFound
from lakebed_engine.vocabulary.streams import CHUNK, FilePart

SMALL = 64 << 10
"""Bytes of an object that the event loop reads."""

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe that a tool left here must not block the server
_ABSENT = UNREACHED | {errno.ENXIO}
"""The errors of a path that is not a file. ENXIO: a socket. Listings skip these too."""


class Reader:
    """The reading side of one store."""

    def __init__(self, uri: str, places: Places, threads: Threads, base: bytes | None) -> None:
        self.uri = uri
        self._places = places
        self._base = base
        self._threads = threads

    def open(self, key: str) -> tuple[int, os.stat_result]:
        """Open the key's file. Raises BlobNotFound, StoreUnavailableError."""
        for path in self._places.paths(key_bytes(key)):
            try:
                fd = open_file(path, _FLAGS)
            except OSError as error:
                if error.errno in _ABSENT:
                    continue
                raise store_error(error, "read", self.uri, key) from error
            found = os.fstat(fd)
            if stat.S_ISREG(found.st_mode):
                return fd, found
            os.close(fd)
        raise self._not_found(key)

    def stat(self, key: str) -> os.stat_result:
        """Size and mtime. Raises BlobNotFound, StoreUnavailableError."""
        for path in self._places.paths(key_bytes(key)):
            try:
                found = look(path)
            except OSError as error:
                raise store_error(error, "look at", self.uri, key) from error
            if found is not None and stat.S_ISREG(found.st_mode):
                return found
        raise self._not_found(key)

    async def read(self, key: str) -> bytes:
        """A whole file. Raises CorruptDataError for one larger than its kind may be."""
        fd, found = self.open(key)
        try:
            refuse_larger(self.uri, key, found.st_size)
        except BaseException:
            os.close(fd)
            raise
        return await self._read(key, fd, 0, found.st_size)

    async def read_range(self, key: str, start: int, length: int) -> bytes:
        """A part of an object, as one value."""
        check_range(start, length)
        fd, found = self.open(key)
        return await self._read(key, fd, start, part_length(found.st_size, start, length))

    async def _read(self, key: str, fd: int, start: int, wanted: int) -> bytes:
        try:
            if wanted <= SMALL:
                return read_part(fd, start, wanted)
            return await self._threads.run(read_part, fd, start, wanted)
        except OSError as error:
            raise store_error(error, "read", self.uri, key) from error
        finally:
            os.close(fd)

    def stream(self, key: str, start: int, length: int | None) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """The object or a part of it in chunks."""
        check_range(start, length)
        return _Stream(self, self._threads, key, start, length)

    def _not_found(self, key: str) -> BlobNotFound:
        """Raises StoreUnavailableError instead if the whole store or the whole namespace is missing."""
        refuse_without(self._base, "read", self.uri, key)
        refuse_file(self._places.root, "read", self.uri, key)
        return BlobNotFound(f"nothing is stored at {self.uri}/{key}")


class _Stream:
    """An open file and the chunk that is being read ahead."""

    def __init__(self, reader: Reader, threads: Threads, key: str, start: int, length: int | None) -> None:
        self._reader = reader
        self._threads = threads
        self._key = key
        self._start = start
        self._length = length
        self._fd = -1
        self._ahead: Future[bytes] | None = None
        self._chunks: AsyncGenerator[bytes] | None = None

    async def __aenter__(self) -> AsyncIterator[bytes]:
        self._fd, found = self._reader.open(self._key)
        end = self._start + part_length(found.st_size, self._start, self._length)
        self._chunks = self._read(self._start, end)
        return self._chunks if end - self._start <= SMALL else FilePart(self._fd, self._start, self._chunks)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        fd, self._fd = self._fd, -1
        if self._ahead is None:
            os.close(fd)
        else:  # a thread may still be reading: after a close, another file could get the descriptor
            self._ahead.add_done_callback(lambda _: os.close(fd))
        if self._chunks is not None:
            await self._chunks.aclose()

    async def _read(self, start: int, end: int) -> AsyncGenerator[bytes]:
        try:
            if end - start <= SMALL:
                if data := read_part(self._fd, start, end - start):
                    yield data
                return
            self._read_ahead(start, end)
            while self._ahead is not None:
                chunk = await asyncio.wrap_future(self._ahead)
                start = start + len(chunk) if chunk else end  # truncated since by a tool that writes in place
                self._read_ahead(start, end)
                if chunk:
                    yield chunk
        except OSError as error:
            raise store_error(error, "read", self._reader.uri, self._key) from error

    def _read_ahead(self, start: int, end: int) -> None:
        length = min(CHUNK, end - start)
        self._ahead = self._threads.move(read_part, self._fd, start, length) if length else None


def check_range(start: int, length: int | None) -> None:
    """Raises ValueError for an impossible part."""
    if start < 0 or (length is not None and length < 0):
        raise ValueError(f"a range starts at 0 or more and has 0 bytes or more, not {start} and {length}")


def part_length(size: int, start: int, length: int | None) -> int:
    """The number of bytes of a part that exist."""
    there = max(size - start, 0)
    return there if length is None else min(length, there)


def read_part(fd: int, start: int, length: int) -> bytes:
    """Read bytes at a position, independent of other readers of the file. Returns fewer at its end."""
    data = os.pread(fd, length, start)
    if len(data) == length or not data:
        return data
    pieces = [data]
    while data:  # one call stops at 2 GiB
        start, length = start + len(data), length - len(data)
        data = os.pread(fd, length, start)
        pieces.append(data)
    return b"".join(pieces)
