"""A closed-loop HTTP load in one process: N connections, each sends its next request when the answer is there.

Raw sockets under uvloop, a minimal reader of answers: about 15 us a request, so that the server is the limit and
not the client. Prints JSON: requests a second, latencies in ms, and how many answers were not 2xx.

    python -m benchmarks.server.load PORT CONNECTIONS SECONDS KIND [ARGUMENT]
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import cast

import uvloop


def authorization(env: Mapping[str, str] = os.environ) -> str:
    pair = f"{env['LAKEBED_ACCESS_KEY_ID']}:{env['LAKEBED_SECRET_ACCESS_KEY']}"
    return f"Authorization: Basic {base64.b64encode(pair.encode()).decode()}\r\n"


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{authorization()}\r\n".encode()


def post(path: str, body: bytes, content_type: str = "application/json") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{authorization()}Content-Type: {content_type}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def five(number: int) -> str:
    """Return the path of one of many objects. Each folder has five of them."""
    return f"p{number // 5:06d}/f{number:07d}"


def requests(kind: str, count: int) -> Iterator[bytes]:
    """An endless series of requests of one kind over `count` paths."""
    base = "/api/v1/repositories/bench"
    if kind == "empty":
        yield from itertools.repeat(b"GET /empty HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    numbers = itertools.count()
    step = 7919  # a prime: paths are asked for in no order that a cache could guess
    body = os.urandom(1024)
    for number in numbers:
        path = f"small/{number * step % count:06d}.bin"
        if kind == "stat":
            yield get(f"{base}/refs/main/objects/stat?path={path}")
        elif kind == "read":
            yield get(f"{base}/refs/main/objects?path={path}")
        elif kind == "upload":
            place = f"{base}/branches/main/objects?path=up/{number:09d}.bin"
            yield post(place, body, "application/octet-stream")
        elif kind == "list":
            yield get(f"{base}/refs/main/objects/ls?amount=1000&after={path}")
        elif kind == "page":
            yield get(f"{base}/refs/main/objects/ls?amount=1000&after={five(number * step % (count - 1000))}")
        elif kind == "prefixes":
            after = five(number * step % (count - 5000))[:8]
            yield get(f"{base}/refs/main/objects/ls?amount=1000&delimiter=/&after={after}")
        elif kind == "delete":
            paths = [five((number * 1000 + one) % count) for one in range(1000)]
            yield post(f"{base}/branches/main/objects/delete", json.dumps({"paths": paths}).encode())
        else:
            raise SystemExit(f"unknown kind {kind}")


class Connection(asyncio.Protocol):
    """One of the connections. Where a server closes it after an answer and says so, as moto does, it is made again."""

    def __init__(self, port: int, source: Iterator[bytes], deadline: float, done: Callable[[], None]) -> None:
        self.port = port
        self.source = source
        self.deadline = deadline
        self.done = done
        self.latencies: list[float] = []
        self.failed = 0
        self.buffer = b""
        self.sent = 0.0
        self.waits = False
        self.tasks: set[asyncio.Task[None]] = set()

    async def connect(self) -> None:
        await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", self.port)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is one in all but name
        self.send()

    def send(self) -> None:
        self.sent = time.perf_counter()
        self.waits = True
        self.transport.write(next(self.source))

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head = self.buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        lowered = self.buffer[:head].lower()
        at = lowered.find(b"content-length: ")
        size = int(lowered[at + 16 : at + 28].split(b"\r")[0]) if at >= 0 else 0
        if len(self.buffer) < head + 4 + size:
            return
        now = time.perf_counter()
        self.latencies.append(now - self.sent)
        if self.buffer[9:10] != b"2":
            self.failed += 1
        self.buffer = b""
        self.waits = False
        # werkzeug says that it closes, and then reads on until the client does: what is sent now is never answered
        if now >= self.deadline or b"connection: close" in lowered:
            self.transport.close()
        else:
            self.send()

    def connection_lost(self, error: Exception | None) -> None:
        if self.waits:  # it broke off: count a failure and end this connection
            self.failed += 1
        if self.waits or time.perf_counter() >= self.deadline:
            self.done()
            return
        again = asyncio.ensure_future(self.connect())
        self.tasks.add(again)
        again.add_done_callback(self._connected)

    def _connected(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if task.exception() is not None:
            self.failed += 1
            self.done()


async def drive(
    port: int, source: Iterator[bytes], connections: int, seconds: float, made_of: type[Connection] = Connection
) -> dict[str, float]:
    """Send requests over `connections` connections for `seconds` seconds, and return the figures."""
    left = connections
    finished = asyncio.Event()

    def done() -> None:
        nonlocal left
        left -= 1
        if not left:
            finished.set()

    start = time.perf_counter()
    made = [made_of(port, source, start + seconds, done) for _ in range(connections)]
    for connection in made:
        await connection.connect()
    await asyncio.wait_for(finished.wait(), seconds + 60)
    elapsed = time.perf_counter() - start
    latencies = sorted(one for connection in made for one in connection.latencies)
    if not latencies:
        raise SystemExit("no request was answered")
    return {
        "rate": len(latencies) / elapsed,
        "p50_ms": latencies[len(latencies) // 2] * 1000,
        "p99_ms": latencies[len(latencies) * 99 // 100] * 1000,
        "count": len(latencies),
        "failed": sum(connection.failed for connection in made),
    }


def main() -> None:
    port, connections, seconds, kind = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    count = int(sys.argv[5]) if len(sys.argv) > 5 else 10_000
    print(json.dumps(uvloop.run(drive(port, requests(kind, count), connections, seconds))))


if __name__ == "__main__":
    main()
