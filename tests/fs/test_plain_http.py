"""The short lane against answers that are not plain: each is the long way, none is taken for something else."""

from __future__ import annotations

import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from lakebed._http import loopback, plain_http
from lakebed._http.plain_http import Connection, request_of

from tests.support.waiting import PATIENCE

Connect = Callable[[bytes], Connection]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Name:  v \r\n\r\nhello"


@pytest.fixture
def connect() -> Iterator[Connect]:
    """A connection to a server that has one answer, in pieces of 7 bytes, and closes after it."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(PATIENCE)
    opened: list[Connection] = []

    def serve(answer: bytes) -> None:
        peer, _ = listener.accept()
        with peer, suppress(OSError):  # who has seen enough closes
            peer.recv(1 << 16)
            for start in range(0, len(answer), 7):
                peer.sendall(answer[start : start + 7])

    def make(answer: bytes) -> Connection:
        thread = threading.Thread(target=serve, args=(answer,))
        thread.start()
        threads.append(thread)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        opened.append(Connection(urlsplit(url), PATIENCE, loopback.socket_options(url)))
        return opened[-1]

    threads: list[threading.Thread] = []
    yield make
    for one in opened:
        one.close()
    for thread in threads:
        thread.join(PATIENCE)
    listener.close()


def test_a_plain_answer(connect: Connect) -> None:
    answer = connect(OK).exchange(request_of("GET", "/x", {"Host": "h"}))
    assert (answer.status, answer.content) == (200, b"hello")
    assert answer.headers == {"content-length": "5", "x-name": "v"}


def test_a_head_that_is_long_to_read_is_refused_soon() -> None:
    started = time.perf_counter()
    with pytest.raises(ValueError, match="not headers"):
        plain_http._parsed(b"HTTP/1.1 200 OK\r\nX-Name:" + b" " * 3000 + b"\rx")
    assert time.perf_counter() - started < 0.5


def test_content_goes_where_it_is_wanted_if_it_fits(connect: Connect) -> None:
    memory = bytearray(5)
    assert connect(OK).exchange(b"GET / HTTP/1.1\r\n\r\n", memoryview(memory)).content == b""
    assert memory == b"hello"
    other = bytearray(4)
    assert connect(OK).exchange(b"GET / HTTP/1.1\r\n\r\n", memoryview(other)).content == b"hello"
    assert other == bytes(4)
    refused = OK.replace(b"200 OK", b"404 Not Found")
    assert connect(refused).exchange(b"GET / HTTP/1.1\r\n\r\n", memoryview(memory)).content == b"hello"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 15\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello",
        b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK,
        b"HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nno header at all\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: a\r\n folded\r\n\r\nhello",
        b"HTTP/1.1 2x0 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * (64 << 10) + b"\r\n\r\n",
    ],
)
def test_what_is_not_plain(connect: Connect, answer: bytes) -> None:
    with pytest.raises(ValueError):
        connect(answer).exchange(b"GET / HTTP/1.1\r\n\r\n")


@pytest.mark.parametrize("answer", [b"", OK[:20], OK[:-1]])
def test_an_answer_that_ends_early(connect: Connect, answer: bytes) -> None:
    with pytest.raises(ConnectionError):
        connect(answer).exchange(b"GET / HTTP/1.1\r\n\r\n")


@pytest.mark.parametrize("seconds", [1e-9, float("inf")])
def test_any_patience_can_be_told_to_the_kernel(seconds: float) -> None:
    with socket.socket() as opened:
        plain_http._waiting(opened, seconds)
        told = struct.unpack("@ll", opened.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, 16))
        assert told > (0, 0)


def test_a_server_that_says_nothing_more_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = urlsplit(f"http://127.0.0.1:{listener.getsockname()[1]}")
        for answer in (b"", OK[:-1]):
            connection = Connection(url, 0.05, ())
            with listener.accept()[0] as peer:
                peer.sendall(answer)
                with pytest.raises(OSError, match=r"time|unavailable"):
                    connection.exchange(b"GET / HTTP/1.1\r\n\r\n", memoryview(bytearray(5)))
            connection.close()


@pytest.mark.parametrize(
    ("target", "headers"),
    [("/x y", {}), ("/x\r\nHost: other", {}), ("/x", {"A": "1\r\nB: 2"}), ("/x", {"A": b"1\nB: 2"}), ("/é", {})],
)
def test_a_request_is_one_request(target: str, headers: dict[str, str | bytes]) -> None:
    with pytest.raises(ValueError):
        request_of("GET", target, headers)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has this option")
def test_nothing_on_this_machine_is_paced(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = connect(OK)._socket
    assert opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0") == b"reno"
    monkeypatch.setattr(loopback, "UNPACED", b"nobody's")  # the kernel refuses a name that it does not know
    loopback._granted.cache_clear()
    try:
        assert connect(OK).exchange(b"GET / HTTP/1.1\r\n\r\n").content == b"hello"
    finally:
        loopback._granted.cache_clear()


def test_only_this_machine_gets_large_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert loopback.socket_options("http://127.0.0.1:1/api/v1")
    assert loopback.socket_options("http://localhost:1/api/v1")
    assert not loopback.socket_options("http://lake.example:1/api/v1")
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    assert not loopback.socket_options("http://127.0.0.1:1/api/v1")
    assert loopback.takes_proxy("http://127.0.0.1:1/api/v1")


def test_buffers_that_the_kernel_does_not_give_are_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback, "BUFFER", 1 << 30)  # it would give what it may, and not let it grow
    loopback._granted.cache_clear()
    try:
        asked = [option[:2] for option in loopback.socket_options("http://127.0.0.1:1/api/v1")]
    finally:
        loopback._granted.cache_clear()
    assert asked == [(socket.IPPROTO_TCP, socket.TCP_CONGESTION)]
