"""The options of a connection's socket."""

from __future__ import annotations

import asyncio
import socket
import sys
from contextlib import closing
from typing import Any

import pytest
from lakebed_server.bounds.connections import Connections
from lakebed_server.settings.schema import LimitSettings
from lakebed_server.transport import protocol
from lakebed_server.transport.protocol import Protocol
from uvicorn.config import Config
from uvicorn.server import ServerState


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
