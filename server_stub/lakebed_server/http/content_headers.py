"""The headers that keep the content of an object from acting as a page of this server, and from being cached wrongly.

Every user who may write an object chooses its content and type, so a browser must not run it on the API's origin.
docs/decisions/0040 has the reasons. Pure.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

from lakebed_server.vocabulary import Header

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
