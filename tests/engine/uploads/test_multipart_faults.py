"""Completing an upload with every answer lost, every call refused and every process cancelled, in turn.

A fault comes right before or right after store call 1, 2, 3, ... of the operation, until it ends without one: the
number of calls is found, not assumed. Whatever it said, a second try by another process, with the same parts, must end
with one object of the right content; each entry that a caller received is true; and nothing is left behind.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.multipart.records import REMEMBERED, target_of
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.stores.kv.base import Batch, Row, Versioned
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.base import BlobStat, PutResult
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.direct_writes import SentPart
from lakebed_engine.vocabulary.multipart import Target
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.reports import FsckOptions
from lakebed_engine.vocabulary.requests import UploadRequest

from tests.engine.support import REPO, FakeClock, HookedKV, content, make_engine, new_engine, once, put
from tests.engine.swept import Waiting
from tests.support.services.object_stores import OneStore

T = TypeVar("T")
SENT = {1: b"first ", 2: b"second ", 9: b"last"}
WHOLE = "first second last"
PARTS = [SentPart(number, hashlib.md5(data).hexdigest()) for number, data in SENT.items()]


class Fault:
    """What goes wrong at the call of this number: before it, or after it was done."""

    def __init__(self, kind: str, number: int, *, late: bool) -> None:
        self.kind = kind
        self.number = number
        self.late = late
        self.calls: list[str] = []
        self.on = False

    async def call(self, name: str, job: Callable[[], Awaitable[T]], *, writes: bool = False) -> T:
        if not self.on:
            return await job()
        self.calls.append(name)
        mine = len(self.calls) == self.number
        if mine and not self.late:
            raise self._error(writes)
        done = await job()
        if mine:
            raise self._error(writes)
        return done

    def _error(self, writes: bool) -> BaseException:
        if self.kind == "cancelled":
            return asyncio.CancelledError()
        if writes:
            return errors.OutcomeUnknownError("the answer was lost")
        return errors.StoreUnavailableError("no answer")


class FaultyKV(HookedKV):
    def __init__(self, inner: MemoryKV, fault: Fault) -> None:
        super().__init__(inner)
        self.fault = fault

    async def get(self, partition: str, key: bytes) -> Versioned | None:
        return await self.fault.call("get", lambda: self.inner.get(partition, key))

    async def scan(self, partition: str, start: bytes = b"", end: bytes | None = None, limit: int = 1000) -> list[Row]:
        return await self.fault.call("scan", lambda: self.inner.scan(partition, start, end, limit))

    async def apply(self, batch: Batch) -> int:
        return await self.fault.call("apply", lambda: self.inner.apply(batch), writes=True)


class FaultyObjects:
    """A store without support for parts, or (`joins`) a store that joins objects."""

    def __init__(self, inner: MemoryObjects, fault: Fault) -> None:
        self._inner = inner
        self.uri, self.get, self.open, self.any_key = inner.uri, inner.get, inner.open, inner.any_key
        self.put, self.get_range, self.copy = inner.put, inner.get_range, inner.copy
        self.list_partial, self.delete_partial, self.delete_older = (
            inner.list_partial,
            inner.delete_partial,
            inner.delete_older,
        )
        self.fault = fault

    async def put_stream(
        self, key: str, chunks: AsyncIterable[bytes], *, if_absent: bool = False, fresh: bool = False
    ) -> PutResult:
        job = self._inner.put_stream
        return await self.fault.call(
            "put_stream", lambda: job(key, chunks, if_absent=if_absent, fresh=fresh), writes=True
        )

    async def head(self, key: str) -> BlobStat:
        return await self.fault.call("head", lambda: self._inner.head(key))

    async def delete(self, keys: Sequence[str]) -> None:
        await self.fault.call("delete", lambda: self._inner.delete(keys))

    async def list(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        async def everything() -> Any:
            return [blob async for blob in self._inner.list(prefix, start_after)]

        for blob in await self.fault.call("list", everything):
            yield blob


class JoiningObjects(FaultyObjects):
    async def concat(self, keys: Sequence[str], target: str) -> None:
        await self.fault.call("concat", lambda: self._inner.concat(keys, target), writes=True)


class Lake:
    """The same stores seen by two processes, one of them in trouble."""

    def __init__(self, fault: Fault, joins: bool) -> None:
        self.fault = fault
        self.clock = FakeClock()
        self.kv, self.objects = MemoryKV(), MemoryObjects("mem://lake", self.clock)
        store = JoiningObjects(self.objects, fault) if joins else FaultyObjects(self.objects, fault)
        self.faulty_kv, self.faulty_stores = FaultyKV(self.kv, fault), OneStore(store)

    def engine(self, *, faulty: bool) -> Engine:
        options: Any = {"clock": self.clock, "runtime": Waiting(self.clock), "tuning": Tuning(least_part=1)}
        if faulty:
            return new_engine(self.faulty_kv, self.faulty_stores, **options)
        return new_engine(self.kv, OneStore(self.objects), **options)

    async def prepared(self) -> Target:
        engine = await make_engine(self.kv, OneStore(self.objects), clock=self.clock)
        await put(engine, "big", "old")
        target = target_of(await engine.multipart.create(REPO, "main", UploadRequest(path="big")))
        for number, data in SENT.items():
            await engine.multipart.put_part(REPO, target, number, len(data), once(data))
        return target

    async def is_clean(self) -> None:
        """A day later: one object, and what it was made of is gone."""
        engine = self.engine(faulty=False)
        report = await engine.maintenance.fsck(REPO, FsckOptions(deep=True))
        assert report.ok, report.problems
        for seconds in (REMEMBERED, 7 * REMEMBERED):
            self.clock.forward(seconds)
            await engine.maintenance.clean()
        assert [blob.key async for blob in self.objects.list("_lakebed/uploads/")] == []
        rows = await self.kv.scan(f"repo/{(await engine.repositories.get(REPO)).uid}")
        assert not [row.key for row in rows if row.key.startswith((b"upload", b"part/", b"ended/"))]


async def complete(engine: Engine, target: Target, **conditions: Any) -> Entry:
    return (await engine.multipart.complete(REPO, target, PARTS, **conditions)).entry


@pytest.mark.medium
@pytest.mark.parametrize("joins", [True, False], ids=["joins", "streams"])
@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("kind", ["lost", "cancelled"])
@pytest.mark.parametrize("conditional", [False, True], ids=["plain", "conditional"])
async def test_a_fault_at_every_call(kind: str, late: bool, joins: bool, conditional: bool) -> None:
    old = hashlib.md5(b"old").hexdigest()
    conditions: dict[str, Any] = {"if_match": old} if conditional else {}

    async def job(number: int) -> Fault:
        fault = Fault(kind, number, late=late)
        lake = Lake(fault, joins)
        target = await lake.prepared()
        reported: Entry | None = None
        fault.on = True
        with suppress(errors.EngineError, asyncio.CancelledError):
            reported = await complete(lake.engine(faulty=True), target, **conditions)
        fault.on = False
        shown = (await content(lake.engine(faulty=False)))["big"]
        assert shown in ("old", WHOLE)
        entry = await complete(lake.engine(faulty=False), target, **conditions)
        assert reported is None or reported == entry
        assert reported is None or shown == WHOLE, "it was reported that it is there, and was not"
        assert await content(lake.engine(faulty=False)) == {"big": WHOLE}
        assert await lake.engine(faulty=False).objects.stat(REPO, "main", "big") == entry
        await lake.is_clean()
        return fault

    for number in itertools.count(1):
        fault = await job(number)
        if len(fault.calls) < number:
            break
    assert number > 12
    assert "apply" in fault.calls


@pytest.mark.parametrize("then", ["abort", "complete"])
@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
async def test_a_fault_at_every_call_of_giving_up(late: bool, then: str) -> None:
    """An upload whose abort failed can still be completed."""

    async def job(number: int) -> Fault:
        fault = Fault("lost", number, late=late)
        lake = Lake(fault, joins=True)
        target = await lake.prepared()
        fault.on = True
        given_up = False
        with suppress(errors.EngineError):
            await lake.engine(faulty=True).multipart.abort(REPO, target)
            given_up = True
        fault.on = False
        engine = lake.engine(faulty=False)
        if then == "abort":
            await engine.multipart.abort(REPO, target)
            assert len([blob async for blob in lake.objects.list("data/")]) == 1
        else:
            try:
                await complete(engine, target)
                assert not given_up
            except errors.UploadNotFoundError:
                then_shown.append("old")
            else:
                then_shown.append(WHOLE)
        shown = then_shown[-1] if then_shown else "old"
        assert await content(engine) == {"big": shown}
        await lake.is_clean()
        return fault

    then_shown: list[str] = []

    for number in itertools.count(1):
        if len((await job(number)).calls) < number:
            break
    assert number > 4
    assert then == "abort" or set(then_shown) == {"old", WHOLE}


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
async def test_a_fault_at_every_call_of_sending_a_part(late: bool) -> None:
    """An acknowledged part is stored; another part may be sent again."""

    async def job(number: int) -> Fault:
        fault = Fault("lost", number, late=late)
        lake = Lake(fault, joins=True)
        target = await lake.prepared()
        fault.on = True
        answered = False
        with suppress(errors.EngineError):
            await lake.engine(faulty=True).multipart.put_part(REPO, target, 2, 3, once(b"new"))
            answered = True
        fault.on = False
        engine = lake.engine(faulty=False)
        _, parts = await engine.multipart.list_parts(REPO, target)
        now = {part.number: part.md5 for part in parts.items}[2]
        assert now in {hashlib.md5(b"new").hexdigest()} | ({PARTS[1].etag} if not answered else set())
        part = await engine.multipart.put_part(REPO, target, 2, 3, once(b"new"))
        await engine.multipart.complete(REPO, target, [PARTS[0], SentPart(2, part.md5)])
        assert await content(engine) == {"big": "first new"}
        await lake.is_clean()
        return fault

    for number in itertools.count(1):
        if len((await job(number)).calls) < number:
            break
    assert number > 3


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
async def test_racing_completions_survive_a_fault(late: bool) -> None:
    """They take turns at every call. Whatever fault one of them meets, one object is stored, and both return it."""

    async def job(number: int) -> Fault:
        fault = Fault("lost", number, late=late)
        lake = Lake(fault, joins=True)
        target = await lake.prepared()
        fault.on = True
        done = await asyncio.gather(
            complete(lake.engine(faulty=True), target, if_match=hashlib.md5(b"old").hexdigest()),
            complete(lake.engine(faulty=False), target, if_match=hashlib.md5(b"old").hexdigest()),
            return_exceptions=True,
        )
        fault.on = False
        entries = [one for one in done if isinstance(one, Entry)]
        assert isinstance(done[1], Entry), done[1]
        assert all(one == entries[0] for one in entries)
        if isinstance(done[0], errors.PreconditionFailedError):
            raise AssertionError("its own object was in its way")
        assert await content(lake.engine(faulty=False)) == {"big": WHOLE}
        await lake.is_clean()
        return fault

    for number in itertools.count(1):
        if len((await job(number)).calls) < number:
            break
    assert number > 10
