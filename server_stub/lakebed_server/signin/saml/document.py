"""Parses XML of other servers without DTDs and entities, and verifies its signatures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from cryptography.x509 import Certificate
from lxml import etree
from signxml.algorithms import DigestAlgorithm, SignatureMethod
from signxml.verifier import SignatureConfiguration, XMLVerifier

Element = Any
"""An element of lxml, which has no types."""

NAMESPACES: Final = {
    "saml": "urn:oasis:names:tc:SAML:2.0:assertion",
    "samlp": "urn:oasis:names:tc:SAML:2.0:protocol",
    "md": "urn:oasis:names:tc:SAML:2.0:metadata",
    "ds": "http://www.w3.org/2000/09/xmldsig#",
}
MOST_ELEMENTS: Final = 10_000
MOST_NAMESPACES: Final = 32
"""The most elements of a document, and namespaces that an element knows. Canonical XML takes as long as their product,
and as the square of the namespaces. An answer with a thousand groups has 2,000 elements and five namespaces."""
_ACCEPTED: Final = SignatureConfiguration(
    location="./",
    signature_methods=frozenset(
        {
            SignatureMethod.RSA_SHA256,
            SignatureMethod.RSA_SHA384,
            SignatureMethod.RSA_SHA512,
            SignatureMethod.SHA256_RSA_MGF1,
            SignatureMethod.SHA384_RSA_MGF1,
            SignatureMethod.SHA512_RSA_MGF1,
            SignatureMethod.ECDSA_SHA256,
            SignatureMethod.ECDSA_SHA384,
            SignatureMethod.ECDSA_SHA512,
        }
    ),
    digest_algorithms=frozenset({DigestAlgorithm.SHA256, DigestAlgorithm.SHA384, DigestAlgorithm.SHA512}),
)
"""Signatures with public keys: a forger could make those with HMAC. SHA-1 is not among them."""


class SamlError(Exception):
    """A document of the provider that is not accepted. The message says why, and has no part of an assertion."""


class SignatureError(SamlError):
    """A signature that no certificate of the provider verifies."""


def parse(raw: bytes) -> Element:
    """The root of a document in UTF-8. Raises SamlError."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise SamlError("the document is not UTF-8") from None
    if "<!DOCTYPE" in text:
        raise SamlError("the document has a document type declaration, which could define entities")
    parser = etree.XMLParser(encoding="utf-8", resolve_entities=False, no_network=True, huge_tree=False)
    try:
        root = etree.fromstring(text.encode(), parser)
    except etree.LxmlError as error:
        raise SamlError(f"the document is not XML: {str(error)[:200]}") from None
    for number, element in enumerate(root.iter(etree.Element)):
        if number >= MOST_ELEMENTS or len(element.nsmap) > MOST_NAMESPACES:
            raise SamlError(f"the document has more than {MOST_ELEMENTS} elements or {MOST_NAMESPACES} namespaces")
    return root


def tag(name: str) -> str:
    """The tag of an element, for a name such as `saml:Assertion`."""
    prefix, _, local = name.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def text(element: Element) -> str:
    """The text of an element. Raises SamlError if a comment or an element divides it."""
    if len(element):
        raise SamlError(f"{element.tag} has more than text")
    return (element.text or "").strip()


def verified(element: Element, certificates: Sequence[Certificate]) -> Element:
    """The element as its own signature covers it, parsed again, without the signature. Raises SignatureError.

    Only the result may be used: the document of `element` can have other parts, which have no signature.
    """
    reason = "the provider has no certificate"
    for certificate in certificates:
        try:
            result = XMLVerifier().verify(
                element, x509_cert=certificate, expect_config=_ACCEPTED, id_attribute="ID", validate_schema=True
            )
        except Exception as error:  # a malformed signature makes the library raise errors of many types
            reason = f"{type(error).__name__}: {str(error)[:200]}"
            continue
        signed = getattr(result, "signed_xml", None)
        if signed is None or (signed.tag, signed.get("ID")) != (element.tag, element.get("ID")):
            raise SignatureError("a signature covers another element than its parent")
        return signed
    raise SignatureError(f"a signature is not valid: {reason}")
