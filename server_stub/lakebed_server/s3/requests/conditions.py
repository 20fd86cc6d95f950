"""The conditions of reads and of the source of a copy: If-Match and similar headers (RFC 9110, 13.2.2). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from lakebed_engine.vocabulary.records import Entry

from lakebed_server.s3.requests.dates import seconds_of_http
from lakebed_server.s3.vocabulary import S3Error

Verdict = Literal["holds", "unchanged"]


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
