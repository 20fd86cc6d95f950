"""The thread of a server: its event loop, its sockets, and its current application.

It serves what `lakebed serve` serves: the same components, application, protocol and event loop. A reset replaces all
components and the application, so nothing of the old data remains. The sockets stay, and so do the connections of the
clients.
"""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, suppress
from typing import TypeVar

from lakebed._process.exit import awaited_of_obstore
from lakebed_engine.vocabulary.ports import AsyncioRuntime
from lakebed_server.network import listeners
from lakebed_server.process import serve, wiring
from lakebed_server.process.app import App
from lakebed_server.process.server import Server
from lakebed_server.s3.config import read_config
from lakebed_server.settings.schema import Settings
from lakebed_server.vocabulary import Receive, Scope, Send

from lakebed_testing.faults import Faults
from lakebed_testing.handlers import CONNECTION, FaultyProtocol, connection_of, with_faults

T = TypeVar("T")

_CPU_THREADS = 4


class Host:
    """One server in one thread, from `start` to `stop`."""

    def __init__(self, settings: Settings, faults: Faults) -> None:
        self._settings = settings
        self._handlers = with_faults(faults)
        self._process = os.getpid()
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="lakebed-testing", daemon=True)
        self._app: App | None = None
        self._life: AbstractAsyncContextManager[None] | None = None
        self.was_used = False
        """Whether a request came since the start or the last reset."""

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        port: int = self._listeners[0].getsockname()[1]
        return port

    @property
    def is_elsewhere(self) -> bool:
        """Whether this is a copy in a forked child of the server's process."""
        return os.getpid() != self._process

    def start(self) -> None:
        """Start the server. Raises StartError."""
        if self._settings.objects.cloud:
            awaited_of_obstore()
        self._listeners = listeners.listen_all(self._settings, read_config(self._settings.gateway.s3).listen)
        self._cpu = ThreadPoolExecutor(_CPU_THREADS, thread_name_prefix="lakebed-testing-cpu")
        self._thread.start()
        error = self._ready.exception()
        if error is not None:
            self._thread.join()
            for listener in self._listeners:
                listener.close()
            self._cpu.shutdown(wait=True)
            raise error

    def stop(self) -> None:
        """Stop listening, finish running requests, and release every thread and socket.

        Does nothing in a forked child, because the server belongs to the parent.
        """
        if self.is_elsewhere or not self._thread.is_alive():
            return
        for listener in self._listeners:
            with suppress(OSError):
                # a forked child may hold the socket too: no client must wait there for an answer
                listener.shutdown(socket.SHUT_RDWR)
        self._server.should_exit = True
        self._thread.join()
        self._cpu.shutdown(wait=True)

    def renew(self) -> None:
        """Start again with empty stores."""
        self._call(self._renew)

    def _call(self, job: Callable[[], Awaitable[T]]) -> T:
        async def run() -> T:
            return await job()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=serve.loop_factory()) as runner:
            try:
                runner.run(self._serve())
            except BaseException as error:
                if self._ready.done():
                    raise
                self._ready.set_exception(error)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._runtime = AsyncioRuntime(self._cpu)
        await self._renew()
        connections = serve.open_connections(self._settings)
        config = serve.http_config(self._answer, self._settings, connections, protocol=FaultyProtocol, lifespan="off")
        self._server = Server(config, lambda: self._ready.set_result(None), on_stop=self._end_feeds)
        try:
            await self._server.serve(sockets=list(self._listeners))
        finally:
            await self._end()

    async def _renew(self) -> None:
        parts = await wiring.build(self._settings, self._runtime)
        app = serve.application(self._settings, parts, self._handlers, s3_port=listeners.s3_port(self._listeners))
        life = app.life()
        await life.__aenter__()
        old = self._life
        self._app, self._life, self.was_used = app, life, False
        if old is not None:
            await old.__aexit__(None, None, None)

    def _end_feeds(self) -> None:
        if self._app is not None:
            self._app.end_feeds()

    async def _end(self) -> None:
        life, self._life = self._life, None
        if life is not None:
            await life.__aexit__(None, None, None)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application. Calls the current one."""
        assert self._app is not None
        self.was_used = True
        CONNECTION.set(connection_of(scope, receive))
        await self._app(scope, receive, send)
