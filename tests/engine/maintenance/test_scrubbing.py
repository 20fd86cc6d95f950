"""The scrub: finds what is damaged, slowly, goes on where it stopped, and changes nothing."""

from __future__ import annotations

import logging

import pytest
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.reports import ScrubOptions
from lakebed_format.keys import RANGES

from tests.engine.support import REPO, new_engine, put_commit
from tests.engine.swept import DAY, Lake, fill, memory_lake

WEEK = 7 * DAY
FAST = ScrubOptions(every=WEEK, rate=0.0, objects=True)


async def flip(lake: Lake, prefix: str) -> str:
    """Change one byte of the first file of a folder; its key."""
    key = min(name for name in await lake.files() if name.startswith(prefix))
    data = bytearray(await lake.store.get(key))
    data[len(data) // 2] ^= 1
    await lake.store.put(key, bytes(data))
    return key


async def contents(lake: Lake) -> dict[str, bytes]:
    return {key: await lake.store.get(key) for key in await lake.files()}


async def test_a_flipped_byte_is_found_and_nothing_is_changed(caplog: pytest.LogCaptureFixture) -> None:
    lake = await memory_lake()
    await put_commit(lake.engine, {f"{number:03}": "x" * 50 for number in range(100)})
    await put_commit(lake.engine, {"a": "1"})
    assert (await lake.engine.maintenance.scrub(FAST)).problems == 0
    address = (
        await lake.engine.objects.stat(REPO, "main", "a")
    ).physical_address  # not named by the range that is damaged
    damaged = [await flip(lake, RANGES), await flip(lake, address)]
    before = await contents(lake)
    lake.clock.forward(WEEK + 1)
    caplog.clear()
    with caplog.at_level(logging.INFO, "lakebed.engine"):
        done = await lake.engine.maintenance.scrub(FAST)
    assert await contents(lake) == before
    assert (done.repositories, done.problems) == (1, 2)
    warnings = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert len(warnings) == 2
    for key, text in zip(damaged, warnings, strict=True):
        assert REPO in text
        assert key in text
    assert "2 damaged or missing files" in caplog.messages[-1]
    last = await lake.engine.maintenance.last_scrub(REPO)
    assert last is not None
    assert (last.ended, last.problem_count) == (int(lake.clock.time), 2)
    assert all(any(key in text for text in last.problems) for key in damaged)
    without = ScrubOptions(every=0.0, rate=0.0)
    lake.clock.forward(1)
    assert (await lake.engine.maintenance.scrub(without)).problems == 1, "only metadata"


async def test_a_single_server_scrubs_once_in_an_interval() -> None:
    lake = await memory_lake()
    await put_commit(lake.engine, {"a": "1"})
    other = new_engine(lake.kv, lake.engine.context.stores, clock=lake.clock, runtime=lake.runtime)
    assert (await lake.engine.maintenance.scrub(FAST)).repositories == 1
    lake.clock.forward(WEEK - 10)
    assert (await other.maintenance.scrub(FAST)).repositories == 0
    lake.clock.forward(20)
    asked: list[int] = []

    async def meanwhile() -> None:
        asked.append((await other.maintenance.scrub(FAST)).repositories)

    lake.runtime.meanwhile = meanwhile
    assert (await lake.engine.maintenance.scrub(ScrubOptions(every=WEEK, rate=1000.0))).repositories == 1
    assert asked == [0]


async def test_the_rate_is_kept() -> None:
    lake = await memory_lake()
    await fill(lake)
    started = lake.clock.monotonic()
    done = await lake.engine.maintenance.scrub(ScrubOptions(every=0.0, rate=1000.0, objects=True))
    took = lake.clock.monotonic() - started
    assert done.size > 5_000
    assert took == pytest.approx(done.size / 1000, rel=0.01)


async def test_a_server_that_is_started_again_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    lake = await memory_lake()
    await put_commit(lake.engine, {f"{number:04}": f"{number}" for number in range(600)})
    await lake.engine.repositories.create("first", "mem://first")
    opened: list[str] = []
    plain, broken = MemoryObjects.open, [300]

    def counted(self: MemoryObjects, key: str, start: int = 0, length: int | None = None) -> object:
        opened.append(key)
        broken[0] -= 1
        if broken[0] == 0:
            raise SystemError("the process dies")
        return plain(self, key, start, length)

    monkeypatch.setattr(MemoryObjects, "open", counted)
    with pytest.raises(SystemError):
        await lake.engine.maintenance.scrub(FAST)
    again = new_engine(lake.kv, lake.engine.context.stores, clock=lake.clock, runtime=lake.runtime)
    assert (await again.maintenance.scrub(FAST)).repositories == 0, "the lease of the dead one"
    lake.clock.forward(1000)
    done = await again.maintenance.scrub(FAST)
    assert done.repositories == 1, "the first one is finished, and is not read again"
    assert len(set(opened)) == 600
    assert len(opened) == 300 + 600 - 256


async def test_a_store_that_fails_stops_no_other_repository(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lake = await memory_lake()
    await put_commit(lake.engine, {"a": "1"})
    await lake.engine.repositories.create("before", "mem://before")
    plain = MemoryObjects.get

    async def get(self: MemoryObjects, key: str) -> bytes:
        if self.uri == "mem://before":
            raise errors.StoreUnavailableError("it does not answer")
        return await plain(self, key)

    monkeypatch.setattr(MemoryObjects, "get", get)
    assert (await lake.engine.maintenance.scrub(FAST)).repositories == 1
    assert "before: the scrub could not finish: it does not answer" in caplog.text
