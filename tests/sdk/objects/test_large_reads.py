"""`get` of a large object: one block of memory, hashed by a second thread while it arrives."""

from __future__ import annotations

import asyncio
import hashlib
import random
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import lakebed.aio
import pytest
import respx
from lakebed import errors
from lakebed._values.received import LARGE, Received

from tests.sdk.bare_server import BareServer, Handler
from tests.sdk.doors import REPO, Door
from tests.support.waiting import PATIENCE, until

OBJECTS = REPO + "/refs/main/objects"
DATA = random.Random(30).randbytes(LARGE + (1 << 20) + 17)
MD5 = hashlib.md5(DATA).hexdigest()
HEAD = b"HTTP/1.1 %d OK\r\nETag: %s\r\nLast-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\nContent-Length: %d\r\n%s\r\n"


class Wire(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body in pieces of 100,000 bytes."""

    def __init__(self, body: bytes) -> None:
        self._pieces = [body[start : start + 100_000] for start in range(0, len(body), 100_000)]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._pieces)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


def answers(wire: respx.MockRouter, body: bytes, checksum: str = MD5) -> None:
    headers = {
        "etag": f'"{checksum}"',
        "last-modified": "Tue, 14 Nov 2023 22:13:20 GMT",
        "content-length": str(len(DATA)),
    }
    wire.get(url__startswith=OBJECTS).mock(
        side_effect=lambda _: httpx.Response(200, headers=headers, stream=Wire(body))
    )


def threads() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith("lakebed-hash")]


def test_a_large_object_arrives_whole(door: Door, wire: respx.MockRouter) -> None:
    answers(wire, DATA)

    async def scenario(lake: Any) -> None:
        found = await lake.repository("repo").branch("main").get("a")
        assert type(found) is bytes
        assert found == DATA

    door.run(scenario)


@pytest.mark.parametrize("at", [0, LARGE // 2, len(DATA) - 1])
def test_one_flipped_bit_is_detected(door: Door, wire: respx.MockRouter, at: int) -> None:
    damaged = bytearray(DATA)
    damaged[at] ^= 1
    answers(wire, bytes(damaged))

    async def scenario(lake: Any) -> None:
        with pytest.raises(errors.CorruptTransferError, match="arrived damaged"):
            await lake.repository("repo").branch("main").get("a")

    door.run(scenario)


@pytest.mark.parametrize("body", [DATA[:-1], DATA[: LARGE // 2], DATA + b"x", DATA * 2], ids=len)
def test_body_of_wrong_length_is_detected(door: Door, wire: respx.MockRouter, body: bytes) -> None:
    answers(wire, body)

    async def scenario(lake: Any) -> None:
        with pytest.raises(errors.CorruptTransferError, match=f"{len(body)} bytes"):
            await lake.repository("repo").branch("main").get("a")

    door.run(scenario)


class Store:
    """A server of bare sockets with one object. It breaks the connection after the first `cut` bytes of a body."""

    def __init__(self, cuts: list[int]) -> None:
        self.cuts = cuts
        self.data, self.checksum = DATA, MD5
        self.starts: list[int] = []
        self.began = threading.Event()

    def __call__(self, connection: socket.socket, head: bytes) -> bool:
        first = head.lower().partition(b"range: bytes=")[2].partition(b"-")[0]
        start = int(first or 0)
        self.starts.append(start)
        body = self.data[start:]
        size = len(self.data)
        extra = b"Content-Range: bytes %d-%d/%d\r\n" % (start, size - 1, size) if first else b""
        connection.sendall(HEAD % (206 if first else 200, b'"%s"' % self.checksum.encode(), len(body), extra))
        cut = self.cuts.pop(0) if self.cuts else len(body)
        with suppress(OSError):  # the client closed the connection
            connection.sendall(body[:cut])
            self.began.set()
            if cut < 0:  # send no more, until the client closes the connection
                connection.recv(1)
        return cut == len(body)


@pytest.fixture
def serve() -> Iterator[Callable[[Handler], str]]:
    servers: list[BareServer] = []

    def start(handler: Handler) -> str:
        servers.append(BareServer(handler))
        return f"http://127.0.0.1:{servers[-1].port}"

    yield start
    for server in servers:
        server.close()


@pytest.mark.medium
def test_large_read_resumes_where_the_connection_broke(door: Door, serve: Callable[[Handler], str]) -> None:
    store = Store([LARGE + 100_000, 500_000])

    async def scenario(lake: Any) -> None:
        assert await lake.repository("repo").branch("main").get("a") == DATA

    door.run(scenario, endpoint=serve(store))
    assert store.starts[0] == 0
    assert 0 < store.starts[1] <= LARGE + 100_000
    assert store.starts == sorted(store.starts)


@pytest.mark.medium
def test_object_replaced_during_a_large_read_is_not_mixed(door: Door, serve: Callable[[Handler], str]) -> None:
    store = Store([LARGE + 100_000])

    def replaced(connection: socket.socket, head: bytes) -> bool:
        again = store(connection, head)
        store.data, store.checksum = DATA[::-1], hashlib.md5(DATA[::-1]).hexdigest()
        return again

    async def scenario(lake: Any) -> None:
        with pytest.raises(errors.PreconditionFailedError, match="changed while it was being read"):
            await lake.repository("repo").branch("main").get("a")

    door.run(scenario, endpoint=serve(replaced))


@pytest.mark.medium
def test_a_cancelled_read_ends_its_thread(serve: Callable[[Handler], str]) -> None:
    store = Store([-100_000])
    endpoint = serve(store)

    async def run() -> None:
        async with lakebed.aio.connect(endpoint, "key", "secret") as lake:
            reading = asyncio.ensure_future(lake.repository("repo").branch("main").get("a"))
            assert await asyncio.to_thread(store.began.wait, PATIENCE)
            await until(threads)
            reading.cancel()
            with pytest.raises(asyncio.CancelledError):
                await reading
            await until(lambda: not threads())

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


def test_no_thread_is_left_after_a_read(door: Door, wire: respx.MockRouter) -> None:
    answers(wire, DATA[::-1])

    async def scenario(lake: Any) -> None:
        with pytest.raises(errors.CorruptTransferError):
            await lake.repository("repo").branch("main").get("a")
        await until(lambda: not threads())

    door.run(scenario)


def test_a_small_object_needs_no_thread() -> None:
    received = Received(3, hashed=True)
    received.add(b"ab")
    received.add(b"c")
    assert not received.is_hashing
    assert (received.checksum, received.content()) == (hashlib.md5(b"abc").hexdigest(), b"abc")


AT_EXIT = """
import atexit, hashlib
from lakebed._values.received import LARGE, Received

def read():
    received = Received(LARGE, hashed=True)
    received.add(bytes(LARGE // 2))
    received.add(bytes(LARGE // 2))
    assert received.checksum == hashlib.md5(bytes(LARGE)).hexdigest()
    assert received.content() == bytes(LARGE)
    print("read")

atexit.register(read)
"""


@pytest.mark.slow  # it starts a process
def test_a_large_read_works_while_the_interpreter_ends(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(AT_EXIT)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("read\n", "")


def test_a_closed_block_exports_no_memory() -> None:
    received = Received(8, hashed=True)
    received.add(b"half")
    received.close()
    with pytest.raises(ValueError, match="released"):
        received.add(b"more")
