"""Clients without a key have bounds: the head of a request, its time, slow bodies, slow readers, and connections.

Finding H4 of the review of 0.1, over real sockets. The last test is its probe: a whole `lakebed serve` with a low limit
of open files and more silent connections than that.
"""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.server.serving import PAIR, START
from tests.server.support import BASIC, OBJECTS, UPLOAD, FakeEngine, Wire, bounded, make_app, serving
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow  # its limits are times

MIB = 1 << 20
BRANCH = "/api/v1/repositories/repo/branches/main"
GET = f"GET {OBJECTS}?path=a HTTP/1.1\r\nHost: test\r\nAuthorization: {BASIC}\r\n".encode()


@pytest.fixture(params=["uvloop", "asyncio"])
def loop(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def engine() -> FakeEngine:
    engine = FakeEngine()
    engine.put("a", b"hello")
    return engine


@pytest.fixture
def port(engine: FakeEngine) -> Iterator[int]:
    with serving(make_app(engine), http=bounded()) as port:
        yield port


def status_of(port: int, sent: bytes) -> int | None:
    """The status that a client sees; None where the connection ends without one."""
    with Wire(port) as wire:
        try:
            wire.send(sent)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server closed before it had everything
        try:
            return wire.answer().status
        except (EOFError, ConnectionResetError):
            return None


def test_a_head_of_64_kib_is_read_and_a_longer_one_is_not(port: int) -> None:
    assert status_of(port, GET + b"X-Big: " + bytes(60 << 10).replace(b"\0", b"a") + b"\r\n\r\n") == 200
    assert status_of(port, GET + b"X-Big: " + b"a" * (70 << 10) + b"\r\n\r\n") == 431
    assert status_of(port, GET + b"X-Small: a\r\n" * 200 + b"\r\n") == 200
    assert status_of(port, GET + b"X-Small: a\r\n" * 300 + b"\r\n") == 431


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(GET + b"X-Big: " + b"a" * (16 * MIB), id="16 MB of one header"),
        pytest.param(GET + b"X-Big: " + b"a" * (48 * MIB) + b"\r\n\r\n", id="48 MB of one header"),
        pytest.param(GET + b"X-A: b\r\n" * 200_000 + b"\r\n", id="200,000 headers"),
        pytest.param(b"GET /" + b"a" * (16 * MIB), id="a line of 16 MB"),
        pytest.param(b"\r\n" * (8 * MIB), id="empty lines and nothing else"),
    ],
)
def test_a_head_of_many_megabytes_costs_nothing(head: bytes, loop: str) -> None:
    with serving(make_app(), http=bounded(), loop=loop) as port:
        before = time.process_time()
        assert status_of(port, head) in (431, 400, None)
        # sending it is in this process, too: some 10 ms; read as a header, 48 MB took 3.8 s
        assert time.process_time() - before < 1


