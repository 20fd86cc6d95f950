"""Uploads one object while it is still being written: the caller adds blocks, and one request sends them.

Runs on the event loop. It keeps at most `_WAITING` blocks, so a writer that is faster than the network waits. The
object does not exist before `finish`. An unfinished upload stores nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from lakebed.errors import InvalidRequestError
from lakebed.model import ObjectInfo

_WAITING = 2
_TINY = 4 << 10
Block = bytes | bytearray
Send = Callable[[Any], Awaitable[ObjectInfo]]


class WriteBuffer:
    """Collects bytes until there are enough for a call. It keeps larger pieces unchanged, and copies them once."""

    __slots__ = ("_last", "_parts", "size")

    def __init__(self) -> None:
        self._parts: list[Block] = []
        self._last = bytearray()
        self.size = 0

    def add(self, piece: bytes) -> None:
        """Append."""
        self.size += len(piece)
        if len(piece) < _TINY:
            self._last += piece
            return
        if self._last:
            self._parts.append(self._last)
            self._last = bytearray()
        self._parts.append(piece)

    def take(self) -> bytes:
        """Return all bytes, and become empty."""
        block = b"".join((*self._parts, self._last)) if self._last or len(self._parts) != 1 else bytes(self._parts[0])
        self.clear()
        return block

    def clear(self) -> None:
        """Become empty."""
        self._parts.clear()
        self._last = bytearray()
        self.size = 0


class Upload:
    """A request whose body is not complete yet. `send` takes the content, as bytes or as an async iterator.

    `path` names the object in errors.
    """

    def __init__(self, send: Send, path: str) -> None:
        self._send = send
        self._path = path
        self._blocks: asyncio.Queue[bytes | None] = asyncio.Queue(_WAITING)
        self._task: asyncio.Future[ObjectInfo] | None = None
        self._has_a_hole = False
        """Whether a block is missing, because the call that brought it was cancelled."""

    @property
    def has_begun(self) -> bool:
        """Whether any bytes were sent."""
        return self._task is not None

    async def feed(self, block: bytes) -> None:
        """Append a block. Waits while the queue is full. Raises the error of the request."""
        await self._put(block)

    async def finish(self, last: bytes) -> ObjectInfo:
        """Append the last block, and wait until everything is stored. A single block is sent as a whole."""
        if self._task is None:
            return await self._send(last)
        if last:
            await self._put(last)
        await self._put(None)
        return await self._task

    def abandon(self) -> None:
        """Cancel the request without waiting, from any thread: no call will finish it, and nothing is stored."""
        if self._task is not None and not (loop := self._task.get_loop()).is_closed():
            loop.call_soon_threadsafe(self._task.cancel)

    async def discard(self) -> None:
        """Cancel the request: nothing is stored."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _put(self, block: bytes | None) -> None:
        if self._has_a_hole:
            raise InvalidRequestError(
                f"{self._path} was not stored, because a write to it was cancelled: open it again, and write all of "
                "its content"
            )
        if self._task is None:
            self._task = asyncio.ensure_future(self._send(self._content()))
            self._task.add_done_callback(_looked_at)
        waiting = asyncio.ensure_future(self._blocks.put(block))
        both: set[asyncio.Future[Any]] = {waiting, self._task}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._has_a_hole = True
            self._task.cancel()
            raise
        finally:
            if not waiting.done():
                waiting.cancel()
        if self._task.done():
            self._task.result()  # raises, because the request cannot succeed before the end of its content

    async def _content(self) -> AsyncIterator[bytes]:
        while (block := await self._blocks.get()) is not None:
            yield block


def _looked_at(task: asyncio.Future[ObjectInfo]) -> None:
    """Take note of the error of a request, which no call may await any more, for example when a file was dropped.

    A call that feeds or finishes the upload gets the error in any case. Otherwise asyncio logs it as never retrieved.
    """
    if not task.cancelled():
        task.exception()
