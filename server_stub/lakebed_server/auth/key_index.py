"""The access keys of each user: rows `keys-of/USER/ACCESS_KEY_ID` in partition `auth`, with the last use of each key.

Every change that adds or removes an access key changes its row here in the same batch. A store of 0.1 has no such rows:
the first start of a newer server adds them (`build`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import msgspec
from lakebed_engine.stores.kv.base import Batch, Check, KVStore, Put, scan_rows
from lakebed_engine.vocabulary.errors import PredicateFailed

from lakebed_server.auth.records import CREDENTIALS, PARTITION, owner_key

_BUILT: Final = b"keys-of"
"""The row that says that all access keys are in the index."""
_PAGE: Final = 100


class _Owned(msgspec.Struct):
    access_key_id: str
    user: str


class Use(msgspec.Struct, frozen=True):
    """The time of the last use of an access key in Unix seconds."""

    last_used: int


def last_used(value: bytes) -> int:
    """The time in a row of the index, 0 for a key that was not used yet."""
    use = msgspec.json.decode(value, type=Use | None)
    return 0 if use is None else use.last_used


async def keys_of(kv: KVStore, user: str, prefix: str = "", after: str = "") -> AsyncIterator[tuple[str, int]]:
    """The ids of a user's access keys in order, with their last uses. `prefix` and `after` are of the ids."""
    start = owner_key(user, prefix)
    end = start + b"\xff"
    if after:
        start = max(start, owner_key(user, after) + b"\0")
    skipped = len(owner_key(user, ""))
    async for row in scan_rows(kv, PARTITION, start, end, size=_PAGE):
        yield row.key[skipped:].decode(), last_used(row.value)


async def build(kv: KVStore) -> None:
    """Add all access keys to the index, if that was not done yet. Several servers may do it at the same time."""
    if await kv.get(PARTITION, _BUILT) is not None:
        return
    start, end = CREDENTIALS, CREDENTIALS + b"\xff"
    while rows := await kv.scan(PARTITION, start, end, _PAGE):
        owned = [msgspec.json.decode(row.value, type=_Owned) for row in rows]
        puts = [Put(PARTITION, owner_key(one.user, one.access_key_id), b"null") for one in owned]
        try:
            await kv.apply(Batch(checks=[Check(PARTITION, row.key, row.version) for row in rows], puts=puts))
        except PredicateFailed:
            continue  # an access key was changed or removed in the time between: read this page again
        start = rows[-1].key + b"\0"
    await kv.apply(Batch(puts=[Put(PARTITION, _BUILT, b"null")]))
