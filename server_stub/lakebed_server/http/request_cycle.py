"""One request from its first byte to the last byte of its response, for the API and for the S3 gateway.

Every exception becomes a response. A response that breaks off closes the connection, so that no client takes a part of
it for the whole. Every request is counted until its end, and logged.

Which requests get a log line: with level DEBUG all of them. With INFO writes and failures. With WARN requests that
take longer than `logging.slow_request`. With ERROR only failures with 5xx. Queries and headers are never logged: they
contain paths of objects and credentials.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from lakebed_engine.vocabulary.streams import CHUNK, FilePart

from lakebed_server.access_history.rows import Row
from lakebed_server.bounds.admission import CLOSE, Admission
from lakebed_server.http.request import Call
from lakebed_server.http.responses import UNKNOWN, FeedReply, Reply, StreamReply
from lakebed_server.vocabulary import ClientGoneError, Message, Receive, RequestError, Send, SendFile

CLIENT_GONE: Final = 499
"""The status in the log for a request whose client left before the response. It is never sent."""


class Watch(Protocol):
    """Gets a report of each request, for metrics and traces. It never raises."""

    def request_begins(self, call: Call) -> None:
        """A request has arrived. Called in its task."""
        ...

    def request_ends(self, call: Call, status: int, sent: int, *, is_feed: bool) -> None:
        """It was answered, with `sent` bytes of content. Called in the same task."""
        ...


class RequestCycle:
    """Sends the replies of one interface. `respond` turns an exception into the interface's reply."""

    def __init__(
        self,
        admission: Admission,
        respond: Callable[[Exception, Call], Reply],
        log: logging.Logger,
        watch: Watch | None = None,
    ) -> None:
        self._admission = admission
        self._respond = respond
        self._log = log
        self._watch = watch

    async def run(self, call: Call, exchange: Exchange, receive: Receive, answer: Awaitable[Reply]) -> None:
        """Await the reply and send it. Raises nothing but cancellation."""
        is_feed = False
        if self._watch is not None:
            self._watch.request_begins(call)
        try:
            try:
                reply = await answer
                is_feed = isinstance(reply, FeedReply)
                if is_feed and call.counted:
                    self._admission.leave()
                    call.counted = False
                await exchange.send(reply, receive)
            except (ClientGoneError, asyncio.CancelledError):
                raise
            except Exception as error:
                if exchange.status:
                    raise
                await exchange.send(self._respond(error, call), receive)
        except asyncio.CancelledError:  # the server stops, and has waited long enough for this request
            if exchange.status:
                raise
            await exchange.send_last(self._respond(_interrupted(call), call))
        except ClientGoneError:
            exchange.status = exchange.status or CLIENT_GONE
        except Exception:
            # the status is sent: close the connection, so that the client does not take the part for the whole response
            self._log.exception("a response was interrupted", extra={"request_id": call.request_id})
        finally:
            if call.counted:
                self._admission.leave()
            if self._watch is not None:
                self._watch.request_ends(call, exchange.status, exchange.sent, is_feed=is_feed)
            log_request(call, exchange.status, exchange.sent, is_feed=is_feed)
            record_access(call, exchange.status, exchange.sent)


def _interrupted(call: Call) -> RequestError:
    """The error of a request that is interrupted because the server stops: 503."""
    if call.method in ("GET", "HEAD"):
        return RequestError("interrupted", "the server stopped before it answered; send the request again")
    return RequestError(
        "interrupted",
        "the server stopped before the request was complete: it may have been done, or not; check before you repeat it",
    )


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
        await self._start(reply, CLOSE)
        await self._send({"type": "http.response.body", "body": reply.body})

    async def _start(self, reply: Reply, *extra: tuple[bytes, bytes]) -> None:
        headers = [*self._common, (b"x-request-id", self._call.request_id.encode()), *reply.headers, *extra]
        if reply.status not in (204, 304) and reply.length != UNKNOWN:
            headers.append((b"content-length", b"%d" % reply.length))
        if self._call.services.stopping.drains and not extra:
            headers.append(CLOSE)
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
        await self._start(reply, CLOSE)
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


def record_access(call: Call, status: int, sent: int) -> None:
    """Add the request to the access history, a row for each object of several.

    A request that needs no user and is answered without one, such as a health check, has no row.
    """
    history, accessed = call.services.history, call.accessed
    if history is None or not call.operation or not (call.user or status >= 400):
        return
    prefix, colon, name = call.operation.partition(":")  # `s3:GetObject`, `sts:GetSessionToken`, `getObject`
    row = Row(
        time=int(time.time() * 1e6),
        request_id=call.request_id,
        user=call.user,
        auth=call.source if call.user else "",
        access_key_id=call.shown_key_id,
        source_ip=call.client_address,
        client=call.shown_agent,
        interface=prefix if colon else "rest",
        operation=name or prefix,
        repository=accessed.repository,
        ref=accessed.ref,
        commit_id=call.commit_id or accessed.commit_id,
        path=accessed.path,
        bytes_in=call.body.received,
        bytes_out=sent,
        status=status,
        took_us=int((time.perf_counter() - call.started) * 1e6),
    )
    many = len(accessed.paths) > 1 or not accessed.path
    for path in accessed.paths if many and accessed.paths else [accessed.path]:
        history.record(row._replace(path=path, status=403 if path in accessed.refused else status))
    for path in accessed.addresses if status < 400 else ():
        history.record(row._replace(operation="grant_read", path=path, bytes_in=0, bytes_out=0))


log = logging.getLogger("lakebed.requests")

SLOW: Final = "slow request"


def log_request(call: Call, status: int, sent: int, *, is_feed: bool = False) -> None:
    """Log one request at its end. `sent`: bytes of the response's body. A live feed is never slow."""
    seconds = time.perf_counter() - call.started
    is_slow = 0 < call.services.slow_request < seconds and not is_feed
    level = level_of(call.method, status, is_slow=is_slow)
    if log.isEnabledFor(level):
        log.log(
            max(level, logging.INFO),
            SLOW if is_slow else "request",
            extra={"fields": call.log_fields(status, sent, seconds)},
        )


def level_of(method: str, status: int, *, is_slow: bool) -> int:
    """The level from which the line of a request is written. A line never has a level below INFO."""
    if status >= 500:
        return logging.ERROR
    if is_slow:
        return logging.WARNING
    return logging.DEBUG if status < 400 and method in ("GET", "HEAD") else logging.INFO
