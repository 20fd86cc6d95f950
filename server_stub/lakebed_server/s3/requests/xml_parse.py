"""Parses XML from clients, with limits on size, elements and time. It must be UTF-8 and have no document type.

Without a document type there are no entities. The callers limit the number of bytes. Names have no namespace.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Final, TypeVar
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from lakebed_server.s3.vocabulary import S3Error

T = TypeVar("T")

LIMIT = 2 << 20
"""The largest document in bytes: a thousand keys of a kilobyte, and the tags around them."""

MOST: Final = 100_000
"""The largest number of elements, attributes, comments and instructions of a document. 10,000 parts, each with an ETag
and six checksums, have 90,000."""

IN_THREAD: Final = 256 << 10
"""Bytes from which a document is parsed in a thread, because it takes about ten milliseconds."""

_FEED: Final = 64 << 10
"""Bytes that are parsed in one step. Between two steps other threads run, and an error ends the work."""

_LONG_TAG: Final = re.compile(rb"<[^<]{16384}")
"""A tag, or text, of more than 16 KiB. The parser reports a tag only after all of its attributes, so their number must
be limited before. In XML no `<` is inside of a tag."""


class _Builder(ElementTree.TreeBuilder):
    """Counts the items, and refuses a DOCTYPE, and with it every entity of the client."""

    def __init__(self) -> None:
        super().__init__()
        self._left = MOST

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise malformed("it has a document type")

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        self._count(1 + len(attrs))
        return super().start(tag, attrs)

    def comment(self, text: str | None, /) -> Element:
        self._count(1)
        return super().comment(text)

    def pi(self, target: str, text: str | None = None, /) -> Element:
        self._count(1)
        return super().pi(target, text)

    def _count(self, amount: int) -> None:
        self._left -= amount
        if self._left < 0:
            raise malformed(f"it has more than {MOST} elements and attributes")


async def read(data: bytes, root: str, job: Callable[[Element], T]) -> T:
    """The result of `job` for the root element, which must have this name. Raises S3Error: MalformedXML, as `job` does.

    A large document is parsed in a thread, and `job` runs there.
    """
    if len(data) < IN_THREAD:
        return job(parse(data, root))
    return await asyncio.to_thread(lambda: job(parse(data, root)))


def parse(data: bytes, root: str) -> Element:
    """The root element, which must have this name. Raises S3Error: MalformedXML."""
    if _LONG_TAG.search(data):
        raise malformed("it has a tag or a text of more than 16,384 bytes")
    parser = ElementTree.XMLParser(target=_Builder(), encoding="utf-8")  # noqa: S314 - entities need a DOCTYPE
    try:
        for start in range(0, len(data), _FEED):
            parser.feed(data[start : start + _FEED])
        found: Element = parser.close()
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise malformed(str(error)) from None
    if name_of(found) != root:
        raise malformed(f"expected {root}, got {name_of(found)[:40]}")
    return found


def name_of(element: Element) -> str:
    """The name without its namespace."""
    return element.tag.rpartition("}")[2]


def children(element: Element, name: str) -> list[Element]:
    """The children of this name."""
    return [child for child in element if name_of(child) == name]


def text_of(element: Element, name: str) -> str | None:
    """The text of the only child of this name. None if there is none. Raises S3Error: MalformedXML."""
    found = children(element, name)
    if not found:
        return None
    if len(found) > 1 or len(found[0]):
        raise malformed(f"{name} occurs twice, or is not text")
    return found[0].text or ""


def malformed(why: str) -> S3Error:
    """The error of an invalid document."""
    return S3Error(
        "MalformedXML",
        f"The XML you provided was not well-formed or did not validate against our published schema: {why}.",
    )
