"""The directory at the start of a server: the built-in policies and groups, and the administrator in their group."""

from __future__ import annotations

from typing import Final

import msgspec
from lakebed_auth import builtin, statements_to_json
from lakebed_engine.stores.kv.base import KVStore

from lakebed_server.access.directory import Directory
from lakebed_server.access.rows import EPOCH, Group, Holder, StoredPolicy, used_by
from lakebed_server.access.transaction import Transaction, change
from lakebed_server.auth.credentials import ADMIN
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
        if await tx.has(EPOCH):
            return
        for id, statements in builtin.POLICIES.items():
            tx.put(
                f"policies/{id}",
                StoredPolicy(id, now, msgspec.Raw(msgspec.json.encode(statements_to_json(statements)))),
            )
        for id, policies in builtin.GROUPS.items():
            tx.put(f"groups/{id}", Group(id, now))
            for policy in policies:
                holder = Holder("group", id)
                tx.put(holder.attached(policy))
                tx.put(used_by(policy, holder))
        tx.put(f"members/{ADMINS}/{ADMIN}")
        tx.put(f"groups-of/{ADMIN}/{ADMINS}")

    if await directory.epoch() == 0:
        await change(kv, "making the built-in policies and groups", make)
