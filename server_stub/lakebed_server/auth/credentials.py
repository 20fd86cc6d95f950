"""Reads and writes access keys, users and ended sessions in the KV store (`records`)."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, NamedTuple, TypeVar

import msgspec
from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, Delete, KVStore, Put, Row, scan_rows
from lakebed_engine.vocabulary.errors import PredicateFailed, TooManyAttemptsError

from lakebed_server.auth import key_index, records
from lakebed_server.auth.records import (
    CHANGES,
    EPOCH,
    PARTITION,
    Credential,
    CurrentSecret,
    StoredCredential,
    User,
    change_now,
    put_credential,
    put_secret,
    put_user,
)
from lakebed_server.auth.secret_key import KeyRing, SecretKey
from lakebed_server.auth.sessions import Sessions
from lakebed_server.vocabulary import RequestError, StartError

ADMIN: Final = "admin"
WRONG_KEY: Final = (
    "the stored access keys cannot be decrypted: auth.secret_key (or the secret.key file of the data directory) is "
    "not the key that encrypted them; restore the old one or, if it is lost, run `lakebed keys reset-admin`"
)

T = TypeVar("T")

_ATTEMPTS: Final = 20
_PAGE: Final = 100

_decode = msgspec.json.Decoder(StoredCredential).decode


class Opened(NamedTuple):
    """An access key, and the secret key that encrypted it. `named`: the row names that key (in 0.1 no row did)."""

    credential: Credential
    key: SecretKey
    named: bool


class Listed(NamedTuple):
    """An access key without its secret. `last_used`: in Unix seconds, 0 for never."""

    key: StoredCredential
    last_used: int


class CredentialStore:
    """Access keys and users. Any call may raise StartError: the secret key that a row needs is missing."""

    def __init__(self, kv: KVStore, ring: KeyRing) -> None:
        self._kv = kv
        self._ring = ring
        self.sessions = Sessions(kv)
        self._dummy = records.seal(Credential("", secrets.token_hex(20), "", 0), ring.newest)

    @property
    def kv(self) -> KVStore:
        """The store of all rows."""
        return self._kv

    @property
    def ring(self) -> KeyRing:
        """The secret keys."""
        return self._ring

    async def find(self, access_key_id: str) -> Opened | None:
        """The access key with this id. An unknown id costs the same decryption as a known one."""
        found = await self._kv.get(PARTITION, records.credential_key(access_key_id))
        if found is None:
            self._open("", self._dummy)
            return None
        return self._open(access_key_id, _stored(found.value))

    async def find_user(self, name: str) -> User | None:
        """The user of this name."""
        found = await self._kv.get(PARTITION, records.user_key(name))
        return None if found is None else msgspec.json.decode(found.value, type=User)

    async def make_first_admin(self, now: int, access_key_id: str = "", secret: str = "") -> Credential | None:
        """Make the admin user and an access key if there is no user. Of two servers that start, one does it."""
        made = records.new_credential(ADMIN, now, access_key_id, secret)

        async def attempt() -> Credential | None:
            if await self._kv.scan(PARTITION, records.user_key(""), records.user_key("") + b"\xff", 1):
                return None
            key, check = await self.current()
            record = await self.record(f"making access key {made.access_key_id!r} of user {ADMIN!r}")
            puts = [put_user(User(ADMIN, now)), *put_credential(made, key), record]
            await self._kv.apply(Batch(checks=[Check(PARTITION, records.user_key(ADMIN), ABSENT), check], puts=puts))
            return made

        return await repeated(attempt, "making the first administrator")

    async def ensure_admin(self, access_key_id: str, secret_access_key: str, now: int) -> None:
        """Store this pair as a key of the admin. Keeps other keys. Raises StartError for a too long id."""
        if len(access_key_id) > records.LONGEST_ID:
            raise StartError(f"admin.access_key_id has {len(access_key_id)} characters: at most {records.LONGEST_ID}")

        async def attempt() -> None:
            found = await self.find(access_key_id)
            created = found.credential.created if found else now
            wanted = Credential(access_key_id, secret_access_key, ADMIN, created)
            if found is not None and found.credential == wanted:
                return
            user, seen = await self.user_row(ADMIN, now)
            key, check = await self.current()
            old = [] if found is None else [Delete(PARTITION, records.owner_key(found.credential.user, access_key_id))]
            record = await self.record(f"storing access key {access_key_id!r} of user {ADMIN!r}")
            puts = [put_user(user), *put_credential(wanted, key), record]
            await self._kv.apply(Batch(checks=[seen, check], puts=puts, deletes=old))

        await repeated(attempt, f"storing access key {access_key_id!r}")

    async def list_of(self, user: str, prefix: str, after: str, amount: int) -> tuple[list[Listed], bool]:
        """A page of a user's access keys in order of id, and whether more follow."""
        found: list[Listed] = []
        async for access_key_id, used in key_index.keys_of(self._kv, user, prefix, after):
            row = await self._kv.get(PARTITION, records.credential_key(access_key_id))
            if row is None:
                continue  # removed in the time between
            if len(found) == amount:
                return found, True
            found.append(Listed(_stored(row.value), used))
        return found, False

    async def describe(self, access_key_id: str, user: str) -> Listed | None:
        """An access key of a user. None if this user has no such key."""
        keys = [records.credential_key(access_key_id), records.owner_key(user, access_key_id)]
        row, index = await self._kv.get_many(PARTITION, keys)
        stored = None if row is None else _stored(row.value)
        if stored is None or stored.user != user:
            return None
        return Listed(stored, 0 if index is None else key_index.last_used(index.value))

    async def record(self, what: str) -> Put:
        """The row of a change of access keys, for the batch of the change. Its id follows those of the present epoch.

        The epoch stays, because no right of a user changes.
        """
        found = await self._kv.get(PARTITION, EPOCH.encode())
        epoch = 0 if found is None else int(found.value)
        id = f"{epoch:016}.{time.time_ns() // 1000:016}.{secrets.token_hex(4)}"
        return Put(PARTITION, f"{CHANGES}{id}".encode(), msgspec.json.encode(change_now(what, "key")))

    async def rows(self) -> AsyncIterator[Row]:
        """The rows of all access keys in order of id."""
        async for row in scan_rows(self._kv, PARTITION, records.CREDENTIALS, records.CREDENTIALS + b"\xff", size=_PAGE):
            yield row

    async def add(self, user: str, now: int, *, name: str = "", expires: int = 0, statement: str = "") -> Credential:
        """Make another access key for a user. Raises RequestError: 404 without such a user, 401 for a disabled one.

        `expires` and `statement`: as in Credential.
        """
        fresh = records.new_credential(user, now)
        made = msgspec.structs.replace(fresh, name=name, expires=expires, statement=statement)

        async def attempt() -> Credential:
            owner, seen = await self.user_row(user, now)
            if seen.version == ABSENT or owner.deleting:
                raise RequestError("user_not_found", f"there is no user {user[:256]!r}")
            if owner.disabled:
                raise RequestError("unauthenticated", f"user {user!r} is disabled; ask an administrator")
            key, check = await self.current()
            record = await self.record(f"making access key {made.access_key_id!r} of user {user!r}{_limits(made)}")
            await self._kv.apply(Batch(checks=[seen, check], puts=[*put_credential(made, key), record]))
            return made

        return await repeated(attempt, "making an access key")

    async def remove(self, access_key_id: str, user: str, *, keep_one: bool = True) -> None:
        """Remove an access key of a user.

        With `keep_one`, raises RequestError (`last_credential`) for the last key without an expiry and a policy. The
        batch checks that another one is there. So of two servers that remove the last two, one fails.
        """
        deletes = records.delete_credential(access_key_id, user)

        async def attempt() -> None:
            row = await self._kv.get(PARTITION, records.credential_key(access_key_id))
            puts = [await self.record(f"deleting access key {access_key_id!r} of user {user!r}")] if row else []
            if not keep_one or (row is not None and _stored(row.value).is_limited):
                await self._kv.apply(Batch(puts=puts, deletes=deletes))
                return
            other = await self._another(access_key_id, user)
            if other is None:
                raise RequestError(
                    "last_credential",
                    f"access key {access_key_id!r} is the last one of {user!r} without an expiry and a policy: without "
                    "it, the user cannot log in; create another one first (`lakebed key create`), then remove this one",
                )
            checks = [Check(PARTITION, other.key, other.version)]
            await self._kv.apply(Batch(checks=checks, puts=puts, deletes=deletes))

        await repeated(attempt, f"removing access key {access_key_id!r}")

    async def end_sessions(self, name: str, now: int) -> None:
        """End all sessions of a user: increments the generation, which tokens contain."""

        async def attempt() -> None:
            user, seen = await self.user_row(name, now)
            ended = msgspec.structs.replace(user, generation=user.generation + 1)
            await self._kv.apply(Batch(checks=[seen], puts=[put_user(ended)]))

        await repeated(attempt, f"ending the sessions of {name!r}")
        await self.sessions.forget(name)

    async def check_secret(self) -> None:
        """Store which secret key encrypts, if that is not stored. Raises StartError when none decrypts the rows."""
        first = await self._kv.scan(PARTITION, records.CREDENTIALS, records.CREDENTIALS + b"\xff", 1)
        key = self.opened(first[0]).key if first else self._ring.newest
        current, seen = await self._current()
        if seen.version == ABSENT or (current is None and not first):
            with contextlib.suppress(PredicateFailed):  # another server was first
                await self._kv.apply(Batch(checks=[seen], puts=[put_secret(key)]))
        await self.current()

    async def index_keys(self) -> None:
        """Add the access keys of a store of 0.1 to the index by user."""
        await key_index.build(self._kv)

    def opened(self, row: Row) -> Opened:
        """The access key of a row. Raises StartError."""
        return self._open(_id_of(row), _stored(row.value))

    def opened_or_none(self, row: Row) -> Opened | None:
        """The access key of a row. None when no secret key decrypts it."""
        return self._try(_id_of(row), _stored(row.value))

    async def current(self) -> tuple[SecretKey, Check]:
        """The key that encrypts, and the check that no rotation has replaced it."""
        key, check = await self._current()
        if key is None:
            raise StartError(WRONG_KEY)
        return key, check

    async def current_or_newest(self) -> tuple[SecretKey, Check]:
        """As `current`, but returns the newest key when the current one is missing."""
        key, check = await self._current()
        return key or self._ring.newest, check

    async def user_row(self, name: str, now: int) -> tuple[User, Check]:
        """A user, new if there is none, and the check that it has not changed."""
        found = await self._kv.get(PARTITION, records.user_key(name))
        user = User(name, now) if found is None else msgspec.json.decode(found.value, type=User)
        return user, Check(PARTITION, records.user_key(name), ABSENT if found is None else found.version)

    async def _another(self, access_key_id: str, user: str) -> Row | None:
        """The row of another access key that gives this user all of its rights, without an end."""
        async for other, _ in key_index.keys_of(self._kv, user):
            key = records.credential_key(other)
            found = await self._kv.get(PARTITION, key)
            if found is None or other == access_key_id:
                continue
            stored = _stored(found.value)
            if not stored.is_limited and self._try(other, stored) is not None:
                return Row(key, *found)
        return None

    async def _current(self) -> tuple[SecretKey | None, Check]:
        row = await self._kv.get(PARTITION, records.SECRET)
        if row is None:
            return self._ring.newest, Check(PARTITION, records.SECRET, ABSENT)
        key = self._ring.find(msgspec.json.decode(row.value, type=CurrentSecret).key)
        return key, Check(PARTITION, records.SECRET, row.version)

    def _open(self, access_key_id: str, stored: StoredCredential) -> Opened:
        found = self._try(access_key_id, stored)
        if found is None:
            raise StartError(WRONG_KEY)
        return found

    def _try(self, access_key_id: str, stored: StoredCredential) -> Opened | None:
        for key in self._ring.candidates(stored.key):
            credential = records.unseal(access_key_id, stored, key)
            if credential is not None:
                return Opened(credential, key, bool(stored.key))
        return None


