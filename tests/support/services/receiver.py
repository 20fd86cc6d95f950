"""A receiver of webhooks, on 127.0.0.1, that answers well or badly. The path of a request says how.

    with running_receiver() as receiver:
        post(receiver.url + "/status/403?message=no")
        receiver.requests[0].headers["webhook-id"]

It speaks HTTP by hand, so it can send what no HTTP server would. It runs in a thread of its own.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from tests.support.waiting import PATIENCE

GIB: Final = 1 << 30


@dataclass(frozen=True)
class Got:
    """A request as the receiver got it. Header names are in lower case."""

    method: str
    path: str
    query: list[tuple[str, str]]
    headers: Mapping[str, str]
    body: bytes

    @property
    def arguments(self) -> dict[str, str]:
        return dict(self.query)


@dataclass
class Receiver:
    """`sent`: bytes of bodies that were given to the kernel, for answers that never end. `connections`: how many."""

    requests: list[Got] = field(default_factory=list)
    connections: int = 0
    sent: int = 0
    port: int = 0
    failures: int = 0
    """The number of requests to /flaky that still get status 503."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


Writer = asyncio.StreamWriter
Way = Callable[[Receiver, Got, Writer], Awaitable[None]]


def _head(status: str, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _whole(writer: Writer, status: str, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    writer.write(_head(status, {"content-length": str(len(body)), **(headers or {})}) + body)


async def _status(_: Receiver, got: Got, writer: Writer) -> None:
    """/status/403?body=...&header=name:value"""
    headers = dict(value.split(":", 1) for name, value in got.query if name == "header")
    _whole(writer, f"{got.path.split('/')[2]} Because", got.arguments.get("body", "").encode(), headers)


async def _flaky(receiver: Receiver, _: Got, writer: Writer) -> None:
    receiver.failures -= 1
    _whole(writer, "503 Busy" if receiver.failures >= 0 else "200 OK", b"")


async def _echo(_: Receiver, got: Got, writer: Writer) -> None:
    """All of the request, as a careless receiver returns it."""
    reported = {"headers": dict(got.headers), "query": got.query, "body": got.body.decode()}
    text = json.dumps(reported) + "\n" + "\n".join(f"{name}={value}" for name, value in got.query)
    headers = {"content-type": "text/plain", "x-echo": got.headers.get("authorization", "")}
    _whole(writer, f"{got.arguments.get('status', '200')} Echo", text.encode(), headers)


async def _slow(_: Receiver, got: Got, writer: Writer) -> None:
    await asyncio.sleep(float(got.path.split("/")[2]))
    _whole(writer, "200 OK", b"late")


async def _hang(_: Receiver, __: Got, ___: Writer) -> None:
    await asyncio.sleep(PATIENCE)


async def _drip(_: Receiver, __: Got, writer: Writer) -> None:
    """One byte at a time, so that the connection is never silent."""
    writer.write(_head("200 OK", {"content-length": "1000000"}))
    while True:
        writer.write(b".")
        await writer.drain()
        await asyncio.sleep(0.02)


async def _flood(receiver: Receiver, got: Got, writer: Writer) -> None:
    """10 GiB. /flood/chunked has no length."""
    chunked = got.path.endswith("/chunked")
    length = {"transfer-encoding": "chunked"} if chunked else {"content-length": str(10 * GIB)}
    writer.write(_head("200 OK", length))
    piece = b"x" * 65536
    for _ in range(10 * GIB // len(piece)):
        writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
        await writer.drain()
        receiver.sent += len(piece)


async def _bomb(_: Receiver, __: Got, writer: Writer) -> None:
    """896 MiB of zeros in 0.9 MB of gzip."""
    body = gzip.compress(bytes(GIB // 64)) * 56  # members of gzip can be joined
    _whole(writer, "200 OK", body, {"content-encoding": "gzip", "content-type": "application/json"})


async def _redirect(_: Receiver, got: Got, writer: Writer) -> None:
    """/redirect/302?to=URL"""
    _whole(writer, f"{got.path.split('/')[2]} Moved", b"", {"location": got.arguments["to"]})


async def _close(_: Receiver, __: Got, ___: Writer) -> None:
    """No answer: the connection ends."""


async def _half(_: Receiver, __: Got, writer: Writer) -> None:
    writer.write(_head("200 OK", {"content-length": "1000"}) + b"half")


async def _garbage(_: Receiver, __: Got, writer: Writer) -> None:
    writer.write(b"\x16\x03\x01 this is not HTTP\r\n\r\n")


async def _headers(_: Receiver, __: Got, writer: Writer) -> None:
    """10 MB of headers."""
    writer.write(b"HTTP/1.1 200 OK\r\n" + b"".join(b"x-%d: %s\r\n" % (one, b"y" * 1000) for one in range(10_000)))


WAYS: Final[dict[str, Way]] = {
    "status": _status,
    "flaky": _flaky,
    "echo": _echo,
    "slow": _slow,
    "hang": _hang,
    "drip": _drip,
    "flood": _flood,
    "bomb": _bomb,
    "redirect": _redirect,
    "close": _close,
    "half": _half,
    "garbage": _garbage,
    "headers": _headers,
}
CLOSES: Final = frozenset({"close", "half", "garbage", "headers"})


async def _serve(receiver: Receiver, reader: asyncio.StreamReader, writer: Writer) -> None:
    receiver.connections += 1
    try:
        while True:
            got = await _read(reader)
            receiver.requests.append(got)
            way = got.path.split("/")[1]
            await WAYS[way](receiver, got, writer)
            await writer.drain()
            if way in CLOSES:
                return
    except (asyncio.IncompleteReadError, ConnectionError):
        return
    except asyncio.CancelledError:
        writer.transport.abort()  # the receiver ends
    finally:
        writer.close()
        try:
            await writer.wait_closed()
        except (ConnectionError, asyncio.CancelledError):
            writer.transport.abort()  # the client does not read the rest


async def _read(reader: asyncio.StreamReader) -> Got:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = lines[0].split(" ", 2)
    pairs = (line.split(":", 1) for line in lines[1:] if line)
    headers = {name.lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    parts = urlsplit(target)
    return Got(method, parts.path, parse_qsl(parts.query, keep_blank_values=True), headers, body)


@contextmanager
def running_receiver(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Run a receiver. At the end, requests without an answer end with their connection."""
    receiver, loop = Receiver(), asyncio.new_event_loop()

    async def begin() -> None:
        server = await asyncio.start_server(
            lambda reader, writer: _serve(receiver, reader, writer), "127.0.0.1", 0, ssl=tls
        )
        receiver.port = server.sockets[0].getsockname()[1]
        servers.append(server)

    async def end() -> None:
        servers[0].close()
        await asyncio.sleep(0.01)  # until the tasks of accepted connections have begun: only then do they close them
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0.01)  # until the sockets of aborted connections are closed

    servers: list[asyncio.Server] = []
    thread = threading.Thread(target=loop.run_forever, name="receiver", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(begin(), loop).result(PATIENCE)
        yield receiver
        asyncio.run_coroutine_threadsafe(end(), loop).result(PATIENCE)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
