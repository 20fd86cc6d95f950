"""`lakebed keys`: puts a new secret key in the place of the old one, and makes an access key when all are lost.

Both work on the stores themselves, and may be broken off at any moment: what is stored can be read before and after
each step, and the same command goes on where it stopped.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from lakebed_engine.stores.kv.base import Batch, Check, Delete, KVStore, Row
from lakebed_engine.vocabulary.errors import PredicateFailed

from lakebed_server.auth.credentials import ADMIN, CredentialStore, repeated
from lakebed_server.auth.key_file import KeyFile
from lakebed_server.auth.records import PARTITION, Credential, new_credential, put_credential, put_secret, put_user
from lakebed_server.auth.secret_key import KeyRing, SecretKey
from lakebed_server.vocabulary import StartError

FORGET: Final = "--forget-unreadable"


class Reset(NamedTuple):
    """The new access key, and the ids of the unreadable access keys that were removed."""

    made: Credential
    forgotten: list[str]


async def rotate_file(kv: KVStore, file: KeyFile) -> int:
    """Put a new key in the place of the one in the file; how many access keys were encrypted again. Raises StartError.

    1. The new key is appended to the file. 2. The store says that the new one encrypts. 3. Every access key is
    encrypted with it. 4. The old one leaves the file. A server that meets the new key reads the file again.
    """
    with file.locked():
        keys = prepared(file)
        count = await rotate(kv, KeyRing(keys))
        file.keep(keys[-1])
    return count


def prepared(file: KeyFile) -> list[SecretKey]:
    """The old key and the new one, which is made unless it is there. The caller locks the file. Raises StartError."""
    keys = file.read()
    if not keys:
        raise StartError(f"there is no {file.path}: start a server first, or give its --data-dir or --config")
    return keys if len(keys) > 1 else file.add()


async def rotate(kv: KVStore, ring: KeyRing) -> int:
    """Encrypt every access key with the newest key; how many were not. Raises StartError, and then changed nothing."""
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
            put = put_credential(opened.credential, key)
            await kv.apply(Batch(checks=[Check(PARTITION, row.key, row.version)], puts=[put]))
        except PredicateFailed:
            pass  # it was changed or removed just now: the next pass reads it again
    return count


async def reset_admin(kv: KVStore, ring: KeyRing, now: int, *, forget: bool) -> Reset:
    """Make another access key of the admin. With `forget`, access keys that no secret key decrypts are removed.

    Raises StartError when there are such keys and `forget` is not set: then nothing was changed.
    """
    store = CredentialStore(kv, ring)

    async def attempt() -> Reset:
        lost: list[Row] = [row async for row in store.rows() if store.opened_or_none(row) is None]
        ids = [row.key.partition(b"/")[2].decode() for row in lost]
        if lost and not forget:
            raise StartError(
                f"{len(lost)} stored access keys cannot be decrypted with this secret key: put the old secret.key (or "
                f"auth.secret_key) back; if it is lost, run this again with {FORGET}, which removes these access keys"
            )
        user, seen = await store.user_row(ADMIN, now)
        key, current = await store.current_or_newest()
        made = new_credential(ADMIN, now)
        await kv.apply(
            Batch(
                checks=[seen, current, *(Check(PARTITION, row.key, row.version) for row in lost)],
                puts=[put_user(user), put_credential(made, key), put_secret(key)],
                deletes=[Delete(PARTITION, row.key) for row in lost],
            )
        )
        return Reset(made, ids)

    return await repeated(attempt, "making an access key of the administrator")
