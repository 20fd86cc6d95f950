"""One simulated world: stores with a small history in them, engines over them, and the audit that watches.

A world begins from one of a few prepared repositories, made once by the real engine and then copied.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from lakebed_engine.engine import Engine
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.external import Foreign
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.tree.manifest import Limits
from lakebed_engine.vocabulary.records import Entry, Workspace
from lakebed_engine.vocabulary.requests import CommitRequest, UploadRequest
from lakebed_format import identity

from tests.simulation.actors.outside import SOURCE
from tests.simulation.checks.audit import Audit
from tests.simulation.checks.contents import Contents
from tests.simulation.checks.history import CONTENT_TYPE, History, content_etag, content_identity
from tests.simulation.checks.multiparts import LIFETIME
from tests.simulation.checks.properties import Checker
from tests.simulation.world.hooking import SimHooks
from tests.simulation.world.memo import SharedCache, SharedTrees, finish, remembered
from tests.simulation.world.scheduler import Policy, Process, Scheduler, SimRuntime
from tests.simulation.world.stores import Faults, Network, SimKV, SimObjects
from tests.support.services.object_stores import OneStore

REPO = "lake"
NAMESPACE = "mem://lake"
GRACE = 5.0
"""Of the cleaner, in virtual seconds: a step takes a millisecond, so only a paused call lasts longer."""

ONE_ROW, TWO_ROWS, ALL_ROWS = (1, 1), (1, 250), (1 << 20, 8 << 20)
"""Bounds of a range, and how many rows of these worlds it then has."""


class ActorIds:
    """Ids that contain the process, the caller, the number of its call and the number of the id in that call.

    So other callers' calls do not change them: schedules make the same files more often, and pure work is remembered.
    """

    def __init__(self, process: int, scheduler: Scheduler) -> None:
        self._process = process
        self._scheduler = scheduler
        self._taken: dict[str, list[int]] = {}  # caller -> its place, its last call, its calls, ids of the last one

    def new(self) -> str:
        task = self._scheduler.current
        op = None if task is None else task.op
        caller, number = ("", 0) if op is None else (op.actor, op.number)
        taken = self._taken.setdefault(caller, [len(self._taken), -1, 0, 0])
        if taken[1] != number:
            taken[1:] = number, taken[2] + 1, 0
        taken[3] += 1
        return f"{self._process:08x}{taken[0]:04x}{taken[2]:04x}{taken[3]:016x}"


class Prepared(NamedTuple):
    """The raw content of a repository to begin from."""

    rows: Sequence[Put]
    blobs: Mapping[str, Any]
    partition: str


class _Blind:
    """Watches nothing: while a repository is prepared."""

    def applied(self, batch: Batch, op: Any) -> None:
        pass

    def dropped(self, partition: str, op: Any) -> None:
        pass

    def deleted(self, keys: Sequence[str], op: Any) -> None:
        pass


class World:
    """Everything of one schedule."""

    def __init__(
        self,
        prepared: Prepared,
        rng: random.Random,
        policy: Policy,
        rates: Mapping[str, float],
        trace: Callable[[str], None] | None = None,
        *,
        tuning: Tuning,
    ) -> None:
        self._tuning = tuning
        self.trace = trace
        self._share = rng.random() < 7 / 8
        self.scheduler = Scheduler(rng, policy)
        self.history = History()
        self.workspaces: list[str] = []  # names of the created workspaces, the newest last
        self.uploads: list[Any] = []  # what callers know of their multipart uploads, the newest last
        kv, blobs = MemoryKV(), MemoryObjects(NAMESPACE, self.scheduler)
        self._sources = MemoryObjects(SOURCE.removesuffix("/in/"), self.scheduler)
        finish(kv.apply(Batch(puts=prepared.rows)))
        blobs._blobs = dict(prepared.blobs)
        self.contents = Contents(kv, blobs, prepared.partition)
        self.audit = Audit(self.contents, self.history, self.scheduler, GRACE)
        self.checker = Checker(self.contents, self.history, self.audit.uploads, self.audit.events)
        self.faults = Faults(rng, rates, GRACE)
        network = Network(self.scheduler, self.faults, trace)
        self._kv = SimKV(kv, network, self.audit)
        self._stores = OneStore(SimObjects(blobs, network, self.audit))
        self._foreign = Foreign(OneStore(SimObjects(self._sources, network, self.audit)).open, (SOURCE,))
        self._runtime = SimRuntime(self.scheduler, partial(remembered, share=self._share))

    def engine(self, process: int) -> Engine:
        """A fresh engine: a process of its own."""
        trees = SharedTrees(self._runtime, SharedCache(1 << 30), self._tuning.trees) if self._share else None
        engine = Engine(
            self._kv,
            self._stores,
            clock=self.scheduler,
            ids=ActorIds(process, self.scheduler),
            runtime=self._runtime,
            cleanup_grace=GRACE,
            foreign=self._foreign,
            upload_age=LIFETIME,
            tuning=self._tuning,
            trees=trees,
        )
        if self.audit.events.hooks.on:
            engine.hooks.use(SimHooks(self.audit.events.hooks, self._runtime))
        return engine

    def stored(self, address: str, text: str) -> Entry:
        """An entry whose data is there: what a pusher brings along."""
        finish(self.contents.blobs.put(address, text.encode()))
        return Entry(
            address,
            content_etag(text),
            0,
            len(text),
            int(self.scheduler.now()),
            CONTENT_TYPE,
            {},
            content_identity(text),
        )

    def write_below(self, workspace: str, path: str, text: str) -> None:
        """What another tool writes below the prefix of an open workspace, as that is now."""
        record = self.contents.branch(workspace)
        if isinstance(record, Workspace):
            finish(self.contents.blobs.put(record.prefix + path, text.encode()))
            self._note(record.prefix + path, content_identity(text))

    def feed(self, path: str, text: str | None) -> None:
        """What another tool writes (None: removes) where ingests read."""
        key = f"in/{path}"
        if text is None:
            finish(self._sources.delete([key]))
            self._note(SOURCE + path, None)
            return
        finish(self._sources.put(key, text.encode()))
        version = f"stat:{round(self.scheduler.now() * 1e9):x}-{len(text):x}"
        self._note(SOURCE + path, identity(len(text), version, CONTENT_TYPE, {}))

    def _note(self, address: str, found: bytes | None) -> None:
        self.history.outside.setdefault(address, []).append((self.scheduler.step, found))


def small_trees(bounds: tuple[int, int]) -> Limits:
    """Trees of several ranges, and of patches over them, from a handful of rows."""
    return Limits(*bounds, patch_rows=3, small=1, patches=2, share=0, portion=2, at_once=1)


_BASE = {"a": "a0", "c/_SUCCESS": "", "c/x": "x0", "z": "z0"}
_VARIANTS: Sequence[Mapping[str, Mapping[str, str | None]]] = (
    {"main": {}, "dev": {}, "staged": {}},
    {"main": {"m": "m1"}, "dev": {"d/_SUCCESS": "", "z": None}, "staged": {}},
    {"main": {}, "dev": {"c/_SUCCESS": None, "d/_SUCCESS": ""}, "staged": {"m": "m2", "a": None}},
    {"main": {"c/_SUCCESS": None}, "dev": {"d/_SUCCESS": ""}, "staged": {"z": "z1"}},
)


@cache
def prepared(variant: int, bounds: tuple[int, int]) -> Prepared:
    """A repository with a history: `main` and `dev` have grown apart, something is staged on `main`."""
    changes = _VARIANTS[variant % len(_VARIANTS)]
    scheduler = Scheduler(random.Random(0))
    kv, blobs = MemoryKV(), MemoryObjects(NAMESPACE, scheduler)
    network = Network(scheduler, Faults(random.Random(0), {}, GRACE))
    engine = Engine(
        SimKV(kv, network, _Blind()),
        OneStore(SimObjects(blobs, network, _Blind())),
        clock=scheduler,
        ids=ActorIds(0, scheduler),
        runtime=SimRuntime(scheduler, remembered),
        tuning=Tuning(trees=small_trees(bounds)),
    )
    scheduler.spawn("prepare", Process("prepare"), _prepare(engine, changes))
    scheduler.run(100_000)
    partitions = kv._partitions
    rows = [Put(name, key, row.value) for name, found in partitions.items() for key, row in found.rows.items()]
    return Prepared(rows, blobs._blobs, next(name for name in partitions if name.startswith("repo/")))


async def _prepare(engine: Engine, changes: Mapping[str, Mapping[str, str | None]]) -> None:
    await engine.repositories.create(REPO, NAMESPACE)
    await _write(engine, "main", _BASE)
    await _commit(engine, "main")
    await engine.branches.create(REPO, "dev", "main")
    for branch in ("main", "dev"):
        if changes[branch]:
            await _write(engine, branch, changes[branch])
            await _commit(engine, branch)
    await _write(engine, "main", changes["staged"])


async def _commit(engine: Engine, branch: str) -> None:
    await engine.commits.create(REPO, branch, CommitRequest(message="prepared", committer="p"))


async def _write(engine: Engine, branch: str, rows: Mapping[str, str | None]) -> None:
    for path, text in rows.items():
        if text is None:
            await engine.objects.delete(REPO, branch, path)
        else:
            await engine.objects.upload(REPO, branch, UploadRequest(path=path), _once(text.encode()))


async def _once(data: bytes) -> Any:
    yield data
