"""How many hooks run at the same time: of one repository, and of this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


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
