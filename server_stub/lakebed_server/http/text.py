"""Text of headers, URLs and forms, decoded strictly."""

from __future__ import annotations

import re
from urllib.parse import unquote

from lakebed_server.vocabulary import bad_request

_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def unescape(raw: str, what: str) -> str:
    """Percent-decode UTF-8. Raises RequestError (400) for a broken escape such as `%zz`, and for other bytes."""
    if _BROKEN_ESCAPE.search(raw) is not None:
        raise bad_request(f"{what}: a percent sign must be followed by two hexadecimal digits")
    try:
        return unquote(raw, errors="strict")
    except UnicodeDecodeError:
        raise bad_request(f"{what}: not UTF-8") from None


def decoded(value: bytes, what: str) -> str:
    """Text of a header: UTF-8 if it is valid, else Latin-1, as HTTP allows. Raises RequestError (400) for control
    characters.
    """
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = value.decode("latin-1")
    if not text.isprintable() and any(char < " " or char == "\x7f" for char in text.replace("\t", " ")):
        raise bad_request(f"{what}: control characters are not allowed")
    return text
