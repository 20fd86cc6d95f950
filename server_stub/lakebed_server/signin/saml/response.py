"""Reads the answer of the provider, and makes every check that an assertion for this server must pass."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from lakebed_server.signin.saml import document
from lakebed_server.signin.saml.document import NAMESPACES, Element, SamlError
from lakebed_server.signin.saml.metadata import IdentityProvider, ServiceProvider, read_time

SKEW: Final = timedelta(seconds=60)
"""How much the clocks of the provider and this server may differ."""

TRANSIENT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
_SUCCESS: Final = "urn:oasis:names:tc:SAML:2.0:status:Success"
_BEARER: Final = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
_CONDITIONS: Final = {
    document.tag(f"saml:{name}") for name in ("AudienceRestriction", "OneTimeUse", "ProxyRestriction")
}
"""The conditions that this server understands. It must not accept an assertion with another one."""


class Assertion(NamedTuple):
    """What the provider says of a person. `request`: the id of the request that this answers.

    `attributes` has the values of each attribute by its name, and by its friendly name.
    """

    issuer: str
    name_id: str
    name_id_format: str
    attributes: Mapping[str, tuple[str, ...]]
    request: str

    def first(self, attribute: str) -> str:
        """The first value of an attribute. Empty when there is none."""
        return next(iter(self.attributes.get(attribute, ())), "")


def read(raw: bytes, provider: IdentityProvider, service: ServiceProvider, now: datetime) -> Assertion:
    """The assertion of an answer that passes all checks. Raises SamlError."""
    root = document.parse(raw)
    if root.tag != document.tag("samlp:Response") or root.get("Version") != "2.0":
        raise SamlError("the document is not a response of SAML 2.0")
    status = root.find("samlp:Status/samlp:StatusCode", NAMESPACES)
    if status is None or status.get("Value") != _SUCCESS:
        raise SamlError("the provider refused the sign-in")
    response, assertion = _signed(root, provider)
    if response.get("Destination") != service.acs_url:
        raise SamlError("the response is for another address (Destination)")
    for issuer in (*response.iterfind("saml:Issuer", NAMESPACES), _one(assertion, "saml:Issuer")):
        if document.text(issuer) != provider.entity_id:
            raise SamlError("the response is from another issuer")
    _check_conditions(assertion, service, now)
    request = _confirmed_request(assertion, service, now)
    if response.get("InResponseTo") != request:
        raise SamlError("the response and its assertion answer different requests (InResponseTo)")
    _one(assertion, "saml:AuthnStatement")
    name_id = _one(assertion, "saml:Subject/saml:NameID")
    return Assertion(
        provider.entity_id, document.text(name_id), name_id.get("Format", ""), _attributes(assertion), request
    )


def _signed(root: Element, provider: IdentityProvider) -> tuple[Element, Element]:
    """The response and its only assertion, which is signed itself or as a part of the response."""
    response = root
    is_signed = _has_signature(root)
    assertion = _only_assertion(root)
    if is_signed:
        response = document.verified(root, provider.certificates)
        assertion = _only_assertion(response)
    if _has_signature(assertion):
        assertion = document.verified(assertion, provider.certificates)
    elif not is_signed:
        raise SamlError("neither the response nor its assertion has a signature")
    return response, assertion


def _has_signature(element: Element) -> bool:
    return element.find("ds:Signature", NAMESPACES) is not None


def _only_assertion(response: Element) -> Element:
    """The assertion, where it belongs, and nothing in the document that could be taken for it or its signature."""
    if response.find("saml:EncryptedAssertion", NAMESPACES) is not None:
        raise SamlError("the assertion is encrypted: set the provider not to encrypt it")
    found = list(response.iter(document.tag("saml:Assertion")))
    if len(found) != 1 or found[0].getparent() is not response:
        raise SamlError(f"the response has {len(found)} assertions, or one in an unexpected place")
    parents = [one.getparent() for one in response.iter(document.tag("ds:Signature"))]
    if any(one is not response and one is not found[0] for one in parents) or len(parents) != len(set(parents)):
        raise SamlError("the response has a signature in an unexpected place")
    return found[0]


def _check_conditions(assertion: Element, service: ServiceProvider, now: datetime) -> None:
    conditions = _one(assertion, "saml:Conditions")
    if not _is_valid(conditions, now):
        raise SamlError("the assertion has expired, or is not valid yet: are the clocks right?")
    if any(one.tag not in _CONDITIONS for one in conditions):
        raise SamlError("the assertion has a condition that this server does not know")
    restrictions = conditions.findall("saml:AudienceRestriction", NAMESPACES)
    for restriction in restrictions:
        if service.entity_id not in map(document.text, restriction.iterfind("saml:Audience", NAMESPACES)):
            raise SamlError("the assertion is for another audience")
    if not restrictions:
        raise SamlError("the assertion has no audience")


def _confirmed_request(assertion: Element, service: ServiceProvider, now: datetime) -> str:
    """The request to which a confirmation binds the assertion: one for this address, with an end."""
    path = f"saml:Subject/saml:SubjectConfirmation[@Method='{_BEARER}']/saml:SubjectConfirmationData"
    for data in assertion.iterfind(path, NAMESPACES):
        is_ours = data.get("Recipient") == service.acs_url and bool(data.get("InResponseTo"))
        if is_ours and data.get("NotOnOrAfter") is not None and _is_valid(data, now):
            return str(data.get("InResponseTo"))
    raise SamlError("the assertion has no valid confirmation for a request of this server (bearer)")


def _is_valid(element: Element, now: datetime) -> bool:
    """Whether an element is valid now, by its `NotBefore` and `NotOnOrAfter`."""
    begins, ends = element.get("NotBefore"), element.get("NotOnOrAfter")
    return (begins is None or read_time(begins) <= now + SKEW) and (ends is None or now < read_time(ends) + SKEW)


def _attributes(assertion: Element) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for attribute in assertion.iterfind("saml:AttributeStatement/saml:Attribute", NAMESPACES):
        values = attribute.iterfind("saml:AttributeValue", NAMESPACES)
        plain = tuple(document.text(value) for value in values if len(value) == 0)
        for name in {attribute.get("Name"), attribute.get("FriendlyName")} - {None}:
            found[name] = found.get(name, ()) + plain
    return found


def _one(element: Element, path: str) -> Element:
    found = element.findall(path, NAMESPACES)
    if len(found) != 1:
        raise SamlError(f"the assertion has {len(found)} times {path}: it must occur once")
    return found[0]
