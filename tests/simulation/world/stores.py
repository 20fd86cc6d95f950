"""The stores of a simulation: every call is a scheduling point, and may fail as the seed says.

A call takes effect atomically when its task is picked again. An observer receives every effect, with the operation
that caused it.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol, TypeVar

from lakebed_engine.stores.kv.base import Batch, Row, Versioned
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.base import BlobStat, PutResult
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.vocabulary.errors import OutcomeUnknownError, PredicateFailed, StoreUnavailableError

from tests.simulation.world.memo import finish
from tests.simulation.world.scheduler import HERE, NEVER, Over, Process, Scheduler, park

T = TypeVar("T")

READS = ("unavailable", "crash_before", "crash_after", "slow", "paused")
WRITES = ("unavailable", "lost_before", "lost_after", "late", "crash_before", "crash_after", "slow", "paused")
"""The faults of a call. lost: the caller sees OutcomeUnknownError, and it was (after) or was not (before) applied.
late: the same, and it is applied some time afterwards. paused: for longer than the grace period."""


class Observer(Protocol):
    """Receives the effects."""

    def applied(self, batch: Batch, op: Any) -> None:
        """A KV batch took effect."""

    def dropped(self, partition: str, op: Any) -> None:
        """A KV partition is about to be dropped."""

    def deleted(self, keys: Sequence[str], op: Any) -> None:
        """Objects are about to be deleted."""


class Faults:
    """Decides the fault of each call, from the seed. `rates` are per call; only tasks with an operation fail."""

    def __init__(self, rng: random.Random, rates: Mapping[str, float], grace: float) -> None:
        self._rng = rng
        self._reads = [(fault, rates[fault]) for fault in READS if rates.get(fault)]
        self._writes = [(fault, rates[fault]) for fault in WRITES if rates.get(fault)]
        self._grace = grace
        self.off = False

    def draw(self, write: bool) -> str:
        """The fault of this call, or nothing."""
        faults = self._writes if write else self._reads
        if not faults or self.off:
            return ""
        at = self._rng.random()
        for fault, rate in faults:
            at -= rate
            if at < 0:
                return fault
        return ""

    def delay(self, fault: str) -> float:
        """How long a slow call, a paused one or a late effect takes."""
        if fault == "paused":
            return self._grace * self._rng.choice([1.1, 2.5, 4.0])
        return self._rng.choice([0.005, 0.03, 0.2, 1.0])


class Network:
    """Between the engine and the stores: one gate for all calls."""

    def __init__(self, scheduler: Scheduler, faults: Faults, trace: Callable[[str], None] | None = None) -> None:
        self.scheduler = scheduler
        self.faults = faults
        self.trace = trace

    async def call(
        self, name: str, detail: object, effect: Callable[[Any], T], *, write: bool, unknown: bool = False
    ) -> T:
        """One call. `unknown`: its error says that the outcome is not known; else that the store is unavailable."""
        scheduler = self.scheduler
        if scheduler.over:
            raise Over
        await HERE
        task = scheduler.current
        assert task is not None
        fault = self.faults.draw(write) if task.op is not None else ""
        if self.trace is not None:
            self.trace(f"{scheduler.step:5d} {scheduler.time:9.3f}s {task.name:14s} {name} {detail!s:.160} {fault}")
        if not fault:
            return effect(task.op)
        task.op.faults.append(fault)
        return await self._faulty(fault, name, effect, task.op, task.process, unknown)

    async def _faulty(
        self, fault: str, name: str, effect: Callable[[Any], T], op: Any, process: Process, unknown: bool
    ) -> T:
        scheduler = self.scheduler
        if fault == "unavailable" or (fault == "lost_before" and not unknown):
            raise StoreUnavailableError(f"simulated: {name} refused")
        if fault == "lost_before":
            raise OutcomeUnknownError(f"simulated: the answer of {name} was lost, nothing was applied")
        if fault == "late" and unknown:
            until = scheduler.time + self.faults.delay(fault)
            scheduler.spawn("late", Process("late"), self._late(name, effect, op, until))
            raise OutcomeUnknownError(f"simulated: the answer of {name} was lost, it is applied later")
        if fault == "crash_before":
            await self._crash(process)
        if fault in {"slow", "paused"} and scheduler.rng.random() < 0.5:
            await park(scheduler.time + self.faults.delay(fault))
            return effect(op)
        result = effect(op)
        if fault == "crash_after":
            await self._crash(process)
        if fault in {"slow", "paused"}:
            await park(scheduler.time + self.faults.delay(fault))
            return result
        if unknown:
            raise OutcomeUnknownError(f"simulated: the answer of {name} was lost, it was applied")
        raise StoreUnavailableError(f"simulated: {name} failed after it was done")

    async def _late(self, name: str, effect: Callable[[Any], Any], op: Any, until: float) -> None:
        await park(until)
        try:
            effect(op)
            done = "landed late"
        except PredicateFailed:
            done = "came too late"
        if self.trace is not None:
            self.trace(f"{self.scheduler.step:5d} {self.scheduler.time:9.3f}s {name} of {op} {done}")

    async def _crash(self, process: Process) -> None:
        self.scheduler.crash(process)
        await park(NEVER)


class SimKV:
    """A KVStore over MemoryKV."""

    def __init__(self, inner: MemoryKV, network: Network, observer: Observer) -> None:
        self._inner = inner
        self._network = network
        self._observer = observer

    async def get(self, partition: str, key: bytes) -> Versioned | None:
        return await self._network.call(
            "get", (partition, key), lambda _: finish(self._inner.get(partition, key)), write=False
        )

    async def get_many(self, partition: str, keys: Sequence[bytes]) -> list[Versioned | None]:
        return await self._network.call(
            "get_many", (partition, keys), lambda _: finish(self._inner.get_many(partition, keys)), write=False
        )

    async def scan(self, partition: str, start: bytes = b"", end: bytes | None = None, limit: int = 1000) -> list[Row]:
        return await self._network.call(
            "scan", (partition, start), lambda _: finish(self._inner.scan(partition, start, end, limit)), write=False
        )

    async def apply(self, batch: Batch) -> int:
        def effect(op: Any) -> int:
            version = finish(self._inner.apply(batch))
            self._observer.applied(batch, op)
            return version

        detail = Shown(batch) if self._network.trace is not None else ""
        return await self._network.call("apply", detail, effect, write=True, unknown=True)

    async def drop_partition(self, partition: str) -> None:
        def effect(op: Any) -> None:
            self._observer.dropped(partition, op)
            finish(self._inner.drop_partition(partition))

        await self._network.call("drop", partition, effect, write=True)

    async def partitions(self, start: str = "", end: str | None = None, limit: int = 1000) -> list[str]:
        return await self._network.call(
            "partitions", start, lambda _: finish(self._inner.partitions(start, end, limit)), write=False
        )

    async def close(self) -> None:
        pass


class Shown:
    """A batch as the trace shows it."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def __str__(self) -> str:
        puts = [f"{key.decode()[:20]}" for _, key, _ in self._batch.puts]
        return (
            f"checks {len(self._batch.checks)} puts {puts} deletes {[key.decode() for _, key in self._batch.deletes]}"
        )


