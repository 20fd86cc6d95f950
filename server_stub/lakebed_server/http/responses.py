"""Responses as values: what a handler returns, before anything is sent.

A `Reply` has its whole body. A `StreamReply` opens its content when it is sent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from email.utils import formatdate
from functools import lru_cache
from typing import Final

import msgspec

from lakebed_server.vocabulary import Header

JSON: Header = (b"content-type", b"application/json")
TEXT: Header = (b"content-type", b"text/plain; charset=utf-8")

RETRY_AFTER: Header = (b"retry-after", b"1")
"""Seconds after which a client may try a refused request again."""

UNKNOWN: Final = -1
"""The length of a stream whose length is not known in advance."""

_encode = msgspec.json.Encoder().encode


class Reply:
    """A status, headers and a whole body. Content-Length and the common headers are added when it is sent."""

    __slots__ = ("body", "headers", "length", "status")

    def __init__(self, status: int, body: bytes = b"", headers: tuple[Header, ...] = ()) -> None:
        self.status = status
        self.body = body
        self.headers = headers
        self.length = len(body)


class StreamReply(Reply):
    """A reply whose `length` bytes (or UNKNOWN) come from a source. The source is opened before the status is sent."""

    __slots__ = ("source",)

    def __init__(
        self,
        status: int,
        source: AbstractAsyncContextManager[AsyncIterator[bytes]],
        length: int,
        headers: tuple[Header, ...],
    ) -> None:
        super().__init__(status, headers=headers)
        self.source = source
        self.length = length


def json(status: int, value: object, headers: tuple[Header, ...] = ()) -> Reply:
    """A JSON body. Unset fields are left out."""
    return Reply(status, _encode(value), (JSON, *headers))


@lru_cache(4096)
def last_modified(seconds: int) -> Header:
    """The Last-Modified header for Unix seconds. A time outside of the calendar becomes 1970."""
    return (b"last-modified", formatdate(seconds if 0 <= seconds <= 253402300799 else 0, usegmt=True).encode())


def text(status: int, value: str, headers: tuple[Header, ...] = ()) -> Reply:
    """A plain text body."""
    return Reply(status, value.encode(), (TEXT, *headers))


def empty(status: int = 204, headers: tuple[Header, ...] = ()) -> Reply:
    """No body."""
    return Reply(status, headers=headers)
