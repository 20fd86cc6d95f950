"""One kind of S3 request after the other, by a client that costs little; run in a process of its own. Prints JSON.

    python -m benchmarks.s3_load PORT BUCKET PREFIX KIND CONNECTIONS SECONDS

Kinds: fill (what the others read), put and get of 1 KiB, list (pages of 1,000 keys), big_put and big_get of 64 MiB
(MiB/s). All is signed before the clock starts. Credentials come in the environment, as AWS's tools read them.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import uvloop

from benchmarks import load
from benchmarks.s3_signing import UNSIGNED, Place

KEYS = 5000
BIG = 64 << 20
MOST = 12_000
"""Requests signed beforehand for each second of a run: more than any server here answers."""


class Connection(load.Connection):
    """Reads answers that come in chunks as well: Go's servers send long ones so."""

    def data_received(self, data: bytes) -> None:
        if b"ransfer-Encoding: chunked" in self.buffer[:2000] or b"ransfer-Encoding: chunked" in data[:2000]:
            self.buffer += data
            if not self.buffer.endswith(b"\r\n0\r\n\r\n"):
                return
            head, _, _ = self.buffer.partition(b"\r\n\r\n")
            self.buffer, data = b"", head + b"\r\ncontent-length: 0\r\n\r\n"
        super().data_received(data)


def requests(place: Place, kind: str, seconds: float) -> Iterator[bytes]:
    """An endless series, signed beforehand."""
    body = os.urandom(1024)
    digest = hashlib.sha256(body).hexdigest()
    count = int(MOST * (seconds + 0.5))
    run = os.urandom(4).hex()
    if kind == "put":
        made = [place.request("PUT", f"up-{run}/{n:07d}", body=body, digest=digest) for n in range(count)]
    elif kind == "get":
        made = [place.request("GET", f"small/{n * 7919 % KEYS:06d}", digest=UNSIGNED) for n in range(KEYS)]
    else:
        prefix = quote(f"{place.prefix}small/", safe="")
        made = []
        for page in range(KEYS // 1000 - 1):
            after = f"&start-after={prefix}{page * 1000:06d}"
            query = f"list-type=2&max-keys=1000&prefix={prefix}{after}"
            made.append(place.request("GET", query=query, digest=UNSIGNED))
    return itertools.cycle(made)


async def run(place: Place, kind: str, connections: int, seconds: float) -> dict[str, float]:
    """As `load.run`, over these requests."""
    loop = asyncio.get_running_loop()
    source = requests(place, kind, seconds)
    left = connections
    finished = asyncio.Event()

    def done() -> None:
        nonlocal left
        left -= 1
        if not left:
            finished.set()

    start = time.perf_counter()
    made = [
        await loop.create_connection(lambda: Connection(source, start + seconds, done), "127.0.0.1", place.port)
        for _ in range(connections)
    ]
    await asyncio.wait_for(finished.wait(), seconds + 60)
    elapsed = time.perf_counter() - start
    latencies = sorted(one for _, connection in made for one in connection.latencies)
    return {
        "rate": len(latencies) / elapsed,
        "p99_ms": latencies[len(latencies) * 99 // 100] * 1000,
        "failed": sum(connection.failed for _, connection in made),
    }


def big(place: Place, kind: str, times: int) -> dict[str, float]:
    """MiB/s over one connection, the body unsigned, as clients send it that trust the transport."""
    body = memoryview(os.urandom(BIG))
    with socket.create_connection(("127.0.0.1", place.port)) as link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        begun = time.perf_counter()
        for number in range(times):
            if kind == "big_put":
                link.sendall(place.head("PUT", f"big/{os.getpid()}-{number}", size=BIG))
                link.sendall(body)
            else:
                link.sendall(place.head("GET", "big/read"))
            _receive(link)
    return {"rate": times * BIG / (1 << 20) / (time.perf_counter() - begun), "failed": 0}


def fill(place: Place, connections: int) -> dict[str, float]:
    """What is read afterwards: small objects and a large one."""
    body = os.urandom(1024)

    def work(first: int) -> None:
        with socket.create_connection(("127.0.0.1", place.port)) as link:
            for number in range(first, KEYS, connections):
                link.sendall(place.request("PUT", f"small/{number:06d}", body=body))
                _receive(link)

    with ThreadPoolExecutor(connections) as threads:
        list(threads.map(work, range(connections)))
    with socket.create_connection(("127.0.0.1", place.port)) as link:
        link.sendall(place.head("PUT", "big/read", size=BIG))
        link.sendall(os.urandom(BIG))
        _receive(link)
    return {"rate": 0, "failed": 0}


def _receive(link: socket.socket) -> None:
    buffer = bytearray(1 << 20)
    head = b""
    while b"\r\n\r\n" not in head:
        count = link.recv_into(buffer)
        if not count:
            raise SystemExit(f"the connection was closed within an answer: {head!r}")
        head += buffer[:count]
    lines, _, rest = head.partition(b"\r\n\r\n")
    if lines[9:12] != b"200":
        raise SystemExit(head[:1000].decode())
    sizes = [line.split(b":")[1] for line in lines.lower().splitlines() if line.startswith(b"content-length:")]
    left = (int(sizes[0]) if sizes else 0) - len(rest)
    while left > 0:
        count = link.recv_into(buffer, min(left, len(buffer)))
        if not count:
            raise SystemExit("the connection was closed within a body")
        left -= count


def main() -> None:
    port, bucket, prefix, kind, connections, seconds = sys.argv[1:]
    keys = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
    place = Place(int(port), bucket, prefix, *keys)
    if kind == "fill":
        print(json.dumps(fill(place, int(connections))))
    elif kind.startswith("big"):
        print(json.dumps(big(place, kind, int(float(seconds)))))
    else:
        print(json.dumps(uvloop.run(run(place, kind, int(connections), float(seconds)))))


if __name__ == "__main__":
    main()
