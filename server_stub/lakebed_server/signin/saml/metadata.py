"""Metadata of SAML: that of the provider, which the server reads, and that of this server, which the provider reads."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from cryptography.x509 import Certificate, load_der_x509_certificate

from lakebed_server import outbound
from lakebed_server.outbound import OutboundError
from lakebed_server.settings.auth import SamlSettings
from lakebed_server.signin.saml import document
from lakebed_server.signin.saml.document import NAMESPACES, Element, SamlError
from lakebed_server.vocabulary import SettingError

KEEP_SECONDS: Final = 3600.0
AGAIN_SECONDS: Final = 30.0
"""A signature that does not verify makes the server read the metadata again, at most this often."""
REDIRECT: Final = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
POST: Final = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
PROTOCOL: Final = NAMESPACES["samlp"]


class IdentityProvider(NamedTuple):
    """The provider. `sso_url`: where browsers go to sign in. `certificates`: those of its signatures."""

    entity_id: str
    sso_url: str
    certificates: tuple[Certificate, ...]


class ServiceProvider(NamedTuple):
    """This server, as the provider knows it. `acs_url`: the assertion consumer service, to which answers go."""

    entity_id: str
    acs_url: str
    name_id_format: str

    def describe(self) -> str:
        """The metadata of this server."""
        wanted = f"<md:NameIDFormat>{escape(self.name_id_format)}</md:NameIDFormat>" if self.name_id_format else ""
        return (
            f'<md:EntityDescriptor xmlns:md="{NAMESPACES["md"]}" entityID={quoteattr(self.entity_id)}>'
            f'<md:SPSSODescriptor protocolSupportEnumeration="{PROTOCOL}" AuthnRequestsSigned="false" '
            'WantAssertionsSigned="true">'
            f'{wanted}<md:AssertionConsumerService Binding="{POST}" Location={quoteattr(self.acs_url)} index="0" '
            'isDefault="true"/></md:SPSSODescriptor></md:EntityDescriptor>'
        )


class Metadata:
    """The metadata of the provider of the settings. It is read when it is needed."""

    def __init__(self, source: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._clock = clock
        self._lock = asyncio.Lock()
        self._provider: IdentityProvider | None = None
        self._read = float("-inf")

    async def known(self, older_than: float = KEEP_SECONDS) -> IdentityProvider:
        """The provider, read again if it was read `older_than` seconds ago. Raises OutboundError and SamlError."""
        async with self._lock:
            if self._provider is None or self._clock() >= self._read + older_than:
                raw = await self._document()
                self._provider = read(raw, datetime.now(UTC))
                self._read = self._clock()
            return self._provider

    async def _document(self) -> bytes:
        if self._source.startswith(("https://", "http://")):
            return await outbound.get_bytes(self._source)
        try:
            return await asyncio.to_thread(Path(self._source).read_bytes)
        except OSError as error:
            raise OutboundError(f"auth.saml.idp_metadata: {error}") from None


def read(raw: bytes, now: datetime) -> IdentityProvider:
    """The provider that metadata describes. Raises SamlError."""
    root = document.parse(raw)
    found = [
        one
        for one in root.iter(document.tag("md:EntityDescriptor"))
        if one.find("md:IDPSSODescriptor", NAMESPACES) is not None
    ]
    if len(found) != 1:
        raise SamlError(f"the metadata describes {len(found)} identity providers: it must describe one")
    for element in (root, found[0]):
        ends = element.get("validUntil")
        if ends is not None and read_time(ends) <= now:
            raise SamlError("the metadata has expired (validUntil)")
    descriptor = found[0].find("md:IDPSSODescriptor", NAMESPACES)
    certificates = tuple(
        _certificate(one)
        for key in descriptor.iterfind("md:KeyDescriptor", NAMESPACES)
        if key.get("use", "signing") == "signing"
        for one in key.iterfind("ds:KeyInfo/ds:X509Data/ds:X509Certificate", NAMESPACES)
    )
    if not certificates:
        raise SamlError("the metadata has no certificate for signatures")
    return IdentityProvider(found[0].get("entityID", ""), _sso_url(descriptor), certificates)


def _sso_url(descriptor: Element) -> str:
    for one in descriptor.iterfind("md:SingleSignOnService", NAMESPACES):
        if one.get("Binding") == REDIRECT:
            return outbound.check_url(one.get("Location", ""))
    raise SamlError("the metadata has no single sign-on service with the binding HTTP-Redirect")


def _certificate(element: Element) -> Certificate:
    try:
        return load_der_x509_certificate(base64.b64decode("".join(document.text(element).split()), validate=True))
    except ValueError as error:
        raise SamlError(f"a certificate in the metadata cannot be read: {error}") from None


def read_time(text: str) -> datetime:
    """The time of an attribute. SAML writes it in UTC. Raises SamlError."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise SamlError(f"{text[:40]!r} is not a time") from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def service_of(settings: SamlSettings) -> ServiceProvider:
    """This server by its settings. Raises SettingError."""
    root = settings.root_url.rstrip("/")
    if not root:
        raise SettingError("auth.saml.idp_metadata needs auth.saml.root_url: the address of this server for browsers")
    try:
        outbound.check_url(root)
    except OutboundError as error:
        raise SettingError(f"auth.saml.root_url: {error}") from None
    return ServiceProvider(settings.entity_id or f"{root}/saml/metadata", f"{root}/saml/acs", settings.name_id_format)
