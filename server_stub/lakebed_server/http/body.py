"""The body of one request, as it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

from lakebed_server.vocabulary import ClientGoneError, Receive, RequestError


class RequestBody:
    """Reads a body once, in pieces. Raises ClientGoneError when the client leaves, so a body is never incomplete.

    `content`: the body that `whole` has read, for a handler that stores a part of it as it was sent.
    """

    __slots__ = ("_receive", "content", "finished", "length", "received", "touched")

    def __init__(self, receive: Receive, headers: Mapping[bytes, bytes]) -> None:
        length = headers.get(b"content-length")
        chunked = b"transfer-encoding" in headers
        self._receive = receive
        self.length = int(length) if length is not None and length.isdigit() and not chunked else None
        # a client that sends Expect gets 100 even if its body is empty: otherwise botocore hangs at the next such
        # request of the connection
        expects = headers.get(b"expect", b"").lower() == b"100-continue"
        self.finished = not chunked and not self.length and not expects
        self.received = 0
        self.content = b""
        self.touched = False  # whether a handler asked for the body: with `Expect: 100-continue` the client then sends

    async def next(self) -> bytes | None:
        """The next piece, or None at the end."""
        while not self.finished:
            self.touched = True
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGoneError
            self.finished = not message.get("more_body", False)
            piece: bytes = message.get("body", b"")
            if piece:
                self.received += len(piece)
                return piece
        if self.length is not None and self.received < self.length:
            raise ClientGoneError
        return None

    async def pieces(self) -> AsyncIterator[bytes]:
        """All pieces as they arrive, about 64 to 256 KiB each. Stores combine them into larger ones."""
        while (piece := await self.next()) is not None:
            yield piece

    async def whole(self, limit: int) -> bytes:
        """The whole body. Raises as soon as it is known to be longer than `limit` bytes."""
        if self.length is not None and self.length > limit:
            raise _too_large(limit)
        pieces = []
        while (piece := await self.next()) is not None:
            pieces.append(piece)
            if self.received > limit:
                raise _too_large(limit)
        self.content = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return self.content

    async def drain(self, limit: int, seconds: float) -> bool:
        """Read and drop up to `limit` bytes for at most `seconds`. Returns whether the end was reached."""
        try:
            async with asyncio.timeout(seconds):
                stop = self.received + limit
                while self.received < stop:
                    if await self.next() is None:
                        return True
        except TimeoutError:
            pass
        return self.finished


def _too_large(limit: int) -> RequestError:
    return RequestError("request_too_large", f"the body is larger than {limit} bytes, the most that is read here")
