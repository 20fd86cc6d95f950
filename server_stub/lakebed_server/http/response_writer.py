"""Sends one reply, from its status to its last byte.

A response that breaks off closes the connection, so that no client takes a part of it for the whole.
"""

from __future__ import annotations

import asyncio

from lakebed_engine.vocabulary.streams import CHUNK, FilePart

from lakebed_server.http.request import Call
from lakebed_server.http.responses import UNKNOWN, Reply, StreamReply
from lakebed_server.vocabulary import ClientGoneError, Message, Receive, Send, SendFile

_DRAIN_FIRST = 256 << 10  # a remaining body of at most this size is read to its end, and the connection stays open
_DRAIN_MOST = 16 << 20  # bytes of a longer remaining body that are read while the response is sent
_DRAIN_SECONDS = 5.0

_FILE_STEP = 16 << 20  # bytes of a file for one call, after which `sent` is updated for the log


class Exchange:
    """Sends one reply. `status` and `sent` (bytes) show the progress."""

    __slots__ = ("_call", "_common", "_send", "sent", "status")

    def __init__(self, call: Call, send: Send, common: list[tuple[bytes, bytes]]) -> None:
        self._call = call
        self._send = send
        self._common = common
        self.status = 0  # 0 until it is sent
        self.sent = 0

    async def send(self, reply: Reply, receive: Receive) -> None:
        """Send a reply. Raises ClientGoneError when the client leaves during a long one."""
        if isinstance(reply, StreamReply):
            await self._stream(reply, receive)
        elif self._call.body.finished:
            await self._start(reply)
            self.sent = len(reply.body)
            await self._send({"type": "http.response.body", "body": reply.body})
        else:
            await self._send_early(reply)

    async def send_last(self, reply: Reply) -> None:
        """Send a whole reply and close the connection, without reading the rest of the request: the server stops."""
        await self._start(reply, (b"connection", b"close"))
        await self._send({"type": "http.response.body", "body": reply.body})

    async def _start(self, reply: Reply, *extra: tuple[bytes, bytes]) -> None:
        headers = [*self._common, (b"x-request-id", self._call.request_id.encode()), *reply.headers, *extra]
        if reply.status not in (204, 304) and reply.length != UNKNOWN:
            headers.append((b"content-length", b"%d" % reply.length))
        self.status = reply.status
        await self._send({"type": "http.response.start", "status": reply.status, "headers": headers})

    async def _stream(self, reply: StreamReply, receive: Receive) -> None:
        async with reply.source as chunks:  # opened first, so that a missing object still gets an error status
            await self._start(reply)
            known = reply.length != UNKNOWN
            send_file = self._call.send_file if known else None
            if send_file is not None and isinstance(chunks, FilePart) and await self._copy(reply, chunks, send_file):
                return
            # uvicorn drops what is sent to a client that left: only `receive` reports it
            gone = asyncio.ensure_future(_gone(receive)) if reply.length > CHUNK or not known else None
            try:
                async for chunk in chunks:
                    self.sent += len(chunk)
                    more = not known or self.sent < reply.length
                    await self._send({"type": "http.response.body", "body": chunk, "more_body": more})
                    if gone is not None and gone.done():
                        raise ClientGoneError
            finally:
                if gone is not None:
                    gone.cancel()
        if not known:
            await self._send({"type": "http.response.body", "body": b""})
        elif self.sent < reply.length:
            raise EOFError(f"the store gave {self.sent} bytes of {reply.length}")

    async def _copy(self, reply: StreamReply, part: FilePart, send_file: SendFile) -> bool:
        """Let the connection send the content directly. False when it cannot, and has sent nothing of it."""
        while self.sent < reply.length:
            count = min(reply.length - self.sent, _FILE_STEP)
            try:
                await send_file(part.fileno(), part.start + self.sent, count)
            except asyncio.SendfileNotAvailableError:
                if self.sent:
                    raise
                return False
            self.sent += count
        await self._send({"type": "http.response.body", "body": b""})
        return True

    async def _send_early(self, reply: Reply) -> None:
        """Answer while the client is still sending.

        Closing without reading would reset the connection, and the client might not see the response. So a short rest
        is read first. Of a long rest, a bounded part is read after the response, then the connection is closed.
        """
        body = self._call.body
        waits = not body.touched and self._call.headers.get(b"expect", b"").lower() == b"100-continue"
        short = body.length is not None and body.length - body.received <= _DRAIN_FIRST
        if short and not waits and await body.drain(_DRAIN_FIRST, _DRAIN_SECONDS):
            await self.send(reply, _never)
            return
        await self._start(reply, (b"connection", b"close"))
        self.sent = len(reply.body)
        await self._send({"type": "http.response.body", "body": reply.body, "more_body": True})
        if not waits:
            await body.drain(_DRAIN_MOST, _DRAIN_SECONDS)
        await self._send({"type": "http.response.body", "body": b""})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _never() -> Message:
    raise AssertionError("a whole reply reads no body")
