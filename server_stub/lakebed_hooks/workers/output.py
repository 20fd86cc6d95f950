"""What a hook prints: its first bytes are kept, the others are read and dropped, so that it never waits."""

from __future__ import annotations

import asyncio
import contextlib
from typing import IO, Final

_PART: Final = 64 << 10
_CLOSE_SECONDS: Final = 1.0


class Output:
    """The standard output and error of a hook."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept = bytearray()
        self._dropped = 0
        self._reading: asyncio.Task[None] | None = None
        self._transport: asyncio.ReadTransport | None = None

    async def follow(self, pipe: IO[bytes] | None) -> None:
        """Begin to read a pipe."""
        reader = asyncio.StreamReader(limit=_PART)
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        self._reading = asyncio.create_task(self._read(reader))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while part := await reader.read(_PART):
            kept = part[: self._most - len(self._kept)]
            self._kept += kept
            self._dropped += len(part) - len(kept)

    async def close(self) -> None:
        """Read what is left, and close the pipe."""
        if self._reading is not None and self._transport is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._reading, _CLOSE_SECONDS)
            self._transport.close()

    def content(self) -> bytes:
        """What is kept, and a note of what is not."""
        note = f"\n[{self._dropped:,} more bytes were dropped]\n".encode() if self._dropped else b""
        return bytes(self._kept) + note
