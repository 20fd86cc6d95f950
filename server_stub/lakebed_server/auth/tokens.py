"""Login tokens: JSON Web Tokens, HS256.

The token of a login with an access key is signed with a key that is derived from the access key.

So a token ends with its access key: when that is deleted, gets another secret, or is encrypted with another secret key.
It also ends when its user ends all sessions: `gen` is the user's generation (`authenticate` compares it).

The token of a person who signed in with a provider has no access key. A key that is derived from the server's secret
key signs it, and `kid` names that.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from lakebed_server.auth.credentials import Opened
from lakebed_server.auth.records import Limits, User
from lakebed_server.auth.secret_key import SecretKey

Source = Literal["key", "token", "oidc", "ldap", "saml", "workload"]
"""How a user signed in."""

SIGNED_IN = "signed-in."
"""The beginning of `kid` in a token without an access key. The id of the secret key follows."""

ISSUER = "auth"
AUDIENCE = "login"
COOKIE = "internal_auth_session"


class Token(NamedTuple):
    """A signed token, its end in Unix seconds, its user, the id of its session, and how the user signed in."""

    text: str
    expires: int
    user: str
    session: str
    source: Source


class Session(NamedTuple):
    """The content of a token. `generation` is that of its user. `expires` is in Unix seconds.

    `source`: how the user signed in: `token` with an access key, otherwise `oidc`, `ldap`, `saml` or `workload`.
    `ends`: when the session ends, which is later than the token if the token can be renewed. `limits`: those of the
    access key.
    """

    id: str
    user: str
    access_key_id: str
    expires: int
    generation: int
    ends: int
    source: Source = "token"
    limits: Limits = Limits()


def cookie_name(*, https: bool) -> str:
    """The name of the session cookie. Browsers accept the prefix `__Host-` only from this host and over TLS."""
    return f"__Host-{COOKIE}" if https else COOKIE


def issue(opened: Opened, user: User, now: int, duration: int) -> Token:
    """A token for an access key of a user, for `duration` seconds from now on. It ends no later than the key."""
    key = opened.credential.token_key(opened.key)
    if opened.credential.expires:
        duration = min(duration, opened.credential.expires - now)
    session = Session(str(uuid.uuid4()), user.id, opened.credential.access_key_id, 0, user.generation, 0)
    return _issue(key, session.access_key_id, session, now, now + duration, {})


def begin_session(user: User, source: Source, now: int, limit: int) -> Session:
    """The session of a user who signed in with a provider. Its tokens can be renewed for `limit` seconds."""
    return Session(str(uuid.uuid4()), user.id, "", 0, user.generation, now + limit, source)


def issue_signed_in(key: SecretKey, session: Session, now: int, duration: int) -> Token:
    """A token of a session, for `duration` seconds from now on, and not longer than the session."""
    more = {"src": session.source, "session_end": session.ends}
    expires = min(now + duration, session.ends)
    return _issue(key.derive("sign-in tokens"), SIGNED_IN + key.id, session, now, expires, more)


def _issue(key: bytes, key_id: str, session: Session, now: int, expires: int, more: Mapping[str, str | int]) -> Token:
    import jwt  # on first use: most requests carry access keys

    claims = {
        "jti": session.id,
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": session.user,
        "iat": now,
        "exp": expires,
        "gen": session.generation,
        **more,
    }
    return Token(jwt.encode(claims, key, "HS256", {"kid": key_id}), expires, session.user, session.id, session.source)


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
    claims = _claims(text, opened.credential.token_key(opened.key))
    if claims is None:
        return None
    credential, expires = opened.credential, claims["exp"]
    return Session(
        claims["jti"],
        credential.user,
        credential.access_key_id,
        expires,
        claims["gen"],
        ends=expires,
        limits=credential.limits,
    )


def read_signed_in(text: str, key: SecretKey) -> Session | None:
    """The session of a token without an access key. None when the token is forged, damaged or expired."""
    claims = _claims(text, key.derive("sign-in tokens"))
    if claims is None or claims.get("src") not in ("oidc", "ldap", "saml", "workload") or "session_end" not in claims:
        return None
    return Session(claims["jti"], claims["sub"], "", claims["exp"], claims["gen"], claims["session_end"], claims["src"])


def _claims(text: str, key: bytes) -> dict[str, Any] | None:
    import jwt

    try:
        return jwt.decode(
            text,
            key,
            algorithms=["HS256"],
            audience=AUDIENCE,
            issuer=ISSUER,
            options={"require": ["exp", "iat", "sub", "jti", "gen"]},
        )
    except jwt.InvalidTokenError:
        return None
