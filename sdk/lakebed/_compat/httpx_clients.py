"""The HTTP clients for tests that replay HTTP: httpx, which respx and other tools can replace.

`http="httpx"` or LAKEBED_HTTP=httpx selects them. They are slower than the clients of `aio_http` and `sync_http`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import httpx

from lakebed._http.exchange import (
    IDLE_SECONDS,
    MAX_CONNECTIONS,
    BadAddressError,
    BadRequestError,
    BrokenError,
    HttpError,
    NotConnectedError,
    Options,
    Request,
    UndecodableError,
)

_FAILURES = (httpx.HTTPError, httpx.InvalidURL)


class HttpxClient:
    """For the blocking API."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._client = httpx.Client(**_settings(options))

    def send(self, request: Request, *, stream: bool) -> HttpxResponse:
        """Send a request. With `stream`, the caller reads the body and closes the response. Raises HttpError."""
        try:
            return HttpxResponse(self._client.send(_built(self._client, request, self._options), stream=stream), stream)
        except _FAILURES as cause:
            raise _failure(cause) from cause

    def close(self) -> None:
        """Close all connections."""
        self._client.close()


class AsyncHttpxClient:
    """For the async API."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._client = httpx.AsyncClient(**_settings(options))

    async def send(self, request: Request, *, stream: bool) -> AsyncHttpxResponse:
        """Send a request. With `stream`, the caller reads the body and closes the response. Raises HttpError."""
        try:
            answer = await self._client.send(_built(self._client, request, self._options), stream=stream)
            return AsyncHttpxResponse(answer, stream)
        except _FAILURES as cause:
            raise _failure(cause) from cause

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()


class _Head:
    def __init__(self, answer: httpx.Response, stream: bool) -> None:
        self._answer = answer
        self.status = answer.status_code
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in answer.headers.items()}
        self.content = b"" if stream else answer.content


class HttpxResponse(_Head):
    """A response. `content` is its body, unless it is streamed."""

    def chunks(self) -> Iterator[bytes]:
        """The body as it arrives, not decompressed. Raises HttpError."""
        try:
            yield from self._answer.iter_raw()
        except _FAILURES as cause:
            raise _failure(cause) from cause

    def read(self) -> bytes:
        """The whole body of a streamed response. Raises HttpError."""
        try:
            return self._answer.read()
        except _FAILURES as cause:
            raise _failure(cause) from cause

    def close(self) -> None:
        """Give the connection back."""
        self._answer.close()


class AsyncHttpxResponse(_Head):
    """A response. `content` is its body, unless it is streamed."""

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives, not decompressed. Raises HttpError."""
        try:
            async for chunk in self._answer.aiter_raw():
                yield chunk
        except _FAILURES as cause:
            raise _failure(cause) from cause

    async def read(self) -> bytes:
        """The whole body of a streamed response. Raises HttpError."""
        try:
            return await self._answer.aread()
        except _FAILURES as cause:
            raise _failure(cause) from cause

    async def aclose(self) -> None:
        """Give the connection back."""
        await self._answer.aclose()


def _settings(options: Options) -> dict[str, Any]:
    limits = httpx.Limits(max_connections=MAX_CONNECTIONS, keepalive_expiry=IDLE_SECONDS)
    return {"limits": limits, "verify": options.tls or True}


def _built(client: httpx.Client | httpx.AsyncClient, request: Request, options: Options) -> httpx.Request:
    timeout = httpx.Timeout(options.timeout, connect=options.connect_timeout, read=request.read_timeout)
    headers: Any = list(request.headers.items())
    return client.build_request(request.method, request.url, content=request.content, headers=headers, timeout=timeout)


def _failure(cause: Exception) -> HttpError:
    said = str(cause) or type(cause).__name__
    match cause:
        case httpx.ConnectError() | httpx.ConnectTimeout() | httpx.PoolTimeout() | httpx.ProxyError():
            return NotConnectedError(said)
        case httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return BadAddressError(said)
        case httpx.LocalProtocolError():
            return BadRequestError(said)
        case httpx.DecodingError():
            return UndecodableError(said)
    return BrokenError(said)
