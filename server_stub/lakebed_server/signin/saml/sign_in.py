"""The steps of a sign-in with the provider of `auth.saml`: begin, accept the answer, and finish in the browser.

The provider sends its answer with a POST of another site, so the browser adds no cookie to it. The answer leads to a
code, which the browser brings to `finish` with the cookie. The id of the request has the challenge of the verifier in
the cookie: so an answer is of use in the browser that began the sign-in only.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import zlib
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode
from xml.sax.saxutils import escape, quoteattr

from lakebed_server.auth.records import User
from lakebed_server.settings.auth import SamlSettings
from lakebed_server.signin import identity, state
from lakebed_server.signin.browser import BrowserSignIn, now
from lakebed_server.signin.identity import Identity
from lakebed_server.signin.saml import metadata, response
from lakebed_server.signin.saml.document import NAMESPACES, SamlError, SignatureError
from lakebed_server.signin.saml.metadata import AGAIN_SECONDS, POST, IdentityProvider, Metadata, ServiceProvider
from lakebed_server.signin.saml.response import Assertion
from lakebed_server.signin.state import STATE, Program, SentRequest, State
from lakebed_server.vocabulary import RequestError

REQUEST: Final = "SAML request"
MOST_GROUPS: Final = 1000


class SamlSignIn:
    """Sign-in with SAML 2.0. Raises SettingError without `auth.saml.root_url`."""

    def __init__(self, settings: SamlSettings, browser: BrowserSignIn) -> None:
        self.service = metadata.service_of(settings)
        self.browser = browser
        self._settings = settings
        self._metadata = Metadata(settings.idp_metadata)

    async def begin(self, next: str, program: Program) -> tuple[str, str]:
        """The address of the provider for the browser, and the cookie that it must bring back.

        Raises OutboundError and SamlError.
        """
        provider = await self._metadata.known()
        began = state.begin(self.service.acs_url, now(), next=next, program=program)
        sent = SentRequest(state.challenge_of(began.verifier), began.ends)
        id = "_" + state.sign(self.browser.ring, sent, REQUEST)  # an id of XML begins with a letter or `_`
        address = request_url(provider, self.service, id, datetime.now(UTC))
        return address, state.sign(self.browser.ring, began, STATE)

    async def accept(self, answer: str) -> str:
        """The code for an answer of the provider, in base64. It makes or updates the user.

        Raises RequestError (401, 409), OutboundError and SamlError.
        """
        try:
            raw = base64.b64decode("".join(answer.split()), validate=True)
        except (binascii.Error, ValueError):
            raise SamlError("the answer is not base64") from None
        found = await self._read(raw)
        sent = state.verify(self.browser.ring, found.request.removeprefix("_"), REQUEST, now(), SentRequest)
        if sent is None:
            raise RequestError("unauthenticated", "this sign-in was not started here, or has expired: sign in again")
        if not await self.browser.use_once(sent.challenge, sent.ends):
            raise RequestError("unauthenticated", "the answer of the provider was used before: sign in again")
        rules = identity.rules(self._settings.groups_sync, self._settings.default_groups)
        user = await self.browser.user_of(self._identity(found), rules)
        return self.browser.code(user, sent.challenge)

    async def finish(self, cookie: str, code: str) -> tuple[User, State]:
        """The user of a code, in the browser that began the sign-in. Raises RequestError (401)."""
        began = state.verify(self.browser.ring, cookie, STATE, now(), State)
        if began is None:
            raise RequestError("unauthenticated", state.UNKNOWN)
        return await self.browser.redeem(code, began.verifier), began

    async def _read(self, raw: bytes) -> Assertion:
        provider = await self._metadata.known()
        try:
            return await asyncio.to_thread(response.read, raw, provider, self.service, datetime.now(UTC))
        except SignatureError:
            newer = await self._metadata.known(older_than=AGAIN_SECONDS)
            if newer == provider:
                raise
        return await asyncio.to_thread(response.read, raw, newer, self.service, datetime.now(UTC))

    def _identity(self, found: Assertion) -> Identity:
        settings = self._settings
        if not settings.subject_attribute and found.name_id_format == response.TRANSIENT:
            raise SamlError("the name identifier is transient: set auth.saml.subject_attribute, or another format")
        subject = found.first(settings.subject_attribute) if settings.subject_attribute else found.name_id
        id = found.first(settings.id_attribute) if settings.id_attribute else found.name_id
        if not subject or not id:
            raise SamlError("the assertion lacks auth.saml.subject_attribute or id_attribute, or its name is empty")
        return Identity(
            issuer=found.issuer,
            subject=subject,
            id=id,
            name=found.first(settings.name_attribute)[:256],
            email=found.first(settings.email_attribute)[:256],
            groups=self._groups(found),
        )

    def _groups(self, found: Assertion) -> tuple[str, ...] | None:
        if not self._settings.groups_attribute:
            return None
        values = found.attributes.get(self._settings.groups_attribute, ())[:MOST_GROUPS]
        return identity.mapped(self._settings.groups_map, values)


def request_url(provider: IdentityProvider, service: ServiceProvider, id: str, now: datetime) -> str:
    """The address of the provider for a sign-in. `id` comes back in the answer."""
    wanted = f"Format={quoteattr(service.name_id_format)} " if service.name_id_format else ""
    request = (
        f'<samlp:AuthnRequest xmlns:samlp="{NAMESPACES["samlp"]}" ID={quoteattr(id)} Version="2.0" '
        f'IssueInstant="{now:%Y-%m-%dT%H:%M:%SZ}" Destination={quoteattr(provider.sso_url)} '
        f'ProtocolBinding="{POST}" AssertionConsumerServiceURL={quoteattr(service.acs_url)}>'
        f'<saml:Issuer xmlns:saml="{NAMESPACES["saml"]}">{escape(service.entity_id)}</saml:Issuer>'
        f'<samlp:NameIDPolicy {wanted}AllowCreate="true"/></samlp:AuthnRequest>'
    )
    deflater = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    body = deflater.compress(request.encode()) + deflater.flush()
    query = urlencode({"SAMLRequest": base64.b64encode(body).decode()})
    return f"{provider.sso_url}{'&' if '?' in provider.sso_url else '?'}{query}"
