"""The keys at the start of a server: it finds its secret key, and ensures that the admin has an access key."""

from __future__ import annotations

import time
from pathlib import Path

from lakebed_engine.stores.kv.base import KVStore

from lakebed_server.auth.credentials import CredentialStore, is_used
from lakebed_server.auth.key_file import KeyFile, new_secret
from lakebed_server.auth.records import SHORTEST_SECRET, Credential
from lakebed_server.auth.secret_key import KeyRing, SecretKey, configured
from lakebed_server.settings.schema import Settings
from lakebed_server.vocabulary import SettingError, StartError


def key_file(settings: Settings) -> KeyFile:
    """The file of secret keys, used where `auth.secret_key` is not set."""
    return KeyFile(Path(settings.data_dir) / "secret.key")


async def key_ring(settings: Settings, kv: KVStore, *, forget: bool = False) -> KeyRing:
    """The secret keys. Makes a first one only if no access key is encrypted with another. Raises StartError.

    `forget`: makes one even if access keys cannot be decrypted any more.
    """
    if settings.auth.secret_key:
        return configured(settings.auth.secret_key, settings.auth.previous_secret_key)
    if settings.kv.type == "memory":
        return KeyRing([SecretKey(new_secret())])  # nothing that it encrypts is kept
    file = key_file(settings)
    keys = file.read()
    if not keys and not forget and await is_used(kv):
        raise StartError(
            f"there is no {file.path}, but the store holds access keys that were encrypted with it: copy the file from "
            "the other server of this lake (all need the same secret key), restore it from a backup, or set "
            "auth.secret_key if that was set before; if it is lost, `lakebed keys reset-admin "
            "--forget-unreadable` removes these access keys and makes a new one"
        )
    return KeyRing(keys or file.make(), file.read)


async def ensure_admin(settings: Settings, store: CredentialStore) -> Credential | None:
    """Ensure that the admin has an access key. Returns the key if it was made. Raises StartError."""
    if settings.admin.access_key_id and len(settings.admin.secret_access_key) < SHORTEST_SECRET:
        raise SettingError(
            f"admin.secret_access_key is too short: it needs at least {SHORTEST_SECRET} characters; choose a longer "
            "one, or remove both admin settings: the pair that is stored works without them"
        )
    now = int(time.time())
    await store.check_secret()
    await store.index_keys()
    if not settings.admin.access_key_id:
        return await store.make_first_admin(now)
    await store.ensure_admin(settings.admin.access_key_id, settings.admin.secret_access_key, now)
    return None
