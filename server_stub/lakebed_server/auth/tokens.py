"""Login tokens: JSON Web Tokens, HS256, under a key of their own.

Above `secret_key`, under `authenticate`. A token names a user and an end; nothing else is in it.
"""

from __future__ import annotations

import uuid
from typing import NamedTuple

from lakebed_server.auth.secret_key import SecretKey

ISSUER = "auth"
AUDIENCE = "login"
COOKIE = "internal_auth_session"


def cookie_name(*, https: bool) -> str:
    """The name of the session cookie. With `__Host-` browsers take it from this host alone, over TLS alone."""
    return f"__Host-{COOKIE}" if https else COOKIE


class Token(NamedTuple):
    """A signed token and its end in Unix seconds."""

    text: str
    expires: int


class Tokens:
    """Signs and reads tokens. `pyjwt` is imported on first use: most requests carry access keys."""

    def __init__(self, key: SecretKey, duration: float) -> None:
        self._key = key.derive("tokens")
        self._duration = int(duration)

    def issue(self, user: str, now: int) -> Token:
        """A token for a user, from now on."""
        import jwt

        expires = now + self._duration
        claims = {"jti": str(uuid.uuid4()), "iss": ISSUER, "aud": AUDIENCE, "sub": user, "iat": now, "exp": expires}
        return Token(jwt.encode(claims, self._key, algorithm="HS256"), expires)

    def user_of(self, text: str) -> str | None:
        """The user of a token, None when it is not ours, not whole or at its end."""
        import jwt

        try:
            claims = jwt.decode(
                text,
                self._key,
                algorithms=["HS256"],
                audience=AUDIENCE,
                issuer=ISSUER,
                options={"require": ["exp", "iat", "sub"]},
            )
        except jwt.InvalidTokenError:
            return None
        user = claims["sub"]
        return user if isinstance(user, str) else None
