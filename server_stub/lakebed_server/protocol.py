"""uvicorn's HTTP protocol, with the head and the body of an answer in one write, and files by the kernel.

Under `serve`, over `sendfile`. uvicorn writes head and body one after the other and uvloop sends each at once: two
system calls, and a client that wakes up twice for one answer. Measured on two cores: a stat goes from 0.30 to 0.40 of
an empty route's rate.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import sys
from contextlib import suppress
from functools import cache
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from lakebed_server.sendfile import SendingFiles, can_send_files

_HOLD_MOST = 64 << 10
"""Bytes that wait for the end of the loop's turn; more goes out at once, so that back-pressure still works."""

_NEAR = 4 << 20
"""Bytes of the socket buffers of connections from this machine. As they begin, the kernel's hold a small part of an
object, and client and server wake each other a dozen times for each: that takes several times as long as the copy. To
other machines the kernel's own growth is better."""

_BUFFERS = (socket.SO_SNDBUF, socket.SO_RCVBUF)

_UNPACED = b"reno"
"""How such a connection is kept from filling a network: it holds nothing back while nothing is lost. BBR, where that is
the machine's way, hands out a file in slices by its timers, and each slice wakes both sides."""


class CoalescingTransport:
    """A transport that gathers small writes until the end of the loop's turn. Everything else is passed on."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send soon, together with what else is written in this turn."""
        if not data:
            return
        if not self._held:
            self._loop.call_soon(self._flush)
        self._held.append(data)
        self._size += len(data)
        if self._size > _HOLD_MOST:
            self._flush()

    def close(self) -> None:
        """Send what is held, then close."""
        self._flush()
        self._transport.close()

    def abort(self) -> None:
        """Close at once; what is held is lost with the rest."""
        self._held, self._size = [], 0
        self._transport.abort()

    def is_idle(self) -> bool:
        """Whether nothing is on its way but what is held here."""
        return not self._transport.get_write_buffer_size()

    def take(self) -> bytes:
        """What is held, for one who sends it."""
        held, self._held, self._size = self._held, [], 0
        return b"".join(held)

    def _flush(self) -> None:
        held, self._held, self._size = self._held, [], 0
        if not held or self._transport.is_closing():
            return
        if len(held) == 1:
            self._transport.write(held[0])
        else:
            self._transport.writelines(held)


class Protocol(HttpToolsProtocol):
    """uvicorn's, over a gathering transport."""

    _sends_files = False

    def connection_made(self, transport: Any) -> None:
        """A client is there."""
        _widen(transport)
        self._sends_files = can_send_files(transport)
        super().connection_made(CoalescingTransport(transport, asyncio.get_running_loop()))  # type: ignore[arg-type]

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        wrapped: Any = SendingFiles(app, cycle) if self._sends_files else app
        super()._start_asgi_task(cycle, wrapped)


def _widen(transport: Any) -> None:
    """Give a connection from this machine larger buffers, and let it send at once."""
    peer, opened = (transport.get_extra_info(name) for name in ("peername", "socket"))
    if not _NEAR or sys.platform != "linux" or opened is None or not isinstance(peer, tuple):
        return
    with suppress(OSError, ValueError):  # it goes without; and a name that is no address is not ours
        if ipaddress.ip_address(peer[0]).is_loopback:
            for which in _BUFFERS if _may_widen() else ():
                opened.setsockopt(socket.SOL_SOCKET, which, _NEAR)
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, _UNPACED)


@cache
def _may_widen() -> bool:
    """Whether the kernel gives that much. A smaller buffer than the asked is worse than none: it no longer grows."""
    with socket.socket() as probe:
        for which in _BUFFERS:
            probe.setsockopt(socket.SOL_SOCKET, which, _NEAR)
        return min(probe.getsockopt(socket.SOL_SOCKET, which) for which in _BUFFERS) >= _NEAR