def test_trailers_and_chunk_extensions_are_bounded(port: int, engine: FakeEngine) -> None:
    begin = (
        f"POST {UPLOAD}?path=b HTTP/1.1\r\nHost: test\r\nAuthorization: {BASIC}\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    for rest in (b"1\r\na\r\n0\r\nX-Trailer: " + b"a" * (8 * MIB), b"1;" + b"a" * (8 * MIB)):
        before = time.process_time()
        assert status_of(port, begin.encode() + rest) in (431, 400, None)
        assert time.process_time() - before < 1
    assert "b" not in engine.stored
    body = b"".join(b"10000\r\n" + bytes(1 << 16) + b"\r\n" for _ in range(64))
    assert status_of(port, begin.encode() + body + b"0\r\n\r\n") == 201


def test_many_small_requests_in_one_piece_are_all_answered(port: int) -> None:
    with Wire(port) as wire:
        wire.send((GET + b"\r\n") * 500)  # together longer than one head may be
        assert [wire.answer().status for _ in range(500)] == [200] * 500


def test_a_head_that_does_not_come_is_not_waited_for(loop: str) -> None:
    with serving(make_app(), http=bounded(head_time=0.5), loop=loop) as port, ExitStack() as stack:
        silent, begun, second = (stack.enter_context(Wire(port)) for _ in range(3))
        begun.send(b"GET / HTT")
        second.head("GET /_health")
        assert second.answer().status == 200
        second.send(b"GET / HTT")
        assert silent.closed()
        assert [wire.answer().status for wire in (begun, second)] == [408, 408]
        assert begun.closed()


def test_a_client_that_sends_one_request_after_the_other_is_never_cut_off(port: int) -> None:
    with serving(make_app(), http=bounded(head_time=0.4)) as port, Wire(port) as wire:
        ends = time.monotonic() + 1.5
        while time.monotonic() < ends:
            wire.send(b"GET /_health HT")  # the periodic check of the connection may come at this moment
            time.sleep(0.05)
            wire.send(b"TP/1.1\r\nHost: test\r\n\r\n")
            assert wire.answer().status == 200
        time.sleep(1)  # between two requests there is no deadline but that of keep-alive
        wire.head("GET /_health")
        assert wire.answer().status == 200


def test_slow_body_is_accepted_and_stalled_body_is_cut_off(engine: FakeEngine, loop: str) -> None:
    with serving(make_app(engine), http=bounded(transfer_time=1.5, transfer_rate=100), loop=loop) as port:
        with Wire(port) as slow, Wire(port) as stuck:
            for wire in (slow, stuck):
                wire.head(f"POST {UPLOAD}?path=b", "Content-Length: 400")
            stuck.send(bytes(100))
            for _ in range(20):  # twice the rate, and longer than the time alone: the time itself is the subject
                slow.send(bytes(20))
                time.sleep(0.1)
            assert slow.answer().status == 201
            assert stuck.answer().status == 408
            assert stuck.closed()
        wait_until(lambda: len(engine.interrupted) == 1, "the upload ends with its connection")


def test_the_time_limit_excludes_the_wait_for_100_continue(engine: FakeEngine) -> None:
    with serving(make_app(engine), http=bounded(transfer_time=0.3)) as port, Wire(port) as wire:
        wire.head(f"POST {UPLOAD}?path=b", "Content-Length: 4", "Expect: 100-continue")
        assert wire.answer().status == 100
        wire.send(b"abcd")
        assert wire.answer().status == 201


def test_clients_may_read_slowly_but_not_stall(engine: FakeEngine, loop: str) -> None:
    engine.put("large", bytes(32 * MIB))
    protocol = bounded(transfer_time=1, transfer_rate=1000)
    with serving(make_app(engine), http=protocol, loop=loop) as port, Wire(port) as slow, Wire(port) as stuck:
        for wire in (slow, stuck):
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
            wire.head(f"GET {OBJECTS}?path=large")
        got = 0
        for _ in range(30):  # three times as long as it is waited for
            got += len(slow.socket.recv(1 << 16))
            time.sleep(0.1)
        while got < 32 * MIB and (piece := slow.socket.recv(1 << 20)):
            got += len(piece)
        assert got >= 32 * MIB
        assert taken_until_the_end(stuck) < 32 * MIB


def taken_until_the_end(wire: Wire) -> int:
    got = 0
    try:
        while piece := wire.socket.recv(1 << 20):
            got += len(piece)
    except ConnectionResetError:
        pass
    return got


def test_connections_of_one_address_are_bounded(loop: str) -> None:
    with (
        serving(make_app(), http=bounded(connections_per_address=3), loop=loop) as port,
        ExitStack() as stack,
    ):
        for _ in range(3):
            stack.enter_context(Wire(port)).head("GET /_health")
        with Wire(port) as late:
            refused = late.answer()
            assert (refused.status, refused.headers["retry-after"]) == (503, "1")
            assert late.closed()
    with serving(make_app(), http=bounded(connections_per_address=3, exempt=lambda one: one.is_loopback)) as port:
        assert [answers(port) for _ in range(10)] == [True] * 10


def test_connections_of_strangers_make_room_for_new_ones(loop: str) -> None:
    with serving(make_app(), http=bounded(most=4, head_time=3), loop=loop) as port, ExitStack() as stack:
        first = stack.enter_context(Wire(port))
        for _ in range(3):
            wire = stack.enter_context(Wire(port))
            wire.head(f"GET {BRANCH}")
            assert wire.answer().status == 200
        began = time.monotonic()
        late = stack.enter_context(Wire(port))
        late.head("GET /_health")
        assert late.answer().status == 200
        assert first.answer().status == 503
        assert time.monotonic() - began < 1  # long before its deadline
        begun = stack.enter_context(Wire(port))  # replaces a connection that only asked for health
        begun.send(b"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
        assert begun.answer().status == 100  # the server handles the request
        begun.send(b"{")
        late = stack.enter_context(Wire(port))
        late.head(f"GET {BRANCH}")
        assert late.answer().status == 200
        assert begun.answer().status == 503
        with Wire(port) as refused:  # clients with a key stay
            assert refused.answer().status == 503


def answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", "/_health")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def test_a_low_limit_of_open_files_and_more_silent_connections(tmp_path: Path) -> None:
    """The review's probe: 128 descriptors, 140 connections; half of them silent, half with a head that does not end."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("LAKEBED_")}
    flags = ["--port", "0", "--data-dir", str(tmp_path / "data")]
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            ["sh", "-c", f'ulimit -n 128; exec \'{sys.executable}\' -c "$0" "$@"', START, *flags],
            stderr=subprocess.PIPE,
            stdout=log,
            text=True,
            env={**env, **PAIR, "HOME": str(tmp_path), "LAKEBED_LIMITS_HEAD_TIME": "4s"},
        )
    try:
        assert server.stderr is not None
        port = int(server.stderr.readline().rsplit(":", 1)[1])
        with ExitStack() as stack:
            for number in range(140):
                wire = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
                if number % 2:
                    wire.sendall(b"GET / HTTP/1.1\r\nX-A: b\r\n")
            assert len(os.listdir(f"/proc/{server.pid}/fd")) < 100  # the stores can open files
            wait_until(lambda: answers(port), "a silent connection made room")
            time.sleep(5)  # more than the limit for a head: the server has closed the silent connections
            assert [answers(port) for _ in range(20)] == [True] * 20
    finally:
        server.terminate()
        server.communicate(timeout=PATIENCE)
    assert server.returncode == 0
    assert "the limit of open files is 128" in (tmp_path / "log").read_text()
