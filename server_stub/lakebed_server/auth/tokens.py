"""Login tokens: JSON Web Tokens, HS256. Each is signed with a key that is derived from the access key of the login.

So a token ends with its access key: when that is deleted, gets another secret, or is encrypted with another secret key.
It also ends when its user ends all sessions: `gen` is the user's generation (`authenticate` compares it).
"""

from __future__ import annotations

import uuid
from typing import NamedTuple

from lakebed_server.auth.credentials import Opened
from lakebed_server.auth.records import User

ISSUER = "auth"
AUDIENCE = "login"
COOKIE = "internal_auth_session"


class Token(NamedTuple):
    """A signed token, its end in Unix seconds, and its user."""

    text: str
    expires: int
    user: str


class Session(NamedTuple):
    """The content of a token. `generation` is that of its user. `expires` is in Unix seconds."""

    id: str
    user: str
    access_key_id: str
    expires: int
    generation: int


def cookie_name(*, https: bool) -> str:
    """The name of the session cookie. Browsers accept the prefix `__Host-` only from this host and over TLS."""
    return f"__Host-{COOKIE}" if https else COOKIE


def issue(opened: Opened, user: User, now: int, duration: int) -> Token:
    """A token for an access key of a user, for `duration` seconds from now on."""
    import jwt  # on first use: most requests carry access keys

    expires = now + duration
    claims = {
        "jti": str(uuid.uuid4()),
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": user.id,
        "iat": now,
        "exp": expires,
        "gen": user.generation,
    }
    key = opened.credential.token_key(opened.key)
    return Token(jwt.encode(claims, key, "HS256", {"kid": opened.credential.access_key_id}), expires, user.id)


def key_id_of(text: str) -> str:
    """The access key id that a token names, before it is verified. Empty when it names none."""
    import jwt

    try:
        named = jwt.get_unverified_header(text).get("kid", "")
        named.encode()
    except (jwt.InvalidTokenError, AttributeError, RecursionError, UnicodeEncodeError):
        return ""  # no token, or a header that Lakebed does not make
    return str(named)


def read(text: str, opened: Opened) -> Session | None:
    """The session of a token of this access key. None when the token is forged, damaged or expired."""
    import jwt

    try:
        claims = jwt.decode(
            text,
            opened.credential.token_key(opened.key),
            algorithms=["HS256"],
            audience=AUDIENCE,
            issuer=ISSUER,
            options={"require": ["exp", "iat", "sub", "jti", "gen"]},
        )
    except jwt.InvalidTokenError:
        return None
    return Session(claims["jti"], opened.credential.user, opened.credential.access_key_id, claims["exp"], claims["gen"])
