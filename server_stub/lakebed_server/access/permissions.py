"""Decides what users may do. Each process keeps compiled policies, for as long as nothing in the directory changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, reduce
from typing import Final, NamedTuple

import msgspec
from lakebed_auth import Compiled, Context, Needs, Policy, compile_policies, parse_statements

from lakebed_server.access.administrators import compiled
from lakebed_server.access.directory import Directory
from lakebed_server.auth.records import User
from lakebed_server.vocabulary import RequestError

REFRESH_SECONDS: Final = 0.9
"""Counted from the read of the epoch: a right that was taken away works at most one second, on every server."""

_MOST_USERS: Final = 10_000
"""Users whose compiled policies a process keeps."""


class Rights:
    """What the caller of one request may do. `own`: as in Known."""

    __slots__ = ("_own", "context", "policies")

    def __init__(self, policies: Compiled, context: Context, own: Compiled | None = None) -> None:
        self._own = own
        self.policies = policies
        self.context = context

    def at(self, branch: str) -> Rights:
        """The same rights for another branch."""
        return Rights(self.policies, self.context.at(branch, branch), self._own)

    def require(self, needs: Needs) -> None:
        """Raise RequestError (403), which names the first permission that is missing."""
        refusal = self.policies.check(needs, self.context)
        if refusal is None:
            return
        message = str(refusal)
        if self._own is not None and self._own.check(needs, self.context) is None:
            message += ": the user has this permission, but the policy of the access key does not allow it"
        raise RequestError("permission_denied", message)

    def allowed(self, action: str, resources: Iterable[str]) -> list[bool]:
        """For each resource, whether the action is allowed."""
        return self.policies.allowed_many(action, resources, self.context)

    def covers(self, action: str, prefix: str) -> bool:
        """Whether the action is certainly allowed on every resource that begins with `prefix`."""
        return self.policies.covers(action, prefix, self.context)


class Known(NamedTuple):
    """A user and compiled policies. `own`: those of the user, if `policies` are narrowed by those of an access key.

    `asks_branch`: a condition asks for the branch. `in_every_context`: the rights, None if there are conditions.
    """

    user: User
    policies: Compiled
    asks_branch: bool
    in_every_context: Rights | None
    own: Compiled | None = None

    @classmethod
    def of(cls, user: User, policies: Compiled, own: Compiled | None = None) -> Known:
        """A user with these policies."""
        rights = None if policies.has_conditions else Rights(policies, Context(), own)
        return cls(user, policies, policies.asks("fs:Branch"), rights, own)


class Permissions:
    """The compiled policies of users, read again when the epoch of the directory has changed."""

    def __init__(self, directory: Directory, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.directory = directory
        self._clock = clock
        self._epoch = -1
        self._valid_until = float("-inf")
        self._known: dict[str, Known] = {}

    async def of(self, user: str) -> Known:
        """A user with compiled policies, at most a second old. Raises RequestError (401) without such a user."""
        if self._clock() >= self._valid_until:
            await self._refresh()
        known = self._known.get(user)
        return await self._load(user) if known is None else known

    def forget(self) -> None:
        """Read the epoch again before the next decision, because this process changed the directory."""
        self._valid_until = float("-inf")

    async def _refresh(self) -> None:
        asked = self._clock()
        epoch = await self.directory.epoch()
        if epoch != self._epoch:
            self._known = {}
            self._epoch = epoch
        self._valid_until = asked + REFRESH_SECONDS

    async def _load(self, user: str) -> Known:
        cache = self._known  # a change of the epoch during the reads replaces it
        try:
            row = await self.directory.user(user)
            policies = await self.directory.effective_policies(user)
        except RequestError:
            raise RequestError("unauthenticated", f"user {user!r} no longer exists") from None
        if row.disabled:
            raise RequestError("unauthenticated", f"user {user!r} is disabled; ask an administrator")
        if len(cache) >= _MOST_USERS:
            cache.pop(next(iter(cache)))
        known = cache[user] = Known.of(row, compiled(policies, user))
        return known


@lru_cache(1024)
def _policy_of_key(statement: str, user: str) -> Compiled:
    return compile_policies([Policy("access key", parse_statements(msgspec.json.decode(statement)), 0)], user)


def narrowed(known: Known | None, user: str, statements: Sequence[str]) -> Known:
    """What a user may do with an access key whose policies are these (`auth.records.Limits`).

    `known` is None with `auth.mode: single`, where every user is the administrator.
    """
    of_key = [_policy_of_key(statement, user) for statement in statements]
    policies = reduce(Compiled.narrowed, of_key if known is None else (known.policies, *of_key))
    record, own = (User(user, 0), None) if known is None else (known.user, known.policies)
    return Known.of(record, policies, own)
