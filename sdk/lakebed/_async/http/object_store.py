"""Bytes to and from signed addresses of an object store, past the server.

A client of its own: the credentials for the server must not be sent to anybody else, and certificates are always
checked.
"""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Protocol

import httpx
from tenacity import AsyncRetrying, retry_if_exception

from lakebed._compat.aio import Clients, sleep
from lakebed._http import retry
from lakebed._values.signed import PartUrl
from lakebed._values.upload_source import Meter
from lakebed._values.wire import Answer, Call
from lakebed.errors import CorruptTransferError, LakebedError, ServerUnavailableError
from lakebed.model import UploadUrl

_EXPIRED = (400, 401, 403)
_THERE = (409, 412)
_BUSY = (408, 429, 500, 502, 503, 504)
_SAID = re.compile(r"<(Code|Message)>([^<]{0,200})</\1>")


class Expired(Exception):
    """The store refused a signed address: it may be too old. `error` is to be raised when a new one does no better."""

    def __init__(self, error: LakebedError) -> None:
        super().__init__(error)
        self.error = error


class Taken(Exception):
    """An object is at this address already. A commit may name it, so it is not replaced."""


class Unreachable(Exception):
    """This machine does not reach the store: ask the server for the bytes."""


class HashedBody(Protocol):
    """The content of one object, hashed while it is sent."""

    meter: Meter

    @property
    def size(self) -> int | None:
        """The length in bytes."""
        ...

    def stream(self) -> AsyncIterator[bytes]:
        """The bytes, from the beginning."""
        ...


class Outside:
    """Connections to object stores. A forked child and another event loop make their own."""

    def __init__(self, policy: retry.Policy, timeout: float) -> None:
        self._policy = policy
        self._clients = Clients(partial(_new_client, timeout))

    async def close(self) -> None:
        """Close the connections. They cannot be used afterwards."""
        await self._clients.close()

    async def put(self, target: UploadUrl, body: HashedBody, digest: str, subject: Call[None]) -> None:
        """Write an object where none is. Broken attempts are repeated; one whose answer was lost may end as Taken.

        Raises Expired, Taken, ServerUnavailableError and CorruptTransferError.
        """
        await self._write(target, body, digest, subject, {"If-None-Match": "*"})

    async def put_part(self, target: PartUrl, body: HashedBody, digest: str, subject: Call[None]) -> str:
        """Write a part; gives the ETag that the store answered. Raises as `put`, but never Taken."""
        return await self._write(target, body, digest, subject, {})

    async def _write(
        self,
        target: UploadUrl | PartUrl,
        body: HashedBody,
        digest: str,
        subject: Call[None],
        more: Mapping[str, str],
    ) -> str:
        policy = self._policy
        attempts = AsyncRetrying(
            sleep=self._sleep,
            stop=lambda state: retry.is_over(policy, state),
            wait=lambda state: retry.pause(policy, state),
            retry=retry_if_exception(retry.wants_more),
            reraise=True,
        )
        try:
            tag: str = await attempts(self._once, target, body, digest, subject, more)
            return tag
        except retry.Failed as failure:
            raise failure.error from failure.__cause__

    async def _sleep(self, seconds: float) -> None:
        await sleep(seconds)

    async def _once(
        self,
        target: UploadUrl | PartUrl,
        body: HashedBody,
        digest: str,
        subject: Call[None],
        more: Mapping[str, str],
    ) -> str:
        http = self._clients.get()
        headers = {**target.headers, **more, "Content-Length": str(body.size)}
        headers["Content-MD5"] = base64.b64encode(bytes.fromhex(digest)).decode()  # the store refuses other bytes
        try:
            request = http.build_request(target.method, target.url, content=body.stream(), headers=headers)
            answer = await http.send(request)
        except (httpx.HTTPError, httpx.InvalidURL) as cause:
            raise retry.broken(subject, cause, _host(target.url)) from None
        if answer.is_success:
            if body.meter.hashed and body.meter.checksum != digest:
                raise _changed(subject)
            return str(answer.headers.get("etag", "")).strip('"')
        raise _refused(subject, target.url, answer)

    @asynccontextmanager
    async def read(
        self, url: str, headers: Mapping[str, str], subject: Call[Any]
    ) -> AsyncIterator[tuple[Answer, AsyncIterator[bytes]]]:
        """Open a download. Raises Expired, Unreachable, and `Failed` for what may be better in a moment."""
        http = self._clients.get()
        try:
            response = await http.send(http.build_request("GET", url, headers=dict(headers)), stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol, httpx.InvalidURL) as cause:
            raise Unreachable from cause
        except httpx.HTTPError as cause:
            raise retry.broken(subject, cause, _host(url)) from None
        try:
            if response.status_code in _BUSY:
                error = ServerUnavailableError(
                    f"the object store at {_host(url)} did not return {subject.subject}: it is busy or failing; "
                    "try again later",
                    status=response.status_code,
                    **retry.about(subject),
                )
                raise retry.Failed(error, again=True)
            if response.status_code != (206 if "Range" in headers else 200) or not _says_size(response):
                raise Expired(
                    ServerUnavailableError(
                        f"the object store at {_host(url)} refused to return {subject.subject}",
                        status=response.status_code,
                        **retry.about(subject),
                    )
                )
            answer = Answer(response.status_code, {name.lower(): value for name, value in response.headers.items()})
            yield answer, _bytes(response, url, subject)
        finally:
            await response.aclose()


def _new_client(limit: float) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=64, max_keepalive_connections=32, keepalive_expiry=3.0)
    return httpx.AsyncClient(timeout=httpx.Timeout(limit, connect=min(limit, 10.0)), limits=limits)


async def _bytes(response: httpx.Response, url: str, subject: Call[Any]) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.aiter_raw():
            yield chunk
    except httpx.HTTPError as cause:
        raise retry.broken(subject, cause, _host(url)) from None


def _says_size(response: httpx.Response) -> bool:
    """Whether the answer says how large the whole object is, as every store does."""
    if response.status_code == 206:
        return str(response.headers.get("content-range", "")).rpartition("/")[2].isdigit()
    return "content-length" in response.headers


def _host(url: str) -> str:
    address = httpx.URL(url)
    return f"{address.scheme}://{address.netloc.decode()}"


def _changed(subject: Call[None]) -> CorruptTransferError:
    return CorruptTransferError(
        f"{subject.subject}: the data changed while it was sent; write it again", **retry.about(subject)
    )


def _refused(subject: Call[None], url: str, answer: httpx.Response) -> Exception:
    said = ": ".join(found[1] for found in _SAID.findall(answer.text))  # the rest quotes keys and signatures
    text = f"the object store at {_host(url)} refused {subject.subject}: {said or 'it gave no reason'}"
    if "BadDigest" in said or "InvalidDigest" in said:
        return _changed(subject)
    if answer.status_code in _THERE:
        return Taken()
    error = ServerUnavailableError(text, status=answer.status_code, **retry.about(subject))
    if answer.status_code in _EXPIRED:
        return Expired(error)
    return retry.Failed(error, again=answer.status_code in _BUSY)
