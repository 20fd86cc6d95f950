"""Temporary access keys for S3 clients: an access key id, a secret and a session token. The server stores none of it.

The token states who may do what, and until when. The id and the secret are derived from the token with a secret key of
the server, so an altered token gives another id and another secret. The access key that asked for them is part of the
derivation: the temporary keys end when it is deleted or gets another secret. If a token asked for them, they also end
with its session.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from typing import Final, NamedTuple

import msgspec

from lakebed_server.auth.authenticate import Authenticator, Caller
from lakebed_server.auth.records import Credential, Limits
from lakebed_server.auth.secret_key import SecretKey
from lakebed_server.auth.tokens import Source
from lakebed_server.vocabulary import RequestError

PREFIX: Final = "LKBT"
"""The beginning of the ids of temporary access keys."""
MOST_POLICY_BYTES: Final = 2048
"""Of the policy in a token. Clients send the token in a header or in a presigned URL of each request."""
LONGEST_TOKEN: Final = 4096
SHORTEST_SECONDS: Final = 60
LONGEST_SECONDS: Final = 36 * 3600
DEFAULT_SECONDS: Final = 3600

_VERSION: Final = "1"


class TemporaryKey(NamedTuple):
    """A temporary access key. `expires`: in Unix seconds."""

    access_key_id: str
    secret_access_key: str
    token: str
    expires: int


class SigningKey(NamedTuple):
    """The id and the secret that sign a request, and the caller whom a right signature proves."""

    access_key_id: str
    secret_access_key: str
    caller: Caller


class _Claims(msgspec.Struct, array_like=True, frozen=True):
    """The content of a token. `parent`: the id of the access key, empty for a person who signed in with a provider.

    `session`: as in Limits.
    """

    user: str
    parent: str
    expires: int
    generation: int
    source: Source
    statement: str
    session: tuple[str, int] = ("", 0)


_decode = msgspec.json.Decoder(_Claims).decode


class TemporaryKeys:
    """Makes temporary access keys, and finds the key of a token."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator

    async def issue(self, caller: Caller, duration: int, statement: str, now: int) -> TemporaryKey:
        """A temporary key of a caller for `duration` seconds. It ends no later than the caller's access key or session.

        `statement`: JSON of statements that narrow it, empty for none. The policy of the access key holds too. Raises
        RequestError (401) if the access key was deleted during the request.
        """
        user = await self._authenticator.user(caller.user)
        parent = None
        if caller.access_key_id:
            parent = await self._authenticator.find(caller.access_key_id)
        if user is None or (caller.access_key_id and parent is None):
            raise RequestError("unauthenticated", "the user or the access key was deleted during the request")
        limits = caller.limits
        expires = min([now + duration, *filter(None, (limits.expires, limits.session[1]))])
        claims = _Claims(
            user.id, caller.access_key_id, expires, user.generation, caller.source, statement, limits.session
        )
        key, _ = await self._authenticator.store.current()
        content = base64.urlsafe_b64encode(msgspec.json.encode(claims)).rstrip(b"=").decode()
        token = f"{_VERSION}.{key.id}.{content}"
        return TemporaryKey(*_derived(key, parent, token), token, expires)

    async def find(self, access_key_id: str, token: str) -> SigningKey | None:
        """The key of this id and token. None if the token is altered, of another id, or its user or key has ended.

        The caller's limits have the expiry. `Authenticator.accept` checks it when the signature was right.
        """
        version, _, rest = token.partition(".")
        key_id, _, content = rest.partition(".")
        claims = _read(content) if version == _VERSION and len(token) <= LONGEST_TOKEN else None
        key = None if claims is None else self._authenticator.secret_key(key_id)
        if claims is None or key is None:
            return None
        parent = await self._authenticator.find(claims.parent) if claims.parent else None
        if claims.parent and parent is None:
            return None
        expected, secret = _derived(key, parent, token)
        if not hmac.compare_digest(expected.encode(), access_key_id.encode()):
            return None
        user = await self._authenticator.user_of(claims.user, claims.generation)
        if user is None or (claims.session[0] and await self._authenticator.has_ended(*claims.session)):
            return None
        limits = Limits() if parent is None else parent.limits
        policies = (*limits.policies, claims.statement) if claims.statement else limits.policies
        expires = min(claims.expires, limits.expires or claims.expires)
        caller = Caller(claims.user, claims.parent, claims.source, Limits(expires, policies))
        return SigningKey(expected, secret, caller)


def _read(content: str) -> _Claims | None:
    try:
        return _decode(base64.b64decode(content + "=" * (-len(content) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        return None


def _derived(key: SecretKey, parent: Credential | None, token: str) -> tuple[str, str]:
    """The id and the secret of a token."""
    owner = [] if parent is None else [parent.access_key_id, parent.secret_access_key, parent.created]
    own = hmac.digest(key.derive("temporary keys"), msgspec.json.encode(owner), "sha256")
    id = base64.b32encode(hmac.digest(own, b"id " + token.encode(), "sha256")).decode()
    secret = base64.b64encode(hmac.digest(own, b"secret " + token.encode(), "sha256")).decode()
    return PREFIX + id[:16], secret[:40]
