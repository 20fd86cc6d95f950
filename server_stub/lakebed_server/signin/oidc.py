"""The steps of a sign-in with the provider of `auth.oidc`: begin, and come back."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

from lakebed_server.auth.records import User
from lakebed_server.settings.auth import OidcSettings
from lakebed_server.signin import identity, state
from lakebed_server.signin.browser import BrowserSignIn, now
from lakebed_server.signin.identity import GroupRules, Identity
from lakebed_server.signin.provider import Provider
from lakebed_server.signin.state import STATE, Program, State
from lakebed_server.vocabulary import RequestError


class OidcSignIn:
    """Sign-in with OpenID Connect."""

    def __init__(self, settings: OidcSettings, browser: BrowserSignIn) -> None:
        self.settings = settings
        self.provider = Provider(settings)
        self.browser = browser

    async def begin(self, redirect_uri: str, *, next: str, program: Program) -> tuple[str, str]:
        """The address of the provider for the browser, and the cookie that it must bring back.

        Raises OutboundError.
        """
        found = state.begin(self.settings.redirect_uri or redirect_uri, now(), next=next, program=program)
        address = await self.provider.authorization_url(
            found.redirect_uri, found.state, found.nonce, state.challenge_of(found.verifier)
        )
        return address, state.sign(self.browser.ring, found, STATE)

    async def come_back(self, cookie: str, sent_state: str, code: str) -> tuple[User, State]:
        """The user whom the provider identified. Raises RequestError (401, 409), OutboundError and TokenError."""
        found = state.verify(self.browser.ring, cookie, STATE, now(), State)
        if found is None or not hmac.compare_digest(found.state.encode(), sent_state.encode()):
            raise RequestError("unauthenticated", state.UNKNOWN)
        claims = await self.provider.exchange(code, found.redirect_uri, found.verifier, found.nonce)
        return await self.browser.user_of(self._identity(claims), self._rules()), found

    def _identity(self, claims: Mapping[str, Any]) -> Identity:
        settings = self.settings
        email = str(claims.get("email", ""))
        is_verified = claims.get("email_verified") is True
        if settings.id_claim:
            id = str(claims.get(settings.id_claim, ""))
        else:
            id = email if email and is_verified else str(claims["sub"])
        return Identity(
            issuer=str(claims["iss"]),
            subject=str(claims["sub"]),
            id=id,
            name=str(claims.get(settings.name_claim, ""))[:256],
            email=email[:256] if is_verified else "",
            groups=self._groups(claims),
        )

    def _groups(self, claims: Mapping[str, Any]) -> tuple[str, ...] | None:
        if not self.settings.groups_claim:
            return None
        sent = claims.get(self.settings.groups_claim, [])
        values = sent.split(",") if isinstance(sent, str) else sent if isinstance(sent, list) else []
        names = [str(value).strip() for value in values][:1000]
        return identity.mapped(self.settings.groups_map, names)

    def _rules(self) -> GroupRules:
        return identity.rules(self.settings.groups_sync, self.settings.default_groups)
