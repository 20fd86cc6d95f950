"""Responses as values: what a handler returns, before anything is sent, and the form in which a client gets it.

A `Reply` has its whole body. A `StreamReply` opens its content when it is sent. `negotiated` answers conditional GETs
of JSON with 304, and compresses JSON. Objects have their own entity tags (`downloads`) and are not compressed.

Every user who may write an object chooses its content and type, so a browser must not run it on the API's origin.
Headers keep it from that, and from being cached wrongly. docs/decisions/0040 has the reasons.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import zlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from email.utils import formatdate
from functools import lru_cache
from typing import Final
from urllib.parse import quote

import msgspec
import pyarrow as pa

from lakebed_server.http.request import Call
from lakebed_server.vocabulary import Header

JSON: Header = (b"content-type", b"application/json")
TEXT: Header = (b"content-type", b"text/plain; charset=utf-8")

RETRY_AFTER: Header = (b"retry-after", b"1")
"""Seconds after which a client may try a refused request again."""

MOST_OF_A_MESSAGE: Final = 2000
"""Bytes of a message in a header. Proxies refuse long heads."""

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


class FeedReply(StreamReply):
    """A stream without an end. While it is sent, admission does not count its request."""

    __slots__ = ()


def json(status: int, value: object, headers: tuple[Header, ...] = ()) -> Reply:
    """A JSON body. Unset fields are left out."""
    return Reply(status, _encode(value), (JSON, *headers))


_CUT_ESCAPE: Final = re.compile(rb"%[0-9A-F]?$")
_PLAIN: Final = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) != "%")


def bodiless(status: int, message: str, kind: str = "", headers: tuple[Header, ...] = ()) -> Reply:
    """The response to a HEAD that failed. It has no body, so headers have the message and the kind.

    The message is percent-encoded UTF-8 where it is not plain ASCII: `object/a b.csv`, `object/caf%C3%A9`.
    """
    text = quote(message.strip(), safe=_PLAIN).encode()
    if len(text) > MOST_OF_A_MESSAGE:  # cut no escape into two
        text = _CUT_ESCAPE.sub(b"", text[:MOST_OF_A_MESSAGE])
    named = ((b"x-lakebed-error-kind", kind.encode()),) if kind else ()
    return Reply(status, headers=(*headers, *named, (b"x-lakebed-error", text)))


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


LEAST: Final = 8 << 10
"""Bytes below which an answer is not compressed: a few more packets cost less than compression."""

_AT_ONCE: Final = 256 << 10
"""Bytes up to which an answer is compressed without another thread."""

_VARY: Final[Header] = (b"vary", b"accept-encoding")


async def negotiated(call: Call, reply: Reply) -> Reply:
    """The answer in the form that this client accepts. Adds an entity tag to a GET, unless the answer has one."""
    if isinstance(reply, StreamReply) or not reply.body or JSON not in reply.headers:
        return reply
    if call.method == "GET" and reply.status == 200:
        reply = _tagged(call, reply)
    # for a client on this machine, compression takes longer than sending
    if len(reply.body) < LEAST or call.is_local:
        return reply
    packing = _wanted(call.headers.get(b"accept-encoding", b""))
    if packing is None:
        return Reply(reply.status, reply.body, (*reply.headers, _VARY))
    large = len(reply.body) > _AT_ONCE
    packed = await asyncio.to_thread(_pack, packing, reply.body) if large else _pack(packing, reply.body)
    return Reply(reply.status, packed, (*reply.headers, _VARY, (b"content-encoding", packing)))


def _tagged(call: Call, reply: Reply) -> Reply:
    """The answer with an entity tag. The tag is weak, because the same JSON may be compressed or not."""
    if any(name == b"etag" for name, _ in reply.headers):
        return reply
    tag = b'W/"%s"' % hashlib.blake2b(reply.body, digest_size=12).hexdigest().encode()
    asked = call.headers.get(b"if-none-match")
    validators = (*(pair for pair in reply.headers if pair[0] == b"last-modified"), (b"etag", tag))
    if asked is not None and tag in (one.strip() for one in asked.split(b",")):
        return Reply(304, headers=validators)
    return Reply(reply.status, reply.body, (*reply.headers, (b"etag", tag)))


def _wanted(accepted: bytes) -> bytes | None:
    """The compression that a client accepts, the better one if it accepts both."""
    found = {name.strip().lower(): quality.replace(b" ", b"") for name, _, quality in map(_split, accepted.split(b","))}
    for packing in (b"zstd", b"gzip"):
        if packing in found and found[packing] not in (b"q=0", b"q=0.0", b"q=0.00", b"q=0.000"):
            return packing
    return None


def _split(one: bytes) -> tuple[bytes, bytes, bytes]:
    return one.partition(b";")


def _pack(packing: bytes, body: bytes) -> bytes:
    if packing == b"zstd":
        packed: bytes = pa.compress(body, codec="zstd", asbytes=True)
        return packed
    packer = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


NOSNIFF: Final[Header] = (b"x-content-type-options", b"nosniff")
SANDBOX: Final[Header] = (b"content-security-policy", b"sandbox; default-src 'none'")
ATTACHMENT: Final[Header] = (b"content-disposition", b"attachment")
MOVES: Final[Header] = (b"cache-control", b"private, no-store")
FIXED: Final[Header] = (b"cache-control", b"private, max-age=86400, immutable")

SHOWN: Final = frozenset(
    ("text/plain", "application/json", "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif")
)
"""The types that a browser may show. No browser runs code from any of them, unless it guesses types."""

_LONGEST_NAME: Final = 200
"""Characters of a file name. Most file systems accept 255 bytes."""
_UNSAFE = re.compile(r"[^ !#-.0-9:-\[\]-~]", re.ASCII)
"""All but the ASCII characters that are safe in a quoted file name: no quote, slash, backslash or control character."""
_COMMIT_ID = re.compile(r"[0-9a-f]{64}", re.ASCII)


def is_shown(content_type: str) -> bool:
    """Whether a browser may show content of this type. It saves any other type as a file."""
    return content_type.partition(";")[0].strip().lower() in SHOWN


def cache_control(ref: str) -> Header:
    """How long a client may cache what it read from a ref. Only for a full commit id, the content never changes."""
    return FIXED if len(ref) == 64 and _COMMIT_ID.fullmatch(ref) is not None else MOVES


def saved_as(name: str) -> Header:
    """The header with which a browser saves the content under a name: in ASCII for old clients, and as it is.

    Clients that openapi-generator makes fail on a Content-Disposition without a file name.
    """
    name = name[-_LONGEST_NAME:] or "object"
    plain = _UNSAFE.sub("_", name)
    value = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    return b"content-disposition", value.encode()


def as_attachment(disposition: str) -> str:
    """A Content-Disposition with its type replaced: `inline; filename="a"` becomes `attachment; filename="a"`."""
    kind, semicolon, parameters = disposition.partition(";")
    return disposition if kind.strip().lower() == "attachment" else f"attachment{semicolon}{parameters}"
