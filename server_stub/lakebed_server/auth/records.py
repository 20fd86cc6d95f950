"""Users, access keys and their rows in partition `auth` of the KV store, with the secrets encrypted.

Secrets are encrypted with AES-GCM and not hashed, because the signatures of the S3 gateway need them. Rows are JSON:

    users/NAME                   a user
    keys-of/NAME/ACCESS_KEY_ID   an access key of this user, and its last use (`key_index`)
    credentials/ACCESS_KEY_ID    an access key. `key`: the id of the secret key that encrypted it
    sessions/NAME/SESSION        an open login session of a user
    revoked/END/SESSION          a login session that ended before it expired. END: its expiry in Unix seconds
    secret                       the id of the secret key that encrypts from now on
    changes/ID                   a change of users, groups, policies or access keys (`Change`), in the order of ids
    epoch                        the number of changes of users, groups and policies
"""

from __future__ import annotations

import hmac
import secrets
import string
import time
from typing import Final, NamedTuple

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from lakebed_engine.stores.kv.base import Delete, Put
from lakebed_engine.vocabulary.events import current_actor

from lakebed_server.auth.secret_key import SecretKey

PARTITION: Final = "auth"
SECRET: Final = b"secret"
CREDENTIALS: Final = b"credentials/"
REVOKED: Final = b"revoked/"
CHANGES: Final = "changes/"
EPOCH: Final = "epoch"
LONGEST_ID: Final = 128
"""The largest number of characters in an access key id. The server does not look up or cache longer ones."""
SHORTEST_SECRET: Final = 16
"""The smallest number of characters of a secret access key that a person chooses."""

ENVELOPE: Final = 2
"""Newest version of the envelope: 12 bytes of nonce, then AES-GCM. The associated data binds the secret to

    1   the access key id. Keys without an expiry and a policy, so that older servers read them.
    2   the access key id, the user, the expiry and the policy. A server that does not know these refuses the key.
"""
PREFIX: Final = "LKBD"
"""The beginning of the access key ids that this version makes. Scanners for leaked secrets can search for it."""

_BASE32 = string.ascii_uppercase + "234567"
_BASE64 = string.ascii_letters + string.digits + "+/"
_NONCE = 12


class User(msgspec.Struct, frozen=True, omit_defaults=True):
    """A user. `created` is in Unix seconds. `generation` is incremented when all its sessions end.

    A user that is `disabled` or `deleting` cannot do anything. A `service` is a program, not a person.
    """

    id: str
    created: int
    generation: int = 0
    friendly_name: str = ""
    email: str = ""
    disabled: bool = False
    service: bool = False
    deleting: bool = False


class Limits(NamedTuple):
    """What restricts an access key beyond the rights of its user.

    `expires`: its end in Unix seconds, 0 for none. `policies`: the JSON of policies. All of them must allow what
    the key does. `session`: the id of the session whose token was sent, and the session's latest end in Unix seconds.
    """

    expires: int = 0
    policies: tuple[str, ...] = ()
    session: tuple[str, int] = ("", 0)


class Credential(msgspec.Struct, frozen=True):
    """An access key with its secret in clear text. It is only in memory, and its repr shows no secret.

    `expires`: its end in Unix seconds, 0 for none. `statement`: the JSON of its policy, empty for none.
    """

    access_key_id: str
    secret_access_key: str
    user: str
    created: int
    name: str = ""
    expires: int = 0
    statement: str = ""

    def __repr__(self) -> str:
        return f"Credential({self.access_key_id!r}, user={self.user!r})"

    @property
    def limits(self) -> Limits:
        """What restricts this key."""
        return Limits(self.expires, (self.statement,) if self.statement else ())

    def token_key(self, key: SecretKey) -> bytes:
        """The key that signs this access key's tokens. It changes with the secret and when the key is made again."""
        content = msgspec.json.encode([self.access_key_id, self.secret_access_key, self.created])
        return hmac.digest(key.derive("tokens"), content, "sha256")


class Change(msgspec.Struct, frozen=True):
    """A change of rights: of users, groups, policies, relations or access keys. Its row is in the batch of the change.

    `time` is in Unix seconds, and in `milliseconds`; `by` is the user who made it. `kind` is what was changed: `user`,
    `group`, `policy`, `membership`, `attachment` or `key`. Rows of before 0.1 have only the first three fields.
    """

    time: int
    by: str
    what: str
    id: str = ""
    kind: str = ""
    milliseconds: int = 0
    request_id: str = ""


