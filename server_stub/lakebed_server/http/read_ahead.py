"""Reads the data of many objects in their order, some pieces ahead of the client, in bounded memory."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final, NamedTuple

from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import FoundObject, ReadableEntry
from lakebed_engine.vocabulary.streams import CHUNK

AT_ONCE: Final = 16
"""Pieces of one response that are read at the same time."""


class Memory:
    """The bytes that all responses of one server process may hold because they were read ahead."""

    def __init__(self, most: int = 64 << 20) -> None:
        self.free = most

    def take(self, size: int) -> bool:
        """Reserve `size` bytes. False when they are not free."""
        if size > self.free:
            return False
        self.free -= size
        return True

    def give_back(self, size: int) -> None:
        """Release reserved bytes."""
        self.free += size


class Piece(NamedTuple):
    """A part of an object's data, or the error that ends the object. Only an error may have no entry."""

    path: str
    entry: Entry | None
    start: int
    data: bytes | Exception


class _Read(NamedTuple):
    """A piece that is being read. `reserved`: its bytes of the shared memory."""

    found: FoundObject
    start: int
    reserved: int
    job: asyncio.Task[bytes] | None


async def pieces(
    objects: AsyncIterator[FoundObject], memory: Memory, largest: int | None = None
) -> AsyncGenerator[Piece]:
    """The objects' data in pieces of at most 1 MiB. An error ends its object, not the others.

    An empty object has one empty piece, as has an object of more than `largest` bytes. The next piece is always read;
    others are read ahead while `memory` has room.
    """
    plan = _plan(objects, largest)
    reads: deque[_Read] = deque()
    following = await anext(plan, None)
    broken: FoundObject | None = None
    try:
        while True:
            while following is not None and len(reads) < AT_ONCE:
                found, start, length = following
                if found is not broken:
                    reserved = length if reads else 0
                    if reserved and not memory.take(reserved):
                        break
                    reads.append(_Read(found, start, reserved, _begin(found, start, length)))
                following = await anext(plan, None)
            if not reads:
                return
            read = reads[0]
            piece = await _result(read)
            if read.found is not broken:
                yield piece
            if isinstance(piece.data, Exception):
                broken = read.found
            reads.popleft()
            memory.give_back(read.reserved)
    finally:
        jobs = [read.job for read in reads if read.job is not None]
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
        memory.give_back(sum(read.reserved for read in reads))


async def _plan(
    objects: AsyncIterator[FoundObject], largest: int | None
) -> AsyncGenerator[tuple[FoundObject, int, int]]:
    """What to read: an object, where its piece starts, and how long it is."""
    async for found in objects:
        size = found.found.entry.size if isinstance(found.found, ReadableEntry) else 0
        if largest is not None and size > largest:
            size = 0
        for start in range(0, max(size, 1), CHUNK):
            yield found, start, min(CHUNK, size - start)


def _begin(found: FoundObject, start: int, length: int) -> asyncio.Task[bytes] | None:
    if length == 0 or isinstance(found.found, EngineError):
        return None
    return asyncio.ensure_future(found.found.read(start, length))


async def _result(read: _Read) -> Piece:
    path, found = read.found
    if isinstance(found, EngineError):
        return Piece(path, None, 0, found)
    if read.job is None:
        return Piece(path, found.entry, read.start, b"")
    try:
        return Piece(path, found.entry, read.start, await read.job)
    except Exception as error:
        return Piece(path, found.entry, read.start, error)
