"""The async HTTP client: aiohttp. `lakebed._compat.sync_http` has the same names for the blocking API."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, Protocol

import aiohttp
from yarl import URL

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


class Response(Protocol):
    """A response. `content` is its body, unless it is streamed."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives, not decompressed. Raises HttpError."""
        ...

    async def read(self) -> bytes:
        """The whole body of a streamed response. Raises HttpError."""
        ...

    async def aclose(self) -> None:
        """Give the connection back, or close it when part of the body was not read."""
        ...


class Client(Protocol):
    """Sends requests, over connections that it keeps."""

    async def send(self, request: Request, *, stream: bool) -> Response:
        """Send a request. With `stream`, the caller reads the body and closes the response. Raises HttpError."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...


def new_client(options: Options) -> Client:
    """The client that the settings select."""
    if options.library == HTTPX:
        from lakebed._compat.httpx_clients import AsyncHttpxClient

        return AsyncHttpxClient(options)
    return HttpClient(options)


class HttpClient:
    """A pool of connections, for one event loop of one process."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._proxies = Proxies()
        self._loop = asyncio.get_running_loop()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=MAX_CONNECTIONS, keepalive_timeout=IDLE_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("Accept", "Accept-Encoding", "User-Agent", "Content-Type"),
        )
        # aiohttp would send PUT and DELETE again by itself. The SDK decides what may be repeated.
        self._session._retry_connection = False

    async def send(self, request: Request, *, stream: bool) -> AiohttpResponse:
        """Send a request. With `stream`, the caller reads the body and closes the response. Raises HttpError."""
        limits = aiohttp.ClientTimeout(
            total=None,
            connect=self._options.timeout,
            sock_connect=self._options.connect_timeout,
            sock_read=request.read_timeout,
        )
        try:
            url = URL(request.url, encoded=True)
        except ValueError as cause:
            raise BadAddressError(str(cause)) from cause
        try:
            async with asyncio.timeout(None) as sending:
                content = request.content
                answer = await self._session.request(
                    request.method,
                    url,
                    data=_timed(content, sending, request.read_timeout)
                    if isinstance(content, AsyncIterator)
                    else content,
                    headers={name: _text(value) for name, value in request.headers.items()},
                    allow_redirects=False,
                    timeout=limits,
                    proxy=self._proxies.of(request.url),
                    ssl=self._options.certificates if url.scheme == "https" else False,
                    auto_decompress=not stream,
                )
            response = AiohttpResponse(answer)
            if not stream:
                response.content = await answer.read()
            return response
        except (aiohttp.ClientError, ValueError, OSError) as cause:
            raise _failure(cause) from cause

    async def aclose(self) -> None:
        """Close all connections."""
        await self._session.close()

    def __del__(self) -> None:
        # Programs may end without `aclose`, as with the blocking API. aiohttp would log an error then.
        if self._session.closed:
            return
        connector: Any = self._session.connector
        self._session.detach()
        if self._loop.is_running() and not sys.is_finalizing():
            self._loop.call_soon_threadsafe(_close, connector)
        else:
            _close(connector)


class AiohttpResponse:
    """A response of aiohttp."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer
        self.status = answer.status
        self.headers: Mapping[str, str] = {name.lower(): header_text(value) for name, value in answer.headers.items()}
        self.content = b""

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives, not decompressed. Raises HttpError."""
        try:
            async for chunk in self._answer.content.iter_any():
                yield chunk
        except (aiohttp.ClientError, OSError) as cause:
            raise _failure(cause) from cause

    async def read(self) -> bytes:
        """The whole body of a streamed response. Raises HttpError."""
        try:
            return await self._answer.read()
        except (aiohttp.ClientError, OSError) as cause:
            raise _failure(cause) from cause

    async def aclose(self) -> None:
        """Give the connection back, or close it when part of the body was not read."""
        self._answer.release()


def _close(connector: Any) -> None:
    """Close the connections of a connector. Waits for none of them."""
    for _ in connector.close().__await__():
        break


async def _timed(content: AsyncIterator[bytes], sending: asyncio.Timeout, limit: float) -> AsyncIterator[bytes]:
    """The pieces of a body. A server that accepts no piece within `limit` seconds ends the request."""
    loop = asyncio.get_running_loop()
    async for piece in content:
        with suppress(RuntimeError):  # the response came before the end of the body
            sending.reschedule(loop.time() + limit)
        yield piece
    with suppress(RuntimeError):
        sending.reschedule(None)


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8")


def _failure(cause: Any) -> HttpError:
    said = str(cause) or type(cause).__name__
    if said.startswith("Cannot connect to host "):  # the caller's message already names the endpoint
        said = said.partition(" ssl:")[2].partition(" [")[2].removesuffix("]") or said
    match cause:
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return BadAddressError(said)
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError() | aiohttp.ClientHttpProxyError():
            return NotConnectedError(said)
        case aiohttp.ClientPayloadError() if "Can not decode" in said:
            return UndecodableError(said)
        case aiohttp.ClientError() | OSError():
            return BrokenError(said)
    return BadRequestError(said)
