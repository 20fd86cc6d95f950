"""Objects that are files, sent by the kernel: every byte, in order, whatever the client does during the transfer."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from lakebed_engine.stores.objects.local.read import SMALL
from lakebed_engine.stores.objects.local.store import LocalObjects
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.streams import FilePart
from lakebed_server.transport import sendfile
from lakebed_server.transport.protocol import CountingTransport

from tests.server.support import BASIC, OBJECTS, FakeEngine, Wire, bounded, make_app, serving
from tests.support.waiting import wait_until

pytestmark = pytest.mark.medium  # real sockets

MIB = 1 << 20
LARGE = os.urandom(1 << 16) * 640  # 40 MiB: more than the buffers of two sockets, and in three messages
SIZES = {"large": LARGE, "most": LARGE[: SMALL + 1], "small": LARGE[:SMALL], "empty": b""}


class FileEngine(FakeEngine):
    """Its objects are files of a real local store. Reading a large one by chunks fails, unless `falls_back`."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root = root
        self.store = LocalObjects(root, "local://repo")
        self.falls_back = False
        self.is_open = 0

    def put(self, path: str, data: bytes, **more: Any) -> Entry:
        (self.root / path).write_bytes(data)
        return super().put(path, data, **more)

    def open_entry(self, entry: Entry, start: int, length: int | None) -> Any:
        return self._opened(entry.physical_address.removeprefix("data/"), start, length)

    @asynccontextmanager
    async def _opened(self, key: str, start: int, length: int | None) -> AsyncIterator[AsyncIterator[bytes]]:
        async with self.store.open(key, start, length) as chunks:
            self.is_open += 1
            try:
                yield chunks if self.falls_back else _guarded(chunks)
            finally:
                self.is_open -= 1