class SimObjects:
    """One namespace over MemoryObjects."""

    def __init__(self, inner: MemoryObjects, network: Network, observer: Observer) -> None:
        self._inner = inner
        self._network = network
        self._observer = observer

    @property
    def uri(self) -> str:
        return self._inner.uri

    async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
        await self._network.call(
            "put",
            key,
            lambda _: finish(self._inner.put(key, data, if_absent=if_absent, by_content=by_content)),
            write=True,
        )

    async def put_stream(
        self, key: str, chunks: AsyncIterable[bytes], *, if_absent: bool = False, fresh: bool = False
    ) -> PutResult:
        data = b"".join([chunk async for chunk in chunks])
        return await self._network.call(
            "put_stream",
            key,
            lambda _: finish(self._inner.put_stream(key, _once(data), if_absent=if_absent, fresh=fresh)),
            write=True,
        )

    async def get(self, key: str) -> bytes:
        return await self._network.call("read", key, lambda _: finish(self._inner.get(key)), write=False)

    async def get_range(self, key: str, start: int, length: int) -> bytes:
        return await self._network.call(
            "read", key, lambda _: finish(self._inner.get_range(key, start, length)), write=False
        )

    def open(
        self, key: str, start: int = 0, length: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        return self._open(key, start, length)

    @asynccontextmanager
    async def _open(self, key: str, start: int, length: int | None) -> AsyncIterator[AsyncIterator[bytes]]:
        data = await self.get(key)
        yield _once(data[start : None if length is None else start + length])

    async def head(self, key: str) -> BlobStat:
        return await self._network.call("head", key, lambda _: finish(self._inner.head(key)), write=False)

    async def list(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        for stat in await self._network.call("list", prefix, lambda _: self._listed(prefix, start_after), write=False):
            yield stat

    def _listed(self, prefix: str, start_after: str) -> Sequence[BlobStat]:
        async def job() -> Sequence[BlobStat]:
            return [stat async for stat in self._inner.list(prefix, start_after)]

        return finish(job())

    async def any_key(self) -> str | None:
        return await self._network.call("list", "", lambda _: finish(self._inner.any_key()), write=False)

    async def list_partial(self) -> AsyncIterator[BlobStat]:
        leftovers: tuple[BlobStat, ...] = ()
        for stat in leftovers:
            yield stat

    async def delete_partial(self, handle: str) -> None:
        pass

    async def delete(self, keys: Sequence[str]) -> None:
        def effect(op: Any) -> None:
            self._observer.deleted(keys, op)
            finish(self._inner.delete(keys))

        await self._network.call("delete", list(keys), effect, write=True)

    async def delete_older(self, keys: Sequence[str], before: float) -> Sequence[str]:
        def effect(op: Any) -> Sequence[str]:
            old = [key for key in keys if (blob := self._inner._blobs.get(key)) and blob.mtime < before]
            self._observer.deleted(old, op)
            return finish(self._inner.delete_older(keys, before))

        return await self._network.call("delete_older", list(keys), effect, write=True)

    async def copy(self, source: str, target: str) -> None:
        await self._network.call("copy", target, lambda _: finish(self._inner.copy(source, target)), write=True)


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data
