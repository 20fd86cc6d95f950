"""Transfers bytes to and from presigned URLs of an object store, without the server.

It uses a separate HTTP client: the credentials for the server must not reach other hosts, and certificates are always
checked.
"""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Protocol
from urllib.parse import urlsplit

from lakebed._async.http.attempts import LengthChanged, SentBody, repeated, source_error
from lakebed._compat.aio import Clients
from lakebed._compat.aio_http import Response, new_client
from lakebed._http import retry
from lakebed._http.exchange import USER_AGENT, BadAddressError, HttpError, NotConnectedError, Options, Request
from lakebed._values.signed import PartUrl
from lakebed._values.upload_source import Meter
from lakebed._values.wire import Answer, Call
from lakebed.errors import CorruptTransferError, LakebedError, ServerUnavailableError
from lakebed.model import UploadUrl

_EXPIRED = (400, 401, 403)
_THERE = (409, 412)
_BUSY = (408, 429, 500, 502, 503, 504)
_PLAIN = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": USER_AGENT}
_SAID = re.compile(r"<(Code|Message)>([^<]{0,200})</\1>")


class Expired(Exception):
    """The store refused a presigned URL, which may have expired. Raise `error` if a new URL fails too."""

    def __init__(self, error: LakebedError) -> None:
        super().__init__(error)
        self.error = error


class Taken(Exception):
    """An object exists at this address. A commit may refer to it, so it is not replaced."""


class Unreachable(Exception):
    """This machine cannot reach the store: read the bytes through the server."""


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
    """Connections to object stores. A forked child and another event loop open their own."""

    def __init__(self, policy: retry.Policy, timeout: float, library: str) -> None:
        self._policy = policy
        self._timeout = timeout
        self._clients = Clients(partial(new_client, Options(timeout, library=library)))

    async def close(self) -> None:
        """Close the connections. They cannot be used afterwards."""
        await self._clients.close()

    async def put(self, target: UploadUrl, body: HashedBody, digest: str, subject: Call[None]) -> None:
        """Write a new object. Failed attempts are repeated. If a response was lost, the next attempt may raise Taken.

        Raises Expired, Taken, ServerUnavailableError and CorruptTransferError.
        """
        await self._write(target, body, digest, subject, {"If-None-Match": "*"})

    async def put_part(self, target: PartUrl, body: HashedBody, digest: str, subject: Call[None]) -> str:
        """Write a part and return the ETag from the store. Raises the errors of `put` except Taken."""
        return await self._write(target, body, digest, subject, {})

    async def _write(
        self,
        target: UploadUrl | PartUrl,
        body: HashedBody,
        digest: str,
        subject: Call[None],
        more: Mapping[str, str],
    ) -> str:
        return await repeated(self._policy, partial(self._once, target, body, digest, subject, more))

    async def _once(
        self,
        target: UploadUrl | PartUrl,
        body: HashedBody,
        digest: str,
        subject: Call[None],
        more: Mapping[str, str],
    ) -> str:
        headers: dict[str, str | bytes] = {**target.headers, **more, "Content-Length": str(body.size)}
        headers["Content-MD5"] = base64.b64encode(bytes.fromhex(digest)).decode()  # the store refuses other bytes
        sent = SentBody(body.stream(), body.size)
        request = Request(target.method, target.url, {**_PLAIN, **headers}, self._timeout, sent.pieces())
        try:
            answer = await self._clients.get().send(request, stream=False)
        except HttpError as cause:
            if sent.error is not None:
                raise source_error(subject, sent.error) from None
            raise retry.broken(subject, cause, _host(target.url)) from None
        except LengthChanged as error:
            raise source_error(subject, error) from None
        if 200 <= answer.status < 300:
            if body.meter.hashed and body.meter.checksum != digest:
                raise _changed(subject)
            return str(answer.headers.get("etag", "")).strip('"')
        raise _refused(subject, target.url, answer)

    @asynccontextmanager
    async def read(
        self, url: str, headers: Mapping[str, str], subject: Call[Any]
    ) -> AsyncIterator[tuple[Answer, AsyncIterator[bytes]]]:
        """Open a download. Raises Expired, Unreachable, and `Failed` for temporary errors."""
        request = Request("GET", url, {**_PLAIN, **headers}, self._timeout)
        try:
            response = await self._clients.get().send(request, stream=True)
        except (NotConnectedError, BadAddressError) as cause:
            raise Unreachable from cause
        except HttpError as cause:
            raise retry.broken(subject, cause, _host(url)) from None
        try:
            if response.status in _BUSY:
                error = ServerUnavailableError(
                    f"the object store at {_host(url)} did not return {subject.subject}: it is busy or failing; "
                    "try again later",
                    status=response.status,
                    **retry.about(subject),
                )
                raise retry.Failed(error, again=True)
            if response.status != (206 if "Range" in headers else 200) or not _says_size(response):
                raise Expired(
                    ServerUnavailableError(
                        f"the object store at {_host(url)} refused to return {subject.subject}",
                        status=response.status,
                        **retry.about(subject),
                    )
                )
            yield Answer(response.status, response.headers), _bytes(response, url, subject)
        finally:
            await response.aclose()


async def _bytes(response: Response, url: str, subject: Call[Any]) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.chunks():
            yield chunk
    except HttpError as cause:
        raise retry.broken(subject, cause, _host(url)) from None


def _says_size(response: Response) -> bool:
    """Whether the answer says how large the whole object is, as every store does."""
    if response.status == 206:
        return str(response.headers.get("content-range", "")).rpartition("/")[2].isdigit()
    return "content-length" in response.headers


def _host(url: str) -> str:
    address = urlsplit(url)
    return f"{address.scheme}://{address.netloc}"


def _changed(subject: Call[None]) -> CorruptTransferError:
    return CorruptTransferError(
        f"{subject.subject}: the data changed while it was sent; write it again", **retry.about(subject)
    )


def _refused(subject: Call[None], url: str, answer: Response) -> Exception:
    said = ": ".join(
        found[1] for found in _SAID.findall(answer.content.decode(errors="replace"))
    )  # the rest of the message contains keys and signatures
    text = f"the object store at {_host(url)} refused {subject.subject}: {said or 'it gave no reason'}"
    if "BadDigest" in said or "InvalidDigest" in said:
        return _changed(subject)
    if answer.status in _THERE:
        return Taken()
    error = ServerUnavailableError(text, status=answer.status, **retry.about(subject))
    if answer.status in _EXPIRED:
        return Expired(error)
    return retry.Failed(error, again=answer.status in _BUSY)
