"""The steps of a sign-in with the provider of `auth.oidc`: begin, come back, and exchange a code for a token."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Mapping
from typing import Any, Final

from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, KVStore, Put
from lakebed_engine.vocabulary.errors import PredicateFailed

from lakebed_server.access.permissions import Permissions
from lakebed_server.auth import records
from lakebed_server.auth.authenticate import Authenticator
from lakebed_server.auth.records import PARTITION, User
from lakebed_server.auth.sessions import SignInClient
from lakebed_server.auth.tokens import Token
from lakebed_server.settings.schema import OidcSettings
from lakebed_server.signin import identity, state
from lakebed_server.signin.identity import GroupRules, Identity
from lakebed_server.signin.provider import Provider
from lakebed_server.signin.state import Code, Program, State
from lakebed_server.vocabulary import RequestError

STATE: Final = "sign-in state"
CODE: Final = "sign-in code"


class SignIn:
    """Sign-in with OpenID Connect."""

    def __init__(
        self, settings: OidcSettings, kv: KVStore, authenticator: Authenticator, permissions: Permissions
    ) -> None:
        self.settings = settings
        self.provider = Provider(settings)
        self._kv = kv
        self._authenticator = authenticator
        self._permissions = permissions

    async def begin(self, redirect_uri: str, *, next: str, program: Program) -> tuple[str, str]:
        """The address of the provider for the browser, and the cookie that it must bring back.

        Raises OutboundError.
        """
        found = state.begin(self.settings.redirect_uri or redirect_uri, _now(), next=next, program=program)
        address = await self.provider.authorization_url(
            found.redirect_uri, found.state, found.nonce, state.challenge_of(found.verifier)
        )
        return address, state.sign(self._authenticator.store.ring, found, STATE)

    async def come_back(self, cookie: str, sent_state: str, code: str) -> tuple[User, State]:
        """The user whom the provider identified. Raises RequestError (401, 409), OutboundError and TokenError."""
        found = state.verify(self._authenticator.store.ring, cookie, STATE, _now(), State)
        if found is None or not hmac.compare_digest(found.state, sent_state):
            raise RequestError("unauthenticated", "this sign-in was not begun in this browser, or ended: sign in again")
        claims = await self.provider.exchange(code, found.redirect_uri, found.verifier, found.nonce)
        user = await identity.resolve(self._kv, self._identity(claims), self._rules(), _now())
        self._permissions.forget()
        return user, found

    async def token(self, user: User, client: SignInClient) -> Token:
        """A token for a user who has signed in."""
        return await self._authenticator.sign_in(user, "oidc", _now(), client)

    def code(self, user: User, challenge: str) -> str:
        """A code that the program with the verifier of this challenge can exchange, once and soon."""
        made = Code(secrets.token_hex(16), user.id, challenge, _now() + state.CODE_SECONDS)
        return state.sign(self._authenticator.store.ring, made, CODE)

    async def exchange(self, code: str, verifier: str, client: SignInClient) -> Token:
        """The token for a code. Raises RequestError (401)."""
        found = state.verify(self._authenticator.store.ring, code.strip(), CODE, _now(), Code)
        if found is None or not hmac.compare_digest(found.challenge, state.challenge_of(verifier)):
            raise RequestError("unauthenticated", "the code is wrong or has ended: sign in again")
        row = records.revoked_key(found.ends, found.id)
        try:
            await self._kv.apply(Batch(checks=[Check(PARTITION, row, ABSENT)], puts=[Put(PARTITION, row, b"{}")]))
        except PredicateFailed:
            raise RequestError("unauthenticated", "the code was used before: sign in again") from None
        return await self.token((await self._permissions.of(found.user)).user, client)

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


def _now() -> int:
    return int(time.time())
