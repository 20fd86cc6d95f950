"""Identifies programs by the token of their platform: a CI system, or a cluster of Kubernetes.

The token is a JSON Web Token of an issuer in `auth.workloads.rules`. The first rule that fits names the user.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import jwt
from lakebed_auth.wildcard import Wildcard

from lakebed_server.access.permissions import Permissions
from lakebed_server.auth.guesses import Guesses
from lakebed_server.auth.records import User
from lakebed_server.outbound import OutboundError
from lakebed_server.settings.auth import OidcSettings, WorkloadSettings
from lakebed_server.signin.provider import Provider, TokenError
from lakebed_server.vocabulary import RequestError, SettingError

log = logging.getLogger("lakebed.server")

LONGEST: Final = 16 << 10
"""The largest number of characters of a token."""
_GUESSED: Final = "token exchange"
"""Takes the place of an access key id in the counts of wrong secrets."""


class Rule(NamedTuple):
    """Tokens of an issuer whose claims all have these patterns are of a user."""

    issuer: str
    claims: tuple[tuple[str, Wildcard], ...]
    user: str

    def fits(self, claims: Mapping[str, Any]) -> bool:
        """Whether a token with these claims is of the user."""
        return all(isinstance(claims.get(name), str) and pattern.matches(claims[name]) for name, pattern in self.claims)


class Workloads:
    """The issuers and rules of the settings. Raises SettingError for a rule that is not valid."""

    def __init__(self, settings: WorkloadSettings, permissions: Permissions, guesses: Guesses) -> None:
        self._rules = read_rules(settings.rules)
        self._permissions = permissions
        self._guesses = guesses
        if not settings.audience:
            raise SettingError(
                "auth.workloads.rules needs auth.workloads.audience: tokens must be made for this server"
            )
        self._providers = {
            rule.issuer: Provider(OidcSettings(issuer=rule.issuer, client_id=settings.audience)) for rule in self._rules
        }

    async def identify(self, token: str, address: str) -> User:
        """The user of a token. The log says why a token is refused. Wrong tokens of an address slow down its next ones.

        Raises RequestError: 401, 429, and 503 when the issuer does not answer.
        """
        self._guesses.check(address, _GUESSED, what="token", of="the exchange")
        try:
            user = await self._user_of(token.strip())  # a file of a token often ends with a newline
        except TokenError as error:
            self._guesses.failed(address, _GUESSED)
            log.warning("token of a workload: %s", error)
            raise RequestError(
                "unauthenticated", "the token was refused: the log of the server has the reason"
            ) from None
        except OutboundError as error:
            log.error("token of a workload: %s", error)
            raise RequestError("store_unavailable", "the issuer of the token does not answer: try again") from None
        self._guesses.passed(address, _GUESSED)
        return (await self._permissions.of(user)).user

    async def _user_of(self, token: str) -> str:
        provider = self._providers.get(_issuer_of(token))
        if provider is None:
            raise TokenError("the token is not of an issuer in auth.workloads.rules")
        claims = await provider.verify(token)
        for rule in self._rules:
            if rule.issuer == claims["iss"] and rule.fits(claims):
                return rule.user
        raise TokenError(f"no rule in auth.workloads.rules fits the token of {str(claims['sub'])[:256]!r}")


def read_rules(text: str) -> list[Rule]:
    """The rules of a setting, such as `https://ci.example.com repository=acme/sales ref=refs/heads/* -> ci-sales`.

    Rules are separated by `;`. Raises SettingError.
    """
    found = []
    for written in filter(None, (one.strip() for one in text.split(";"))):
        left, arrow, user = written.rpartition("->")
        issuer, *claims = left.split() or [""]
        pairs = [one.partition("=") for one in claims]
        if (
            not arrow
            or not user.strip()
            or not pairs
            or not all(name and equals and value for name, equals, value in pairs)
        ):
            raise SettingError(
                f"auth.workloads.rules: {written[:200]!r} is not a rule: write ISSUER CLAIM=PATTERN -> USER, with at "
                "least one claim, and ; between rules"
            )
        found.append(Rule(issuer, tuple((name, Wildcard(value)) for name, _, value in pairs), user.strip()))
    return found


def _issuer_of(token: str) -> str:
    """The issuer that a token names, before it is verified."""
    if len(token) > LONGEST:
        raise TokenError(f"the token has more than {LONGEST} characters")
    try:
        return str(jwt.decode(token, options={"verify_signature": False}).get("iss", ""))
    except (jwt.InvalidTokenError, RecursionError):
        raise TokenError("the token cannot be read: it is not JSON Web Token") from None
