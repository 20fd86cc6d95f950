"""XML that clients send, read with care: no document type, so no entities; bounded by who reads the body.

Above `vocabulary`, under the operations. Names are given without their namespace.
"""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from lakebed_server.s3.vocabulary import S3Error

LIMIT = 2 << 20
"""Bytes of a document, at most: a thousand keys of a kilobyte and what stands around them."""


class _Builder(ElementTree.TreeBuilder):
    """Refuses a DOCTYPE, and with it every entity of the client's own."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise malformed("it has a document type")


def parse(data: bytes, root: str) -> Element:
    """The root element, which must have this name. Raises S3Error: MalformedXML."""
    parser = ElementTree.XMLParser(target=_Builder())  # noqa: S314 - entities need a DOCTYPE, which is refused
    try:
        parser.feed(data)
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
    """The text of the one child of this name; None where there is none. Raises S3Error: MalformedXML."""
    found = children(element, name)
    if not found:
        return None
    if len(found) > 1 or len(found[0]):
        raise malformed(f"{name} stands there twice, or is not text")
    return found[0].text or ""


def malformed(why: str) -> S3Error:
    """A document that is not what it has to be."""
    return S3Error(
        "MalformedXML",
        f"The XML you provided was not well-formed or did not validate against our published schema: {why}.",
    )
