"""Finds or creates the user whom a provider has identified, and sets the user's groups.

The identity is the provider's issuer and subject. The id of the user is a name for people: it may come from a claim
that changes. A user of the same id from another source is never taken over.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from lakebed_engine.stores.kv.base import KVStore
from lakebed_engine.vocabulary.events import Actor, act_as

from lakebed_server.access import administrators, entities
from lakebed_server.access.rows import Group, check_id
from lakebed_server.access.transaction import Transaction, change
from lakebed_server.auth.records import User
from lakebed_server.vocabulary import RequestError


class Identity(NamedTuple):
    """A person as a provider describes them. `groups` is None if the provider says nothing about groups."""

    issuer: str
    subject: str
    id: str
    name: str = ""
    email: str = ""
    groups: tuple[str, ...] | None = None


class External(msgspec.Struct, frozen=True):
    """The user of an identity."""

    user: str
    issuer: str
    subject: str


class GroupRules(NamedTuple):
    """How groups are set. `always`: at each sign-in, which also removes groups. `defaults`: groups of a new user."""

    always: bool = False
    defaults: tuple[str, ...] = ()


def mapped(groups_map: str, names: Sequence[str]) -> tuple[str, ...]:
    """The groups of Lakebed for groups of a provider, by a setting such as `team=Developers,other=Viewers`.

    Without a map they have the same names.
    """
    known = dict(pairs(groups_map))
    return tuple(known[name] for name in names if name in known) if known else tuple(names)


def pairs(text: str) -> list[tuple[str, str]]:
    """The pairs of a setting such as `tenant=a,role=b`."""
    found = [one.partition("=") for one in text.split(",") if one.strip()]
    return [(name.strip(), value.strip()) for name, _, value in found]


def rules(sync: str, defaults: str) -> GroupRules:
    """The rules of two settings."""
    return GroupRules(sync == "always", tuple(one.strip() for one in defaults.split(",") if one.strip()))


async def resolve(kv: KVStore, identity: Identity, rules: GroupRules, now: int) -> User:
    """The user of an identity, created at the first sign-in. Raises RequestError: 401, 409 for an id in use."""
    digest = hashlib.sha256(f"{identity.issuer}\0{identity.subject}".encode()).hexdigest()

    async def make(tx: Transaction) -> User:
        row = await tx.get(f"external/{digest}")
        if row is None:
            found = await _create(tx, identity, now)
            tx.put(f"external/{digest}", External(found.id, identity.issuer, identity.subject))
            tx.put(f"external-of/{found.id}/{digest}")
        else:
            found = await entities.found(tx, User, msgspec.json.decode(row, type=External).user)
        if found.service:
            raise RequestError("unauthenticated", f"user {found.id!r} is a service account: use its access key")
        if found.disabled:
            raise RequestError("unauthenticated", f"user {found.id!r} is disabled; ask an administrator")
        user = msgspec.structs.replace(
            found, friendly_name=identity.name or found.friendly_name, email=identity.email or found.email
        )
        if row is None or user != found:
            tx.put(f"users/{user.id}", user)
        if row is None or (rules.always and identity.groups is not None):
            await _set_groups(tx, user.id, {*(identity.groups or ()), *rules.defaults})
        return user

    act_as(Actor(identity.id))
    return await change(kv, f"signing in {identity.id!r}", make)


async def _create(tx: Transaction, identity: Identity, now: int) -> User:
    id = check_id("user", identity.id)
    if await tx.has(f"users/{id}"):
        raise RequestError(
            "already_exists",
            f"there is a user {id!r} without this identity: an administrator must delete that user, or "
            "set another claim or attribute for ids",
        )
    return User(id, now, generation=now)  # tokens of a deleted user of this id have another generation


async def _set_groups(tx: Transaction, user: str, wanted: set[str]) -> None:
    """Make the user a member of exactly these groups, as far as they exist."""
    present = {group async for group in tx.below(f"groups-of/{user}/")}
    for group in sorted(wanted - present):
        row = await tx.get(f"groups/{group}")
        if row is not None and not msgspec.json.decode(row, type=Group).deleting:
            tx.put(f"members/{group}/{user}")
            tx.put(f"groups-of/{user}/{group}")
    for group in sorted(present - wanted):
        tx.delete(f"members/{group}/{user}")
        tx.delete(f"groups-of/{user}/{group}")
    if present - wanted:
        await administrators.require_one(tx)
