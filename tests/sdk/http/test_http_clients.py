"""The HTTP clients of the blocking and the async API against a server of bare sockets."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

import pytest
from lakebed._compat import aio_http, sync_http
from lakebed._http.exchange import (
    MAX_CONNECTIONS,
    BadAddressError,
    BadRequestError,
    BrokenError,
    HttpError,
    NotConnectedError,
    Options,
    Request,
)

from tests.sdk.bare_server import BareServer, Handler
from tests.support.processes.ports import reserved_ports
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.medium  # real sockets

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture
def serve() -> Iterator[Callable[[Handler], BareServer]]:
    servers: list[BareServer] = []

    def start(handler: Handler) -> BareServer:
        servers.append(BareServer(handler))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def answer(connection: socket.socket, head: bytes) -> bool:
    connection.sendall(OK)
    return True


class Asker:
    """Sends requests by one of the two clients. `pieces`: the body, sent piece by piece."""

    def __init__(self, kind: str, timeout: float = PATIENCE) -> None:
        self.kind = kind
        self._loop = asyncio.new_event_loop()
        self._options = Options(timeout)
        self._timeout = timeout
        self._sync = sync_http.HttpClient(self._options)
        self._aio = self._run(self._new()) if kind == "aio" else None

    async def _new(self) -> aio_http.HttpClient:
        return aio_http.HttpClient(self._options)

    def _run(self, job: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(job)

    def send(self, url: str, method: str = "GET", pieces: list[bytes] | None = None, **headers: str) -> bytes:
        if self._aio is None:
            content: Any = None if pieces is None else iter(pieces)
            return self._sync.send(self._request(method, url, headers, content), stream=False).content
        content = None if pieces is None else _each(pieces)
        return bytes(self._run(self._aio.send(self._request(method, url, headers, content), stream=False)).content)

    def open(self, url: str) -> Any:
        """A response whose body is not read."""
        request = self._request("GET", url, {}, None)
        return (
            self._sync.send(request, stream=True)
            if self._aio is None
            else self._run(self._aio.send(request, stream=True))
        )

    def leave(self, response: Any, *, pieces: int) -> None:
        """Read some pieces of a body, then close the response."""
        if self._aio is None:
            for _ in zip(range(pieces), response.chunks(), strict=False):
                pass
            response.close()
        else:
            self._run(_leave(response, pieces))

    def _request(self, method: str, url: str, headers: dict[str, str], content: Any) -> Request:
        return Request(method, url, dict(headers), self._timeout, content)

    def close(self) -> None:
        self._sync.close()
        if self._aio is not None:
            self._run(self._aio.aclose())
            self._run(asyncio.sleep(0.05))  # the transports of broken requests close in the loop
        self._loop.close()


async def _each(pieces: list[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def _leave(response: aio_http.AiohttpResponse, pieces: int) -> None:
    chunks: Any = response.chunks()
    for _ in range(pieces):
        await anext(chunks)
    await chunks.aclose()
    await response.aclose()


@pytest.fixture(params=["sync", "aio"])
def asker(request: pytest.FixtureRequest) -> Iterator[Asker]:
    made = Asker(request.param)
    yield made
    made.close()


def test_requests_reuse_a_connection(asker: Asker, serve: Callable[[Handler], BareServer]) -> None:
    server = serve(answer)
    assert [asker.send(server.url) for _ in range(5)] == [b"ok"] * 5
    assert server.connections == 1


UNREAD = {
    "empty": b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
    "short": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "long": b"HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n" + b"x" * 1_000_000,
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n2\r\nok\r\n",
}


@pytest.mark.parametrize(
    ("body", "pieces"),
    [("empty", 0), ("short", 0), ("short", 1), ("long", 0), ("long", 1), ("chunked", 0), ("chunked", 1)],
)
def test_a_connection_with_an_unread_response_is_not_reused(
    asker: Asker, serve: Callable[[Handler], BareServer], body: str, pieces: int
) -> None:
    """Another thread may send the next request while this one still holds the response."""

    def respond(connection: socket.socket, head: bytes) -> bool:
        connection.sendall(OK if b"plain" in head else UNREAD[body])
        return True

    server = serve(respond)
    response = asker.open(server.url)
    asker.leave(response, pieces=pieces)
    for _ in range(3):
        assert asker.send(server.url, x="plain") == b"ok"


def test_responses_that_are_not_read_to_the_end_free_their_places(
    asker: Asker, serve: Callable[[Handler], BareServer]
) -> None:
    def respond(connection: socket.socket, head: bytes) -> bool:
        connection.sendall(UNREAD["long"])
        return True

    server = serve(respond)
    for _ in range(MAX_CONNECTIONS + 1):
        asker.leave(asker.open(server.url), pieces=1)
    assert server.connections == MAX_CONNECTIONS + 1


@pytest.mark.parametrize("kind", ["sync", "aio"])
def test_an_idle_connection_is_not_reused(
    kind: str, serve: Callable[[Handler], BareServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (sync_http, aio_http):
        monkeypatch.setattr(module, "IDLE_SECONDS", 0.0)
    asker = Asker(kind)
    server = serve(answer)
    for _ in range(3):
        asker.send(server.url)
        asker._loop.run_until_complete(asyncio.sleep(0.01))  # the connection is idle for more than 0 seconds
    assert server.connections == 3
    asker.close()


@pytest.mark.parametrize("method", ["PUT", "DELETE", "POST"])
def test_broken_request_is_not_sent_again(asker: Asker, serve: Callable[[Handler], BareServer], method: str) -> None:
    """The connection was used before: there, HTTP libraries repeat some methods by themselves."""

    def once(connection: socket.socket, head: bytes) -> bool:
        return head.startswith(b"GET") and answer(connection, head)

    server = serve(once)
    asker.send(server.url)
    with pytest.raises(BrokenError):
        asker.send(server.url, method)
    assert [head.split()[0] for head in server.heads] == [b"GET", method.encode()]


def test_a_response_that_is_cut_is_broken(asker: Asker, serve: Callable[[Handler], BareServer]) -> None:
    def cut(connection: socket.socket, head: bytes) -> bool:
        connection.sendall(OK[:-1])
        return False

    with pytest.raises(BrokenError):
        asker.send(serve(cut).url)


@pytest.mark.parametrize("kind", ["sync", "aio"])
def test_a_server_that_reads_nothing_ends_an_upload(kind: str, serve: Callable[[Handler], BareServer]) -> None:
    release = threading.Event()

    def stall(connection: socket.socket, head: bytes) -> bool:
        release.wait(PATIENCE)
        return False

    asker = Asker(kind, timeout=0.5)
    size = 256 << 20
    with pytest.raises(BrokenError):
        asker.send(serve(stall).url, "PUT", [bytes(1 << 20)] * 256, **{"Content-Length": str(size)})
    release.set()
    asker.close()


@pytest.mark.parametrize("kind", ["sync", "aio"])
def test_a_server_that_does_not_answer_ends_a_request(kind: str, serve: Callable[[Handler], BareServer]) -> None:
    release = threading.Event()

    def wait(connection: socket.socket, head: bytes) -> bool:
        release.wait(PATIENCE)
        return False

    asker = Asker(kind, timeout=0.3)
    with pytest.raises(BrokenError):
        asker.send(serve(wait).url)
    release.set()
    asker.close()


def test_no_connection_means_not_sent(asker: Asker) -> None:
    with reserved_ports(1) as (port,), pytest.raises(NotConnectedError) as caught:
        asker.send(f"http://127.0.0.1:{port}/x")
    assert not any(name in str(caught.value) for name in ("_Connection", "Cannot connect to host"))
    with pytest.raises(NotConnectedError):
        asker.send("http://name-that-does-not-exist.invalid/x")


@pytest.mark.parametrize("url", ["ftp://host/x", "http://[::1/x", "http://"])
def test_unusable_address_error_names_the_address(asker: Asker, url: str) -> None:
    with pytest.raises(BadAddressError):
        asker.send(url)


def test_a_header_with_a_line_break_is_not_sent(asker: Asker, serve: Callable[[Handler], BareServer]) -> None:
    server = serve(answer)
    with pytest.raises(BadRequestError):
        asker.send(server.url, "GET", None, **{"X-A": "a\r\nX-B: b"})
    assert server.heads == []


def test_the_proxy_of_the_environment_is_used(
    asker: Asker, serve: Callable[[Handler], BareServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = serve(answer)
    for name in ("NO_PROXY", "no_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", f"http://user:pass@127.0.0.1:{proxy.port}")
    assert asker.send("http://lake.invalid/x?a=b%2Fc") == b"ok"
    head = proxy.heads[0]
    assert head.startswith(b"GET http://lake.invalid/x?a=b%2Fc HTTP/1.1\r\n")
    assert b"basic dxnlcjpwyxnz" in head.lower()
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    direct = serve(answer)
    asker.send(direct.url)
    assert direct.heads[0].startswith(b"GET /x HTTP/1.1\r\n")


def test_an_address_keeps_its_encoding(asker: Asker, serve: Callable[[Handler], BareServer]) -> None:
    """A signed address is good only as it was signed."""
    server = serve(answer)
    asker.send(server.url + "/a%2Fb/%7E/c~d%20e?X-Sig=%2B+%2F&empty=&bare")
    assert server.heads[0].split()[1] == b"/x/a%2Fb/%7E/c~d%20e?X-Sig=%2B+%2F&empty=&bare"


def test_an_early_refusal_is_read(asker: Asker, serve: Callable[[Handler], BareServer]) -> None:
    """A server may refuse a large body before it has read it."""
    refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\nConnection: close\r\n\r\ntoo large"

    def refuse(connection: socket.socket, head: bytes) -> bool:
        connection.sendall(refusal)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 20):
            pass
        return False

    pieces = [bytes(1 << 16)] * 64
    assert asker.send(serve(refuse).url, "PUT", pieces, **{"Content-Length": str(4 << 20)}) == b"too large"


def test_an_answer_that_is_not_http_is_an_error(asker: Asker, serve: Callable[[Handler], BareServer]) -> None:
    def greet(connection: socket.socket, head: bytes) -> bool:
        connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        return False

    with pytest.raises(HttpError):
        asker.send(serve(greet).url)


_LEFT_OPEN = """
import asyncio, gc, lakebed.aio
async def main():
    lake = lakebed.aio.connect({endpoint!r}, "key", "secret", retries=0)
    try:
        await lake.repository("r").info()
    except lakebed.errors.LakebedError:
        pass
    if {drop}:
        del lake
        gc.collect()
        await asyncio.sleep(0.05)
asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("drop", [True, False])
def test_unclosed_client_emits_no_warning(serve: Callable[[Handler], BareServer], drop: bool) -> None:
    endpoint = serve(answer).url.removesuffix("/x")
    code = _LEFT_OPEN.format(endpoint=endpoint, drop=drop)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
