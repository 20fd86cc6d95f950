"""Accepts TLS connections, and counts each among the connections from the moment that it is accepted.

The servers of asyncio and uvloop report a connection to its protocol only after the handshake. Until then a client
could keep connections open that no limit counts.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from lakebed_server.bounds.connections import ClientWait, Connections, Kind

log = logging.getLogger("lakebed.server")

_PAUSE: Final = 1.0
"""Seconds before the next attempt when the system has no socket, for example because no descriptor is free."""


class Handshake:
    """A connection before the end of its TLS handshake, which must end within `limits.head_time`."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    def client_wait(self) -> ClientWait:
        """The client has to continue: see `connections.Connection`."""
        return ClientWait("head", None, 0)

    def give_up(self, kind: Kind) -> None:
        """Close the connection: its client took too long."""
        self.make_way()

    def is_spare(self) -> bool:
        """Whether it may be closed in favour of another: its client has not shown a key."""
        return True

    def make_way(self) -> None:
        """Close the connection."""
        if self._task is not None:
            self._task.cancel()

    def start(self, task: asyncio.Task[None]) -> None:
        """Note the task that does the handshake."""
        self._task = task


class TlsListener:
    """Serves one listening socket until it is closed, as `asyncio.Server` does."""

    def __init__(
        self,
        listener: socket.socket,
        context: ssl.SSLContext,
        connections: Connections,
        protocol: Callable[[Handshake], asyncio.Protocol],
    ) -> None:
        """`protocol` makes the protocol of a connection. It gets the handshake, whose place in the count it takes."""
        self._listener = listener
        self._context = context
        self._connections = connections
        self._protocol = protocol
        self._tasks: set[asyncio.Task[None]] = set()
        self._start(self._accept())

    def close(self) -> None:
        """Accept no more connections, and end unfinished handshakes."""
        for task in self._tasks:
            task.cancel()

    async def wait_closed(self) -> None:
        """Wait until the ended handshakes are finished."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                opened, address = await loop.sock_accept(self._listener)
            except OSError as error:
                log.error("a connection could not be accepted: %s", error)
                await asyncio.sleep(_PAUSE)
                continue
            handshake = Handshake()
            if self._connections.admit(handshake, address[0]):
                handshake.start(self._start(self._shake(handshake, opened)))
            else:
                opened.close()

    async def _shake(self, handshake: Handshake, opened: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        try:
            with suppress(OSError):  # the client left, or uses no TLS that the server accepts
                await loop.connect_accepted_socket(lambda: self._protocol(handshake), opened, ssl=self._context)
        finally:
            self._connections.forget(handshake)

    def _start(self, job: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(job)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
