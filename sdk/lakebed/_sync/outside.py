# Generated from sdk/lakebed/_async/outside.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Bytes to signed addresses of an object store, past the server. Over httpx; beside the transport, under `datapaths`.

A client of its own: the credentials for the server must not be sent to anybody else, and certificates are always
checked.
"""

from __future__ import annotations

import base64
import weakref

import httpx
from tenacity import Retrying, retry_if_exception

from lakebed import _retry
from lakebed._compat.sync import Owner, dispose, owner, sleep
from lakebed._sync.bodies import ObjectBody
from lakebed._wire import Call
from lakebed.errors import CorruptTransferError, LakebedError, ServerUnavailableError
from lakebed.model import UploadUrl

_ABANDONED: list[httpx.Client] = []
_EXPIRED = (400, 401, 403)
_THERE = (409, 412)
_BUSY = (408, 429, 500, 502, 503, 504)


class Expired(Exception):
    """The store refused a signed address: it may be too old. `error` is to be raised when a new one does no better."""

    def __init__(self, error: LakebedError) -> None:
        super().__init__(error)
        self.error = error


class Taken(Exception):
    """An object is at this address already. A commit may name it, so it is not replaced."""


class Outside:
    """Connections to object stores, made anew after a fork or in another event loop."""

    def __init__(self, policy: _retry.Policy, timeout: float) -> None:
        self._policy = policy
        self._timeout = timeout
        self._owner: Owner | None = None
        self._http: httpx.Client | None = None

    def _client(self) -> httpx.Client:
        me = owner()
        if self._http is None or self._owner != me:
            if self._http is not None:
                _ABANDONED.append(self._http)
            limits = httpx.Limits(max_connections=64, max_keepalive_connections=32, keepalive_expiry=3.0)
            self._http, self._owner = httpx.Client(timeout=self._timeout, limits=limits), me
            weakref.finalize(self, dispose, self._http, me[0])
        return self._http

    def close(self) -> None:
        """Close the connections."""
        http, self._http = self._http, None
        if http is not None and self._owner == owner():
            http.close()
        elif http is not None:
            _ABANDONED.append(http)

    def put(self, target: UploadUrl, body: ObjectBody, digest: str, subject: Call[None]) -> None:
        """Write an object where none is. Broken attempts are repeated; one whose answer was lost may end as Taken.

        Raises Expired, Taken, ServerUnavailableError and CorruptTransferError.
        """
        policy = self._policy
        attempts = Retrying(
            sleep=self._sleep,
            stop=lambda state: _retry.is_over(policy, state),
            wait=lambda state: _retry.pause(policy, state),
            retry=retry_if_exception(_retry.wants_more),
            reraise=True,
        )
        try:
            attempts(self._once, target, body, digest, subject)
        except _retry.Failed as failure:
            raise failure.error from failure.__cause__

    def _sleep(self, seconds: float) -> None:
        sleep(seconds)

    def _once(self, target: UploadUrl, body: ObjectBody, digest: str, subject: Call[None]) -> None:
        http = self._client()
        headers = {**target.headers, "Content-Length": str(body.size), "If-None-Match": "*"}
        headers["Content-MD5"] = base64.b64encode(bytes.fromhex(digest)).decode()  # the store refuses other bytes
        try:
            request = http.build_request(target.method, target.url, content=body.stream(), headers=headers)
            answer = http.send(request)
        except (httpx.HTTPError, httpx.InvalidURL) as cause:
            raise _retry.broken(subject, cause, _host(target.url)) from None
        if answer.is_success:
            if body.meter.checksum != digest:
                raise _changed(subject)
            return
        raise _refused(subject, target, answer)


def _host(url: str) -> str:
    address = httpx.URL(url)
    return f"{address.scheme}://{address.netloc.decode()}"


def _changed(subject: Call[None]) -> CorruptTransferError:
    return CorruptTransferError(
        f"{subject.subject}: the data changed while it was sent; write it again", **_retry.about(subject)
    )


def _refused(subject: Call[None], target: UploadUrl, answer: httpx.Response) -> Exception:
    said = " ".join(answer.text.split())[:300]
    text = f"the object store at {_host(target.url)} refused {subject.subject} (HTTP {answer.status_code}): {said}"
    if "BadDigest" in said or "InvalidDigest" in said:
        return _changed(subject)
    if answer.status_code in _THERE:
        return Taken()
    error = ServerUnavailableError(text, status=answer.status_code, **_retry.about(subject))
    if answer.status_code in _EXPIRED:
        return Expired(error)
    return _retry.Failed(error, again=answer.status_code in _BUSY)
