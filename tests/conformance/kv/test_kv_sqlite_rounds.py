"""Reads of one row in one iteration of the event loop share one read of the file, and return no stale row."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest
from lakebed_engine.stores.kv.base import Batch, Put, Versioned
from lakebed_engine.stores.kv.sqlite.store import Reader, SqliteKV
from lakebed_engine.vocabulary.errors import StoreUnavailableError


class Other:
    """A second SQLite connection that writes during an iteration of the loop."""

    def __init__(self, path: Path) -> None:
        self.connection = apsw.Connection(str(path))
        self.version = 1000

    def put(self, key: bytes, value: bytes) -> None:
        self.version += 1
        self.connection.execute("INSERT OR REPLACE INTO kv VALUES ('p', ?, ?, ?)", (key, value, self.version))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kv.sqlite"


@pytest.fixture
def kv(path: Path) -> Iterator[SqliteKV]:
    store = SqliteKV(path)
    yield store
    asyncio.run(store.close())


@pytest.fixture
def other(kv: SqliteKV, path: Path) -> Iterator[Other]:
    made = Other(path)
    yield made
    made.connection.close()


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The keys that were looked up in the file."""
    seen: list[bytes] = []
    get = Reader.get

    def counted(self: Reader, partition: str, key: bytes) -> Versioned | None:
        seen.append(key)
        return get(self, partition, key)

    monkeypatch.setattr(Reader, "get", counted)
    return seen


async def value(kv: SqliteKV, key: bytes) -> bytes | None:
    found = await kv.get("p", key)
    return None if found is None else found.value


async def test_concurrent_gets_of_one_row_share_one_read(kv: SqliteKV, looks: list[bytes]) -> None:
    await kv.apply(Batch(puts=[Put("p", b"a", b"1")]))
    found = await asyncio.gather(*(value(kv, b"a") for _ in range(64)))
    assert found == [b"1"] * 64
    assert looks == [b"a"]
    absent = await asyncio.gather(*(value(kv, b"none") for _ in range(64)))
    assert absent == [None] * 64
    assert looks == [b"a", b"none"]


async def test_a_read_in_the_next_loop_turn_sees_other_writes(kv: SqliteKV, other: Other) -> None:
    for step in range(20):
        other.put(b"a", str(step).encode())
        assert await value(kv, b"a") == str(step).encode()
        await asyncio.sleep(0)


async def test_a_caller_woken_from_outside_sees_what_was_written_before_it_was_woken(
    kv: SqliteKV, other: Other
) -> None:
    """The event loop cannot report a finished write before the current round has ended."""
    loop = asyncio.get_running_loop()
    for step in range(200):
        landed = loop.create_future()

        def write(number: int, reported: asyncio.Future[bytes]) -> None:
            written = str(number).encode()
            other.put(b"a", written)
            loop.call_soon_threadsafe(reported.set_result, written)

        job = loop.run_in_executor(None, write, step, landed)

        async def look_on(done: asyncio.Future[bytes]) -> None:
            while not done.done():
                await value(kv, b"a")
                await asyncio.sleep(0)

        async def look_after(done: asyncio.Future[bytes]) -> None:
            written = await done
            assert await value(kv, b"a") == written

        await asyncio.gather(look_on(landed), look_after(landed), look_on(landed), look_after(landed), job)


async def test_reads_of_two_rows_keep_the_order_of_writes(kv: SqliteKV, other: Other) -> None:
    """A caller that reads a record, its rows and the record again must see a change in between."""
    other.put(b"record", b"old")
    other.put(b"row", b"old")
    assert await value(kv, b"record") == b"old"
    other.put(b"record", b"new")
    other.put(b"row", b"new")
    assert await value(kv, b"row") == b"new"
    assert await value(kv, b"record") == b"new"


@pytest.mark.parametrize("read", ["scan", "get_many"])
async def test_any_other_read_ends_the_shared_read(kv: SqliteKV, other: Other, read: str) -> None:
    other.put(b"record", b"old")
    assert await value(kv, b"record") == b"old"
    other.put(b"record", b"new")
    if read == "scan":
        assert [row.value for row in await kv.scan("p")] == [b"new"]
    else:
        assert [row and row.value for row in await kv.get_many("p", [b"record"])] == [b"new"]
    assert await value(kv, b"record") == b"new"


async def test_the_writer_reads_what_it_wrote(kv: SqliteKV) -> None:
    async def caller(number: int) -> None:
        for step in range(50):
            await value(kv, b"%d" % number)
            await kv.apply(Batch(puts=[Put("p", b"%d" % number, b"%d" % step)]))
            assert await value(kv, b"%d" % number) == b"%d" % step

    await asyncio.gather(*map(caller, [1, 1 + 1, 3]))


async def test_event_loops_do_not_share_reads(kv: SqliteKV, other: Other) -> None:
    """Another thread's loop may know of a change that this loop does not know of."""
    other.put(b"a", b"old")
    assert await value(kv, b"a") == b"old"
    other.put(b"a", b"new")
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, value(kv, b"a")).result() == b"new"
    assert await value(kv, b"a") == b"new"


async def test_get_on_closed_store_raises_after_shared_read(kv: SqliteKV) -> None:
    await kv.apply(Batch(puts=[Put("p", b"a", b"1")]))
    assert await value(kv, b"a") == b"1"
    kv._close()  # without an iteration of the loop in between
    with pytest.raises(StoreUnavailableError):
        await kv.get("p", b"a")
