"""The canonical form of a request, which client and server sign (Signature Version 4). Pure functions.

GET
/repo/main/a%20b
list-type=2&prefix=a
host:example.com

host
UNSIGNED-PAYLOAD
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote_from_bytes, unquote_to_bytes

from lakebed_server.s3.vocabulary import Pair

_PLAIN = re.compile(rb"[A-Za-z0-9/_.~-]*")


def path(raw: bytes) -> bytes:
    """The path, encoded once, also what the client left unencoded. Not normalised: `//` and `..` stay."""
    if not raw:
        return b"/"
    if _PLAIN.fullmatch(raw) is not None:
        return raw
    return quote_from_bytes(unquote_to_bytes(raw), safe="/~").encode("ascii")


def query(pairs: Iterable[Pair], without: bytes = b"") -> bytes:
    """Names and values, encoded and in order."""
    encoded = sorted((_quote(name), _quote(value)) for name, value in pairs if name != without)
    return "&".join(f"{name}={value}" for name, value in encoded).encode("ascii")


def headers(signed: Iterable[bytes], found: Mapping[bytes, bytes]) -> bytes:
    """The lines of the signed headers."""
    return b"".join(name + b":" + b" ".join(found.get(name, b"").split()) + b"\n" for name in signed)


def request(method: str, raw_path: bytes, pairs: bytes, header_lines: bytes, signed: bytes, payload: bytes) -> bytes:
    """The canonical request."""
    return b"\n".join((method.encode("ascii"), path(raw_path), pairs, header_lines, signed, payload))


def _quote(value: bytes) -> str:
    return quote_from_bytes(value, safe="~")
