"""Reads small objects in batches: the files of one call of fsspec, and files that pyarrow opens one after another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from threading import Lock
from time import monotonic
from typing import Any

from lakebed import aio
from lakebed._fsspec.base import AT_ONCE
from lakebed._fsspec.paths import Place
from lakebed._integration.aio import read_small
from lakebed._integration.values import ObjectRead
from lakebed.errors import LakebedError, UnsupportedOperationError
from lakebed.model import ObjectInfo

FILES = 200
"""Files of the largest batch."""

UNSAVED = 64 << 20
"""Bytes that a call holds in memory until they are in files."""

Asked = dict[str, list["asyncio.Future[bytes | None]"]]


class BatchedReads:
    """The reads of one call. Requests that arrive during a batch of a ref form the next batches."""

    def __init__(self, unsaved: int = UNSAVED) -> None:
        self.held = 0
        """Counts the bytes in memory that are not in files yet. Above `unsaved`, the stream of a batch waits."""

        self.alone = asyncio.Semaphore(AT_ONCE)
        """Limits the number of single reads at the same time."""

        self._asked: dict[tuple[str, str], Asked] = {}
        self._running: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._unsaved = unsaved
        self._room = asyncio.Event()

    async def read(self, ref: aio.Ref, path: str) -> bytes | None:
        """The content of a small object. None: the caller must read it with a separate request."""
        key = (ref.repository.id, ref.id)
        answer: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        self._asked.setdefault(key, {}).setdefault(path, []).append(answer)
        if key not in self._running:
            self._running[key] = asyncio.ensure_future(self._run(ref, key))
        return await answer

    @contextmanager
    def saving(self, data: bytes) -> Iterator[None]:
        """Count a content as held in memory until the end of the block."""
        self.held += len(data)
        try:
            yield
        finally:
            self.held -= len(data)
            self._room.set()

    def close(self) -> None:
        """End the batches that no caller waits for, because the call has failed."""
        for task in self._running.values():
            task.cancel()

    async def _run(self, ref: aio.Ref, key: tuple[str, str]) -> None:
        try:
            await asyncio.sleep(0)  # let the other tasks of the call add their requests before the first batch is sent
            while asked := self._next(key):
                await self._batch(ref, asked)
        finally:
            del self._running[key]
            for answers in self._asked.pop(key, {}).values():  # after a failure, each is read with a separate request
                _answer(answers, None)

    def _next(self, key: tuple[str, str]) -> Asked:
        waiting = self._asked.get(key, {})
        return {path: waiting.pop(path) for path in list(islice(waiting, FILES))}

    async def _batch(self, ref: aio.Ref, asked: Asked) -> None:
        error: LakebedError | None = None
        try:
            async for read in read_small(ref, list(asked)):
                _answer(asked.pop(read.path), read.data)
                await self._wait_for_room()
        except UnsupportedOperationError:
            pass
        except LakebedError as raised:
            error = raised
        finally:
            for answers in asked.values():
                _answer(answers, error)

    async def _wait_for_room(self) -> None:
        await asyncio.sleep(0)  # the reader counts the last content
        while self.held > self._unsaved:
            self._room.clear()
            await self._room.wait()


def _answer(answers: list[asyncio.Future[bytes | None]], value: bytes | LakebedError | None) -> None:
    for answer in answers:
        if answer.done():
            continue
        if isinstance(value, LakebedError):
            answer.set_exception(value)
        else:
            answer.set_result(value)


_CURRENT: ContextVar[BatchedReads | None] = ContextVar("lakebed_batched_reads", default=None)


def current() -> BatchedReads | None:
    """The batched reads of the call that this task belongs to."""
    return _CURRENT.get()


@contextmanager
def batched(is_wanted: bool, options: dict[str, Any], at_once: int = FILES) -> Iterator[None]:
    """Read small objects in batches in this block and in the tasks that it starts.

    `options` are the arguments of fsspec's method. `at_once` is its number of tasks, -1 for one for each file.
    """
    reads = BatchedReads() if is_wanted else None
    token = _CURRENT.set(reads)
    if is_wanted and not options.get("batch_size"):
        options["batch_size"] = at_once
    try:
        yield
    finally:
        _CURRENT.reset(token)
        if reads is not None:
            reads.close()


SMALL_LISTED = 128 << 10
"""Maximum bytes of a file that is fetched whole when it is opened. Readers often need only a few columns of a larger
file.
"""

_MOST_AHEAD = 64
"""Files of one batch. A `ReadAhead` holds two batches at most."""

_FRESH = 1.0
"""Seconds after which a content that was not used is fetched again."""


class ReadAhead:
    """Fetches small files of one listing in batches, while they are opened in the order of the listing.

    For each file of a data set, pyarrow checks that it exists, then opens it, and waits for both responses. Here the
    check fetches the file and the next ones. Their number grows while pyarrow opens them in order, so a data set that
    opens one file fetches one. Nothing is cached: each content is used once, and is at most `_FRESH` seconds old.
    """

    def __init__(self, top: Place, paths: Sequence[str]) -> None:
        """`paths`: the small files below `top`, in order."""
        self._ref = (top.repository, top.ref)
        self._paths = paths
        self._numbers = {path: number for number, path in enumerate(paths)}
        self._lock = Lock()
        self._here: dict[str, tuple[float, ObjectRead]] = {}
        self._size = 1
        self._next = -1

    def covers(self, place: Place) -> bool:
        """Whether a file is a small one of the listing."""
        return place.path in self._numbers and (place.repository, place.ref) == self._ref

    def fetch(self, path: str, read: Callable[[Sequence[str]], Iterable[ObjectRead]]) -> bool:
        """Fetch a file and the next ones, unless it is already fetched. Returns whether it is fetched. Raises the
        errors of `read`.
        """
        with self._lock:
            if not self._is_fresh(path):
                number = self._numbers[path]
                self._size = min(self._size * 4, _MOST_AHEAD) if number == self._next else 1
                self._next = number + self._size
                self._here = {one: self._here[one] for one in list(self._here)[-_MOST_AHEAD:] if self._is_fresh(one)}
                found = list(read(self._paths[number : self._next]))
                self._here |= {one.path: (monotonic(), one) for one in found}
            return self._is_fresh(path)

    def take(self, place: Place) -> tuple[ObjectInfo, bytes] | None:
        """Return a fetched file and forget it."""
        with self._lock:
            if not self.covers(place) or not self._is_fresh(place.path):
                return None
            read = self._here.pop(place.path)[1]
            return None if read.info is None else (read.info, read.data)

    def _is_fresh(self, path: str) -> bool:
        return path in self._here and monotonic() - self._here[path][0] < _FRESH
