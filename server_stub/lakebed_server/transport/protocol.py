"""uvicorn's HTTP protocol with limits, and with files that the kernel sends.

uvicorn limits neither the size of a head, nor the connections of an address, nor the time of a client. This module does
(docs/decisions/0038-bounds-of-connections.md). Only this module and `sendfile` use private names of uvicorn:
pyproject.toml limits its version for that reason.
"""

from __future__ import annotations

import functools
import socket
import sys
from contextlib import suppress
from http import HTTPStatus
from itertools import chain
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from lakebed_server.bounds.connections import ClientWait, Connections, Kind
from lakebed_server.transport.sendfile import FileJob, can_send_files, send_file
from lakebed_server.transport.tls_listener import Handshake
from lakebed_server.vocabulary import SEND_FILE, WITH_KEY

_MOST_HEADERS = 256
"""The largest number of headers in a request. Python and proxies accept 100."""

_FULL = "the server has reached its maximum number of connections; try again later"


class CountingTransport:
    """A transport that passes everything on and counts what the client has received."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._written = 0
        self.job: FileJob | None = None
        """The file that the kernel is sending, not through this transport."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Count and send."""
        self._written += len(data)
        self._transport.write(data)

    def end_job(self) -> None:
        """Count what the file job has sent, and forget the job."""
        if self.job is not None:
            self._written += self.job.moved
            self.job = None

    def is_idle(self) -> bool:
        """Whether everything that was written has reached the kernel."""
        return not self._transport.get_write_buffer_size()

    def is_clogged(self) -> bool:
        """Whether data waits until the client has read earlier data."""
        return (self.job is not None and self.job.waits) or not self.is_idle()

    def taken(self) -> int:
        """Bytes that the client's machine has confirmed, as far as the system reports it. Only differences count."""
        sent: int = self._written - self._transport.get_write_buffer_size()
        if self.job is not None:
            sent += self.job.moved
        return sent - _unacknowledged(self._transport.get_extra_info("socket"))

    def hang_up(self) -> None:
        """Abort the connection, and the file job of this connection."""
        opened = self._transport.get_extra_info("socket")
        if self.job is not None and opened is not None:
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)
        self._transport.abort()


class Protocol(HttpToolsProtocol):
    """uvicorn's protocol as one of `connections`, which close it when its client takes too long."""

    _sends_files = False
    transport: Any

    def __init__(
        self, connections: Connections, *uvicorns: Any, handshake: Handshake | None = None, **named: Any
    ) -> None:
        super().__init__(*uvicorns, **named)
        self._bounds = connections
        self._handshake = handshake
        self._most = connections.limits.head_bytes
        self._received = 0
        self._framing = 0  # bytes since the end of a head or a piece of a body: they may belong to another head

    def connection_made(self, transport: Any) -> None:
        """Count a new connection, or refuse it."""
        super().connection_made(CountingTransport(transport))  # type: ignore[arg-type]
        if self._handshake is not None:
            self._bounds.forget(self._handshake)  # from now on, the connection itself is counted
        if not self._bounds.admit(self, self.client[0] if self.client else ""):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, _FULL)
            return
        self._sends_files = can_send_files(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        self._bounds.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse some bytes. A head, and the data between two pieces of a body, may have at most `limits.head_bytes`."""
        self._received += len(data)
        self._framing += len(data)
        super().data_received(data)
        if self._framing > self._most and not self.transport.is_closing():
            self._refuse_head()

    def on_headers_complete(self) -> None:
        """Start the request of a complete head, or refuse a head that is too large."""
        if len(self.headers) > _MOST_HEADERS or (self._framing > self._most and self._head_size() > self._most):
            self._refuse_head()
            raise ValueError("the head is too large")  # the parser stops, and uvicorn calls `send_400_response`
        self._framing = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Pass on a piece of a body."""
        self._framing = 0
        super().on_body(body)

    def send_400_response(self, msg: str) -> None:
        """Refuse bytes that are not HTTP, unless the request is refused already."""
        if not self.transport.is_closing():
            super().send_400_response(msg)

    def client_wait(self) -> ClientWait | None:
        """What the connection waits for its client to do: see `connections.Connection`."""
        cycle = self.cycle
        if self.transport.is_clogged():
            return ClientWait("reading", None, self.transport.taken())
        if self.transport.is_closing():
            return None
        if cycle is None or cycle.response_complete:
            # between two requests uvicorn's own timer runs until the first byte of the next one
            return ClientWait("head", cycle, self._received) if self.timeout_keep_alive_task is None else None
        if cycle.more_body and not self.flow.read_paused and not cycle.waiting_for_100_continue:
            return ClientWait("body", cycle, self._received)
        return None

    def give_up(self, kind: Kind) -> None:
        """Close the connection, with 408 if the client can still read it."""
        if kind == "reading" or not self._received:
            self.transport.hang_up()
        else:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, f"the {kind} of the request came too slowly")

    def is_spare(self) -> bool:
        """Whether it may be closed in favour of another: see `connections.Connection`."""
        cycle = self.cycle
        return cycle is None or (
            WITH_KEY not in cycle.scope and (cycle.response_complete or self.client_wait() is not None)
        )

    def make_way(self) -> None:
        """Close the connection in favour of another one."""
        self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, _FULL)

    def _head_size(self) -> int:
        return len(self.url) + sum(map(len, chain.from_iterable(self.headers)))

    def _refuse_head(self) -> None:
        most = f"{self._most} bytes and {_MOST_HEADERS} headers"
        self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"the head of a request may have at most {most}")

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        """Send the reason, unless a response has begun, and close."""
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(_refusal(status, why))
        self.transport.close()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        if self._sends_files:
            scope: Any = cycle.scope
            scope[SEND_FILE] = functools.partial(send_file, cycle)
        super()._start_asgi_task(cycle, app)


def _refusal(status: HTTPStatus, why: str) -> bytes:
    later = "retry-after: 1\r\n" if status == HTTPStatus.SERVICE_UNAVAILABLE else ""
    return (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n{later}content-type: text/plain; charset=utf-8\r\n"
        f"content-length: {len(why) + 1}\r\nconnection: close\r\n\r\n{why}\n"
    ).encode("ascii")


def _unacknowledged(opened: socket.socket | None) -> int:
    """Bytes in the kernel that the client's machine has not confirmed. 0 on systems other than Linux."""
    if opened is None or sys.platform != "linux":
        return 0
    import fcntl
    import termios

    with suppress(OSError):
        return int.from_bytes(fcntl.ioctl(opened.fileno(), termios.TIOCOUTQ, bytes(4)), sys.byteorder)
    return 0
