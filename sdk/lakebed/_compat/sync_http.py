"""The blocking HTTP client: urllib3. `lakebed._compat.aio_http` has the same names for the async API."""

from __future__ import annotations

import re
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, cast

import urllib3
from urllib3 import exceptions as errors
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util import Timeout, make_headers, parse_url

from lakebed._compat import response_headers
from lakebed._http.exchange import (
    HTTPX,
    IDLE_SECONDS,
    MAX_CONNECTIONS,
    BadAddressError,
    BadRequestError,
    BrokenError,
    HttpError,
    NotConnectedError,
    Options,
    Proxies,
    Request,
    UndecodableError,
    header_text,
)

_CHUNK = 1 << 18
"""Bytes of one read. When the connection breaks, the part of a chunk that has arrived is lost."""
_OPENING = re.compile(r"^\w+\(host=.*?, port=\d+\): (?:Failed to establish a new connection: )?")
"""urllib3 begins with the name of our class. The caller's message already names the endpoint."""


class Response(Protocol):
    """A response. `content` is its body, unless it is streamed."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def chunks(self) -> Iterator[bytes]:
        """The body as it arrives, not decompressed. Raises HttpError."""
        ...

    def read(self) -> bytes:
        """The whole body of a streamed response. Raises HttpError."""
        ...

    def close(self) -> None:
        """Give the connection back, or close it when part of the body was not read."""
        ...


class Client(Protocol):
    """Sends requests, over connections that it keeps."""

    def send(self, request: Request, *, stream: bool) -> Response:
        """Send a request. With `stream`, the caller reads the body and closes the response. Raises HttpError."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


def new_client(options: Options) -> Client:
    """The client that the settings select."""
    if options.library == HTTPX:
        from lakebed._compat.httpx_clients import HttpxClient

        return HttpxClient(options)
    return HttpClient(options)


