"""A small HTTP proxy before an S3 server, which fails on demand, and counts.

    with FaultyS3(shared("seaweedfs").endpoint) as proxy:
        with proxy.failing(BUSY, times=2):       # the next two requests are answered 503 SlowDown
            ...
        assert proxy.hits == 2

It runs in a thread of its own, one connection to the server per request.
"""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Literal

from tests.support.waiting import PATIENCE

Fault = bytes | float | Literal["reset", "lose the answer", "half", "gone"]
"""An answer; a pause in seconds before the true one; or what becomes of the connection."""


def refusal(status: str, code: str) -> bytes:
    """An answer as S3 gives it."""
    body = f"<Error><Code>{code}</Code><Message>a message of the store</Message></Error>".encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}\r\nConnection: close"
    return head.encode() + b"\r\n\r\n" + body


BUSY: Final = refusal("503 Slow Down", "SlowDown")
BROKEN: Final = refusal("500 Internal Server Error", "InternalError")
DENIED: Final = refusal("403 Forbidden", "AccessDenied")
FULL: Final = refusal("507 Insufficient Storage", "XMinioStorageFull")


class FaultyS3:
    """The proxy. `hits` counts the requests that a fault met, `seen` is every request: method and path."""

    def __init__(self, target: str) -> None:
        host, port = target.removeprefix("http://").split(":")
        self._target = (host, int(port))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="faulty-s3", daemon=True)
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self._port = 0
        self._fault: Fault | None = None
        self._left: float = 0
        self._wanted: Callable[[str, str], bool] = lambda method, path: True
        self.hits = 0
        self.seen: list[tuple[str, str]] = []

    @property
    def endpoint(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> FaultyS3:
        self._thread.start()
        self._call(self._listen())
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._vanish())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @contextmanager
    def failing(self, fault: Fault, times: float = float("inf"), only: str = "") -> Iterator[None]:
        """Do this to the next `times` requests whose `METHOD /path` matches the regular expression `only`."""
        pattern = re.compile(only)
        self._wanted = lambda method, path: pattern.search(f"{method} {path}") is not None
        self.hits, self.seen = 0, []
        self._left, self._fault = times, fault
        if fault == "gone":
            self._call(self._vanish())
        try:
            yield
        finally:
            self._fault = None
            if fault == "gone":
                self._call(self._listen())

    def _call(self, work: object) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)  # type: ignore[arg-type]

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)  # the same one again
        self._port = self._server.sockets[0].getsockname()[1]

    async def _vanish(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        self._serving.clear()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                method, path, _ = head.split(b"\r\n", 1)[0].decode().split(" ", 2)
                fault = self._next(method, path)
                body = await reader.readexactly(_length(head))
                if fault == "reset":
                    _reset(writer)
                    return
                if isinstance(fault, float):
                    await asyncio.sleep(fault)
                answer = fault if isinstance(fault, bytes) else await self._forward(head, body)
                if fault == "lose the answer":
                    return
                if fault == "half":
                    writer.write(answer[: len(answer) // 2])
                    await writer.drain()
                    return
                writer.write(answer)
                await writer.drain()
                if b"connection: close" in answer.split(b"\r\n\r\n", 1)[0].lower():
                    return
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    def _next(self, method: str, path: str) -> Fault | None:
        self.seen.append((method, path))
        if self._fault is None or self._left <= 0 or not self._wanted(method, path):
            return None
        self._left -= 1
        self.hits += 1
        return self._fault

    async def _forward(self, head: bytes, body: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(*self._target)
        first, rest = head.split(b"\r\n", 1)
        writer.write(first + b"\r\nConnection: close\r\n" + rest + body)
        try:
            return await reader.read()
        finally:
            writer.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close so that the other side gets RST instead of an end."""
    connection: socket.socket = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _length(head: bytes) -> int:
    found = re.search(rb"(?im)^content-length: *(\d+)", head)
    return int(found[1]) if found else 0
