"""The body of one request, as it arrives, and the text of headers, URLs and forms, decoded strictly."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from urllib.parse import unquote

from lakebed_server.vocabulary import ClientGoneError, Receive, RequestError, bad_request


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


_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def unescape(raw: str, what: str) -> str:
    """Percent-decode UTF-8. Raises RequestError (400) for a broken escape such as `%zz`, and for other bytes."""
    if _BROKEN_ESCAPE.search(raw) is not None:
        raise bad_request(f"{what}: a percent sign must be followed by two hexadecimal digits")
    try:
        return unquote(raw, errors="strict")
    except UnicodeDecodeError:
        raise bad_request(f"{what}: not UTF-8") from None


def decoded(value: bytes, what: str) -> str:
    """Text of a header: UTF-8 if it is valid, else Latin-1, as HTTP allows. Raises RequestError (400) for control
    characters.
    """
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = value.decode("latin-1")
    if not text.isprintable() and any(char < " " or char == "\x7f" for char in text.replace("\t", " ")):
        raise bad_request(f"{what}: control characters are not allowed")
    return text
