"""uvicorn's server: says when it is ready, listens with TLS, and goes on for a while before it stops."""

from __future__ import annotations

import asyncio
import functools
import signal
import socket
from collections.abc import Awaitable, Callable
from types import FrameType
from typing import Any

import uvicorn

from lakebed_server.network.tls import Tls


class Server(uvicorn.Server):
    """Says so when it is ready, listens with TLS, and waits for `drain` before it stops after SIGTERM."""

    def __init__(
        self,
        config: uvicorn.Config,
        on_ready: Callable[[], None],
        drain: Callable[[], Awaitable[None]] | None = None,
        tls: Tls | None = None,
    ) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._drain = drain
        self._tls = tls
        self._signals: list[int] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's; then `on_ready` is called, if it listens."""
        await super().startup(sockets=sockets if self._tls is None else [])
        if not self.started:
            return
        if self._tls is not None:
            for listener in sockets or ():
                self.servers.append(await self._listen(listener, self._tls))
        self._on_ready()

    async def _listen(self, listener: socket.socket, tls: Tls) -> asyncio.Server:
        """As uvicorn listens, but a handshake has as long as the head of a request, not a minute."""
        protocol: Any = self.config.http_protocol_class
        factory = functools.partial(
            protocol,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        return await asyncio.get_running_loop().create_server(
            factory,
            sock=listener,
            backlog=self.config.backlog,
            ssl=tls.context,
            ssl_handshake_timeout=tls.handshake_seconds,
        )

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """As uvicorn's; a second signal ends the drain, and so does SIGINT: somebody waits at a terminal."""
        self._signals.append(sig)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, after the drain."""
        if self._drain is not None and self._signals == [signal.SIGTERM]:
            drain = asyncio.ensure_future(self._drain())
            while not drain.done() and len(self._signals) == 1:
                await asyncio.wait((drain,), timeout=0.1)
            drain.cancel()
        await super().shutdown(sockets)
