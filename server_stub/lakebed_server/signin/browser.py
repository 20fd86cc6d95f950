"""What a sign-in in a browser leads to: a user, a session, and a code for a program that waits. Reads forms."""

from __future__ import annotations

import hmac
import secrets
import time
from typing import Final
from urllib.parse import parse_qsl

from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, KVStore, Put
from lakebed_engine.vocabulary.errors import PredicateFailed
from starlette.requests import Request

from lakebed_server.access.permissions import Permissions
from lakebed_server.auth import records
from lakebed_server.auth.authenticate import Authenticator
from lakebed_server.auth.records import PARTITION, User
from lakebed_server.auth.secret_key import KeyRing
from lakebed_server.auth.sessions import SignInClient
from lakebed_server.auth.tokens import Source, Token
from lakebed_server.signin import identity, state
from lakebed_server.signin.identity import GroupRules, Identity
from lakebed_server.signin.state import Code
from lakebed_server.vocabulary import RequestError

CODE: Final = "sign-in code"


class BrowserSignIn:
    """The part of a sign-in that does not depend on the provider. `source`: how the user signs in."""

    def __init__(self, source: Source, kv: KVStore, authenticator: Authenticator, permissions: Permissions) -> None:
        self.source: Source = source
        self._kv = kv
        self._authenticator = authenticator
        self._permissions = permissions

    @property
    def ring(self) -> KeyRing:
        """The keys that sign what clients keep."""
        return self._authenticator.store.ring

    async def user_of(self, found: Identity, rules: GroupRules) -> User:
        """The user of an identity, made at the first sign-in. Raises RequestError (401, 409)."""
        user = await identity.resolve(self._kv, found, rules, now())
        self._permissions.forget()
        return user

    async def token(self, user: User, client: SignInClient) -> Token:
        """A token for a user who has signed in."""
        return await self._authenticator.sign_in(user, self.source, now(), client)

    def code(self, user: User, challenge: str) -> str:
        """A code that the holder of the verifier of this challenge can exchange, once and soon."""
        return state.sign(self.ring, Code(secrets.token_hex(16), user.id, challenge, now() + state.CODE_SECONDS), CODE)

    async def redeem(self, code: str, verifier: str) -> User:
        """The user of a code. Raises RequestError (401)."""
        found = state.verify(self.ring, code.strip(), CODE, now(), Code)
        if found is None or not hmac.compare_digest(found.challenge, state.challenge_of(verifier)):
            raise RequestError("unauthenticated", "the code is wrong or has expired: sign in again")
        if not await self.use_once(found.id, found.ends):
            raise RequestError("unauthenticated", "the code was used before: sign in again")
        return (await self._permissions.of(found.user)).user

    async def exchange(self, code: str, verifier: str, client: SignInClient) -> Token:
        """The token for a code. Raises RequestError (401)."""
        return await self.token(await self.redeem(code, verifier), client)

    async def use_once(self, id: str, ends: int) -> bool:
        """Record that a one-time value is used, until its end in Unix seconds. False if it was used before."""
        row = records.revoked_key(ends, id)
        try:
            await self._kv.apply(Batch(checks=[Check(PARTITION, row, ABSENT)], puts=[Put(PARTITION, row, b"{}")]))
        except PredicateFailed:
            return False
        return True


def now() -> int:
    """The time in Unix seconds."""
    return int(time.time())


FORM_TYPE: Final = "application/x-www-form-urlencoded"
_MOST_FIELDS: Final = 100


async def read_form(request: Request, limit: int) -> dict[str, str] | None:
    """The fields of a form. None if it is not a form, has more than `limit` bytes, or has a field twice."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
        return None
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > limit:
            return None
    try:
        fields = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        return None
    form = dict(fields)
    return form if len(form) == len(fields) else None
