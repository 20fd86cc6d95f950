"""A TCP proxy before a server, which breaks connections on demand: drops, stalls, slows, half-closes, refuses.

    with TcpProxy("/tmp/pg/.s.PGSQL.5432") as proxy:      # or ("127.0.0.1", 9000)
        connect("127.0.0.1", proxy.port)
        with proxy.stalled("answers"):
            ...                                           # requests arrive, their answers wait
        proxy.reset()                                     # every connection ends with RST

It runs in a thread of its own and listens on 127.0.0.1 only. `faulty_s3` is the proxy that knows HTTP.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from tests.support.waiting import PATIENCE

Way = Literal["requests", "answers"]
"""From the client to the server, or back."""

_RST = struct.pack("ii", 1, 0)
"""SO_LINGER: close without sending the rest, and reset the connection."""

Ends = tuple[asyncio.StreamWriter, asyncio.StreamWriter]


class TcpProxy:
    """The proxy of one server: the path of its Unix socket, or its host and port."""

    def __init__(self, target: str | tuple[str, int]) -> None:
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tcp-proxy", daemon=True)
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], Ends | None] = {}
        self._open: dict[Way, asyncio.Event] = {}
        self._lost: set[Way] = set()
        self._delay = 0.0
        self._refuses = False
        self.port = 0

    def __enter__(self) -> TcpProxy:
        self._thread.start()
        self._call(self._listen())
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._vanish())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def reset(self) -> None:
        """End every connection with RST on both sides."""
        self._call(self._reset())

    def half_close(self, way: Way) -> None:
        """Send end-of-file to one side of every connection: to the server, for "requests"."""
        self._call(self._half_close(way))

    @contextmanager
    def stalled(self, *ways: Way) -> Iterator[None]:
        """While inside, nothing passes on these ways; later everything does."""
        for way in ways:
            self._loop.call_soon_threadsafe(self._open[way].clear)
        try:
            yield
        finally:
            for way in ways:
                self._loop.call_soon_threadsafe(self._open[way].set)

    @contextmanager
    def delayed(self, seconds: float) -> Iterator[None]:
        """While inside, each piece of data waits so long."""
        self._delay = seconds
        try:
            yield
        finally:
            self._delay = 0.0

    @contextmanager
    def losing(self, way: Way) -> Iterator[None]:
        """While inside, what is sent on this way is lost; then every connection ends with RST."""
        self._lost.add(way)
        try:
            yield
        finally:
            self._call(self._reset())  # no connection goes on after a hole in what it carries
            self._lost.discard(way)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """While inside, there is no connection."""
        self._refuses = True
        self.reset()
        try:
            yield
        finally:
            self._refuses = False

    def _call(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    async def _listen(self) -> None:
        for way in ("requests", "answers"):
            self._open[way] = asyncio.Event()
            self._open[way].set()
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _vanish(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _reset(self) -> None:
        for ends in [one for one in self._connections.values() if one]:
            _cut(ends)

    async def _half_close(self, way: Way) -> None:
        for client, server in [one for one in self._connections.values() if one]:
            end = server if way == "requests" else client
            if end.can_write_eof() and not end.is_closing():
                end.write_eof()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refuses:
            _cut((writer, writer))
            return
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._connections[task] = None
        task.add_done_callback(self._connections.pop)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        ends: Ends = (writer, writer)
        try:
            if isinstance(self._target, str):
                answers, server = await asyncio.open_unix_connection(self._target)
            else:
                answers, server = await asyncio.open_connection(*self._target)
            self._connections[task] = ends = (writer, server)
            async with asyncio.TaskGroup() as pumps:
                pumps.create_task(self._pump(reader, server, "requests"))
                pumps.create_task(self._pump(answers, writer, "answers"))
        except (OSError, BaseExceptionGroup):
            pass  # one side is gone: the other one shall see it
        finally:
            _cut(ends)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Way) -> None:
        while data := await reader.read(1 << 16):
            if self._delay:
                await asyncio.sleep(self._delay)
            await self._open[way].wait()
            if way in self._lost:
                continue
            if writer.is_closing():
                raise ConnectionResetError("the other side is gone")
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof() and not writer.is_closing():
            writer.write_eof()


def _cut(ends: Ends) -> None:
    for end in ends:
        connected: socket.socket | None = end.get_extra_info("socket")
        if connected is not None and connected.fileno() >= 0 and connected.family == socket.AF_INET:
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RST)
        end.transport.abort()
