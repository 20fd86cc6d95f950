"""Authenticates requests. The first credentials of a request decide. Wrong ones give 401, whatever else it contains.

The API authenticates before it parses anything of a request, so that a client without a key learns nothing about its
request. (lakeFS validates first. Here a malformed request without credentials is 401, not 400.)
"""

from __future__ import annotations

import base64
import binascii
import hmac
import time
from collections.abc import Callable, Mapping
from typing import Final, Generic, NamedTuple, TypeVar

from lakebed_server.auth import tokens
from lakebed_server.auth.credentials import CredentialStore, Opened
from lakebed_server.auth.guesses import Guesses
from lakebed_server.auth.last_use import LastUses
from lakebed_server.auth.records import LONGEST_ID, Credential, Limits, User
from lakebed_server.auth.secret_key import SecretKey
from lakebed_server.auth.sessions import UNKNOWN, OpenSession, SignInClient
from lakebed_server.auth.tokens import Session, Source, Token
from lakebed_server.auth.usage import Month, Usage
from lakebed_server.vocabulary import RequestError, bad_request

T = TypeVar("T")

REMEMBER_SECONDS: Final = 0.9
"""Counted from the moment of the read from the store: a deleted key or an ended session works at most one second."""
REMEMBER_MOST: Final = 1024
SESSION_LIMIT: Final = 30 * 24 * 3600.0


class Caller(NamedTuple):
    """The user who sent a request, the access key whose secret or token proved it, and which of both: `source`.

    `limits` restrict what the key may do.
    """

    user: str
    access_key_id: str
    source: Source
    limits: Limits = Limits()


class TtlCache(Generic[T]):
    """Answers of the store, kept for `seconds`, at most `most` of them. Removes the oldest first."""

    def __init__(self, clock: Callable[[], float], seconds: float, most: int) -> None:
        self._clock = clock
        self._seconds = seconds
        self._most = most
        self._rows: dict[str, tuple[float, T]] = {}

    def get(self, key: str) -> T | None:
        """The value of a key, or None when there is none or it has expired."""
        row = self._rows.get(key)
        if row is None:
            return None
        if row[0] < self._clock():
            del self._rows[key]
            return None
        return row[1]

    def forget(self, key: str) -> None:
        """Remove a key, if it is there."""
        self._rows.pop(key, None)

    def put(self, key: str, value: T, since: float | None = None) -> None:
        """Keep a value for `seconds` from `since` on: the time of the read from the store, by default now."""
        now, rows = self._clock(), self._rows
        rows.pop(key, None)
        # all entries are kept for the same time, so they expire nearly in the order of their insertion
        while rows and (len(rows) >= self._most or next(iter(rows.values()))[0] < now):
            del rows[next(iter(rows))]
        rows[key] = ((now if since is None else since) + self._seconds, value)


