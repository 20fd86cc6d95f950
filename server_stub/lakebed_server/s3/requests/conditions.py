"""The conditions of requests: If-Match and similar headers (RFC 9110, 13.2.2). Pure.

The server never ignores a condition. It refuses a condition that the operation does not test with 501.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import Held

from lakebed_server.s3.requests.dates import seconds_of_http, seconds_of_iso
from lakebed_server.s3.vocabulary import S3Error, invalid_argument, not_implemented

Verdict = Literal["holds", "unchanged"]

_READ: Final = frozenset((b"if-match", b"if-none-match", b"if-modified-since", b"if-unmodified-since"))
_WRITE: Final = frozenset((b"if-match", b"if-none-match"))
_SOURCE: Final = frozenset(b"x-amz-copy-source-" + name for name in _READ)
_DELETE: Final = frozenset((b"if-match", b"x-amz-if-match-size", b"x-amz-if-match-last-modified-time"))

_TESTED: Final[Mapping[str, frozenset[bytes]]] = {
    "GetObject": _READ | {b"if-range"},
    "HeadObject": _READ | {b"if-range"},
    "PutObject": _WRITE,
    "CopyObject": _WRITE | _SOURCE,
    "UploadPart": _SOURCE,  # of UploadPartCopy
    "CompleteMultipartUpload": _WRITE,
    "DeleteObject": _DELETE,
}
"""The conditions that each operation tests."""

_PREFIXES: Final = (b"if-", b"x-amz-if-", b"x-amz-copy-source-if-")
_LONGEST_NUMBER: Final = 18


class WriteConditions(NamedTuple):
    """What a write must replace: the fields of `UploadRequest`."""

    if_none_match: bool
    if_match: str | None
    unlike: str | None


def refuse_unknown(operation: str, level: str, method: str, headers: Mapping[bytes, bytes]) -> None:
    """Raises S3Error (501) for a condition that the operation does not test."""
    if level != "object" and method in ("GET", "HEAD"):
        return  # lists: their conditions only save a transfer
    tested = _TESTED.get(operation, frozenset())
    for name in headers:
        if name.startswith(_PREFIXES) and name not in tested:
            raise not_implemented(f"{operation} does not support the condition {name.decode('latin-1')}: leave it out.")


def of_write(headers: Mapping[bytes, bytes]) -> WriteConditions:
    """The conditions of a write. Raises S3Error for a list of ETags."""
    match, none_match = (_one(headers, name) for name in (b"if-match", b"if-none-match"))
    if none_match == "*":
        return WriteConditions(True, match, None)
    return WriteConditions(False, match, none_match)


def of_deletion(etag: str, size: str, modified: str) -> Held | None:
    """Conditions that an object must meet to be deleted. An empty text means no condition. An absent object meets
    all."""
    if not (etag or size or modified):
        return None
    if size and not (size.isascii() and size.isdigit() and len(size) <= _LONGEST_NUMBER):
        raise invalid_argument("The size of a condition must be a number of bytes.")
    seconds = seconds_of_http(modified) if modified else None
    if seconds is None and modified:
        seconds = seconds_of_iso(modified)
        if seconds is None:
            raise invalid_argument("The last modified time of a condition must be a date of HTTP or ISO 8601.")
    return Held(etag=etag_of(etag) if etag else None, size=int(size) if size else None, mtime=seconds, or_nothing=True)


def etag_of(value: str) -> str:
    """An ETag without its quotes."""
    return value.strip().removeprefix('"').removesuffix('"')


def _one(headers: Mapping[bytes, bytes], name: bytes) -> str | None:
    text = headers.get(name, b"").decode("latin-1").strip()
    if "," in text:
        raise not_implemented(f"{name.decode()} on a write takes one ETag or *, not a list.")
    return etag_of(text) if text else None


def check(headers: Mapping[bytes, bytes], entry: Entry, prefix: bytes = b"") -> Verdict:
    """Whether an object may be read. Raises S3Error: PreconditionFailed.

    `prefix` of the headers' names: `x-amz-copy-source-` for copies.
    """
    match, none_match = headers.get(prefix + b"if-match"), headers.get(prefix + b"if-none-match")
    since, unless_since = headers.get(prefix + b"if-modified-since"), headers.get(prefix + b"if-unmodified-since")
    if match is not None:
        if not _names(match, entry.etag):
            raise _failed("If-Match")
    elif unless_since is not None and _changed_after(entry, unless_since) is True:
        raise _failed("If-Unmodified-Since")
    if none_match is not None:
        return "unchanged" if _names(none_match, entry.etag) else "holds"
    if since is not None and _changed_after(entry, since) is False:
        return "unchanged"
    return "holds"


def range_is_for(headers: Mapping[bytes, bytes], entry: Entry) -> bool:
    """Whether the requested range is for the current content (If-Range)."""
    condition = headers.get(b"if-range")
    if condition is None:
        return True
    if condition.startswith(b'"'):
        return _names(condition, entry.etag)
    return _changed_after(entry, condition) is False


def _names(header: bytes, etag: str) -> bool:
    wanted = [one.strip().removeprefix("W/").strip('"') for one in header.decode("latin-1").split(",")]
    return "*" in wanted or etag in wanted


def _changed_after(entry: Entry, header: bytes) -> bool | None:
    """None for an invalid date, which counts as absent."""
    seconds = seconds_of_http(header.decode("latin-1"))
    return None if seconds is None else entry.mtime > seconds


def _failed(condition: str) -> S3Error:
    return S3Error(
        "PreconditionFailed",
        "At least one of the pre-conditions you specified did not hold",
        details=(("Condition", condition),),
    )
