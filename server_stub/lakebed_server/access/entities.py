"""What users, groups and policies have in common: they are found, listed, added and removed in the same way.

A removal first marks the row as deleting. From then on it has no effect and cannot be found, and nothing can be added
to it. Then its relations are removed in steps, and at last the row. A removal that was interrupted continues with the
next removal or creation of the same id.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Final, NamedTuple, TypeVar

import msgspec
from lakebed_engine.stores.kv.base import Batch, Check, Delete, KVStore

from lakebed_server.access import administrators
from lakebed_server.access.rows import Group, StoredPolicy, check_id
from lakebed_server.access.transaction import Transaction, change, scan
from lakebed_server.auth.records import PARTITION, User
from lakebed_server.vocabulary import RequestError

Entity = TypeVar("Entity", User, Group, StoredPolicy)

_STEP: Final = 500
"""Relations that one batch removes."""


class Relation(NamedTuple):
    """Rows of an entity whose keys begin with `prefix`, and the key of the same relation from the other side."""

    prefix: str
    inverse: Callable[[str], str]


class Kind(NamedTuple):
    """The names of a kind of entity."""

    word: str
    rows: str


KINDS: Final[dict[type, Kind]] = {
    User: Kind("user", "users/"),
    Group: Kind("group", "groups/"),
    StoredPolicy: Kind("policy", "policies/"),
}


async def found(tx: Transaction, kind: type[Entity], id: str) -> Entity:
    """The entity of this id. Raises RequestError (404), also while it is being deleted."""
    row = await _row(tx, kind, id)
    if row is None or row.deleting:
        raise RequestError(f"{KINDS[kind].word}_not_found", f"there is no {KINDS[kind].word} {id[:256]!r}")
    return row


async def page(kv: KVStore, kind: type[Entity], prefix: str, after: str, amount: int) -> tuple[list[Entity], bool]:
    """At most `amount` entities in the order of the bytes of their ids, and whether more follow."""
    page: list[Entity] = []
    async for _, value in scan(kv, KINDS[kind].rows, prefix, after, size=amount + 1):
        row = msgspec.json.decode(value, type=kind)
        if row.deleting:
            continue
        if len(page) == amount:
            return page, True
        page.append(row)
    return page, False


async def related(
    kv: KVStore, kind: type[Entity], rows: str, prefix: str, after: str, amount: int
) -> tuple[list[Entity], bool]:
    """As `page`, for the ids at the end of the keys that begin with `rows`."""
    page: list[Entity] = []
    async for id, _ in scan(kv, rows, prefix, after, size=amount + 1):
        value = await kv.get(PARTITION, f"{KINDS[kind].rows}{id}".encode())
        row = None if value is None else msgspec.json.decode(value.value, type=kind)
        if row is None or row.deleting:
            continue
        if len(page) == amount:
            return page, True
        page.append(row)
    return page, False


async def create(kv: KVStore, kind: type[Entity], entity: Entity) -> Entity:
    """Add an entity. Raises RequestError: 400 for its id, 409 when there is one."""
    word, id = KINDS[kind].word, check_id(KINDS[kind].word, entity.id)

    async def make(tx: Transaction) -> bool:
        row = await _row(tx, kind, id)
        if row is not None and row.deleting:
            return False
        if row is not None:
            raise RequestError("already_exists", f"Already exists: {word} {id!r}")
        tx.put(KINDS[kind].rows + id, entity)
        return True

    while not await change(kv, f"creating {word} {id!r}", make):
        await _finish(kv, kind, id)
    return entity


async def delete(kv: KVStore, kind: type[Entity], id: str) -> None:
    """Remove an entity and its relations. Raises RequestError: 404, 409 for the last administrator."""

    async def mark(tx: Transaction) -> None:
        row = await _row(tx, kind, id)
        if row is None:
            await found(tx, kind, id)
        elif not row.deleting:
            tx.put(KINDS[kind].rows + id, msgspec.structs.replace(row, deleting=True))
            await administrators.require_one(tx)

    await change(kv, f"deleting {KINDS[kind].word} {id!r}", mark)
    await _finish(kv, kind, id)


async def _finish(kv: KVStore, kind: type[Entity], id: str) -> None:
    """Remove the relations of an entity that is marked, then its row."""
    key = f"{KINDS[kind].rows}{id}".encode()
    while (row := await kv.get(PARTITION, key)) is not None:
        if not msgspec.json.decode(row.value, type=kind).deleting:
            return  # another process finished the deletion, and a new one was created
        step = [name async for name in _some(kv, kind, id)]
        deletes = [Delete(PARTITION, name.encode()) for name in step] or [Delete(PARTITION, key)]
        await kv.apply(Batch(checks=[Check(PARTITION, key, row.version)], deletes=deletes))


async def _some(kv: KVStore, kind: type[Entity], id: str) -> AsyncIterator[str]:
    """The keys of some relations of an entity, both sides."""
    for prefix, inverse in _relations(kind, id):
        count = 0
        async for name, _ in scan(kv, prefix):
            yield prefix + name
            yield inverse(name)
            count += 1
            if count == _STEP:
                return


def _relations(kind: type[Entity], id: str) -> list[Relation]:
    if kind is User:
        return [
            Relation(f"groups-of/{id}/", lambda group: f"members/{group}/{id}"),
            Relation(f"attached/user/{id}/", lambda policy: f"used-by/{policy}/user/{id}"),
            Relation(f"keys-of/{id}/", lambda key: f"credentials/{key}"),
            Relation(f"sessions/{id}/", lambda session: f"sessions/{id}/{session}"),
            Relation(f"external-of/{id}/", lambda identity: f"external/{identity}"),
        ]
    if kind is Group:
        return [
            Relation(f"members/{id}/", lambda user: f"groups-of/{user}/{id}"),
            Relation(f"attached/group/{id}/", lambda policy: f"used-by/{policy}/group/{id}"),
        ]
    return [Relation(f"used-by/{id}/", lambda holder: f"attached/{holder}/{id}")]


async def _row(tx: Transaction, kind: type[Entity], id: str) -> Entity | None:
    value = await tx.get(KINDS[kind].rows + id)
    return None if value is None else msgspec.json.decode(value, type=kind)
