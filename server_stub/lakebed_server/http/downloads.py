"""Reading an object: status, headers and the stream of its bytes."""

from __future__ import annotations

import re
from email.utils import formatdate

from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.records import Entry
from msgspec import UNSET, UnsetType

from lakebed_server.http import responses
from lakebed_server.http.ranges import Slice, parse_range
from lakebed_server.http.responses import Reply, StreamReply
from lakebed_server.vocabulary import Header

_PRINTABLE = re.compile(r"[\x20-\x7e]+")
_OCTETS = "application/octet-stream"


def content(
    engine: Engine,
    repo: str,
    ref: str,
    path: str,
    entry: Entry,
    byte_range: str | UnsetType,
    if_none_match: str | UnsetType,
) -> Reply:
    """The answer of getObject: 200, 206 or 304. Raises InvalidRangeError (416)."""
    if if_none_match is not UNSET and if_none_match == f'"{entry.etag}"':
        return _unchanged(ref, entry)
    status, part, headers = _part(ref, path, entry, byte_range)
    if part.length == 0:
        return Reply(status, headers=headers)
    return StreamReply(status, engine.objects.open(repo, entry, part.start, part.length), part.length, headers)


def unchanged_or_nothing(
    ref: str, path: str, entry: Entry, byte_range: str | UnsetType, if_none_match: str | UnsetType, *, strict: bool
) -> Reply | None:
    """The answer without content and URL: 304, or an empty part unless `strict`. Raises InvalidRangeError."""
    if if_none_match is not UNSET and if_none_match == f'"{entry.etag}"':
        return _unchanged(ref, entry)
    status, part, headers = _part(ref, path, entry, byte_range)
    return Reply(status, headers=headers) if part.length == 0 and not strict else None


def elsewhere(entry: Entry, url: str) -> Reply:
    """A redirect to a presigned URL of the store: 302. It is not cached, because the URL expires."""
    where = ((b"location", url.encode("ascii")), (b"cache-control", b"no-store"))
    return Reply(302, headers=(*where, *_validators(entry)))


def head(ref: str, path: str, entry: Entry, byte_range: str | UnsetType) -> Reply:
    """The answer of headObject: the headers of `content`, without the content."""
    status, part, headers = _part(ref, path, entry, byte_range)
    reply = Reply(status, headers=headers)
    reply.length = part.length
    return reply


def _unchanged(ref: str, entry: Entry) -> Reply:
    return Reply(304, headers=(*_validators(entry), responses.cache_control(ref)))


def _part(ref: str, path: str, entry: Entry, byte_range: str | UnsetType) -> tuple[int, Slice, tuple[Header, ...]]:
    headers = (
        (b"content-type", _content_type(entry)),
        (b"accept-ranges", b"bytes"),
        *_validators(entry),
        responses.cache_control(ref),
        responses.SANDBOX,
    )
    if not responses.is_shown(entry.content_type):
        headers = (*headers, responses.saved_as(path.rpartition("/")[2]))
    if byte_range is UNSET:
        return 200, Slice(0, entry.size), headers
    part = parse_range(byte_range, entry.size)
    span = f"bytes {part.start}-{part.start + part.length - 1}/{entry.size}"
    return 206, part, (*headers, (b"content-range", span.encode()))


def _validators(entry: Entry) -> tuple[Header, ...]:
    return (
        (b"etag", f'"{entry.etag}"'.encode("ascii", "replace")),
        (b"last-modified", formatdate(entry.mtime, usegmt=True).encode()),
    )


def _content_type(entry: Entry) -> bytes:
    """The object's type, unless it is invalid in a header: objects may also be written without the server."""
    return (entry.content_type if _PRINTABLE.fullmatch(entry.content_type) else _OCTETS).encode()
