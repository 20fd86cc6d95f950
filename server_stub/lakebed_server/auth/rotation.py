"""`lakebed keys`: replaces the secret key, and makes an access key when all are lost.

Both commands open the stores directly and may be interrupted at any moment. The stored keys can be read before and
after each step, and the same command continues where it stopped.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec
from lakebed_engine.stores.kv.base import Batch, Check, KVStore, Row
from lakebed_engine.vocabulary.errors import PredicateFailed

from lakebed_server.auth.credentials import ADMIN, CredentialStore, repeated
from lakebed_server.auth.key_file import KeyFile
from lakebed_server.auth.records import (
    PARTITION,
    Credential,
    StoredCredential,
    delete_credential,
    new_credential,
    put_credential,
    put_sealed,
    put_secret,
    put_user,
)
from lakebed_server.auth.secret_key import KeyRing, SecretKey
from lakebed_server.vocabulary import StartError

FORGET: Final = "--forget-unreadable"


class Reset(NamedTuple):
    """The new access key, and the ids of the unreadable access keys that were removed."""

    made: Credential
    forgotten: list[str]


async def rotate_file(kv: KVStore, file: KeyFile) -> int:
    """Replace the key in the file. Returns the number of access keys that were encrypted again. Raises StartError.

    1. Append the new key to the file.
    2. Store that the new key encrypts from now on.
    3. Encrypt every access key with it.
    4. Remove the old key from the file.

    A server that finds a row of the new key reads the file again.
    """
    with file.locked():
        keys = prepared(file)
        count = await rotate(kv, KeyRing(keys))
        file.keep(keys[-1])
    return count


def prepared(file: KeyFile) -> list[SecretKey]:
    """The old key and the new one, which is made if it is missing. The caller locks the file. Raises StartError."""
    keys = file.read()
    if not keys:
        raise StartError(f"there is no {file.path}: start a server first, or give its --data-dir or --config")
    return keys if len(keys) > 1 else file.add()


async def rotate(kv: KVStore, ring: KeyRing) -> int:
    """Encrypt every access key with the newest key. Returns the number. Raises StartError, and then changes nothing."""
    store = CredentialStore(kv, ring)
    await store.check_secret()
    async for row in store.rows():
        store.opened(row)

    async def use() -> None:
        current, seen = await store.current()
        if current.id != ring.newest.id:
            await kv.apply(Batch(checks=[seen], puts=[put_secret(ring.newest)]))

    await repeated(use, "changing the secret key")
    total = 0
    while count := await _encrypt_again(kv, store, ring.newest):
        total += count
    if (await store.current())[0].id != ring.newest.id:
        raise StartError("another rotation ran at the same time, with another new key: run one of them again")
    return total


async def _encrypt_again(kv: KVStore, store: CredentialStore, key: SecretKey) -> int:
    count = 0
    async for row in store.rows():
        opened = store.opened(row)
        if opened.key.id == key.id and opened.named:
            continue
        count += 1
        try:
            put = put_sealed(opened.credential, key)
            await kv.apply(Batch(checks=[Check(PARTITION, row.key, row.version)], puts=[put]))
        except PredicateFailed:
            pass  # changed or removed in the time between: the next pass reads it again
    return count


async def reset_admin(kv: KVStore, ring: KeyRing, now: int, *, forget: bool) -> Reset:
    """Make another access key of the admin. With `forget`, access keys that no secret key decrypts are removed.

    Raises StartError when there are such keys and `forget` is not set: then nothing was changed.
    """
    store = CredentialStore(kv, ring)

    async def attempt() -> Reset:
        lost: list[Row] = [row async for row in store.rows() if store.opened_or_none(row) is None]
        ids = [row.key.partition(b"/")[2].decode() for row in lost]
        owners = [msgspec.json.decode(row.value, type=StoredCredential).user for row in lost]
        if lost and not forget:
            raise StartError(
                f"{len(lost)} stored access keys cannot be decrypted with this secret key: restore the old secret.key "
                f"(or auth.secret_key); if it is lost, run this again with {FORGET}, which removes these access keys"
            )
        user, seen = await store.user_row(ADMIN, now)
        key, current = await store.current_or_newest()
        made = new_credential(ADMIN, now)
        record = await store.record(f"making access key {made.access_key_id!r} of user {ADMIN!r} by `keys reset-admin`")
        deletes = [delete for id, owner in zip(ids, owners, strict=True) for delete in delete_credential(id, owner)]
        await kv.apply(
            Batch(
                checks=[seen, current, *(Check(PARTITION, row.key, row.version) for row in lost)],
                puts=[put_user(user), *put_credential(made, key), put_secret(key), record],
                deletes=deletes,
            )
        )
        return Reset(made, ids)

    return await repeated(attempt, "making an access key of the administrator")
