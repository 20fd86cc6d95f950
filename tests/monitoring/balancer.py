"""A load balancer for TCP: it gives each connection to a server whose `/_ready` answers 200, in turn.

It knows no HTTP, as a balancer before TLS: a connection stays with its server until one side ends it.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any

from tests.support.waiting import PATIENCE

CHECK_EVERY = 0.2


class Balancer:
    """Listens on 127.0.0.1, in a thread of its own."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = list(ports)
        self._ready = dict.fromkeys(ports, False)
        self._turn = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="balancer", daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.port = 0
        self.connections: Counter[int] = Counter()
        """The connections that each server got."""

    def __enter__(self) -> Balancer:
        self._thread.start()
        self._call(self._listen())
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def is_ready(self, port: int) -> bool:
        """Whether new connections go to this server."""
        return self._ready[port]

    def _call(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        for port in self._ports:
            self._keep(asyncio.ensure_future(self._check(port)))

    async def _end(self) -> None:
        assert self._server is not None
        self._server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _check(self, port: int) -> None:
        while True:
            try:
                async with asyncio.timeout(2):
                    self._ready[port] = await _answers(port)
            except (OSError, TimeoutError):
                self._ready[port] = False
            await asyncio.sleep(CHECK_EVERY)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._keep(asyncio.ensure_future(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server: asyncio.StreamWriter | None = None
        try:
            answers, server = await self._connect()
            async with asyncio.TaskGroup() as pumps:
                pumps.create_task(_pump(reader, server))
                pumps.create_task(_pump(answers, writer))
        except (OSError, BaseExceptionGroup):
            return
        finally:
            for end in (writer, server):
                if end is not None:
                    await _close(end)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to a ready server. A server that refuses counts as not ready, and the next server is tried."""
        for _ in self._ports:
            ready = [port for port in self._ports if self._ready[port]] or self._ports
            self._turn += 1
            port = ready[self._turn % len(ready)]
            try:
                opened = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                self._ready[port] = False
                continue
            self.connections[port] += 1
            return opened
        raise ConnectionRefusedError("no server listens")


async def _answers(port: int) -> bool:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"GET /_ready HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        return b" 200 " in await reader.readline()
    finally:
        await _close(writer)


async def _close(writer: asyncio.StreamWriter) -> None:
    """End a connection, and wait for it: a stream that is forgotten before is a ResourceWarning."""
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof() and not writer.is_closing():
        writer.write_eof()
