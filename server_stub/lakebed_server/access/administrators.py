"""Every installation keeps an administrator: a user who is not disabled and may change users and policies."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import msgspec
from lakebed_auth import Compiled, Context, Policy, arn, compile_policies, parse_statements
from lakebed_auth.actions import Auth

from lakebed_server.access.rows import Group, Holder, StoredPolicy, used_by
from lakebed_server.access.transaction import Transaction
from lakebed_server.auth.records import User
from lakebed_server.vocabulary import RequestError

_POWERS: Final = (Auth.ATTACH_POLICY, Auth.CREATE_POLICY, Auth.CREATE_USER, Auth.CREATE_CREDENTIALS)
"""What makes an administrator: with these actions on everything, a user can give every other right."""


def compiled(policies: list[StoredPolicy], user: str) -> Compiled:
    """Policies in the form that decides, for a user."""
    return compile_policies(
        (Policy(one.id, parse_statements(msgspec.json.decode(one.statement)), one.created) for one in policies), user
    )


async def effective_policies(tx: Transaction, user: str) -> list[StoredPolicy]:
    """The policies of a user and of the user's groups, each once, in the order of ids."""
    ids = {id async for id in tx.below(Holder("user", user).attached())}
    async for group in tx.below(f"groups-of/{user}/"):
        row = await tx.get(f"groups/{group}")
        if row is not None and not msgspec.json.decode(row, type=Group).deleting:
            ids.update([id async for id in tx.below(Holder("group", group).attached())])
    found = [await _policy(tx, id) for id in sorted(ids, key=str.encode)]
    return [policy for policy in found if policy is not None]


async def require_one(tx: Transaction) -> None:
    """Raise RequestError (409) if no administrator would be left after the change."""
    async for user in _candidates(tx):
        row = await tx.get(f"users/{user}")
        if row is None:
            continue
        found = msgspec.json.decode(row, type=User)
        if found.disabled or found.deleting:
            continue
        if _is_administrator(compiled(await effective_policies(tx, user), user)):
            return
    raise RequestError(
        "last_administrator",
        "after this change no user could manage users and policies: first attach the policy AuthFullAccess to another "
        "user, or add another user to the group Admins",
    )


async def _candidates(tx: Transaction) -> AsyncIterator[str]:
    """Users with a policy that alone gives the powers, the built-in one first. A user may come more than once."""
    names = [id async for id in tx.below("policies/")]
    for name in sorted(names, key=lambda id: id != "AuthFullAccess"):
        policy = await _policy(tx, name)
        if policy is None or not _is_administrator(compiled([policy], "")):
            continue
        async for holder in tx.below(used_by(name)):
            kind, _, id = holder.partition("/")
            if kind == "user":
                yield id
                continue
            async for member in tx.below(f"members/{id}/"):
                yield member


def _is_administrator(rights: Compiled) -> bool:
    nowhere = Context()  # a statement with a condition does not count
    return all(rights.decide(action, arn.ALL, nowhere).effect == "allowed" for action in _POWERS)


async def _policy(tx: Transaction, id: str) -> StoredPolicy | None:
    row = await tx.get(f"policies/{id}")
    policy = None if row is None else msgspec.json.decode(row, type=StoredPolicy)
    return None if policy is None or policy.deleting else policy
