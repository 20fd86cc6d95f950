"""The directory at the start of a server: the built-in policies and groups, and the administrator in their group."""

from __future__ import annotations

from typing import Final

import msgspec
from lakebed_auth import builtin, statements_to_json
from lakebed_engine.stores.kv.base import KVStore

from lakebed_server.access.directory import Directory
from lakebed_server.access.rows import Group, Holder, StoredPolicy, used_by
from lakebed_server.access.transaction import Transaction, change
from lakebed_server.auth.credentials import ADMIN
from lakebed_server.auth.records import EPOCH, User
from lakebed_server.vocabulary import StartError

ADMINS: Final = "Admins"


async def prepare(kv: KVStore, directory: Directory, mode: str, now: int) -> None:
    """Make the built-in policies and groups, if the directory was never used.

    Raises StartError with `auth.mode: single` if there are other users: they would become administrators.
    """
    if mode == "single":
        users, more = await directory.users("", "", 2)
        others = [user.id for user in users if user.id != ADMIN]
        if others or more:
            raise StartError(
                f"auth.mode is single, but there are other users ({(others or ['?'])[0]!r}, ...), whose access keys "
                "would be the administrator's: set auth.mode to rbac, or delete these users first"
            )
        return

    async def make(tx: Transaction) -> None:
        if not await tx.has(EPOCH):
            for id in builtin.POLICIES:
                _put_policy(tx, id, now)
            for id in builtin.GROUPS:
                await _put_group(tx, id, now)
            _put_admin(tx)

    if await directory.epoch() == 0:
        await change(kv, "creating the built-in policies and groups", make)


async def restore_admin(kv: KVStore, directory: Directory, now: int) -> None:
    """Make the administrator a member of `Admins` again, and enable it. Adds what is missing of the group.

    A directory that was never used stays so: `prepare` makes the administrator a member.
    """

    async def make(tx: Transaction) -> None:
        for id in builtin.GROUPS[ADMINS]:
            if not await tx.has(f"policies/{id}"):
                _put_policy(tx, id, now)
        await _put_group(tx, ADMINS, now)
        _put_admin(tx)
        user = msgspec.json.decode(await tx.get(f"users/{ADMIN}") or b"", type=User)
        tx.put(f"users/{ADMIN}", msgspec.structs.replace(user, disabled=False))

    if await directory.epoch() > 0:
        await change(kv, f"making user {ADMIN!r} an administrator again", make)


def _put_policy(tx: Transaction, id: str, now: int) -> None:
    statement = msgspec.Raw(msgspec.json.encode(statements_to_json(builtin.POLICIES[id])))
    tx.put(f"policies/{id}", StoredPolicy(id, now, statement))


async def _put_group(tx: Transaction, id: str, now: int) -> None:
    """Put a built-in group with its policies. A group that exists keeps its row."""
    if not await tx.has(f"groups/{id}"):
        tx.put(f"groups/{id}", Group(id, now))
    holder = Holder("group", id)
    for policy in builtin.GROUPS[id]:
        tx.put(holder.attached(policy))
        tx.put(used_by(policy, holder))


def _put_admin(tx: Transaction) -> None:
    tx.put(f"members/{ADMINS}/{ADMIN}")
    tx.put(f"groups-of/{ADMIN}/{ADMINS}")
