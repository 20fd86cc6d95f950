"""What the engine tests share: an engine over memory stores, a hand-driven clock, stores that count and fail."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.stores.kv.base import Batch, KVStore, Row, Versioned
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.base import ObjectStores
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.errors import OutcomeUnknownError
from lakebed_engine.vocabulary.records import Commit, Entry
from lakebed_engine.vocabulary.requests import CommitRequest, MergeRequest, UploadRequest

T = TypeVar("T")
REPO = "lake"


def run(job: Coroutine[Any, Any, T]) -> T:
    """Run one coroutine on a fresh event loop."""
    return asyncio.run(job)


class FakeClock:
    """Both clocks are stopped until `forward` is called."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.time = now
        self.ticks = 0.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.ticks

    def forward(self, seconds: float) -> None:
        self.time += seconds
        self.ticks += seconds


class CountingIds:
    """Ids in order: failures can be replayed."""

    def __init__(self) -> None:
        self._next = itertools.count(1)

    def new(self) -> str:
        return f"{next(self._next):032x}"


class HookedKV:
    """A KVStore that calls `before(name, calls)` ahead of each call, and counts the calls.

    Take the hook off (`before = None`) before looking at what came out.
    """

    def __init__(self, inner: KVStore) -> None:
        self.inner = inner
        self.calls = 0
        self._inside = False
        self.before: Callable[[str, Any], Awaitable[None]] | None = None

    async def _call(self, name: str, what: Any) -> None:
        if self._inside:  # what the hook itself does is neither hooked nor counted
            return
        self.calls += 1
        if self.before is not None:
            self._inside = True
            try:
                await self.before(name, what)
            finally:
                self._inside = False

    async def get(self, partition: str, key: bytes) -> Versioned | None:
        await self._call("get", (partition, key))
        return await self.inner.get(partition, key)

    async def get_many(self, partition: str, keys: Sequence[bytes]) -> list[Versioned | None]:
        await self._call("get_many", (partition, keys))
        return await self.inner.get_many(partition, keys)

    async def scan(self, partition: str, start: bytes = b"", end: bytes | None = None, limit: int = 1000) -> list[Row]:
        await self._call("scan", (partition, start, end, limit))
        return await self.inner.scan(partition, start, end, limit)

    async def apply(self, batch: Batch) -> int:
        await self._call("apply", batch)
        return await self.inner.apply(batch)

    async def drop_partition(self, partition: str) -> None:
        await self._call("drop_partition", partition)
        await self.inner.drop_partition(partition)

    async def partitions(self, start: str = "", end: str | None = None, limit: int = 1000) -> list[str]:
        await self._call("partitions", (start, end, limit))
        return await self.inner.partitions(start, end, limit)

    async def close(self) -> None:
        await self.inner.close()


class LossyKV(HookedKV):
    """Loses answers to `apply`: sometimes after applying, sometimes instead. `lose` decides: "", "after", "before"."""

    def __init__(self, inner: KVStore, lose: Callable[[Batch], str]) -> None:
        super().__init__(inner)
        self.lose = lose
        self.lost = 0

    async def apply(self, batch: Batch) -> int:
        how = self.lose(batch)
        if how == "before":
            self.lost += 1
            raise OutcomeUnknownError("the answer was lost, nothing was applied")
        version = await super().apply(batch)
        if how == "after":
            self.lost += 1
            raise OutcomeUnknownError("the answer was lost, the batch was applied")
        return version


def losing(random_source: random.Random, rate: float) -> Callable[[Batch], str]:
    """Loses this share of answers, half of them after applying."""

    def lose(_: Batch) -> str:
        return random_source.choice(["before", "after"]) if random_source.random() < rate else ""

    return lose


QUICK = Tuning(commit_wait=0.002)
"""Commits hardly wait for one another: tests put a whole commit inside another's call, which would wait for long."""


def new_engine(kv: KVStore, stores: ObjectStores, *, tuning: Tuning = QUICK, **options: Any) -> Engine:
    """An engine as another process would have it."""
    return Engine(kv, stores, tuning=tuning, **options)


async def make_engine(
    kv: KVStore | None = None, stores: ObjectStores | None = None, *, namespace: str = "mem://lake", **options: Any
) -> Engine:
    """An engine with one repository, REPO, whose default branch is `main`."""
    engine = new_engine(kv or MemoryKV(), stores or Stores(None), **options)
    await engine.repositories.create(REPO, namespace)
    return engine


async def once(data: bytes) -> AsyncIterator[bytes]:
    """One chunk."""
    yield data


async def put(engine: Engine, path: str, data: str, branch: str = "main", **options: Any) -> Entry:
    """Upload text."""
    made = await engine.objects.upload(REPO, branch, UploadRequest(path=path, **options), once(data.encode()))
    return made.entry


async def commit(engine: Engine, message: str = "c", branch: str = "main", **options: Any) -> Commit:
    """Commit what is staged."""
    return await engine.commits.create(REPO, branch, CommitRequest(message=message, **{"committer": "ann", **options}))


async def put_commit(engine: Engine, rows: dict[str, str | None], branch: str = "main", **options: Any) -> Commit:
    """Upload or delete (None), then commit."""
    for path, data in rows.items():
        if data is None:
            await engine.objects.delete(REPO, branch, path)
        else:
            await put(engine, path, data, branch)
    return await commit(engine, branch=branch, **options)


async def merge(engine: Engine, source: str, destination: str = "main", **options: Any) -> Commit:
    """Merge a ref into a branch."""
    return await engine.commits.merge(REPO, source, destination, MergeRequest(committer="ann", **options))


async def paths(engine: Engine, ref: str = "main") -> list[str]:
    """Every path of a ref."""
    found: list[str] = []
    while True:
        page = await engine.objects.list(REPO, ref, after=found[-1] if found else "", amount=1000)
        found += [row.path for row in page.items]
        if not page.has_more:
            return found


async def content(engine: Engine, ref: str = "main") -> dict[str, str]:
    """Every path of a ref with its text, read from the object store."""
    found = {}
    for path in await paths(engine, ref):
        entry = await engine.objects.stat(REPO, ref, path)
        async with engine.objects.open(REPO, entry) as chunks:
            found[path] = b"".join([chunk async for chunk in chunks]).decode()
    return found


async def history(engine: Engine, ref: str = "main") -> list[Commit]:
    """The first-parent history, newest first."""
    at = await engine.commits.get(REPO, ref)
    found = [at]
    while at.parents:
        at = await engine.commits.get(REPO, at.parents[0])
        found.append(at)
    return found


async def fails(job: Awaitable[Any], *kinds: type[BaseException]) -> BaseException:
    """The error of a job, which must be one of `kinds` exactly."""
    with pytest.raises(kinds) as caught:
        await job
    assert type(caught.value) in kinds, repr(caught.value)
    return caught.value


async def chunked(items: Iterable[T]) -> AsyncIterator[T]:
    """Items as an asynchronous stream."""
    for item in items:
        yield item
