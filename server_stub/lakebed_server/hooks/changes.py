"""What bounds the work of hooks: the listed paths of a change, and how many hooks run at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from lakebed_engine.engine import Engine
from lakebed_hooks import Changes

MOST_PATHS: Final = 100
MOST_COUNTED: Final = 10_000
"""The server stops counting then, because a change may concern millions of paths."""
_PAGE: Final = 1000


async def changes_between(engine: Engine, repository: str, base: str, candidate: str) -> Changes:
    """The changes from one ref to another one. `truncated`: there are more than it says."""
    numbers = {"added": 0, "changed": 0, "removed": 0}
    paths: list[str] = []
    after, more = "", True
    while more and sum(numbers.values()) < MOST_COUNTED:
        page = await engine.commits.diff(
            repository, base, candidate, mode="two_dot", after=after, amount=_PAGE, details=False
        )
        for item in page.items:
            numbers[item.type] += 1
            if len(paths) < MOST_PATHS:
                paths.append(item.path)
        more = page.has_more
        after = page.items[-1].path if page.items else after
    truncated = more or sum(numbers.values()) > len(paths)
    return Changes(numbers["added"], numbers["changed"], numbers["removed"], tuple(paths), truncated)


class Places:
    """Places for hooks that run. When all are taken, the next hook waits."""

    def __init__(self, most: int, most_of_repository: int) -> None:
        self._all = asyncio.Semaphore(most)
        self._most_of_repository = most_of_repository
        self._by_repository: dict[str, tuple[asyncio.Semaphore, int]] = {}

    @asynccontextmanager
    async def place(self, repository: str) -> AsyncIterator[None]:
        """Wait for a place, and have it until the end of the block."""
        known, users = self._by_repository.get(repository, (asyncio.Semaphore(self._most_of_repository), 0))
        self._by_repository[repository] = (known, users + 1)
        try:
            async with known, self._all:  # the repository first: its hooks that wait take no place of the others
                yield
        finally:
            left = self._by_repository[repository][1] - 1
            if left:
                self._by_repository[repository] = (known, left)
            else:
                del self._by_repository[repository]