class Authenticator:
    """Checks credentials. A request with a known access key costs no KV read and no decryption."""

    def __init__(
        self,
        store: CredentialStore,
        login_duration: float,
        session_limit: float = SESSION_LIMIT,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`clock` measures durations. `now` is the time of day in Unix seconds, for expiries."""
        self._store = store
        self.sessions = store.sessions
        self._now = now
        self.uses = LastUses(now)
        self.usage = Usage(now)
        self._login_duration = int(login_duration)
        self._session_limit = int(session_limit)
        self._clock = clock
        self._known: TtlCache[Opened] = TtlCache(clock, REMEMBER_SECONDS, REMEMBER_MOST)
        # unknown ids have their own cache, so that a flood of them removes no known key
        self._unknown: TtlCache[bool] = TtlCache(clock, REMEMBER_SECONDS, REMEMBER_MOST)
        self._users: TtlCache[User] = TtlCache(clock, REMEMBER_SECONDS, REMEMBER_MOST)
        self._open: TtlCache[bool] = TtlCache(clock, REMEMBER_SECONDS, REMEMBER_MOST)
        self._ring_read = float("-inf")
        self.guesses = Guesses(clock)

    async def authenticate(self, headers: Mapping[bytes, bytes], *, https: bool = False, address: str = "") -> Caller:
        """The user and access key of a request. Raises RequestError (401, 429).

        `https`: the client uses TLS. `address`: its network address.
        """
        authorization = headers.get(b"authorization")
        if authorization is None:
            token = _token(headers, https=https)
            if token is None:
                raise _refused("no credentials: send an access key pair (HTTP Basic) or a token of login (Bearer)")
            return await self._by_token(token)
        scheme, _, value = authorization.partition(b" ")
        scheme = scheme.lower()
        if scheme == b"basic":
            credential = await self.check_pair(*_pair(value), address)
            return self.accept(Caller(credential.user, credential.access_key_id, "key", credential.limits))
        if scheme == b"bearer":
            return await self._by_token(value.strip().decode("latin-1"))
        raise _refused("unknown authorization scheme; use Basic or Bearer")

    async def check_pair(self, access_key_id: str, secret_access_key: str, address: str = "") -> Credential:
        """The access key, if its secret is right. Compares in constant time, also for ids that do not exist.

        Raises RequestError: 401, or 429 when this address has sent too many wrong secrets.
        """
        opened = await self._find(access_key_id)
        credential = None if opened is None else opened.credential
        self.guesses.check(address, access_key_id)
        expected = "x" * 40 if credential is None else credential.secret_access_key
        same = hmac.compare_digest(expected.encode(), secret_access_key.encode())
        if credential is None or not same:
            self.guesses.failed(address, access_key_id)
            raise _refused("error authenticating request: the access key id or the secret access key is wrong")
        self.guesses.passed(address, access_key_id)
        self._require_unexpired(access_key_id, credential.limits)
        return credential

    def accept(self, caller: Caller) -> Caller:
        """The caller, whose request proved the secret. Raises RequestError (401) if the access key has expired."""
        self._require_unexpired(caller.access_key_id, caller.limits)
        if caller.access_key_id:
            self.uses.note(caller.access_key_id, caller.user)
        self.usage.note()
        return caller

    async def usage_report(self) -> tuple[str, list[Month]]:
        """The id of the installation, and the number of requests of each month."""
        return await self.usage.report(self._store.kv)

    def _require_unexpired(self, access_key_id: str, limits: Limits) -> None:
        if limits.expires and limits.expires <= self._now():
            end = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(limits.expires))
            raise RequestError(
                "unauthenticated",
                f"access key {access_key_id!r} expired at {end} UTC: create another one (`lakebed key create`), or ask "
                "an administrator",
            )

    async def find(self, access_key_id: str) -> Credential | None:
        """The access key of this id, at most a second old. For signatures: it proves nothing yet."""
        opened = await self._find(access_key_id)
        return None if opened is None else opened.credential

    async def user(self, name: str) -> User | None:
        """The user of this name, at most a second old."""
        return self._users.get(name) or await self._user_now(name)

    @property
    def store(self) -> CredentialStore:
        """The store of access keys."""
        return self._store

    async def remove(self, access_key_id: str, user: str, *, keep_one: bool = True) -> None:
        """Remove an access key of a user. It and its tokens stop working here immediately.

        Raises RequestError, with `keep_one` also for the last key of the user.
        """
        await self._store.remove(access_key_id, user, keep_one=keep_one)
        self._known.forget(access_key_id)

    async def log_in(
        self, access_key_id: str, secret_access_key: str, now: int, client: SignInClient = UNKNOWN
    ) -> Token:
        """A token for an access key. Raises RequestError (401, 429)."""
        await self.check_pair(access_key_id, secret_access_key, client.address)
        opened = await self._find(access_key_id)
        user = None if opened is None else await self._user_now(opened.credential.user)
        if opened is None or user is None:
            raise _refused("the access key was deleted during the request")
        if user.disabled:
            raise _refused(f"user {user.id!r} is disabled; ask an administrator")
        token = tokens.issue(opened, user, now, self._login_duration)
        await self.sessions.add(user.id, OpenSession(token.session, now, token.expires, "token", *client))
        return token

    async def sign_in(
        self, user: User, source: Source, now: int, client: SignInClient = UNKNOWN, limit: int | None = None
    ) -> Token:
        """A token for a user whom a provider has identified. `limit`: seconds of the session, if it has its own."""
        key, _ = await self._store.current()
        session = tokens.begin_session(user, source, now, self._session_limit if limit is None else limit)
        await self.sessions.add(user.id, OpenSession(session.id, now, session.ends, source, *client))
        return tokens.issue_signed_in(key, session, now, self._login_duration)

    async def renew(self, headers: Mapping[bytes, bytes], now: int) -> Token:
        """A new token of the session of a request's token. Raises RequestError: 400 for an access key, 401, 403."""
        if b"authorization" not in headers:
            raise RequestError(
                "key_required", "a cookie does not authorize reading a token: send the token of the sign-in (Bearer)"
            )
        text = _token(headers, https=False)
        session = None if text is None else await self._session(text)
        if session is None or session.access_key_id:
            raise bad_request("an access key has no session to renew: log in with it again")
        user = await self._user_now(session.user)
        if user is None or user.disabled or user.generation != session.generation:
            raise _refused("the session has ended: sign in again")
        key, _ = await self._store.current()
        return tokens.issue_signed_in(key, session, now, self._login_duration)

    async def log_out(self, headers: Mapping[bytes, bytes], now: int, *, https: bool = False) -> Session:
        """End the session of a request's token, and return it.

        Raises RequestError, also when the request came with an access key.
        """
        text = _token(headers, https=https)
        if text is None:
            raise bad_request(
                "an access key has no session to end: send the token to end, or everywhere=true to end all "
                "sessions of this user"
            )
        session = await self._session(text)
        await self.sessions.end(session.user, session.id, session.ends, now)
        self._open.forget(session.id)
        return session

    async def end_session(self, user: str, id: str, now: int) -> None:
        """End a session of a user. Raises RequestError (404)."""
        if not await self.sessions.end_listed(user, id, now):
            raise RequestError("session_not_found", f"user {user!r} has no session {id[:80]!r}")
        self._open.forget(id)

    async def log_out_everywhere(self, user: str, now: int) -> None:
        """End all sessions of a user."""
        await self._store.end_sessions(user, now)
        self._users.forget(user)

    async def _find(self, access_key_id: str) -> Opened | None:
        if len(access_key_id) > LONGEST_ID:
            return None  # no key has such an id, and the cache must stay small
        opened = self._known.get(access_key_id)
        if opened is None and not self._unknown.get(access_key_id):
            asked = self._clock()
            opened = await self._store.find(access_key_id)
            if opened is None:
                self._unknown.put(access_key_id, True, asked)
            else:
                self._known.put(access_key_id, opened, asked)
        return opened

    async def _user_now(self, name: str) -> User | None:
        asked = self._clock()
        user = await self._store.find_user(name)
        if user is not None:
            self._users.put(name, user, asked)
        return user

    async def _by_token(self, text: str) -> Caller:
        session = await self._session(text)
        limits = session.limits._replace(session=(session.id, session.ends))
        return self.accept(Caller(session.user, session.access_key_id, session.source, limits))

    async def _session(self, text: str) -> Session:
        session = await self._read(text)
        if session is None or await self._is_ended(session):
            raise _refused("the token is invalid or has expired; log in again")
        return session

    async def _read(self, text: str) -> Session | None:
        key_id = tokens.key_id_of(text)
        if key_id.startswith(tokens.SIGNED_IN):
            key = self.secret_key(key_id.removeprefix(tokens.SIGNED_IN))
            return None if key is None else tokens.read_signed_in(text, key)
        opened = await self._find(key_id)
        return None if opened is None else tokens.read(text, opened)

    def secret_key(self, id: str) -> SecretKey | None:
        """The secret key of this id. Reads the key file again at most once a second, because anybody can send ids."""
        ring, now = self._store.ring, self._clock()
        for key in ring.keys:
            if key.id == id:
                return key
        if now < self._ring_read + REMEMBER_SECONDS:
            return None
        self._ring_read = now
        return ring.find(id)

    async def user_of(self, name: str, generation: int) -> User | None:
        """The user of a token. None if the user is deleted, or has ended all tokens since it was made."""
        user = await self.user(name)
        if user is not None and user.generation < generation:
            user = await self._user_now(name)  # another server may have changed it since the last read
        return None if user is None or user.generation != generation else user

    async def _is_ended(self, session: Session) -> bool:
        if await self.user_of(session.user, session.generation) is None:
            return True
        return await self.has_ended(session.id, session.ends)

    async def has_ended(self, session: str, ends: int) -> bool:
        """Whether a session ended before its latest end, in Unix seconds. At most a second old."""
        if self._open.get(session):
            return False
        asked = self._clock()
        ended = await self.sessions.is_ended(session, ends)
        if not ended:
            self._open.put(session, True, asked)
        return ended


def _token(headers: Mapping[bytes, bytes], *, https: bool) -> str | None:
    """The token of a request: from its header, or from the cookie when there is no such header."""
    authorization = headers.get(b"authorization")
    if authorization is None:
        return _cookie(headers.get(b"cookie"), tokens.cookie_name(https=https))
    scheme, _, value = authorization.partition(b" ")
    return value.strip().decode("latin-1") if scheme.lower() == b"bearer" else None


def _pair(value: bytes) -> tuple[str, str]:
    try:
        text = base64.b64decode(value.strip(), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise _refused("the Basic credentials cannot be read") from None
    access_key_id, _, secret_access_key = text.partition(":")
    return access_key_id, secret_access_key


def key_id_of(value: bytes) -> str:
    """The access key id of Basic credentials, right or wrong. Empty when they are not a pair."""
    try:
        access_key_id, colon, _ = base64.b64decode(value.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return access_key_id if colon else ""  # without a colon it may be a secret alone


def claimed_key_id(headers: Mapping[bytes, bytes], *, https: bool) -> str:
    """The access key id in the credentials or token of a request, not verified. For logs."""
    scheme, _, value = headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() == b"basic":
        return key_id_of(value)
    text = _token(headers, https=https)
    return "" if text is None else tokens.key_id_of(text)


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
