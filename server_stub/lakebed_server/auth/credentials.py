"""Access keys and users, kept in the KV store with their secrets encrypted.

Above the KV interface and `secret_key`, under `authenticate` and `serve`. Secrets are encrypted with AES-GCM and not
hashed, because the signatures of the S3 gateway need them. Partition `auth` holds `users/NAME` and
`credentials/ACCESS_KEY_ID`, both JSON.
"""

from __future__ import annotations

import secrets
import string
from typing import Final

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, Delete, KVStore, Put
from lakebed_engine.vocabulary.errors import PredicateFailed

from lakebed_server.auth.secret_key import SecretKey
from lakebed_server.vocabulary import StartError

PARTITION: Final = "auth"
ADMIN: Final = "admin"
LONGEST_ID: Final = 128
"""Characters of an access key id. The server looks up and remembers no longer one."""

_BASE32 = string.ascii_uppercase + "234567"
_BASE64 = string.ascii_letters + string.digits + "+/"
_NONCE = 12


class User(msgspec.Struct, frozen=True):
    """A user: a name and the time it was made (Unix seconds)."""

    id: str
    created: int


class Credential(msgspec.Struct, frozen=True):
    """An access key in the clear. Lives in memory only, and its repr shows no secret."""

    access_key_id: str
    secret_access_key: str
    user: str
    created: int

    def __repr__(self) -> str:
        return f"Credential({self.access_key_id!r}, user={self.user!r})"


class _Stored(msgspec.Struct, frozen=True):
    access_key_id: str
    user: str
    created: int
    secret: bytes  # nonce and AES-GCM ciphertext; base64 in JSON


class CredentialStore:
    """Reads and writes access keys and users."""

    def __init__(self, kv: KVStore, key: SecretKey) -> None:
        self._kv = kv
        self._cipher = AESGCM(key.derive("credentials"))
        self._decode = msgspec.json.Decoder(_Stored).decode
        self._dummy = self._seal("", secrets.token_hex(20))

    async def find(self, access_key_id: str) -> Credential | None:
        """The access key of this id. An unknown one costs the same decryption as a known one."""
        found = await self._kv.get(PARTITION, _credential_key(access_key_id))
        if found is None:
            self._open("", self._dummy)
            return None
        stored = self._decode(found.value)
        secret = self._open(access_key_id, stored.secret)
        return Credential(access_key_id, secret, stored.user, stored.created)

    async def find_user(self, name: str) -> User | None:
        """The user of this name."""
        found = await self._kv.get(PARTITION, _user_key(name))
        return None if found is None else msgspec.json.decode(found.value, type=User)

    async def make_first_admin(self, now: int, access_key_id: str = "", secret: str = "") -> Credential | None:
        """Make the admin user and an access key, when there is no admin yet. Of two servers at once, one makes it."""
        made = Credential(access_key_id or new_access_key_id(), secret or new_secret_access_key(), ADMIN, now)
        puts = [self._put_user(User(ADMIN, now)), self._put(made)]
        try:
            await self._kv.apply(Batch(checks=[Check(PARTITION, _user_key(ADMIN), ABSENT)], puts=puts))
        except PredicateFailed:
            return None
        return made

    async def ensure_admin(self, access_key_id: str, secret_access_key: str, now: int) -> None:
        """Store this pair as a key of the admin; other keys stay as they are. Raises StartError for an id too long."""
        if len(access_key_id) > LONGEST_ID:
            raise StartError(f"admin.access_key_id has {len(access_key_id)} characters: at most {LONGEST_ID}")
        user = await self.find_user(ADMIN) or User(ADMIN, now)
        found = await self.find(access_key_id)
        wanted = Credential(access_key_id, secret_access_key, ADMIN, found.created if found else now)
        if found != wanted:
            await self._kv.apply(Batch(puts=[self._put_user(user), self._put(wanted)]))

    async def list_of(self, user: str, prefix: str, after: str, amount: int) -> tuple[list[Credential], bool]:
        """A page of a user's access keys in order of their ids, without secrets; and whether more follow."""
        found: list[Credential] = []
        start = max(_credential_key(prefix), _credential_key(after) + b"\0" if after else b"")
        end = _credential_key(prefix) + b"\xff"
        while rows := await self._kv.scan(PARTITION, start, end, 100):
            for row in rows:
                stored = self._decode(row.value)
                if stored.user != user:
                    continue
                if len(found) == amount:
                    return found, True
                found.append(Credential(stored.access_key_id, "", stored.user, stored.created))
            start = rows[-1].key + b"\0"
        return found, False

    async def add(self, user: str, now: int) -> Credential:
        """Another access key for a user."""
        made = Credential(new_access_key_id(), new_secret_access_key(), user, now)
        await self._kv.apply(Batch(puts=[self._put(made)]))
        return made

    async def remove(self, access_key_id: str) -> None:
        """An access key works no more, here at once, with other servers within seconds."""
        await self._kv.apply(Batch(deletes=[Delete(PARTITION, _credential_key(access_key_id))]))

    async def check_key(self) -> None:
        """Raise StartError when the stored secrets were written under another secret key."""
        prefix = _credential_key("")
        rows = await self._kv.scan(PARTITION, prefix, prefix + b"\xff", limit=1)
        for row in rows:
            stored = self._decode(row.value)
            self._open(stored.access_key_id, stored.secret)

    def _put_user(self, user: User) -> Put:
        return Put(PARTITION, _user_key(user.id), msgspec.json.encode(user))

    def _put(self, credential: Credential) -> Put:
        sealed = self._seal(credential.access_key_id, credential.secret_access_key)
        stored = _Stored(credential.access_key_id, credential.user, credential.created, sealed)
        return Put(PARTITION, _credential_key(credential.access_key_id), msgspec.json.encode(stored))

    def _seal(self, access_key_id: str, secret: str) -> bytes:
        nonce = secrets.token_bytes(_NONCE)
        # the id is bound to the ciphertext: a secret copied under another id does not open
        return nonce + self._cipher.encrypt(nonce, secret.encode(), access_key_id.encode())

    def _open(self, access_key_id: str, sealed: bytes) -> str:
        try:
            return self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], access_key_id.encode()).decode()
        except InvalidTag:
            raise StartError(
                "the stored access keys cannot be decrypted: auth.secret_key (or the secret.key file of the data "
                "directory) is not the one they were written with; put the old one back"
            ) from None


def new_access_key_id() -> str:
    """20 characters in the form that AWS tools know: `AKIAJ`, 14 of A-Z and 2-7, `Q`."""
    return "AKIAJ" + "".join(secrets.choice(_BASE32) for _ in range(14)) + "Q"


def new_secret_access_key() -> str:
    """40 characters of the base64 alphabet: 240 random bits."""
    return "".join(secrets.choice(_BASE64) for _ in range(40))


def _credential_key(access_key_id: str) -> bytes:
    return b"credentials/" + access_key_id.encode()


def _user_key(name: str) -> bytes:
    return b"users/" + name.encode()
