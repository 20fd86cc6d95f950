"""The gathering transport: what is written in one turn goes out in one piece, in order; nothing is held for ever."""

from __future__ import annotations

import asyncio
import socket
import sys
from contextlib import closing
from typing import Any

import pytest
from lakebed_server.bounds.connections import Connections
from lakebed_server.http import protocol
from lakebed_server.http.protocol import CoalescingTransport, Protocol
from lakebed_server.settings.schema import LimitSettings
from uvicorn.config import Config
from uvicorn.server import ServerState


class Recorder:
    """A transport that notes what reaches it."""

    def __init__(self) -> None:
        self.out: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        self.out.append(data)

    def writelines(self, pieces: list[bytes]) -> None:
        self.out.append(b"".join(pieces))

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True

    def get_extra_info(self, name: str) -> str:
        return f"extra {name}"


async def test_one_turn_is_one_write() -> None:
    inner = Recorder()
    outer = CoalescingTransport(inner, asyncio.get_running_loop())
    outer.write(b"head ")
    outer.write(b"")
    outer.write(b"body")
    assert inner.out == []
    await asyncio.sleep(0)
    assert inner.out == [b"head body"]
    outer.write(b"next")
    await asyncio.sleep(0)
    assert inner.out == [b"head body", b"next"]
    assert outer.get_extra_info("peername") == "extra peername"


async def test_much_goes_out_at_once_and_in_order() -> None:
    inner = Recorder()
    outer = CoalescingTransport(inner, asyncio.get_running_loop())
    outer.write(b"head")
    outer.write(bytes(1 << 20))
    assert len(inner.out) == 1
    assert inner.out[0].startswith(b"head")
    await asyncio.sleep(0)
    assert len(inner.out) == 1


async def test_close_sends_what_is_held_and_abort_does_not() -> None:
    closed, aborted = Recorder(), Recorder()
    one = CoalescingTransport(closed, asyncio.get_running_loop())
    one.write(b"last words")
    one.close()
    other = CoalescingTransport(aborted, asyncio.get_running_loop())
    other.write(b"lost")
    other.abort()
    await asyncio.sleep(0)
    assert (closed.out, closed.closed) == ([b"last words"], True)
    assert (aborted.out, aborted.closed) == ([], True)


class Connected(asyncio.Transport):
    """A transport over a socket, of a client that is where the test says."""

    def __init__(self, opened: socket.socket, peer: str) -> None:
        super().__init__({"socket": opened, "peername": (peer, 1), "sockname": ("127.0.0.1", 2)})


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these options")
async def test_only_a_client_on_this_machine_gets_large_buffers_and_no_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    def options(opened: socket.socket) -> tuple[int, bytes]:
        name = opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0")
        return opened.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF), name

    async def main(peer: str) -> tuple[Any, Any]:
        with closing(socket.socket()) as opened:
            before = options(opened)
            config = Config(app=None, http=Protocol, log_config=None)  # type: ignore[arg-type]
            config.load()
            connections = Connections(LimitSettings())
            Protocol(connections, config, ServerState(), {}).connection_made(Connected(opened, peer))
            return before, options(opened)

    before, far = await main("192.0.2.1")
    assert far == before
    for peer in ("127.0.0.1", "::1"):
        before, (size, name) = await main(peer)
        assert (size > before[0]) == protocol._may_widen()
        assert name == b"reno"
    monkeypatch.setattr(protocol, "_NEAR", 1 << 30)  # the kernel would give what it may, and not let it grow
    protocol._may_widen.cache_clear()
    before, (size, _) = await main("127.0.0.1")
    protocol._may_widen.cache_clear()
    assert size == before[0]
