"""What the layer tests share: both stores behind one hook, and a dictionary that says what a branch shows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from lakebed_engine.engine import Engine
from lakebed_engine.operations.branch.compare_and_swap import seal
from lakebed_engine.operations.context import open_repo, read_branch
from lakebed_engine.operations.layers.push import push as push_layer
from lakebed_engine.operations.objects.stage import stage
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.stores.kv.base import Batch, KVStore
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.ports import PolledSignals
from lakebed_engine.vocabulary.records import Layer
from lakebed_format.keys import LAYERS

from tests.engine.support import QUICK, REPO, FakeClock, HookedKV, LossyKV, chunked, new_engine
from tests.engine.trees import Delta, State, applied, changed, cuts, entry, table

T = TypeVar("T")
GRACE = 300.0
Hook = Callable[[str], Awaitable[None]]


class Inline(PolledSignals):
    """A Runtime without threads or waiting."""

    async def cpu(self, job: Callable[..., T], *args: object, small: bool = False) -> T:
        return job(*args)

    async def gather(self, jobs: Sequence[Callable[[], Awaitable[T]]], limit: int = 8) -> list[T]:
        return [await job() for job in jobs]

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


class World:
    """One KV store and one namespace. `hook` is called before every call to them, and after each change."""

    def __init__(self, inner: KVStore | None = None, tuning: Tuning = QUICK) -> None:
        self.tuning = tuning
        self.clock = FakeClock()
        self.kv = _KV(inner or MemoryKV(), self)
        self.objects = _Objects(self)
        self.log: list[str] = []
        self.hook: Hook | None = None
        self._inside = False

    def open(self, uri: str, store_id: str = "") -> ObjectStore:
        return self.objects

    def check_new(self, uri: str, store_id: str) -> None:
        assert store_id == ""

    def engine(self, cache_bytes: int = 1 << 22) -> Engine:
        """An engine over these stores, as another process would have it."""
        return new_engine(
            self.kv,
            self,
            clock=self.clock,
            runtime=Inline(),
            cleanup_grace=GRACE,
            cache_bytes=cache_bytes,
            tuning=self.tuning,
        )

    async def start(self, cache_bytes: int = 1 << 22) -> Engine:
        engine = self.engine(cache_bytes)
        await engine.repositories.create(REPO, "mem://lake")
        return engine

    async def tick(self, what: str) -> None:
        if self._inside:  # what the hook itself does is neither hooked nor counted
            return
        self.log.append(what)
        if self.hook is not None:
            self._inside = True
            try:
                await self.hook(what)
            finally:
                self._inside = False

    def at(self, call: int, act: Callable[[], Awaitable[object]]) -> Callable[[], bool]:
        """Act once, before the call with this number from now. Returns a function that says whether it was reached."""
        self.log = []
        left, done = call, False

        async def hook(what: str) -> None:
            nonlocal left, done
            left -= not what.endswith("done")
            if left == 0 and not done:
                done = True
                await act()

        self.hook = hook
        return lambda: done

    def layer_files(self) -> set[str]:
        return {key for key in self.objects._blobs if key.startswith(LAYERS)}

    async def clean(self, engine: Engine) -> None:
        """What was dropped until now is gone."""
        await engine.maintenance.clean()
        self.clock.forward(GRACE + 1)
        await engine.maintenance.clean()


class _KV(HookedKV):
    def __init__(self, inner: KVStore, world: World) -> None:
        super().__init__(inner)
        self.world = world

    async def _call(self, name: str, what: Any) -> None:
        await self.world.tick(f"kv {name}")

    async def apply(self, batch: Batch) -> int:
        version = await super().apply(batch)
        await self.world.tick("kv apply done")
        return version


class LateKV(LossyKV):
    """What was lost lands later, just ahead of the next batch that anybody sends."""

    waiting: Batch | None = None

    async def apply(self, batch: Batch) -> int:
        late, self.waiting = self.waiting, None
        if late is not None:
            try:
                await self.inner.apply(late)
            except errors.PredicateFailed:
                pass
        try:
            return await super().apply(batch)
        except errors.OutcomeUnknownError:
            self.waiting = batch
            raise


class _Objects(MemoryObjects):
    def __init__(self, world: World) -> None:
        super().__init__("mem://lake")
        self.world = world

    async def get(self, key: str) -> bytes:
        await self.world.tick(f"get {key}")
        return await super().get(key)

    async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
        await self.world.tick(f"put {key}")
        await super().put(key, data, if_absent=if_absent, by_content=by_content)
        await self.world.tick("put done")

    async def delete(self, keys: Sequence[str]) -> None:
        await self.world.tick("delete")
        await super().delete(keys)
        await self.world.tick("delete done")


# verbs on entries whose text is their address: no data is written


async def write(engine: Engine, delta: Delta, branch: str = "main") -> None:
    """Stage all in one batch; None deletes."""
    ctx = engine.context
    rows = [(path, None if text is None else entry(text)) for path, text in delta.items()]
    await stage(ctx, await open_repo(ctx, REPO), branch, rows)


async def push(engine: Engine, delta: Delta, branch: str = "main", at: Sequence[int] = ()) -> Layer:
    """Push a delta that comes in pieces."""
    ctx = engine.context
    return await push_layer(ctx, await open_repo(ctx, REPO), branch, chunked(cuts(table(delta), at)))


async def just_seal(engine: Engine, branch: str = "main") -> None:
    """A commit that died between its seal and its swap."""
    ctx = engine.context
    repo = await open_repo(ctx, REPO)
    assert await seal(ctx, repo, await read_branch(ctx, repo, branch)) is not None


async def layers_of(engine: Engine, branch: str = "main") -> tuple[Layer, ...]:
    return (await engine.branches.get(REPO, branch)).layers


async def shown(engine: Engine, ref: str = "main", amount: int = 1000, prefix: str = "") -> State:
    """Every path of a ref with its text, by pages."""
    found: State = {}
    after = ""
    while True:
        page = await engine.objects.list(REPO, ref, after=after, amount=amount, prefix=prefix)
        for row in page.items:
            assert row.entry is not None
            assert row.path > after
            after = row.path
            found[row.path] = row.entry.physical_address.removeprefix("data/")
        if not page.has_more:
            return found


async def uncommitted(engine: Engine, branch: str = "main", amount: int = 1000) -> Delta:
    """The result of `diff_branch`."""
    found: Delta = {}
    after = ""
    while True:
        page = await engine.branches.diff(REPO, branch, after=after, amount=amount)
        for row in page.items:
            assert row.path > after
            after = row.path
            found[row.path] = None if row.right is None else row.right.physical_address.removeprefix("data/")
            kind = "added" if row.left is None else "removed" if row.right is None else "changed"
            assert row.type == kind
        if not page.has_more:
            return found


@dataclass
class Model:
    """The oracle of one branch."""

    head: State = field(default_factory=dict)
    staged: Delta = field(default_factory=dict)

    @property
    def view(self) -> State:
        return applied(self.head, self.staged)

    def copy(self) -> Model:
        return Model(dict(self.head), dict(self.staged))

    def write(self, delta: Delta) -> None:
        self.staged.update(delta)

    def reset(self, prefix: str = "") -> None:
        self.staged = {path: text for path, text in self.staged.items() if not path.startswith(prefix)}

    def reset_object(self, path: str) -> None:
        self.staged.pop(path, None)

    def commit(self) -> bool:
        """Whether there was something to commit."""
        before, self.head, self.staged = self.head, self.view, {}
        return before != self.head

    def same(self, other: Model) -> bool:
        return (self.head, self.view) == (other.head, other.view)


async def observed(engine: Engine, branch: str = "main") -> Model:
    """What a branch shows now, as a model."""
    head, view = await shown(engine, f"{branch}@"), await shown(engine, branch)
    found = Model(head, changed(head, view))
    assert await uncommitted(engine, branch) == found.staged
    return found
