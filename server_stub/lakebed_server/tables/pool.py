"""The processes that read tables, in the server: their start and end, and their reads of objects.

A process that needs too much time is killed, and another one is started for the next request.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import struct
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Final

import msgspec

from lakebed_server.settings.schema import TableSettings
from lakebed_server.tables import messages
from lakebed_server.tables.messages import TOO_LARGE, TableTooLarge, UnreadableTable

log = logging.getLogger("lakebed.server")

Read = Callable[[int, int], Awaitable[bytes]]
"""Reads `length` bytes of a file from `start` on."""

_LENGTH: Final = struct.Struct(">Q")
_START_SECONDS: Final = 60.0
_IDLE_SECONDS: Final = 120.0
"""A process that had no request for so long is ended."""

_READS: Final = 16
"""Ranges of one message that are read at the same time."""

_ENVIRONMENT: Final = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "LANG", "LC_ALL", "TZDIR")
"""Variables that a process inherits. Keys and addresses of the server are not among them."""


class _Process:
    """One process, and the connection to it."""

    def __init__(self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._process = process
        self._reader = reader
        self._writer = writer
        self._end: asyncio.Future[int] | None = None
        self.last_key: object = None
        self.idle_since = 0.0

    @classmethod
    async def start(cls, settings: TableSettings) -> _Process:
        ours, theirs = socket.socketpair()
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        environment |= {"ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
        command = [sys.executable, "-m", "lakebed_server.tables", str(settings.memory), str(settings.time)]
        try:
            with theirs:
                process = await asyncio.to_thread(_started, command, theirs, environment)
        except BaseException:
            ours.close()
            raise
        ours.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=ours)
        made = cls(process, reader, writer)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await made._receive()
        except BaseException:
            made.kill()
            raise
        return made

    async def ask(self, request: messages.Request, reads: Sequence[Read]) -> messages.Done | messages.Failed:
        """Send a request, and the bytes that the process asks for, until it answers."""
        left = request.most_bytes
        await self._send(msgspec.msgpack.encode(request))
        while True:
            message = await self._receive()
            if not isinstance(message, messages.Ranges):
                return message
            left -= sum(length for _, _, length in message.ranges)
            if left < 0:
                raise TableTooLarge(TOO_LARGE)
            async with contextlib.aclosing(_bytes_of(message.ranges, reads)) as found:
                async for data in found:
                    self._writer.write(data)
                    await self._writer.drain()

    async def _send(self, data: bytes) -> None:
        self._writer.write(_LENGTH.pack(len(data)) + data)
        await self._writer.drain()

    async def _receive(self) -> messages.Ranges | messages.Done | messages.Failed:
        length = _LENGTH.unpack(await self._reader.readexactly(messages.LENGTH_BYTES))[0]
        if length > messages.LARGEST_MESSAGE:
            raise ValueError(f"a message of {length} bytes")
        made: messages.Ranges | messages.Done | messages.Failed
        made = messages.ANSWERS.decode(await self._reader.readexactly(length))
        return made

    def is_alive(self) -> bool:
        """Whether it can answer. A dead one is closed."""
        if self._process.poll() is None:
            return True
        self._writer.close()
        return False

    def kill(self) -> None:
        """End the process. A thread waits for its end, because freeing much memory takes long."""
        self._process.kill()
        self._end = asyncio.get_running_loop().run_in_executor(None, self._process.wait)
        self._writer.close()

    async def ended(self) -> None:
        """Wait for the end of a killed process and of its connection."""
        if self._end is not None:
            await self._end
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()


def _started(command: Sequence[str], connection: socket.socket, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """A process that a Ctrl-C at the terminal of the server does not reach. Its end follows from that of the server."""
    return subprocess.Popen(
        command, stdin=connection.fileno(), stdout=subprocess.DEVNULL, env=env, start_new_session=True
    )


async def _bytes_of(ranges: Sequence[tuple[int, int, int]], reads: Sequence[Read]) -> AsyncGenerator[bytes]:
    for first in range(0, len(ranges), _READS):
        group = ranges[first : first + _READS]
        for data in await asyncio.gather(*(reads[number](start, length) for number, start, length in group)):
            yield data


class TablePool:
    """Answers requests for rows, each in a process, at most `settings.processes` at the same time."""

    def __init__(self, settings: TableSettings) -> None:
        self.settings = settings
        self._places = asyncio.Semaphore(settings.processes)
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()
        self._ends: asyncio.TimerHandle | None = None

    async def answer(self, request: messages.Request, reads: Sequence[Read]) -> bytes:
        """The answer as JSON. `reads` are the files of the request. Raises TableError, and what a read raises."""
        async with self._places:
            process = await self._taken((type(request), request.files))
            self._busy.add(process)
            answered = False
            try:
                async with asyncio.timeout(self.settings.time):
                    made = await process.ask(request, reads)
                answered = True
            except TimeoutError:
                raise TableTooLarge(f"{TOO_LARGE} (it took longer than {self.settings.time:g} s)") from None
            except (asyncio.IncompleteReadError, ConnectionError, ValueError, msgspec.DecodeError) as error:
                log.warning("a process that reads tables died at %r: %s", request.path, error)
                raise UnreadableTable(f"{request.path!r} cannot be read") from None
            finally:
                self._busy.discard(process)
                if answered:
                    self._keep(process)
                else:
                    process.kill()
        if isinstance(made, messages.Done):
            return made.body
        raise error_of(made)

    async def _taken(self, key: object) -> _Process:
        """A process. It prefers one with the same files in memory."""
        self._idle = [one for one in self._idle if one.is_alive()]
        if not self._idle:
            return await _Process.start(self.settings)
        process = next((one for one in self._idle if one.last_key == key), self._idle[-1])
        self._idle.remove(process)
        process.last_key = key
        return process

    def _keep(self, process: _Process) -> None:
        loop = asyncio.get_running_loop()
        process.idle_since = loop.time()
        self._idle.append(process)
        if self._ends is None:
            self._ends = loop.call_later(_IDLE_SECONDS, self._end_idle, loop)

    def _end_idle(self, loop: asyncio.AbstractEventLoop) -> None:
        old = [one for one in self._idle if loop.time() - one.idle_since >= _IDLE_SECONDS - 1]
        for process in old:
            self._idle.remove(process)
            process.kill()
        self._ends = loop.call_later(_IDLE_SECONDS, self._end_idle, loop) if self._idle else None

    async def close(self) -> None:
        """End all processes."""
        if self._ends is not None:
            self._ends.cancel()
        processes = (*self._idle, *self._busy)
        self._idle.clear()
        for process in processes:
            process.kill()
            await process.ended()


def error_of(failed: messages.Failed) -> Exception:
    """The error of an answer that failed. A fault of ours is a RuntimeError."""
    for kind in (messages.InvalidTableRequest, TableTooLarge, UnreadableTable):
        if kind.kind == failed.kind:
            return kind(failed.message)
    return RuntimeError(f"a process that reads tables failed:\n{failed.message}")
