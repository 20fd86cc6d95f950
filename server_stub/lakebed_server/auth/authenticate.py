"""Who sent a request: the first carrier of credentials decides, and a wrong one is 401 whatever else is there.

Above `credentials` and `tokens`, called by `api` before anything of a request is parsed: strangers learn nothing
about their request. (lakeFS validates first. Here a malformed request without credentials is 401, not 400.)
"""

from __future__ import annotations

import base64
import binascii
import hmac
import time
from collections.abc import Callable, Mapping
from typing import Final, Generic, TypeVar

from lakebed_server.auth.credentials import LONGEST_ID, Credential, CredentialStore, User
from lakebed_server.auth.tokens import Token, Tokens, cookie_name
from lakebed_server.vocabulary import RequestError

REMEMBER_SECONDS: Final = 5.0
REMEMBER_MOST: Final = 1024

T = TypeVar("T")


class Remembered(Generic[T]):
    """The answers of the last `seconds`, at most `most` of them; the oldest go first."""

    def __init__(self, clock: Callable[[], float], seconds: float, most: int) -> None:
        self._clock = clock
        self._seconds = seconds
        self._most = most
        self._rows: dict[str, tuple[float, T]] = {}

    def get(self, key: str) -> T | None:
        """What was put in lately."""
        row = self._rows.get(key)
        if row is None:
            return None
        if row[0] < self._clock():
            del self._rows[key]
            return None
        return row[1]

    def forget(self, key: str) -> None:
        """Know nothing of it."""
        self._rows.pop(key, None)

    def put(self, key: str, value: T) -> None:
        """Remember for `seconds`, and drop what is older."""
        now, rows = self._clock(), self._rows
        rows.pop(key, None)
        # all rows live equally long, so the order in which they came is the order in which they end
        while rows and (len(rows) >= self._most or next(iter(rows.values()))[0] < now):
            del rows[next(iter(rows))]
        rows[key] = (now + self._seconds, value)


class Authenticator:
    """Checks credentials. A request with a known access key costs no KV read and no decryption."""

    def __init__(self, store: CredentialStore, tokens: Tokens, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._tokens = tokens
        self._known: Remembered[Credential] = Remembered(clock, REMEMBER_SECONDS, REMEMBER_MOST)
        # strangers have a place of their own, so that a flood of them pushes out nobody
        self._unknown: Remembered[bool] = Remembered(clock, REMEMBER_SECONDS, REMEMBER_MOST)
        self._users: Remembered[User] = Remembered(clock, REMEMBER_SECONDS, REMEMBER_MOST)

    async def authenticate(self, headers: Mapping[bytes, bytes], *, https: bool = False) -> str:
        """The name of the calling user. Raises RequestError (401). `https`: the client uses TLS."""
        authorization = headers.get(b"authorization")
        if authorization is None:
            token = _cookie(headers.get(b"cookie"), cookie_name(https=https))
            if token is None:
                raise _refused("no credentials: send an access key pair (HTTP Basic) or a token of login (Bearer)")
            return await self._by_token(token)
        scheme, _, value = authorization.partition(b" ")
        scheme = scheme.lower()
        if scheme == b"basic":
            return (await self.check_pair(*_pair(value))).user
        if scheme == b"bearer":
            return await self._by_token(value.strip().decode("latin-1"))
        raise _refused("unknown authorization scheme; use Basic or Bearer")

    async def check_pair(self, access_key_id: str, secret_access_key: str) -> Credential:
        """The access key, when its secret is right. Compares in constant time, also for ids that do not exist."""
        credential = await self.find(access_key_id)
        expected = "x" * 40 if credential is None else credential.secret_access_key
        same = hmac.compare_digest(expected.encode(), secret_access_key.encode())
        if credential is None or not same:
            raise _refused("the access key id or the secret access key is wrong")
        return credential

    async def find(self, access_key_id: str) -> Credential | None:
        """The access key of this id, as it was within the last seconds. For signatures: it proves nothing yet."""
        if len(access_key_id) > LONGEST_ID:
            return None  # no key has such an id, and nothing that long is remembered
        credential = self._known.get(access_key_id)
        if credential is None and not self._unknown.get(access_key_id):
            credential = await self._store.find(access_key_id)
            if credential is None:
                self._unknown.put(access_key_id, True)
            else:
                self._known.put(access_key_id, credential)
        return credential

    async def user(self, name: str) -> User | None:
        """The user of this name."""
        user = self._users.get(name)
        if user is None:
            user = await self._store.find_user(name)
            if user is not None:
                self._users.put(name, user)
        return user

    @property
    def store(self) -> CredentialStore:
        """Where the access keys are."""
        return self._store

    async def remove(self, access_key_id: str) -> None:
        """Remove an access key: it does not work here from now on."""
        await self._store.remove(access_key_id)
        self._known.forget(access_key_id)

    def issue(self, user: str, now: int) -> Token:
        """A token for a user."""
        return self._tokens.issue(user, now)

    async def _by_token(self, text: str) -> str:
        name = self._tokens.user_of(text)
        if name is None or await self.user(name) is None:
            raise _refused("the token is not valid, or not any more; log in again")
        return name


def _pair(value: bytes) -> tuple[str, str]:
    try:
        text = base64.b64decode(value.strip(), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise _refused("the Basic credentials cannot be read") from None
    access_key_id, _, secret_access_key = text.partition(":")
    return access_key_id, secret_access_key


def key_id_of(value: bytes) -> str:
    """The access key id of Basic credentials that were accepted."""
    return _pair(value)[0]


def _cookie(header: bytes | None, wanted: str) -> str | None:
    if header is None:
        return None
    for pair in header.decode("latin-1").split(";"):
        name, _, value = pair.strip().partition("=")
        if name == wanted:
            return value.strip('"')
    return None


def _refused(message: str) -> RequestError:
    return RequestError("unauthenticated", message)
