"""uvicorn's server: reports when it is ready, listens with TLS, and drains before it stops."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable
from types import FrameType
from typing import Any

import uvicorn

from lakebed_server.bounds.connections import Connections
from lakebed_server.network.tls import Tls
from lakebed_server.transport.tls_listener import Handshake, TlsListener


class Server(uvicorn.Server):
    """Calls `on_ready` when it listens, and waits for `drain` before it stops after SIGTERM."""

    def __init__(
        self,
        config: uvicorn.Config,
        on_ready: Callable[[], None],
        drain: Callable[[], Awaitable[None]] | None = None,
        on_stop: Callable[[], None] = lambda: None,
        tls: tuple[Tls, Connections] | None = None,
    ) -> None:
        """`on_stop` is called before the server waits for open requests. `tls`: the certificate, and the limits that
        count its connections. None listens without TLS.
        """
        super().__init__(config)
        self._on_ready = on_ready
        self._drain = drain
        self._on_stop = on_stop
        self._tls = tls
        self._signals: list[int] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, then call `on_ready` if the server listens."""
        await super().startup(sockets=sockets if self._tls is None else [])
        if not self.started:
            return
        if self._tls is not None:
            listeners: list[Any] = [self._listen(listener, *self._tls) for listener in sockets or ()]
            self.servers += listeners  # uvicorn closes them at its shutdown
        self._on_ready()

    def _listen(self, listener: socket.socket, tls: Tls, connections: Connections) -> TlsListener:
        protocol: Any = self.config.http_protocol_class

        def make(handshake: Handshake) -> asyncio.Protocol:
            made: asyncio.Protocol = protocol(
                config=self.config,
                server_state=self.server_state,
                app_state=self.lifespan.state,
                handshake=handshake,
            )
            return made

        return TlsListener(listener, tls.context, connections, make)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Exit as uvicorn does. A second signal or SIGINT ends the drain, because a person waits at a terminal."""
        self._signals.append(sig)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down as uvicorn does, after the drain."""
        if self._drain is not None and self._signals == [signal.SIGTERM]:
            drain = asyncio.ensure_future(self._drain())
            while not drain.done() and len(self._signals) == 1:
                await asyncio.wait((drain,), timeout=0.1)
            drain.cancel()
        self._on_stop()
        await super().shutdown(sockets)
