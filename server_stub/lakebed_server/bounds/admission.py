"""How many requests are worked on at the same time.

Requests of clients with a key are counted; operations that cost much have rooms with few places and a bounded queue.
Beyond either bound, the server refuses with 503 before it has done anything. Operations without a key (health, login)
are bounded by the connections alone, so they are always answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

from lakebed_server.settings.schema import LimitSettings
from lakebed_server.vocabulary import RequestError

COMPUTE: Final = "compute"
"""Reads much metadata, and holds what it has read: memory and processor are the server's."""

BULK: Final = "bulk"
"""Takes as long as a client or a store takes: many files, a temporary file, a listing of a foreign bucket."""

COMMIT: Final = "commit"
"""Folds what is staged. Commits of one branch wait for each other anyhow and are made together, so more may begin."""

OPERATIONS: Final[Mapping[str, str]] = {
    "cherryPick": COMPUTE,
    "diffBranch": COMPUTE,
    "diffRefs": COMPUTE,
    "findMergeBase": COMPUTE,
    "listObjects": COMPUTE,
    "logCommits": COMPUTE,
    "mergeIntoBranch": COMPUTE,
    "popWorkspace": COMPUTE,
    "revertBranch": COMPUTE,
    "revertWorkspace": COMPUTE,
    "stashBranch": COMPUTE,
    "s3:ListObjects": COMPUTE,
    "s3:ListObjectsV2": COMPUTE,
    "s3:ListObjectVersions": COMPUTE,
    "completePartUpload": BULK,
    "completePresignMultipartUpload": BULK,
    "createSymlinkFile": BULK,
    "diffIngest": BULK,
    "dumpRefs": BULK,
    "ingestObjects": BULK,
    "pushLayer": BULK,
    "restoreRefs": BULK,
    "scanWorkspace": BULK,
    "uploadPartCopy": BULK,
    "s3:CompleteMultipartUpload": BULK,
    "commit": COMMIT,
    "commitWorkspace": COMMIT,
    "createCommitRecord": COMMIT,
}
"""The room of each operation that costs much. All others are bounded by `limits.requests` alone."""

_COMMITS = 8
"""Commits for each place of the other rooms: with the default, as many as are made well together."""


class Room:
    """A bounded number of places, and a bounded queue before them."""

    def __init__(self, places: int, queue: int, patience: float) -> None:
        """`patience`: seconds that a request waits for a place at most."""
        self._free = asyncio.Semaphore(places)
        self._queue = queue
        self._patience = patience
        self._waiting = 0

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Work in the room. Raises RequestError when the queue is full, or no place became free in time."""
        if self._free.locked():
            await self._wait()
        else:
            await self._free.acquire()
        try:
            yield
        finally:
            self._free.release()

    async def _wait(self) -> None:
        if self._waiting >= self._queue:
            raise overloaded("other requests of this kind fill its queue")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._patience):
                await self._free.acquire()
        except TimeoutError:
            raise overloaded(f"the request waited {self._patience:g} s for others of its kind") from None
        finally:
            self._waiting -= 1


class Admission:
    """The requests of one server process."""

    def __init__(self, limits: LimitSettings) -> None:
        self._most = limits.requests
        self._count = 0
        places = {COMPUTE: limits.heavy_requests, BULK: limits.heavy_requests, COMMIT: limits.heavy_requests * _COMMITS}
        self._rooms = {name: Room(number, limits.queue, limits.queue_time) for name, number in places.items()}

    def enter(self) -> None:
        """Count a request until `leave`. Raises RequestError when there are too many."""
        if self._count >= self._most:
            raise overloaded("it works on as many requests as it may")
        self._count += 1

    def leave(self) -> None:
        """A request that entered is over."""
        self._count -= 1

    def room(self, operation: str) -> Room | None:
        """The room in which an operation is done; None where it costs little."""
        name = OPERATIONS.get(operation)
        return None if name is None else self._rooms[name]


def overloaded(why: str) -> RequestError:
    """The server has too much to do: 503."""
    return RequestError("overloaded", f"the server has too much to do ({why}); nothing was done: try again later")