class HttpClient:
    """A pool of connections. Threads may share it; a forked process must make its own."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._proxies = Proxies()
        self._managers: dict[tuple[str | None, bool], urllib3.PoolManager] = {}
        self._pools: dict[str, urllib3.HTTPConnectionPool] = {}
        self._lock = threading.Lock()

    def send(self, request: Request, *, stream: bool) -> Urllib3Response:
        """Send a request. With `stream`, the caller reads the body and closes the response. Raises HttpError."""
        try:
            connections, target = self._connections(request.url)
            answer = connections.urlopen(
                request.method,
                target,
                body=cast(Any, request.content),
                headers=cast(Mapping[str, str], request.headers),
                retries=False,
                redirect=False,
                assert_same_host=False,
                timeout=Timeout(connect=self._options.connect_timeout, read=request.read_timeout),
                pool_timeout=cast(int, self._options.timeout),
                preload_content=False,
                decode_content=not stream,
            )
            response = Urllib3Response(cast(urllib3.HTTPResponse, answer))
            if not stream:
                response.content = answer.read()
                answer.release_conn()
            return response
        except (errors.HTTPError, ValueError, OSError) as cause:
            raise _failure(cause) from cause

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            self._pools.clear()
            for manager in self._managers.values():
                manager.clear()

    def _connections(self, url: str) -> tuple[urllib3.PoolManager | urllib3.HTTPConnectionPool, str]:
        """What sends a request for this address, and what to ask it for.

        Without a proxy that is the pool of the server and a path: to find the pool by the whole address takes a tenth
        of the time of a small request.
        """
        split = url.find("/", 8)
        origin, target = url[:split], url[split:]
        pool = self._pools.get(origin)
        if pool is not None:
            return pool, target
        proxy = self._proxies.of(url)
        manager = self._manager(proxy, is_tls=url.startswith("https:"))
        if proxy is not None:
            return manager, url
        return self._pools.setdefault(origin, manager.connection_from_url(origin)), target

    def _manager(self, proxy: str | None, *, is_tls: bool) -> urllib3.PoolManager:
        key = (proxy, is_tls)
        manager = self._managers.get(key)
        if manager is None:
            with self._lock:
                tls = self._options.certificates if is_tls else None
                manager = self._managers.setdefault(key, _new_manager(proxy, tls))
        return manager


class Urllib3Response:
    """A response of urllib3."""

    def __init__(self, answer: urllib3.HTTPResponse) -> None:
        self._answer = answer
        self.status = answer.status
        self.headers: Mapping[str, str] = _Headers(answer.headers)
        self.content = b""

    def chunks(self) -> Iterator[bytes]:
        """The body as it arrives, not decompressed. Raises HttpError."""
        left = self._answer.length_remaining
        try:
            if left is not None and left <= _CHUNK:
                yield self._answer.read(decode_content=False)
            else:
                yield from self._answer.stream(_CHUNK, decode_content=False)
        except (errors.HTTPError, OSError) as cause:
            raise _failure(cause) from cause

    def read(self) -> bytes:
        """The whole body of a streamed response. Raises HttpError."""
        try:
            return self._answer.read(decode_content=True)
        except (errors.HTTPError, OSError) as cause:
            raise _failure(cause) from cause

    def close(self) -> None:
        """Give the connection back. It is closed first when part of the body was not read."""
        if self._answer.length_remaining == 0:
            self._answer.read()  # reads nothing: http.client notes the end of a response in a read
        elif not self._answer.isclosed():
            self._answer.close()
        self._answer.release_conn()  # a closed connection as well: it frees its place in the pool


class _Headers(Mapping[str, str]):
    """Headers by their names in lower case. Each is decoded when it is read: most never are."""

    def __init__(self, given: urllib3.HTTPHeaderDict) -> None:
        self._given = given

    def __getitem__(self, name: str) -> str:
        return header_text(self._given[name])

    def __iter__(self) -> Iterator[str]:
        return map(str.lower, self._given)

    def __len__(self) -> int:
        return len(self._given)


class _Idling:
    """A connection that is not used again after `IDLE_SECONDS`."""

    _used = 0.0

    def request(self, *args: Any, **kwargs: Any) -> None:
        self._used = time.monotonic()
        super().request(*args, **kwargs)  # type: ignore[misc]

    def getresponse(self) -> Any:
        answer = super().getresponse()  # type: ignore[misc]
        self._used = time.monotonic()
        return answer

    @property
    def is_connected(self) -> bool:
        return time.monotonic() - self._used < IDLE_SECONDS and super().is_connected  # type: ignore[misc]


class _Connection(_Idling, HTTPConnection):
    response_class = response_headers.Response


class _TlsConnection(_Idling, HTTPSConnection):
    response_class = response_headers.Response


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


def _new_manager(proxy: str | None, tls: ssl.SSLContext | None) -> urllib3.PoolManager:
    given: dict[str, Any] = {"maxsize": MAX_CONNECTIONS, "block": True, "ssl_context": tls}
    if proxy is None:
        manager = urllib3.PoolManager(**given)
    else:
        address = parse_url(proxy)
        headers = make_headers(proxy_basic_auth=address.auth) if address.auth else None
        manager = urllib3.ProxyManager(proxy, proxy_headers=headers, **given)
    manager.pool_classes_by_scheme = {"http": _Pool, "https": _TlsPool}
    return manager


def _failure(cause: Exception) -> HttpError:
    said = _OPENING.sub("", str(cause)) or type(cause).__name__
    match cause:
        case errors.LocationValueError() | errors.ProxySchemeUnknown():
            return BadAddressError(said)
        case errors.DecodeError():
            return UndecodableError(said)
        case errors.NewConnectionError() | errors.ConnectTimeoutError() | errors.ProxyError() | errors.EmptyPoolError():
            return NotConnectedError(said)
        case errors.SSLError():
            return NotConnectedError(said)
        case errors.HTTPError() | OSError():
            return BrokenError(said)
    return BadRequestError(said)
