"""Hashes that follow a body as it goes by.

A small body is hashed where it is read; a large one in a thread, a batch behind what has arrived, so that receiving,
hashing and writing go on side by side. hashlib and the checksums let go of the interpreter for pieces of that size.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

BATCH: Final = 1 << 20
"""Bytes that go to a thread at a time. At most two batches are held, one of them at work."""

_INLINE: Final = 64 << 10
"""Bytes that are hashed sooner than a thread wakes up."""

Update = Callable[[bytes], object]


class Digests:
    """Feeds pieces, in order, to several hashes. `finish` before any of them is asked for its digest."""

    __slots__ = ("_job", "_size", "_updates", "_waiting")

    def __init__(self, updates: Sequence[Update]) -> None:
        self._updates = updates
        self._waiting: list[bytes] = []
        self._size = 0
        self._job: asyncio.Future[None] | None = None

    async def take(self, piece: bytes) -> None:
        """Hash a piece, now or soon. Waits while a thread is still at the batch before."""
        if not self._updates:
            return
        self._waiting.append(piece)
        self._size += len(piece)
        if self._size >= BATCH:
            await self._start()

    async def finish(self) -> None:
        """Hash what is left, and wait for it."""
        if self._size > _INLINE:
            await self._start()
        if self._job is not None:
            await self._job
        self._hash(self._waiting)
        self._waiting, self._size = [], 0

    async def _start(self) -> None:
        if self._job is not None:
            await self._job
        batch, self._waiting, self._size = self._waiting, [], 0
        self._job = asyncio.get_running_loop().run_in_executor(None, self._hash, batch)

    def _hash(self, pieces: Sequence[bytes]) -> None:
        for piece in pieces:
            for update in self._updates:
                update(piece)