def _guarded(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    return FilePart(chunks.fileno(), chunks.start, Refused()) if isinstance(chunks, FilePart) else chunks


class Refused(AsyncIterator[bytes]):
    """Has no chunks: a caller that asks for one has sent the file through the process."""

    async def __anext__(self) -> bytes:
        raise AssertionError("the file went through the process")


Served = tuple[FileEngine, int]


@pytest.fixture(scope="module", params=["uvloop", "asyncio"])
def served(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    engine = FileEngine(tmp_path_factory.mktemp("store"))
    for name, data in SIZES.items():
        engine.put(name, data)
    with serving(make_app(engine), http=bounded(), loop=request.param) as port:
        yield engine, port


@pytest.fixture
def wire(served: Served) -> Iterator[Wire]:
    served[0].falls_back = False
    with Wire(served[1]) as wire:
        yield wire


def get(name: str, *headers: str) -> tuple[str, ...]:
    return (f"GET {OBJECTS}?path={name}", *headers)


@pytest.mark.parametrize("name", SIZES)
def test_whole_objects(wire: Wire, name: str) -> None:
    for _ in range(2):  # and the connection is good for another
        wire.head(*get(name))
        answer = wire.answer()
        assert (answer.status, answer.headers["content-length"]) == (200, str(len(SIZES[name])))
        assert answer.body == SIZES[name]


@pytest.mark.parametrize("span", [(0, 100_000), (5, 20 * MIB), (MIB, SMALL + 1), (len(LARGE) - 70_000, 70_000)])
def test_parts(wire: Wire, span: tuple[int, int]) -> None:
    start, length = span
    wire.head(*get("large", f"Range: bytes={start}-{start + length - 1}"))
    answer = wire.answer()
    assert (answer.status, answer.body) == (206, LARGE[start : start + length])


def test_heads_and_conditions_have_no_content(wire: Wire) -> None:
    wire.head(f"HEAD {OBJECTS}?path=large")
    answer = wire.answer(head=True)
    assert (answer.status, answer.headers["content-length"]) == (200, str(len(LARGE)))
    wire.head(*get("large", f"If-None-Match: {answer.headers['etag']}"))
    assert wire.answer().status == 304
    wire.head(*get("small"))
    assert wire.answer().body == SIZES["small"]


def test_pipelined_requests_are_answered_in_order(wire: Wire) -> None:
    names = ["large", "most", "small", "large", "empty", "most", "large"]
    requests = [f"GET {OBJECTS}?path={name} HTTP/1.1\r\nHost: test\r\nAuthorization: {BASIC}\r\n\r\n" for name in names]
    sender = threading.Thread(target=wire.send, args=("".join(requests).encode(),))
    sender.start()
    for name in names:
        assert wire.answer().body == SIZES[name]
    sender.join()


def test_bytes_sent_during_a_download_do_not_enter_the_content(wire: Wire) -> None:
    wire.head(*get("large"))
    begun = wire.socket.recv(MIB)
    wire.send(b"\0no request at all\r\n\r\n")
    head, _, rest = (begun + b"".join(iter(lambda: _received(wire.socket), b""))).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    assert rest[: len(LARGE)] == LARGE
    assert rest[len(LARGE) :].startswith(b"HTTP/1.1 400")


def test_a_connection_for_one_answer_is_closed_after_all_of_it(wire: Wire) -> None:
    wire.head(*get("large", "Connection: close"))
    assert wire.answer().body == LARGE
    assert wire.closed()


def test_a_reader_that_leaves_ends_it(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    engine, port = served
    with Wire(port) as wire:
        wire.head(*get("large"))
        assert wire.socket.recv(1000, socket.MSG_WAITALL)
        wait_until(lambda: engine.is_open == 1)
    wait_until(lambda: engine.is_open == 0)
    assert [record for record in caplog.records if record.name != "lakebed.requests"] == []


def test_readers_that_wait_hold_no_thread(served: Served, wire: Wire) -> None:
    engine, port = served
    waiting = [Wire(port) for _ in range(40)]  # more than a process has threads for this
    try:
        for one in waiting:
            one.head(*get("large"))
        wait_until(lambda: engine.is_open == len(waiting))
        wire.head(*get("most"))
        assert wire.answer().body == SIZES["most"]
        assert waiting[-1].answer().body == LARGE
    finally:
        for one in waiting:
            one.socket.close()
    wait_until(lambda: engine.is_open == 0)


def test_object_deleted_during_a_download_arrives_whole(served: Served, wire: Wire) -> None:
    served[0].put("short lived", LARGE)
    wire.head(*get("short%20lived"))
    wait_until(lambda: served[0].is_open == 1)
    (served[0].root / "short lived").unlink()
    assert wire.answer().body == LARGE


def test_a_file_that_is_too_short_breaks_the_connection(served: Served, wire: Wire) -> None:
    served[0].put("cut", LARGE)
    os.truncate(served[0].root / "cut", 20 * MIB)
    wire.head(*get("cut"))
    got = b"".join(iter(lambda: _received(wire.socket), b""))
    head, _, body = got.partition(b"\r\n\r\n")
    assert head.endswith(b"content-length: %d" % len(LARGE))
    assert body == LARGE[: 20 * MIB]


def test_a_file_system_without_it_is_read(served: Served, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    def sendfile_of_another_system(*_: object) -> int:
        raise OSError(errno.EINVAL, "not here")

    monkeypatch.setattr(os, "sendfile", sendfile_of_another_system)
    served[0].falls_back = True
    for name in ("large", "most"):
        wire.head(*get(name))
        assert wire.answer().body == SIZES[name]


def test_a_disk_that_fails_breaks_the_connection(served: Served, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.sendfile

    def failing(out: int, file: int, offset: int, count: int) -> int:
        if offset >= 18 * MIB:
            raise OSError(errno.EIO, "bad sector")
        return real(out, file, offset, min(count, 18 * MIB - offset))

    monkeypatch.setattr(os, "sendfile", failing)
    wire.head(*get("large"))
    _, _, body = b"".join(iter(lambda: _received(wire.socket), b"")).partition(b"\r\n\r\n")
    assert body == LARGE[: 18 * MIB]
    wait_until(lambda: served[0].is_open == 0)


def test_stopping_server_does_not_wait_for_a_stalled_download(tmp_path: Path) -> None:
    engine = FileEngine(tmp_path)
    engine.put("large", LARGE)
    with serving(make_app(engine), http=bounded(), timeout_graceful_shutdown=1) as port:
        wire = Wire(port)
        wire.head(*get("large"))
        wait_until(lambda: engine.is_open == 1)  # and the client takes nothing
    assert engine.is_open == 0
    wire.socket.close()


async def test_sendfile_waits_for_buffered_data() -> None:
    class Busy:
        def get_write_buffer_size(self) -> int:
            return 1

    transport = CountingTransport(Busy())
    with pytest.raises(asyncio.SendfileNotAvailableError):
        await sendfile._copy(transport, -1, 0, 1)


def test_encrypted_connections_are_left_to_the_process() -> None:
    class Encrypted(asyncio.Transport):
        def get_extra_info(self, name: str, default: Any = None) -> Any:
            return object() if name == "sslcontext" else default

    assert not sendfile.can_send_files(Encrypted())


def _received(opened: socket.socket) -> bytes:
    with suppress(ConnectionResetError):
        return opened.recv(MIB)
    return b""
