"""Limits how many requests are processed at the same time.

Requests of clients with a key are counted. Expensive operations run in rooms with few places and a bounded queue. When
a limit is exceeded, the server refuses with 503 before it has done anything. Operations without a key (health, login)
are limited only by the number of connections, so they are always answered.

A server that stops first drains: load balancers see it in `/_ready`, and every answer closes its connection, so that
clients connect again, to another server. Then it refuses new requests before it does anything for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from lakebed_server.settings.schema import LimitSettings
from lakebed_server.vocabulary import Header, RequestError

REQUESTS: Final = "requests"
"""The limit of all requests of clients with a key."""

COMPUTE: Final = "compute"
"""Operations that read and keep much metadata: they use the memory and the processor of the server."""

BULK: Final = "bulk"
"""Operations as slow as a client or a store: many files, a temporary file, a listing of a foreign bucket."""

COMMIT: Final = "commit"
"""Commits. Commits of one branch wait for each other anyway and are made together, so more may begin."""

TABLES: Final = "tables"
"""Rows of tables. They wait for the few processes that read tables."""

OPERATIONS: Final[Mapping[str, str]] = {
    "cherryPick": COMPUTE,
    "diffBranch": COMPUTE,
    "diffRefs": COMPUTE,
    "findMergeBase": COMPUTE,
    "getArchive": COMPUTE,
    "getCommitStatistics": COMPUTE,
    "getObjects": COMPUTE,
    "getRepositoryStatistics": COMPUTE,
    "listObjects": COMPUTE,
    "listObjectWriters": COMPUTE,
    "listServerEvents": COMPUTE,
    "logCommits": COMPUTE,
    "mergeIntoBranch": COMPUTE,
    "mergePullRequest": COMPUTE,
    "getPullRequestState": COMPUTE,
    "listPullRequestConflicts": COMPUTE,
    "popWorkspace": COMPUTE,
    "searchObjects": COMPUTE,
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
    "readTable": TABLES,
    "diffTable": TABLES,
    "commit": COMMIT,
    "commitWorkspace": COMMIT,
    "createCommitRecord": COMMIT,
}
"""The room of each expensive operation. All others are limited only by `limits.requests`."""

_COMMITS = 8
"""Places for commits, per place of the other rooms. With the default, as many as group commit handles well together."""


class Room:
    """A bounded number of places, and a bounded queue before them."""

    def __init__(self, places: int, queue: int, patience: float, count_refusal: Callable[[], None]) -> None:
        """`patience`: the largest number of seconds that a request waits for a place."""
        self._count_refusal = count_refusal
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
            self._count_refusal()
            raise overloaded("the queue for requests of this kind is full")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._patience):
                await self._free.acquire()
        except TimeoutError:
            self._count_refusal()
            raise overloaded(f"the request waited {self._patience:g} s for others of its kind") from None
        finally:
            self._waiting -= 1


class Admission:
    """The requests of one server process."""

    def __init__(self, limits: LimitSettings) -> None:
        self._most = limits.requests
        self._count = 0
        places = dict.fromkeys((COMPUTE, BULK, TABLES), limits.heavy_requests)
        places[COMMIT] = limits.heavy_requests * _COMMITS
        self.refused = dict.fromkeys((REQUESTS, *places), 0)
        """How many requests each limit has refused."""
        self._rooms = {
            name: Room(number, limits.queue, limits.queue_time, partial(self._count_refusal, name))
            for name, number in places.items()
        }

    def enter(self) -> None:
        """Count a request until `leave`. Raises RequestError when there are too many."""
        if self._count >= self._most:
            self._count_refusal(REQUESTS)
            raise overloaded("it already works on the maximum number of requests")
        self._count += 1

    def leave(self) -> None:
        """Stop counting a request."""
        self._count -= 1

    def _count_refusal(self, limit: str) -> None:
        self.refused[limit] += 1

    def room(self, operation: str) -> Room | None:
        """The room of an operation, or None for a cheap one."""
        name = OPERATIONS.get(operation)
        return None if name is None else self._rooms[name]


def overloaded(why: str) -> RequestError:
    """The error of an overloaded server: 503."""
    return RequestError("overloaded", f"the server is overloaded ({why}); nothing was done: try again later")


CLOSE: Final[Header] = (b"connection", b"close")


class Stopping:
    """Where a server is. It never goes back."""

    def __init__(self) -> None:
        self.drains = False
        """It stops soon. It still answers all requests."""
        self.refuses = False
        """It refuses new requests, and answers those in progress."""

    def refuse(self) -> None:
        """Raises RequestError if the server refuses new requests."""
        if self.refuses:
            raise RequestError(
                "stopping",
                "this server is shutting down; nothing was done: send the request again, if possible to another server",
            )
