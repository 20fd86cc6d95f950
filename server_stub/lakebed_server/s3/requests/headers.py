"""Headers about an object, which are stored when it is written and returned when it is read.

User metadata is stored in the object's own metadata, under the key that clients of the lakeFS API know:
`x-amz-meta-owner` is `X-Amz-Meta-Owner`. Metadata without that prefix, which clients put over REST (and which this
gateway stored before), is shown here with it. Other headers that S3 keeps have reserved keys, for example
`::s3::cache-control`.
"""

from __future__ import annotations

import re
from email.errors import MessageError
from email.header import Header as MimeHeader
from email.header import decode_header, make_header
from typing import Final

from lakebed_engine.vocabulary.records import Entry

from lakebed_server.http import responses
from lakebed_server.http.uploads import OCTETS
from lakebed_server.s3.requests.call import S3Call
from lakebed_server.s3.vocabulary import S3Error, invalid_argument

RESERVED: Final = "::s3::"
MOST_PARTS: Final = 10_000
"""The largest number of parts of an upload: the limit is S3's."""
META: Final = b"x-amz-meta-"
_META_TEXT: Final = META.decode()
META_MOST: Final = 2048
"""The largest size in bytes of user metadata, keys and values: the limit is S3's."""

_KEPT: Final = ("cache-control", "content-disposition", "content-encoding", "content-language", "expires")
_TOKEN = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+")
_PRINTABLE = re.compile(r"[\x20-\x7e]*")
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f]")


def stored(call: S3Call) -> tuple[str, dict[str, str]]:
    """The content type and the metadata of an object in a request. Raises S3Error: MetadataTooLarge."""
    metadata: dict[str, str] = {}
    size = 0
    for name, value in call.headers.items():
        if name.startswith(META) and name != META:
            key, text = _canonical(name.decode("latin-1")), _sent(value)
            metadata[key] = text
            size += len(key) - len(META) + len(text.encode())
    if size > META_MOST:
        raise S3Error("MetadataTooLarge", f"Your metadata headers exceed the maximum of {META_MOST} bytes.")
    for kept in _KEPT:
        sent = call.headers.get(kept.encode())
        text = "" if sent is None else _without_chunks(_plain(sent)) if kept == "content-encoding" else _plain(sent)
        if text:
            metadata[RESERVED + kept] = text
    return _plain(call.headers.get(b"content-type", b"")) or OCTETS, metadata


def of_entry(entry: Entry) -> dict[bytes, bytes]:
    """The stored headers of an object: its type, user metadata and the reserved ones."""
    found = {b"content-type": _safe(entry.content_type) or OCTETS.encode()}
    missing = 0
    own: set[bytes] = set()  # keys with the prefix come before others of the same name
    for key, value in entry.metadata.items():
        if key.startswith(RESERVED):
            name = key[len(RESERVED) :]
            if name in _KEPT and (text := _safe(value)):
                found[name.encode()] = text
        elif not key.startswith("::"):
            short = key.lower().removeprefix(_META_TEXT)
            name_of_key = META + short.encode("utf-8", "replace")
            if _TOKEN.fullmatch(short) is None:
                missing += 1
            elif short != key.lower():
                own.add(name_of_key)
                found[name_of_key] = _metadata_value(value)
            elif name_of_key not in own:
                found[name_of_key] = _metadata_value(value)
    if missing:
        found[b"x-amz-missing-meta"] = b"%d" % missing
    return found


def make_safe(found: dict[bytes, bytes], ref: str) -> None:
    """Add headers that keep browsers from running the content. Keeps a Cache-Control from the object or the request."""
    name, value = responses.SANDBOX
    found[name] = value
    name, value = responses.cache_control(ref)
    found.setdefault(name, value)
    if not responses.is_shown(found[b"content-type"].decode()):
        name, value = responses.ATTACHMENT
        given = found.get(name)
        found[name] = value if given is None else responses.as_attachment(given.decode()).encode()


def overrides(call: S3Call) -> dict[bytes, bytes]:
    """The headers that the query of a read overrides (`response-content-type` and so on)."""
    found = {}
    for name in ("content-type", *_KEPT):
        value = call.query.get(f"response-{name}")
        if value is not None:
            if _PRINTABLE.fullmatch(value) is None:
                raise invalid_argument(f"response-{name}: expected printable ASCII characters.")
            found[name.encode()] = value.encode()
    return found


def _canonical(name: str) -> str:
    """A header's name as clients of the lakeFS API see it: `x-amz-meta-run-id` is `X-Amz-Meta-Run-Id`."""
    return "-".join(part[:1].upper() + part[1:].lower() for part in name.split("-"))


def _plain(value: bytes) -> str:
    text = value.strip().decode("latin-1")
    if _PRINTABLE.fullmatch(text) is None:
        raise invalid_argument("A header contains characters that are not printable ASCII.")
    return text


def _without_chunks(encoding: str) -> str:
    return ",".join(part for part in encoding.split(",") if part.strip().lower() not in ("", "aws-chunked")).strip()


def _safe(text: str) -> bytes:
    """A value for a header. Empty if it is invalid there: entries can also be written without this server."""
    return text.encode() if _PRINTABLE.fullmatch(text) is not None else b""


def _sent(value: bytes) -> str:
    """Decode user metadata: UTF-8, Latin-1, or the format of RFC 2047."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = value.decode("latin-1")
    if "=?" in text:
        try:
            text = str(make_header(decode_header(text)))
        except (MessageError, UnicodeError, LookupError, ValueError):
            pass  # only similar to that format
    if _CONTROL.search(text) is not None:
        raise invalid_argument("User metadata must not contain control characters.")
    return text


def _metadata_value(value: str) -> bytes:
    """Encode user metadata as S3 does: ASCII is unchanged, other text has the format of RFC 2047."""
    if _PRINTABLE.fullmatch(value) is not None:
        return value.encode()
    return MimeHeader(value, "utf-8", maxlinelen=1 << 16).encode(linesep="").encode("ascii", "replace")
