"""The proxy that breaks connections: what each fault does to a connection, and that it works afterwards."""

from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.faults.tcp_proxy import TcpProxy
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.medium  # real sockets


class Echo(socketserver.BaseRequestHandler):
    """Answers each piece with itself in capitals; notes the end of what is sent, and says it."""

    def handle(self) -> None:
        try:
            while data := self.request.recv(1024):
                heard.append(data)
                self.request.sendall(data.upper())
            heard.append(b"")
            self.request.sendall(b"BYE")
        except OSError:
            heard.append(b"cut")


heard: list[bytes] = []


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True


class UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


@pytest.fixture(params=["tcp", "unix"])
def proxy(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TcpProxy]:
    heard.clear()
    server: socketserver.BaseServer
    target: str | tuple[str, int]
    if request.param == "unix":
        target = str(tmp_path / "s")
        server = UnixServer(target, Echo)
    else:
        server = Server(("127.0.0.1", 0), Echo)
        target = ("127.0.0.1", int(server.server_address[1]))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        with TcpProxy(target) as started:
            yield started
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def connected(proxy: TcpProxy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE)


def asked(one: socket.socket, data: bytes) -> bytes:
    one.sendall(data)
    return one.recv(1024)


def test_proxy_forwards_both_ways(proxy: TcpProxy) -> None:
    with connected(proxy) as one, connected(proxy) as two:
        assert asked(one, b"a") == b"A"
        assert asked(two, b"b") == b"B"
        one.shutdown(socket.SHUT_WR)
        assert one.recv(1024) == b"BYE"
        assert one.recv(1024) == b""


def test_reset(proxy: TcpProxy) -> None:
    with connected(proxy) as one:
        assert asked(one, b"a") == b"A"
        proxy.reset()
        with pytest.raises(ConnectionResetError):
            one.recv(1024)
    with connected(proxy) as one:
        assert asked(one, b"b") == b"B"


def test_a_stall_delays_one_direction_and_loses_nothing(proxy: TcpProxy) -> None:
    with connected(proxy) as one:
        with proxy.stalled("answers"):
            one.sendall(b"a")
            wait_until(lambda: heard == [b"a"], "the request arrives")
            one.settimeout(0.2)
            with pytest.raises(TimeoutError):
                one.recv(1024)
            one.settimeout(PATIENCE)
        assert one.recv(1024) == b"A"
        with proxy.stalled("requests", "answers"):
            one.sendall(b"b")
            time.sleep(0.2)  # time for the request to pass, which it must not
            assert heard == [b"a"]
        assert one.recv(1024) == b"B"


def test_a_delay(proxy: TcpProxy) -> None:
    with connected(proxy) as one, proxy.delayed(0.1):
        started = time.monotonic()
        assert asked(one, b"a") == b"A"
        assert time.monotonic() - started >= 0.2


def test_lost_answers(proxy: TcpProxy) -> None:
    with connected(proxy) as one:
        with proxy.losing("answers"):
            one.sendall(b"a")
            wait_until(lambda: heard[:1] == [b"a"], "the request arrives")
            time.sleep(0.1)  # time for the answer to reach the proxy, which drops it
        with pytest.raises(ConnectionResetError):
            one.recv(1024)
    with connected(proxy) as one:
        assert asked(one, b"b") == b"B"


def test_half_closed_towards_the_server(proxy: TcpProxy) -> None:
    with connected(proxy) as one:
        assert asked(one, b"a") == b"A"
        proxy.half_close("requests")
        assert one.recv(1024) == b"BYE"
        assert heard == [b"a", b""]


def test_half_closed_towards_the_client(proxy: TcpProxy) -> None:
    with connected(proxy) as one:
        assert asked(one, b"a") == b"A"
        proxy.half_close("answers")
        assert one.recv(1024) == b""


def test_refused(proxy: TcpProxy) -> None:
    with connected(proxy) as one:
        assert asked(one, b"a") == b"A"
        with proxy.refusing():
            with pytest.raises(ConnectionResetError):
                one.recv(1024)
            with pytest.raises(ConnectionResetError), connected(proxy) as two:
                two.recv(1024)
    with connected(proxy) as one:
        assert asked(one, b"b") == b"B"


def test_a_server_that_is_gone(tmp_path: Path) -> None:
    # the reset may end `connect` as well
    with TcpProxy(str(tmp_path / "nothing")) as proxy, pytest.raises(ConnectionResetError), connected(proxy) as one:
        one.recv(1024)
