"""One kind of S3 request after the other, by a client that costs little; run in a process of its own. Prints JSON.

    python -m benchmarks.server.s3_load PORT BUCKET PREFIX KIND CONNECTIONS SECONDS

Kinds: fill (what the others read), put and get of 1 KiB, list (pages of 1,000 keys), big_put and big_get of 64 MiB
(MiB/s). All is signed before the clock starts. Credentials come in the environment, as AWS's tools read them.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Self
from urllib.parse import quote

import uvloop

from benchmarks.server import load
from benchmarks.server.s3_signing import UNSIGNED, Place

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


class Link:
    """One blocking connection, made again where the server closes it after an answer."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None
        self._buffer = bytearray(1 << 20)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._socket is not None:
            self._socket.close()

    def ask(self, *parts: bytes | memoryview) -> None:
        """Send a request and read the answer to its end."""
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=60)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in parts:
            self._socket.sendall(part)
        if self._receive(self._socket):
            self._socket.close()
            self._socket = None

    def _receive(self, link: socket.socket) -> bool:
        """Whether the server closes the connection."""
        head = b""
        while b"\r\n\r\n" not in head:
            count = link.recv_into(self._buffer)
            if not count:
                raise SystemExit(f"the connection was closed within an answer: {head!r}")
            head += self._buffer[:count]
        reported, _, rest = head.partition(b"\r\n\r\n")
        if reported[9:12] != b"200":
            raise SystemExit(head[:1000].decode())
        lines = reported.lower().splitlines()
        sizes = [line.split(b":")[1] for line in lines if line.startswith(b"content-length:")]
        left = (int(sizes[0]) if sizes else 0) - len(rest)
        while left > 0:
            count = link.recv_into(self._buffer, min(left, len(self._buffer)))
            if not count:
                raise SystemExit("the connection was closed within a body")
            left -= count
        return b"connection: close" in lines


def big(place: Place, kind: str, times: int) -> dict[str, float]:
    """MiB/s over one connection, the body unsigned, as clients send it that trust the transport."""
    body = memoryview(os.urandom(BIG))
    with Link(place.port) as link:
        begun = time.perf_counter()
        for number in range(times):
            if kind == "big_put":
                link.ask(place.head("PUT", f"big/{os.getpid()}-{number}", size=BIG), body)
            else:
                link.ask(place.head("GET", "big/read"))
    return {"rate": times * BIG / (1 << 20) / (time.perf_counter() - begun), "failed": 0}


def fill(place: Place, connections: int) -> dict[str, float]:
    """What is read afterwards: small objects and a large one."""
    body = os.urandom(1024)

    def work(first: int) -> None:
        with Link(place.port) as link:
            for number in range(first, KEYS, connections):
                link.ask(place.request("PUT", f"small/{number:06d}", body=body))

    with ThreadPoolExecutor(connections) as threads:
        list(threads.map(work, range(connections)))
    with Link(place.port) as link:
        link.ask(place.head("PUT", "big/read", size=BIG), os.urandom(BIG))
    return {"rate": 0, "failed": 0}


def main() -> None:
    port, bucket, prefix, kind, connections, seconds = sys.argv[1:]
    keys = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
    place = Place(int(port), bucket, prefix, *keys)
    if kind == "fill":
        print(json.dumps(fill(place, int(connections))))
    elif kind.startswith("big"):
        print(json.dumps(big(place, kind, int(float(seconds)))))
    else:
        source = requests(place, kind, float(seconds))
        found = uvloop.run(load.drive(place.port, source, int(connections), float(seconds), Connection))
        print(json.dumps(found))


if __name__ == "__main__":
    main()
