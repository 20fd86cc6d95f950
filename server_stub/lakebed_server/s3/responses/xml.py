"""XML answers of the S3 API. They are built as text, because each listing of a thousand keys is built this way."""

from __future__ import annotations

import re
import time
from functools import lru_cache
from html import escape as _escape
from typing import Final

from lakebed_engine.vocabulary.checksums import ObjectChecksum

from lakebed_server.http.responses import Reply
from lakebed_server.s3.vocabulary import OWNER_ID
from lakebed_server.vocabulary import Header

XML: Header = (b"content-type", b"application/xml")
DECLARATION: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACE: Final = "http://s3.amazonaws.com/doc/2006-03-01/"
OWNER: Final = f"<Owner><ID>{OWNER_ID}</ID><DisplayName>{OWNER_ID}</DisplayName></Owner>"

ILLEGAL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no XML document may contain, in any notation."""

_SPECIAL = re.compile("[&<>\"'\r\n\t]")


def text(value: str) -> str:
    """Escape for XML. An illegal character becomes `?`: only for messages, never for keys that clients read back."""
    if _SPECIAL.search(value) is not None:
        # an unescaped \r comes back as \n
        value = _escape(value).replace("\r", "&#13;").replace("\n", "&#10;").replace("\t", "&#9;")
    return value if ILLEGAL.search(value) is None else ILLEGAL.sub("?", value)


def tag(name: str, value: str) -> str:
    """`<name>value</name>`, escaped."""
    return f"<{name}>{text(value)}</{name}>"


def xml(root: str, inner: str, *, status: int = 200, headers: tuple[Header, ...] = ()) -> Reply:
    """A document of the S3 namespace. `inner` is already XML."""
    return Reply(status, (DECLARATION + element(root, inner)).encode(), (XML, *headers))


def element(root: str, inner: str) -> str:
    """The root of a document of the S3 namespace."""
    return f'<{root} xmlns="{NAMESPACE}">{inner}</{root}>'


@lru_cache(4096)
def iso_date(seconds: int) -> str:
    """Unix seconds in the format of the S3 API in XML. A time outside of the calendar becomes 1970."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(seconds if 0 <= seconds <= 253402300799 else 0))


def checksum(found: ObjectChecksum) -> str:
    """The elements of an object's checksum."""
    return tag(f"Checksum{found.algorithm.upper()}", found.value) + tag("ChecksumType", found.kind)
