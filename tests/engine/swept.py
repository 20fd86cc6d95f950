"""A lake to sweep, and what a sweep finds in it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from lakebed_engine.engine import Engine
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.tree.layers import write_layer
from lakebed_engine.tree.rows import delta_table
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.ports import PolledSignals
from lakebed_engine.vocabulary.reports import FsckOptions, SweepOptions, SweepPass
from lakebed_format.keys import DUMPS, RANGES

from tests.engine.calls import crash_after_seal
from tests.engine.support import (
    REPO,
    FakeClock,
    HookedKV,
    chunked,
    commit,
    content,
    fails,
    make_engine,
    merge,
    put,
    put_commit,
)

T = TypeVar("T")


GRACE = 300.0


DAY = 24 * 3600.0


DATA = SweepOptions(data=True, grace=GRACE)


class Waiting(PolledSignals):
    """A Runtime whose sleep is time on a hand-driven clock; `meanwhile` is done once, in the first of them."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.slept = 0.0
        self.meanwhile: Callable[[], Awaitable[Any]] | None = None

    async def cpu(self, job: Callable[..., T], *args: object, small: bool = False) -> T:
        return job(*args)

    async def gather(self, jobs: Sequence[Callable[[], Awaitable[T]]], limit: int = 8) -> list[T]:
        return [await job() for job in jobs]

    async def sleep(self, seconds: float) -> None:
        job, self.meanwhile = self.meanwhile, None
        if job is not None:
            await job()
        self.slept += seconds
        self.clock.forward(seconds)


class Lake(NamedTuple):
    """A repository, and the engine that sweeps it."""

    engine: Engine
    kv: HookedKV
    store: ObjectStore
    clock: FakeClock
    runtime: Waiting

    async def sweep(self, options: SweepOptions = DATA, repo: str = REPO) -> SweepPass:
        return await self.engine.maintenance.sweep(repo, options)

    async def files(self) -> set[str]:
        return {blob.key async for blob in self.store.list()}

    async def age(self, seconds: float = DAY + 1) -> None:
        """Everything in the bucket is so much older."""
        if isinstance(self.store, MemoryObjects):
            self.clock.forward(seconds)
            return
        for path in Path(self.store._places.root.decode()).rglob("*"):  # type: ignore[attr-defined]
            if path.is_file():
                os.utime(path, (path.stat().st_mtime - seconds,) * 2)

    async def whole(self) -> bool:
        found = await self.engine.maintenance.fsck(REPO, FsckOptions(data=True, deep=True, orphan_age=0.0))
        return found.ok and found.orphan_count == 0


async def memory_lake(**options: Any) -> Lake:
    clock, stores, kv = FakeClock(), Stores(None), HookedKV(MemoryKV())
    store = stores.open("mem://lake")
    assert isinstance(store, MemoryObjects)
    store._clock = clock
    runtime = Waiting(clock)
    engine = await make_engine(kv, stores, clock=clock, runtime=runtime, cleanup_grace=GRACE, **options)
    return Lake(engine, kv, store, clock, runtime)


async def fill(lake: Lake) -> dict[str, str]:
    """History on two branches, a tag, a merge, rows in tokens and in layers of both kinds. What `main` shows."""
    engine = lake.engine
    await put_commit(engine, {"a": "1", "b": "2"})
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, {"c": "3"}, "dev")
    await merge(engine, "dev")
    await engine.tags.create(REPO, "v1", "main")
    await put(engine, "d", "sealed")
    await crash_after_seal(engine)
    pushed = await put(engine, "e", "pushed", "dev")
    await engine.branches.reset(REPO, "dev")
    await engine.branches.push(REPO, "main", [("e", pushed), ("a", None)])
    await put(engine, "f", "live")
    return await content(engine)


async def lost_commit(lake: Lake) -> None:
    """A commit that died before its swap: a commit file, a metarange, a range."""
    await put(lake.engine, "lost", "x", "dev")

    async def die(name: str, what: Any) -> None:
        if name == "apply" and any(key.startswith(b"commit/") for _, key, _ in what.puts):
            raise errors.StoreUnavailableError("down")

    lake.kv.before = die
    await fails(commit(lake.engine, "lost", "dev"), errors.StoreUnavailableError)
    lake.kv.before = None
    await lake.engine.branches.reset(REPO, "dev")


async def lost_push(lake: Lake) -> None:
    """A push that died before its swap: the parts of a layer, and the data that they name."""
    await written_layer(lake)


async def written_layer(lake: Lake) -> Any:
    entry = await put(lake.engine, "pushed", "y", "dev")
    await lake.engine.branches.reset(REPO, "dev")
    delta = chunked([delta_table([("pushed", entry)])])
    return await write_layer(lake.store, lake.runtime, lake.engine.context.ids.new(), delta, Tuning().layer_bytes)


async def lost_upload(lake: Lake) -> None:
    """Data that was never staged, and data whose row was written over."""
    await lake.store.put(f"data/2026010100/{'0' * 32}", b"z")
    await put(lake.engine, "f", "first")
    await put(lake.engine, "f", "live")


async def lost_patch(lake: Lake) -> None:
    await lake.store.put(f"{RANGES}{'0' * 64}.parquet", b"z")


async def lost_dump(lake: Lake) -> None:
    """An interrupted dump leaves a draft of its first part. A complete dump stays, and is not an orphan."""
    whole = await lake.engine.dumps.dump(REPO)

    async def die(source: str, target: str) -> None:
        raise errors.StoreUnavailableError("down")

    lake.store.copy = die  # type: ignore[method-assign]
    await fails(lake.engine.dumps.dump(REPO), errors.StoreUnavailableError)
    del lake.store.copy
    left = {blob.key async for blob in lake.store.list(DUMPS)}
    assert len(left - {f"{DUMPS}{one}.jsonl" for one in whole.values()}) == 1


WAYS = [lost_commit, lost_push, lost_upload, lost_patch, lost_dump]


async def settle(lake: Lake) -> None:
    """What swaps dropped is removed: only orphans are left."""
    await lake.engine.maintenance.clean()
    lake.clock.forward(GRACE + 1)
    await lake.engine.maintenance.clean()
