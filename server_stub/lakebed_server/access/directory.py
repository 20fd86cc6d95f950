"""The directory: users, groups, policies, memberships and attachments. Reads see the newest rows."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from lakebed_engine.stores.kv.base import KVStore

from lakebed_server.access import administrators, entities
from lakebed_server.access.rows import Group, Holder, StoredPolicy, used_by
from lakebed_server.access.transaction import Transaction, change, scan
from lakebed_server.auth.records import CHANGES, EPOCH, PARTITION, Change, User
from lakebed_server.vocabulary import RequestError


class Directory:
    """Users, groups and policies. Pages are in the order of the bytes of ids, with whether more follow."""

    def __init__(self, kv: KVStore) -> None:
        self._kv = kv

    async def epoch(self) -> int:
        """The number of changes so far."""
        found = await self._kv.get(PARTITION, EPOCH.encode())
        return 0 if found is None else int(found.value)

    async def changes(self, after: str, amount: int) -> tuple[list[Change], bool]:
        """A page of the recorded changes, oldest first."""
        found: list[Change] = []
        async for id, value in scan(self._kv, CHANGES, after=after, size=amount + 1):
            if len(found) == amount:
                return found, True
            found.append(msgspec.structs.replace(msgspec.json.decode(value, type=Change), id=id))
        return found, False

    async def effective_policies(self, user: str) -> list[StoredPolicy]:
        """The policies of a user and its groups, each once, in the order of ids. Raises RequestError (404)."""
        tx = Transaction(self._kv)
        await entities.found(tx, User, user)
        return await administrators.effective_policies(tx, user)

    async def effective_page(self, user: str, prefix: str, after: str, amount: int) -> tuple[list[StoredPolicy], bool]:
        """A page of `effective_policies`."""
        policies = await self.effective_policies(user)
        found = [one for one in policies if one.id.startswith(prefix) and one.id.encode() > after.encode()]
        return found[:amount], len(found) > amount

    # users

    async def user(self, id: str) -> User:
        """A user. Raises RequestError (404)."""
        return await entities.found(Transaction(self._kv), User, id)

    async def users(self, prefix: str, after: str, amount: int) -> tuple[list[User], bool]:
        """A page of users."""
        return await entities.page(self._kv, User, prefix, after, amount)

    async def create_user(self, user: User) -> User:
        """Add a user. Raises RequestError (400, 409)."""
        return await entities.create(self._kv, User, user)

    async def update_user(
        self, id: str, *, friendly_name: str | None = None, email: str | None = None, disabled: bool | None = None
    ) -> User:
        """Change fields of a user; None keeps a field. Raises RequestError (404, 409 for the last administrator)."""
        changes = {"friendly_name": friendly_name, "email": email, "disabled": disabled}
        changes = {name: value for name, value in changes.items() if value is not None}

        async def make(tx: Transaction) -> User:
            user = msgspec.structs.replace(await entities.found(tx, User, id), **changes)
            tx.put(f"users/{id}", user)
            if disabled:
                await administrators.require_one(tx)
            return user

        return await change(self._kv, f"changing user {id!r}", make)

    async def delete_user(self, id: str) -> None:
        """Remove a user with its access keys, memberships and attachments. Raises RequestError (404, 409)."""
        await entities.delete(self._kv, User, id)

    # groups

    async def group(self, id: str) -> Group:
        """A group. Raises RequestError (404)."""
        return await entities.found(Transaction(self._kv), Group, id)

    async def groups(self, prefix: str, after: str, amount: int) -> tuple[list[Group], bool]:
        """A page of groups."""
        return await entities.page(self._kv, Group, prefix, after, amount)

    async def create_group(self, group: Group) -> Group:
        """Add a group. Raises RequestError (400, 409)."""
        return await entities.create(self._kv, Group, group)

    async def delete_group(self, id: str) -> None:
        """Remove a group with its memberships and attachments. Raises RequestError (404, 409)."""
        await entities.delete(self._kv, Group, id)

    async def members(self, group: str, prefix: str, after: str, amount: int) -> tuple[list[User], bool]:
        """A page of the members of a group. Raises RequestError (404)."""
        await self.group(group)
        return await entities.related(self._kv, User, f"members/{group}/", prefix, after, amount)

    async def groups_of(self, user: str, prefix: str, after: str, amount: int) -> tuple[list[Group], bool]:
        """A page of the groups of a user. Raises RequestError (404)."""
        await self.user(user)
        return await entities.related(self._kv, Group, f"groups-of/{user}/", prefix, after, amount)

    async def add_member(self, group: str, user: str) -> None:
        """Put a user into a group. Raises RequestError (404, 409 for a member)."""

        async def make(tx: Transaction) -> None:
            await entities.found(tx, Group, group)
            await entities.found(tx, User, user)
            if await tx.has(f"members/{group}/{user}"):
                raise RequestError("already_exists", f"user {user!r} is already a member of group {group!r}")
            tx.put(f"members/{group}/{user}")
            tx.put(f"groups-of/{user}/{group}")

        await change(self._kv, f"adding user {user!r} to group {group!r}", make)

    async def remove_member(self, group: str, user: str) -> None:
        """Take a user out of a group. Raises RequestError (404, 409 for the last administrator)."""

        async def make(tx: Transaction) -> None:
            await entities.found(tx, Group, group)
            await entities.found(tx, User, user)
            if not await tx.has(f"members/{group}/{user}"):
                raise RequestError("membership_not_found", f"user {user!r} is not a member of group {group!r}")
            tx.delete(f"members/{group}/{user}")
            tx.delete(f"groups-of/{user}/{group}")
            await administrators.require_one(tx)

        await change(self._kv, f"removing user {user!r} from group {group!r}", make)

    # policies

    async def policy(self, id: str) -> StoredPolicy:
        """A policy. Raises RequestError (404)."""
        return await entities.found(Transaction(self._kv), StoredPolicy, id)

    async def policies(self, prefix: str, after: str, amount: int) -> tuple[list[StoredPolicy], bool]:
        """A page of policies."""
        return await entities.page(self._kv, StoredPolicy, prefix, after, amount)

    async def policies_of(
        self, holder: Holder, prefix: str, after: str, amount: int
    ) -> tuple[list[StoredPolicy], bool]:
        """A page of the policies attached to a user or group. Raises RequestError (404)."""
        await _require(Transaction(self._kv), holder)
        return await entities.related(self._kv, StoredPolicy, holder.attached(), prefix, after, amount)

    async def create_policy(self, policy: StoredPolicy) -> StoredPolicy:
        """Add a policy, whose statements the caller has checked. Raises RequestError (400, 409)."""
        return await entities.create(self._kv, StoredPolicy, policy)

    async def update_policy(self, id: str, statement: msgspec.Raw) -> StoredPolicy:
        """Replace the statements of a policy. Raises RequestError (404, 409 for the last administrator)."""

        async def make(tx: Transaction) -> StoredPolicy:
            policy = msgspec.structs.replace(await entities.found(tx, StoredPolicy, id), statement=statement)
            tx.put(f"policies/{id}", policy)
            await administrators.require_one(tx)
            return policy

        return await change(self._kv, f"changing policy {id!r}", make)

    async def delete_policy(self, id: str) -> None:
        """Remove a policy and its attachments. Raises RequestError (404, 409 for the last administrator)."""
        await entities.delete(self._kv, StoredPolicy, id)

    async def attach(self, holder: Holder, policy: str) -> None:
        """Attach a policy to a user or group. Raises RequestError (404, 409 when it is attached)."""

        async def make(tx: Transaction) -> None:
            await _require(tx, holder)
            await entities.found(tx, StoredPolicy, policy)
            if await tx.has(holder.attached(policy)):
                message = f"policy {policy!r} is attached to {holder.kind} {holder.id!r} already"
                raise RequestError("already_exists", message)
            tx.put(holder.attached(policy))
            tx.put(used_by(policy, holder))
            # a policy may also deny
            await administrators.require_one(tx)

        await change(self._kv, f"attaching policy {policy!r} to {holder.kind} {holder.id!r}", make)

    async def detach(self, holder: Holder, policy: str) -> None:
        """Detach a policy. Raises RequestError (404, 409 for the last administrator)."""

        async def make(tx: Transaction) -> None:
            await _require(tx, holder)
            await entities.found(tx, StoredPolicy, policy)
            if not await tx.has(holder.attached(policy)):
                message = f"policy {policy!r} is not attached to {holder.kind} {holder.id!r}"
                raise RequestError("attachment_not_found", message)
            tx.delete(holder.attached(policy))
            tx.delete(used_by(policy, holder))
            await administrators.require_one(tx)

        await change(self._kv, f"detaching policy {policy!r} from {holder.kind} {holder.id!r}", make)

    # grants

    async def grant(self, holder: Holder, policy: StoredPolicy, levels: Iterable[str]) -> StoredPolicy:
        """Attach the policy of a grant, in place of the others of `levels`, and create it if there is none.

        Returns the policy as it is stored: an administrator may have changed it. Raises RequestError (404, 409).
        """
        try:
            await self.create_policy(policy)
        except RequestError as error:
            if error.kind != "already_exists":
                raise

        async def make(tx: Transaction) -> StoredPolicy:
            await _require(tx, holder)
            stored = await entities.found(tx, StoredPolicy, policy.id)
            for level in levels:
                tx.delete(holder.attached(level))
                tx.delete(used_by(level, holder))
            tx.put(holder.attached(policy.id))
            tx.put(used_by(policy.id, holder))
            await administrators.require_one(tx)
            return stored

        return await change(self._kv, f"granting {policy.id!r} to {holder.kind} {holder.id!r}", make)

    async def revoke(self, holder: Holder, levels: Iterable[str]) -> None:
        """Detach the policies of grants. Raises RequestError (404 if none is attached, 409)."""

        async def make(tx: Transaction) -> None:
            await _require(tx, holder)
            attached = [level for level in levels if await tx.has(holder.attached(level))]
            if not attached:
                raise RequestError("attachment_not_found", f"{holder.kind} {holder.id!r} has no grant on it")
            for level in attached:
                tx.delete(holder.attached(level))
                tx.delete(used_by(level, holder))
            await administrators.require_one(tx)

        await change(self._kv, f"revoking grants of {holder.kind} {holder.id!r}", make)


async def _require(tx: Transaction, holder: Holder) -> None:
    """Raise RequestError (404) unless the user or group exists."""
    if holder.kind == "user":
        await entities.found(tx, User, holder.id)
    else:
        await entities.found(tx, Group, holder.id)