def _limits(key: Credential) -> str:
    """The limits of a new access key, in words."""
    end = f" until {time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(key.expires))} UTC" if key.expires else ""
    return end + (" with a policy" if key.statement else "")


def _stored(value: bytes) -> StoredCredential:
    stored = _decode(value)
    if stored.envelope > records.ENVELOPE:
        raise StartError(
            f"access key {stored.access_key_id!r} was encrypted by a newer Lakebed; upgrade this installation "
            f"(it knows envelope {records.ENVELOPE}, the key has {stored.envelope})"
        )
    return stored


def _id_of(row: Row) -> str:
    return row.key.removeprefix(records.CREDENTIALS).decode()


async def is_used(kv: KVStore) -> bool:
    """Whether a store holds access keys, which need the secret key that encrypted them."""
    return bool(await kv.scan(PARTITION, records.CREDENTIALS, records.CREDENTIALS + b"\xff", 1))


async def repeated(attempt: Callable[[], Awaitable[T]], what: str) -> T:
    """Repeat a change that loses a race. Raises TooManyAttemptsError."""
    for _ in range(_ATTEMPTS):
        with contextlib.suppress(PredicateFailed):
            return await attempt()
    raise TooManyAttemptsError(f"{what}: concurrent changes came first in {_ATTEMPTS} tries; try again later")
