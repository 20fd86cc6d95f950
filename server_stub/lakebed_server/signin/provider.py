"""An OpenID Connect provider: its metadata and keys, the exchange of a code, and the check of ID tokens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote_plus, urlencode

import jwt

from lakebed_server import outbound
from lakebed_server.outbound import OutboundError
from lakebed_server.settings.auth import OidcSettings
from lakebed_server.signin.identity import pairs

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures with public keys. `none` and HS256 are not among them: a forger could make those."""

KEEP_SECONDS: Final = 3600.0
AGAIN_SECONDS: Final = 30.0
"""An unknown key id makes the server read the keys again, at most this often."""
SKEW_SECONDS: Final = 60


class TokenError(Exception):
    """An ID token that does not identify a user. The message says why, and has no part of the token."""


class Provider:
    """The provider of the settings. Reads its metadata and keys when they are needed."""

    def __init__(self, settings: OidcSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self.settings = settings
        self._clock = clock
        self._lock = asyncio.Lock()
        self._metadata: dict[str, Any] = {}
        self._keys: list[jwt.PyJWK] = []
        self._read = float("-inf")

    async def authorization_url(self, redirect_uri: str, state: str, nonce: str, challenge: str) -> str:
        """Where the browser goes to sign in. Raises OutboundError."""
        metadata = await self._known()
        query = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": redirect_uri,
            "scope": self.settings.scopes,
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        address = outbound.check_url(str(metadata.get("authorization_endpoint", "")))
        return f"{address}{'&' if '?' in address else '?'}{urlencode(query)}"

    async def end_session_url(self) -> str:
        """Where the browser goes to end its session at the provider. Empty if it has none. Raises OutboundError."""
        address = str((await self._known()).get("end_session_endpoint", ""))
        if not address:
            return ""
        query = urlencode({"client_id": self.settings.client_id})
        return f"{outbound.check_url(address)}{'&' if '?' in address else '?'}{query}"

    async def exchange(self, code: str, redirect_uri: str, verifier: str, nonce: str) -> Mapping[str, Any]:
        """The claims of the user whom a code identifies. Raises OutboundError and TokenError."""
        metadata = await self._known()
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
            "client_id": self.settings.client_id,
        }
        secret = self.settings.client_secret
        methods = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        basic = None
        if secret and "client_secret_basic" in methods:
            basic = (quote_plus(self.settings.client_id), quote_plus(secret))  # RFC 6749 2.3.1
        elif secret:
            fields["client_secret"] = secret
        answer = await outbound.post_form(str(metadata.get("token_endpoint", "")), fields, basic)
        token = answer.get("id_token") if isinstance(answer, dict) else None
        if not isinstance(token, str):
            raise TokenError("the provider sent no ID token")
        claims = await self.verify(token, nonce)
        return await self._with_user_info(claims, str(answer.get("access_token", "")))

    async def _with_user_info(self, claims: Mapping[str, Any], access_token: str) -> Mapping[str, Any]:
        """Add the claims of UserInfo if the ID token lacks a claim that the settings name.

        With a code, a provider need not put e-mail, name and groups into the ID token (OpenID Connect Core 5.4).
        """
        settings = self.settings
        wanted = {settings.id_claim or "email", settings.name_claim, settings.groups_claim} - {""}
        address = str((await self._known()).get("userinfo_endpoint", ""))
        if wanted <= claims.keys() or not address or not access_token:
            return claims
        found = await outbound.get_json(address, bearer=access_token)
        if not isinstance(found, dict) or found.get("sub") != claims["sub"]:
            raise TokenError("UserInfo has a different subject than the ID token")
        return {**found, **claims}

    async def verify(self, token: str, nonce: str | None = None, audience: str = "") -> Mapping[str, Any]:
        """The claims of an ID token, after all checks. Raises OutboundError and TokenError."""
        key = await self._key_of(token)
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=list(ALGORITHMS),
                audience=audience or self.settings.client_id,
                issuer=(await self._known())["issuer"],
                leeway=SKEW_SECONDS,
                options={"require": ["exp", "iat", "sub", "iss", "aud"]},
            )
        except jwt.InvalidTokenError as error:
            raise TokenError(f"the ID token is not valid: {error}") from None
        if nonce is not None and claims.get("nonce") != nonce:
            raise TokenError("the ID token belongs to another sign-in: its nonce differs")
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if several and claims.get("azp") != self.settings.client_id:
            raise TokenError("the ID token is for several audiences, and was not issued to this server")
        for name, value in pairs(self.settings.required_claims):
            if claims.get(name) != value:
                raise TokenError(f"the claim {name} does not have the required value")
        return claims

    async def _key_of(self, token: str) -> jwt.PyJWK:
        try:
            header = jwt.get_unverified_header(token)
        except jwt.InvalidTokenError as error:
            raise TokenError(f"the ID token cannot be read: {error}") from None
        if header.get("alg") not in ALGORITHMS:
            raise TokenError(f"the ID token is signed with {str(header.get('alg'))[:20]!r}, which is not accepted")
        await self._known()
        found = self._choose(header)
        if found is None and self._clock() >= self._read + AGAIN_SECONDS:
            await self._refresh()
            found = self._choose(header)
        if found is None:
            raise TokenError("the ID token is signed with a key that the provider does not publish")
        return found

    def _choose(self, header: Mapping[str, Any]) -> jwt.PyJWK | None:
        usable = [key for key in self._keys if key.public_key_use in (None, "sig")]
        if "kid" in header:
            return next((key for key in usable if key.key_id == header["kid"]), None)
        return usable[0] if len(usable) == 1 else None

    async def _known(self) -> dict[str, Any]:
        if self._clock() >= self._read + KEEP_SECONDS:
            await self._refresh()
        return self._metadata

    async def _refresh(self) -> None:
        asked = self._clock()
        async with self._lock:
            if self._read > asked:
                return  # another request has read them
            issuer = self.settings.issuer
            metadata = await outbound.get_json(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
            if not isinstance(metadata, dict) or metadata.get("issuer") != issuer:
                raise OutboundError(f"{issuer} describes another issuer than the settings say")
            outbound.check_url(str(metadata.get("jwks_uri", "")))
            found = await outbound.get_json(metadata["jwks_uri"])
            try:
                self._keys = [key for key in jwt.PyJWKSet.from_dict(found).keys if key.key_type != "oct"]
            except (jwt.PyJWTError, AttributeError, TypeError, KeyError) as error:
                raise OutboundError(f"{metadata['jwks_uri']}: no usable keys: {error}") from None
            self._metadata = metadata
            self._read = self._clock()