def change_now(what: str, kind: str) -> Change:
    """A change that the user of this request makes now."""
    now, actor = time.time_ns() // 1_000_000, current_actor()
    return Change(now // 1000, actor.user or "server", what, "", kind, now, actor.request_id)


class StoredCredential(msgspec.Struct, frozen=True, omit_defaults=True):
    """An access key as it is stored. `key` is empty in rows of 0.1, which had one secret key.

    `envelope` is the version of how the secret is encrypted. A reader refuses a greater one than ENVELOPE.
    `expires` and `statement`: as in Credential.
    """

    access_key_id: str
    user: str
    created: int
    secret: bytes  # nonce and AES-GCM ciphertext, base64 in JSON
    key: str = ""
    envelope: int = 1
    name: str = ""
    expires: int = 0
    statement: str = ""

    @property
    def is_limited(self) -> bool:
        """Whether the key ends by itself or has a policy."""
        return bool(self.expires or self.statement)


class CurrentSecret(msgspec.Struct, frozen=True):
    """The secret key that encrypts from now on."""

    key: str


def seal(credential: Credential, key: SecretKey) -> StoredCredential:
    """Encrypt a secret."""
    stored = StoredCredential(
        credential.access_key_id,
        credential.user,
        credential.created,
        b"",
        key.id,
        2 if credential.expires or credential.statement else 1,
        credential.name,
        credential.expires,
        credential.statement,
    )
    nonce = secrets.token_bytes(_NONCE)
    text = _cipher(key).encrypt(nonce, credential.secret_access_key.encode(), _bound(credential.access_key_id, stored))
    return msgspec.structs.replace(stored, secret=nonce + text)


def unseal(access_key_id: str, stored: StoredCredential, key: SecretKey) -> Credential | None:
    """Decrypt a secret. None when it was encrypted with another key, for another access key, or with other limits."""
    if stored.is_limited and stored.envelope == 1:
        return None
    nonce, text = stored.secret[:_NONCE], stored.secret[_NONCE:]
    try:
        secret = _cipher(key).decrypt(nonce, text, _bound(access_key_id, stored)).decode()
    except InvalidTag:
        return None
    return Credential(access_key_id, secret, stored.user, stored.created, stored.name, stored.expires, stored.statement)


def _bound(access_key_id: str, stored: StoredCredential) -> bytes:
    """What the ciphertext is bound to: a secret that was copied to another row does not open."""
    if stored.envelope == 1:
        return access_key_id.encode()
    return msgspec.json.encode([access_key_id, stored.user, stored.expires, stored.statement])


def new_credential(user: str, now: int, access_key_id: str = "", secret: str = "") -> Credential:
    """A new access key. A missing id or secret is random.

    An id has the 20 characters that S3 clients expect: PREFIX and 16 of A-Z and 2-7. A secret has 40 characters of the
    base64 alphabet: 240 random bits.
    """
    drawn = PREFIX + "".join(secrets.choice(_BASE32) for _ in range(16))
    return Credential(access_key_id or drawn, secret or "".join(secrets.choice(_BASE64) for _ in range(40)), user, now)


def credential_key(access_key_id: str) -> bytes:
    """The row of an access key."""
    return CREDENTIALS + access_key_id.encode()


def user_key(name: str) -> bytes:
    """The row of a user."""
    return b"users/" + name.encode()


def revoked_key(expires: int, session: str) -> bytes:
    """The row of an ended session. Rows are ordered by the expiry of their sessions."""
    return b"%s%012d/%s" % (REVOKED, expires, session.encode())


def put_user(user: User) -> Put:
    """The change that stores a user."""
    return Put(PARTITION, user_key(user.id), msgspec.json.encode(user))


def owner_key(user: str, access_key_id: str) -> bytes:
    """The row by which the access keys of a user are found."""
    return f"keys-of/{user}/{access_key_id}".encode()


def put_credential(credential: Credential, key: SecretKey) -> list[Put]:
    """The changes that store an access key, its secret encrypted, and add it to the index."""
    index = Put(PARTITION, owner_key(credential.user, credential.access_key_id), b"null")
    return [put_sealed(credential, key), index]


def put_sealed(credential: Credential, key: SecretKey) -> Put:
    """The change that stores an access key, its secret encrypted."""
    stored = seal(credential, key)
    return Put(PARTITION, credential_key(credential.access_key_id), msgspec.json.encode(stored))


def delete_credential(access_key_id: str, user: str) -> list[Delete]:
    """The changes that remove an access key of a user."""
    return [Delete(PARTITION, credential_key(access_key_id)), Delete(PARTITION, owner_key(user, access_key_id))]


def put_secret(key: SecretKey) -> Put:
    """The change after which a secret key encrypts all new secrets."""
    return Put(PARTITION, SECRET, msgspec.json.encode(CurrentSecret(key.id)))


def _cipher(key: SecretKey) -> AESGCM:
    return AESGCM(key.derive("credentials"))
