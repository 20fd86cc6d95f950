"""Decides what users may do. Each process keeps compiled policies, for as long as nothing in the directory changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from lakebed_auth import Compiled, Context, Needs

from lakebed_server.access.administrators import compiled
from lakebed_server.access.directory import Directory
from lakebed_server.auth.records import User
from lakebed_server.vocabulary import RequestError

REFRESH_SECONDS: Final = 0.9
"""Counted from the read of the epoch: a right that was taken away works at most one second, on every server."""

_MOST_USERS: Final = 10_000
"""Users whose compiled policies a process keeps."""


class Known(NamedTuple):
    """A user and the user's compiled policies. `asks_branch`: whether a condition of them asks for the branch."""

    user: User
    policies: Compiled
    asks_branch: bool


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
            raise RequestError("unauthenticated", f"user {user!r} does not exist any more") from None
        if row.disabled:
            raise RequestError("unauthenticated", f"user {user!r} is disabled; ask an administrator")
        if len(cache) >= _MOST_USERS:
            cache.pop(next(iter(cache)))
        rights = compiled(policies, user)
        known = cache[user] = Known(row, rights, rights.asks("fs:Branch"))
        return known


class Rights:
    """What the caller of one request may do."""

    __slots__ = ("context", "policies")

    def __init__(self, policies: Compiled, context: Context) -> None:
        self.policies = policies
        self.context = context

    def at(self, branch: str) -> Rights:
        """The same rights for another branch."""
        return Rights(self.policies, self.context.at(branch, branch))

    def require(self, needs: Needs) -> None:
        """Raise RequestError (403), which names the first permission that is missing."""
        refusal = self.policies.check(needs, self.context)
        if refusal is not None:
            raise RequestError("permission_denied", str(refusal))

    def allowed(self, action: str, resources: Iterable[str]) -> list[bool]:
        """For each resource, whether the action is allowed."""
        return self.policies.allowed_many(action, resources, self.context)

    def covers(self, action: str, prefix: str) -> bool:
        """Whether the action is certainly allowed on every resource that begins with `prefix`."""
        return self.policies.covers(action, prefix, self.context)
