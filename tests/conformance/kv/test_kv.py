"""The conformance suite of KV stores, which every driver passes, and additional tests of SQLite (durability,
processes).

Run as a script, this file is also the other process of the tests that need one.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import apsw
import pytest
from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, Delete, KVStore, Put, Row
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.kv.overlay import ObservedKV
from lakebed_engine.stores.kv.postgres.store import PostgresKV
from lakebed_engine.stores.kv.sqlite import file
from lakebed_engine.stores.kv.sqlite import writer as sqlite_writer
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.vocabulary.errors import (
    CorruptDataError,
    OutcomeUnknownError,
    PredicateFailed,
    SchemaTooNewError,
    StoreFullError,
    StoreUnavailableError,
)
from lakebed_engine.vocabulary.observer import SILENT

if TYPE_CHECKING:  # as a script, this file cannot see its neighbours
    from tests.support.services.postgres import Postgres

# In byte order, with the keys that a text order, a C string or a careless prefix would put elsewhere.
KEYS = [b"", b"\x00", b"\x00\x00", b"\x00\xff", b"A", b"B", b"a", b"a\x00", b"a\x00b", b"a/", b"a0", b"aa",
        b"b", "e\u0301".encode(), "é".encode(), "\ue000".encode(), "🪣".encode(), b"\xff", b"\xff\x00",
        b"\xff\xff"]  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kv.sqlite"


@pytest.fixture(params=["memory", "observed", "sqlite", "postgres"])
def kv(request: pytest.FixtureRequest) -> Iterator[KVStore]:
    if request.param == "observed":
        yield ObservedKV(MemoryKV(), SILENT)
        return
    store = MemoryKV() if request.param == "memory" else store_at(request.getfixturevalue(f"{request.param}_address"))
    yield store
    asyncio.run(store.close())


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest) -> str:
    """Of a store that several processes can share."""
    return str(request.getfixturevalue(f"{request.param}_address"))


@pytest.fixture
def sqlite_address(path: Path) -> str:
    return str(path)


@pytest.fixture
def postgres_address(postgres: Postgres) -> str:
    return f"{postgres.dsn} test {uuid4().hex}"


def store_at(address: str) -> KVStore:
    """A store by a path, or by a dsn and, behind a blank, an SQL schema."""
    dsn, _, schema = address.partition(" ")
    return PostgresKV(dsn, schema=schema) if schema else SqliteKV(address)


@asynccontextmanager
async def opened(path: Path, vfs: str | None = None) -> AsyncIterator[SqliteKV]:
    store = SqliteKV(path, vfs=vfs)
    try:
        yield store
    finally:
        await store.close()


async def put(kv: KVStore, key: bytes, value: bytes = b"v", partition: str = "p") -> int:
    return await kv.apply(Batch(puts=[Put(partition, key, value)]))


async def keys(kv: KVStore, partition: str = "p", limit: int = 1_000_000) -> list[bytes]:
    return [row.key for row in await kv.scan(partition, limit=limit)]


async def outcomes(calls: Sequence[Awaitable[int]]) -> list[int | BaseException]:
    return await asyncio.gather(*calls, return_exceptions=True)


async def increment(kv: KVStore, key: bytes = b"counter") -> int:
    """Add one by compare-and-swap, however many tries it takes."""
    while True:
        now = await kv.get("p", key)
        value = int(now.value) + 1 if now else 1
        check = Check("p", key, now.version if now else ABSENT)
        try:
            await kv.apply(Batch(checks=[check], puts=[Put("p", key, b"%d" % value)]))
        except PredicateFailed:
            continue
        return value


# ---- Every driver: reads


async def test_an_absent_key_is_none(kv: KVStore) -> None:
    assert await kv.get("p", b"k") is None
    assert await kv.get_many("p", [b"k", b"l"]) == [None, None]
    assert await kv.scan("p") == []


async def test_a_put_is_read_back_with_its_version(kv: KVStore) -> None:
    version = await put(kv, b"k", b"v")
    assert version > 0
    assert await kv.get("p", b"k") == (b"v", version)
    assert await kv.get_many("p", [b"x", b"k", b"k"]) == [None, (b"v", version), (b"v", version)]
    assert await kv.scan("p") == [Row(b"k", b"v", version)]
    found, row = await kv.get("p", b"k"), (await kv.scan("p"))[0]
    assert found is not None
    assert (found.value, found.version, row.key, row.value, row.version) == (b"v", version, b"k", b"v", version)


async def test_get_many_keeps_the_order_asked_for_and_may_be_large(kv: KVStore) -> None:
    assert await kv.get_many("p", []) == []
    await kv.apply(Batch(puts=[Put("p", b"%d" % n, b"%d" % n) for n in range(0, 3000, 2)]))
    found = await kv.get_many("p", [b"%d" % n for n in reversed(range(3000))])
    assert [item.value if item else None for item in found] == [
        b"%d" % n if n % 2 == 0 else None for n in reversed(range(3000))
    ]


async def test_scan_is_in_byte_order(kv: KVStore) -> None:
    assert sorted(KEYS) == KEYS
    for key in random.Random(1).sample(KEYS, len(KEYS)):
        await put(kv, key)
    assert await keys(kv) == KEYS
    for key in KEYS:
        found = await kv.get("p", key)
        assert found is not None, key


async def test_scan_starts_inclusive_ends_exclusive_and_stops_at_its_limit(kv: KVStore) -> None:
    await kv.apply(Batch(puts=[Put("p", key, b"") for key in KEYS]))
    bounds = [*KEYS, b"\x01", b"a\xff", b"zzz", b"\xff\xff\xff"]
    for start in bounds:
        assert [row.key for row in await kv.scan("p", start)] == [key for key in KEYS if key >= start]
        for end in bounds:
            inside = [key for key in KEYS if start <= key < end]
            assert [row.key for row in await kv.scan("p", start, end)] == inside
            assert [row.key for row in await kv.scan("p", start, end, 2)] == inside[:2]
    assert await kv.scan("p", limit=0) == []
    assert await kv.scan("p", limit=-1) == []
    assert len(await kv.scan("p", limit=10**9)) == len(KEYS)


async def test_scan_returns_1000_rows_by_default_and_pages_continue(kv: KVStore) -> None:
    wanted = [b"%05d" % number for number in range(2500)]
    await kv.apply(Batch(puts=[Put("p", key, b"") for key in reversed(wanted)]))
    assert len(await kv.scan("p")) == 1000
    pages: list[bytes] = []
    while page := await kv.scan("p", pages[-1] + b"\x00" if pages else b"", limit=700):
        pages += [row.key for row in page]
    assert pages == wanted
    assert await keys(kv) == wanted


async def test_partitions_do_not_see_one_another(kv: KVStore) -> None:
    names = ["", "p", "P", "p/", "p/1", "é", "e\u0301", "p\x00", "🪣"]
    for name in names:
        await put(kv, b"k", name.encode(), name)
    for name in names:
        assert [row.value for row in await kv.scan(name)] == [name.encode()]
    await kv.apply(Batch(deletes=[Delete("p", b"k")]))
    await kv.drop_partition("é")
    assert [name for name in names if await kv.get(name, b"k")] == [n for n in names if n not in ("p", "é")]


async def test_values_may_be_empty_binary_and_a_mebibyte(kv: KVStore) -> None:
    for value in (b"", b"\x00", bytes(range(256)), random.Random(2).randbytes(1 << 20)):
        await put(kv, b"k", value)
        found = await kv.get("p", b"k")
        assert found is not None
        assert found.value == value


# ---- Every driver: batches


async def test_a_batch_is_all_or_nothing(kv: KVStore) -> None:
    version = await put(kv, b"guard")
    await put(kv, b"old")
    changes = Batch(
        checks=[Check("p", b"guard", version), Check("q", b"none", 99)],
        puts=[Put("p", b"new", b"1"), Put("q", b"new", b"1")],
        deletes=[Delete("p", b"old")],
    )
    with pytest.raises(PredicateFailed):
        await kv.apply(changes)
    assert await keys(kv) == [b"guard", b"old"]
    assert await keys(kv, "q") == []
    applied = await kv.apply(Batch(changes.checks[:1], changes.puts, changes.deletes))
    assert await kv.scan("p") == [Row(b"guard", b"v", version), Row(b"new", b"1", applied)]
    assert await kv.get("q", b"new") == (b"1", applied)


async def test_checks_compare_versions(kv: KVStore) -> None:
    version = await kv.apply(Batch([Check("p", b"k", ABSENT)], [Put("p", b"k", b"1")]))
    for stale in (ABSENT, version - 1, version + 1, -1):
        with pytest.raises(PredicateFailed):
            await kv.apply(Batch([Check("p", b"k", stale)], [Put("p", b"k", b"2")]))
    assert await kv.get("p", b"k") == (b"1", version)
    await kv.apply(Batch([Check("p", b"k", version)], [Put("p", b"k", b"2")]))
    with pytest.raises(PredicateFailed):
        await kv.apply(Batch([Check("p", b"k", version)], [Put("p", b"k", b"3")]))
    with pytest.raises(PredicateFailed):
        await kv.apply(Batch([Check("p", b"other", version)]))


async def test_checks_see_the_state_before_the_batch(kv: KVStore) -> None:
    batch = Batch([Check("p", b"k", ABSENT)] * 2, [Put("p", b"k", b"1")], [Delete("p", b"k")])
    await kv.apply(batch)
    with pytest.raises(PredicateFailed):
        await kv.apply(batch)


async def test_deletes_come_before_puts_and_the_last_put_wins(kv: KVStore) -> None:
    await put(kv, b"k", b"0")
    version = await kv.apply(Batch((), [Put("p", b"k", b"1"), Put("p", b"k", b"2")], [Delete("p", b"k")]))
    assert await kv.scan("p") == [Row(b"k", b"2", version)]


async def test_deleting_an_absent_key_changes_nothing(kv: KVStore) -> None:
    await put(kv, b"k")
    assert await kv.apply(Batch(deletes=[Delete("p", b"x"), Delete("none", b"k")])) == ABSENT
    assert await keys(kv) == [b"k"]


async def test_a_batch_without_puts_is_answered_with_absent(kv: KVStore) -> None:
    version = await put(kv, b"k")
    assert await kv.apply(Batch()) == ABSENT
    assert await kv.apply(Batch([Check("p", b"k", version)])) == ABSENT
    assert await kv.apply(Batch(deletes=[Delete("p", b"k")])) == ABSENT
    assert await kv.get("p", b"k") is None


async def test_no_version_comes_twice(kv: KVStore) -> None:
    seen = [await put(kv, b"k", b"same") for _ in range(3)]
    for _ in range(3):
        await kv.apply(Batch(deletes=[Delete("p", b"k")]))
        with pytest.raises(PredicateFailed):
            await kv.apply(Batch([Check("p", b"k", seen[-1])], [Put("p", b"k", b"")]))
        seen.append(await kv.apply(Batch([Check("p", b"k", ABSENT)], [Put("p", b"k", b"same")])))
    await kv.drop_partition("p")
    seen.append(await put(kv, b"k", b"same"))
    assert len(set(seen)) == len(seen)


async def test_drop_partition_takes_every_row_and_the_partition_can_be_used_again(kv: KVStore) -> None:
    await kv.apply(Batch(puts=[Put("p", b"%d" % number, b"") for number in range(500)]))
    await put(kv, b"stays", partition="q")
    await kv.drop_partition("p")
    assert await keys(kv) == []
    assert await keys(kv, "q") == [b"stays"]
    await kv.drop_partition("never was")
    await put(kv, b"k")
    assert await keys(kv) == [b"k"]


async def test_partitions_lists_non_empty_partitions_in_byte_order(kv: KVStore) -> None:
    names = ["", "a", "stage", "stage/", "stage/1", "stage/2", "stage/é", "stage/\uffff", "stage/\U0001f600", "stage0"]
    for name in names:
        await kv.apply(Batch(puts=[Put(name, b"%d" % number, b"") for number in range(30)]))
    assert await kv.partitions() == names
    assert await kv.partitions("stage/", "stage0") == names[3:9]
    assert await kv.partitions("stage/1", "stage/1") == []
    assert await kv.partitions("stage/1\0", None, 2) == ["stage/2", "stage/é"]
    assert await kv.partitions(limit=0) == await kv.partitions(limit=-1) == []
    await kv.drop_partition("stage/2")
    await kv.apply(Batch(deletes=[Delete("stage/1", b"%d" % number) for number in range(30)]))
    assert await kv.partitions("stage/", "stage0") == ["stage/", "stage/é", "stage/\uffff", "stage/\U0001f600"]


async def test_random_batches_agree_with_a_dictionary(kv: KVStore) -> None:
    chance = random.Random(3)
    names = [b"%d" % number for number in range(12)]
    model: dict[tuple[str, bytes], tuple[bytes, int]] = {}
    stale = [ABSENT]
    for turn in range(400):
        where = [(chance.choice("pq"), chance.choice(names)) for _ in range(6)]
        checks = [Check(p, k, model.get((p, k), (b"", ABSENT))[1]) for p, k in where[: chance.randrange(3)]]
        if checks and chance.random() < 0.3:
            checks[0] = checks[0]._replace(version=chance.choice(stale))
        puts = [Put(p, k, b"%d" % turn) for p, k in where[2 : chance.randrange(2, 5)]]
        deletes = [Delete(p, k) for p, k in where[4:]]
        holds = all(model.get(check[:2], (b"", ABSENT))[1] == check.version for check in checks)
        try:
            version = await kv.apply(Batch(checks, puts, deletes))
        except PredicateFailed:
            assert not holds
        else:
            assert holds
            stale.append(version)
            for change in deletes:
                model.pop(change, None)
            model.update({(p, k): (value, version) for p, k, value in puts})
        for partition in "pq":
            expected = [Row(k, *row) for (p, k), row in sorted(model.items()) if p == partition]
            assert await kv.scan(partition) == expected


# ---- Every driver: several callers


async def test_no_increment_is_lost(kv: KVStore) -> None:
    assert sorted(await asyncio.gather(*(increment(kv) for _ in range(64)))) == list(range(1, 65))


async def test_a_failed_check_does_not_fail_its_neighbours(kv: KVStore) -> None:
    version = await put(kv, b"guard")
    calls = [
        kv.apply(
            Batch([Check("p", b"guard", version if number % 3 else version + 1)], [Put("p", b"%02d" % number, b"")])
        )
        for number in range(60)
    ]
    found = await outcomes(calls)
    for number, outcome in enumerate(found):
        assert isinstance(outcome, int if number % 3 else PredicateFailed)
    assert await keys(kv) == [b"%02d" % number for number in range(60) if number % 3] + [b"guard"]
    versions = [outcome for outcome in found if isinstance(outcome, int)]
    assert len(set(versions)) == len(versions)


async def test_one_of_concurrent_creations_of_a_key_succeeds(kv: KVStore) -> None:
    batch = Batch([Check("p", b"k", ABSENT)], [Put("p", b"k", b"")])
    found = await outcomes([kv.apply(batch) for _ in range(20)])
    assert sum(isinstance(outcome, int) for outcome in found) == 1
    assert sum(isinstance(outcome, PredicateFailed) for outcome in found) == 19


async def test_concurrent_opposite_batches_are_serialized(kv: KVStore) -> None:
    await asyncio.gather(
        kv.apply(Batch(puts=[Put("p", b"left", b"")], deletes=[Delete("p", b"right")])),
        kv.apply(Batch(puts=[Put("p", b"right", b"")], deletes=[Delete("p", b"left")])),
    )
    assert len(await keys(kv)) == 1, "each deleted what the other one put"


async def test_of_concurrent_puts_of_one_key_the_later_wins(kv: KVStore) -> None:
    for turn in range(20):
        gate, key = b"gate%d" % turn, b"k%d" % turn
        first, second = await outcomes([
            kv.apply(Batch([Check("p", gate, ABSENT)], [Put("p", key, b"first")])),
            kv.apply(Batch(puts=[Put("p", gate, b""), Put("p", key, b"second")])),
        ])  # fmt: skip
        assert isinstance(second, int)
        if isinstance(first, int):  # it was before the second, or its check would have failed
            assert await kv.get("p", key) == (b"second", second)


async def test_concurrent_puts_return_the_version_of_their_row(kv: KVStore) -> None:
    reported = await asyncio.gather(*(put(kv, b"%02d" % number) for number in range(50)))
    assert [row.version for row in await kv.scan("p")] == reported


async def test_cancelled_put_does_not_affect_other_puts(kv: KVStore) -> None:
    tasks = [asyncio.ensure_future(put(kv, b"%02d" % number)) for number in range(40)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    found = await outcomes(tasks)
    assert all(isinstance(outcome, int) for outcome in found[1::2])
    assert set(await keys(kv)) >= {b"%02d" % number for number in range(1, 40, 2)}
    await put(kv, b"after")


def test_a_store_outlives_an_event_loop(kv: KVStore) -> None:
    version = asyncio.run(put(kv, b"k"))
    assert asyncio.run(kv.get("p", b"k")) == (b"v", version)

    async def leave() -> None:
        left = [asyncio.ensure_future(put(kv, b"%d" % number)) for number in range(2)]
        await asyncio.sleep(0)
        left[0].cancel()  # the other one's answer comes when the loop is closed

    asyncio.run(leave())
    asyncio.run(put(kv, b"l"))


async def test_closing_finishes_what_was_accepted_and_refuses_the_rest(kv: KVStore) -> None:
    tasks = [asyncio.ensure_future(put(kv, b"%d" % number)) for number in range(100)]
    await asyncio.sleep(0)
    await kv.close()
    assert all(isinstance(outcome, int) for outcome in await outcomes(tasks))
    refused: list[Callable[[], Awaitable[object]]] = [
        lambda: kv.get("p", b"0"),
        lambda: kv.get_many("p", [b"0"]),
        lambda: kv.scan("p"),
        lambda: kv.scan("p", limit=1_000_000),
        lambda: kv.apply(Batch()),
        lambda: kv.drop_partition("p"),
    ]
    for call in refused:
        with pytest.raises(StoreUnavailableError, match="closed"):
            await call()
    await kv.close()


# ---- Every driver that several processes share


@pytest.mark.slow
async def test_two_processes_racing_lose_no_increment(address: str) -> None:
    said = both(child("increment", address, 300) for _ in range(2))
    assert sorted(map(int, said[0] + said[1])) == list(range(1, 601))
    store = store_at(address)
    found = await store.get("p", b"counter")
    assert found is not None
    assert int(found.value) == 600
    await store.close()


@pytest.mark.slow
def test_two_processes_racing_to_swap_past_their_checks(address: str) -> None:
    # each checks the key that the other one puts: were a check not to hold until the commit, both could win
    won = both(child("cross", address, number) for number in range(2))
    assert won[0] or won[1], "nobody won a round"
    assert set(won[0]).isdisjoint(won[1])


async def test_memory_reset_empties_the_store_but_not_the_versions() -> None:
    kv = MemoryKV()
    first = await put(kv, b"k")
    kv.reset()
    assert await kv.get("p", b"k") is None
    assert await put(kv, b"k") > first


# ---- SQLite: the file


async def test_rows_and_versions_survive_reopening(path: Path) -> None:
    async with opened(path) as kv:
        version = await put(kv, b"k")
        await kv.apply(Batch(deletes=[Delete("p", b"k")]))
        newest = await put(kv, b"k", b"2")
    assert os.listdir(path.parent) == [path.name], "the WAL is folded in"
    async with opened(path) as kv:
        assert await kv.get("p", b"k") == (b"2", newest)
        assert await put(kv, b"k") > newest > version


async def test_a_missing_directory_is_made(tmp_path: Path) -> None:
    async with opened(tmp_path / "a" / "b" / "kv.sqlite") as kv:
        await put(kv, b"k")
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailableError, match="directory"):
        SqliteKV(tmp_path / "file" / "kv.sqlite")


def test_foreign_sqlite_files_are_refused_and_unchanged(path: Path) -> None:
    path.write_bytes(b"a text file, long enough to be a header" * 10)
    with pytest.raises(CorruptDataError):
        SqliteKV(path)
    path.unlink()
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE kv (something)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(CorruptDataError, match="not a KV store"):
        SqliteKV(path)
    assert path.read_bytes() == before


async def test_a_newer_schema_is_refused(path: Path) -> None:
    async with opened(path):
        pass
    newer = apsw.Connection(str(path))
    newer.pragma("user_version", file.SCHEMA_VERSION + 1)
    newer.close()
    with pytest.raises(SchemaTooNewError, match="newer Lakebed; upgrade this installation"):
        SqliteKV(path)


def test_an_old_sqlite_is_refused() -> None:
    for old in ("3.51.2", "3.9.9", "2.99.0"):
        with pytest.raises(StoreUnavailableError, match="upgrade apsw"):
            file.require_sqlite(old)
    for new in ("3.51.3", "3.51.10", "3.52.0", "4.0"):
        file.require_sqlite(new)


@contextmanager
def unprivileged() -> Iterator[Path]:
    """A directory of a user whom permissions bind, which they do not root. Permissions inside are the test's to set."""
    place = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    try:
        if root:
            os.chown(place, 65534, 65534)
            os.seteuid(65534)
        yield place
    finally:
        if root:
            os.seteuid(0)
        place.chmod(0o700)
        shutil.rmtree(place)


async def test_a_read_only_file_is_read_and_refuses_writes() -> None:
    with unprivileged() as place:
        async with opened(place / "kv") as kv:
            version = await put(kv, b"k")
        (place / "kv").chmod(0o444)
        async with opened(place / "kv") as kv:
            for _ in range(2):
                with pytest.raises(StoreFullError, match="make it writable"):
                    await put(kv, b"k", b"2")
            assert await kv.get("p", b"k") == (b"v", version)
            assert len(await kv.scan("p", limit=10_000)) == 1


async def test_a_read_only_directory_is_refused_clearly() -> None:
    with unprivileged() as place:
        async with opened(place / "kv") as kv:
            await put(kv, b"k")
        place.chmod(0o555)
        with pytest.raises(StoreFullError, match="directory is read-only"):
            SqliteKV(place / "kv")


async def test_a_batch_that_sqlite_cannot_hold_fails_alone(path: Path) -> None:
    wrong = Batch(puts=[Put("p", b"half", b""), Put("p", 3.5, b"")])  # type: ignore[arg-type]
    async with opened(path) as kv:
        found = await outcomes([put(kv, b"1"), kv.apply(wrong), put(kv, b"2")])
        assert [isinstance(outcome, int) for outcome in found] == [True, False, True]
        assert await keys(kv) == [b"1", b"2"]


async def test_large_scans_leave_the_event_loop_free(path: Path) -> None:
    async with opened(path) as kv:
        await kv.apply(Batch(puts=[Put("p", b"%05d" % number, b"") for number in range(20_000)]))
        scan = asyncio.ensure_future(kv.scan("p", limit=20_000))
        await asyncio.sleep(0)
        assert await kv.get("p", b"00000") is not None
        assert not scan.done()
        assert len(await scan) == 20_000


async def test_a_finished_read_holds_no_view_of_the_file(path: Path) -> None:
    async with opened(path) as kv:
        await kv.apply(Batch(puts=[Put("p", b"%d" % number, b"") for number in range(10)]))
        other = apsw.Connection(str(path))
        assert other.execute("SELECT count(*) FROM kv").get == 10
        reads: list[Callable[[], Awaitable[object]]] = [
            lambda: kv.get("p", b"1"),
            lambda: kv.get_many("p", [b"1", b"2"]),
            lambda: kv.scan("p", limit=3),
            lambda: kv.scan("p", b"1", b"5"),
            lambda: kv.scan("p", limit=10_000),
        ]
        for read in reads:
            await put(kv, b"k")
            await read()
            await put(kv, b"k")
            # Raises BusyError when a reader is in the way. (-1 would say: a connection that has not opened the file.)
            assert other.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE) == (0, 0)
        other.close()


async def test_drop_partition_goes_in_steps_with_other_batches_between(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writer, "_DROP_STEP", 10)
    async with opened(path) as kv:
        await kv.apply(Batch(puts=[Put("p", b"%04d" % number, b"") for number in range(2000)]))
        drop = asyncio.ensure_future(kv.drop_partition("p"))
        between = 0
        while not drop.done():
            await put(kv, b"k", partition="q")
            between += 0 < len(await keys(kv)) < 2000
        await drop
        assert between > 0
        assert await keys(kv) == []


# ---- SQLite: a disk that fails


class Disk(apsw.VFS):
    """The real file system, whose WAL counts its fsyncs and fails on demand."""

    def __init__(self) -> None:
        self.syncs = 0
        self.failing_syncs = 0
        self.full = False
        super().__init__("failing-disk", "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return _File(self, name, flags)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self.disk = disk
        self.wal = bool(flags[0] & apsw.SQLITE_OPEN_WAL)
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        if self.wal and self.disk.full:
            raise apsw.FullError("no space left on device")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        if self.wal:
            self.disk.syncs += 1
            if self.disk.failing_syncs:
                self.disk.failing_syncs -= 1
                raise apsw.IOError("the disk does not answer")
        super().xSync(flags)


@pytest.fixture
def disk() -> Iterator[Disk]:
    disk = Disk()
    yield disk
    disk.unregister()


async def test_an_acknowledged_batch_has_been_synced(path: Path, disk: Disk) -> None:
    async with opened(path, "failing-disk") as kv:
        for number in range(20):
            before = disk.syncs
            await put(kv, b"%d" % number)
            assert disk.syncs > before


async def test_concurrent_batches_share_their_syncs(path: Path, disk: Disk) -> None:
    async with opened(path, "failing-disk") as kv:
        before = disk.syncs
        await asyncio.gather(*(put(kv, b"%d" % number) for number in range(200)))
        assert disk.syncs - before < 50


async def test_batches_that_change_nothing_are_not_synced(path: Path, disk: Disk) -> None:
    async with opened(path, "failing-disk") as kv:
        await put(kv, b"k")
        before = disk.syncs
        for batch in (Batch(), Batch([Check("p", b"k", 99)], [Put("p", b"k", b"")])):
            await outcomes([kv.apply(batch)])
        assert disk.syncs == before


async def test_a_full_disk_refuses_writes_and_serves_reads(path: Path, disk: Disk) -> None:
    async with opened(path, "failing-disk") as kv:
        version = await put(kv, b"k")
        disk.full = True
        found = await outcomes([put(kv, b"k", b"2") for _ in range(10)])
        assert all(isinstance(outcome, StoreFullError) for outcome in found), found
        assert await kv.get("p", b"k") == (b"v", version)
        disk.full = False
        assert await put(kv, b"k", b"3") > version


async def test_a_batch_too_large_for_the_disk_fails_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def small(connection: apsw.Connection) -> None:
        connection.pragma("max_page_count", 60)

    monkeypatch.setattr(apsw, "connection_hooks", [small])
    async with opened(path) as kv:
        found = await outcomes([put(kv, b"1"), put(kv, b"2", b"x" * (1 << 20)), put(kv, b"3")])
        assert [type(outcome) for outcome in found] == [int, StoreFullError, int]
        assert await keys(kv) == [b"1", b"3"]


async def test_a_failed_sync_leaves_the_outcome_unknown_and_what_is_read_then_stays_true(
    path: Path, disk: Disk, tmp_path: Path
) -> None:
    async with opened(path, "failing-disk") as kv:
        version = await put(kv, b"k")
        disk.failing_syncs = 1
        found = await outcomes([put(kv, b"k", b"2"), put(kv, b"new"), kv.apply(Batch([Check("p", b"k", 99)]))])
        assert any(isinstance(outcome, OutcomeUnknownError) for outcome in found), found
        rows = await kv.scan("p")
        async with opened(after_a_crash(path, tmp_path)) as recovered:
            assert await recovered.scan("p") == rows
        assert await put(kv, b"k", b"3") > version


def after_a_crash(path: Path, into: Path) -> Path:
    """What a crash would leave of a store, with nothing lost."""
    for source in path.parent.glob("kv.sqlite*"):
        if not source.name.endswith("-shm"):
            shutil.copy(source, into / source.name.replace("kv.sqlite", "copy"))
    return into / "copy"


async def test_store_unchanged_after_failed_sync_reports_no_change(path: Path, disk: Disk, tmp_path: Path) -> None:
    """A check failed on another batch's row of the same transaction. The sync failed, so both calls raise."""
    async with opened(path, "failing-disk") as kv:
        version = await put(kv, b"k")
        check = [Check("p", b"k", version)]
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")  # until both wait for the same transaction
        first = asyncio.ensure_future(kv.apply(Batch(check, [Put("p", b"k", b"first")])))
        second = asyncio.ensure_future(kv.apply(Batch(check, [Put("p", b"k", b"second"), Put("p", b"more", b"")])))
        await asyncio.sleep(0)
        disk.failing_syncs = 1
        other.execute("ROLLBACK")
        other.close()
        unknown, refused = await outcomes([first, second])
        assert isinstance(unknown, OutcomeUnknownError), unknown
        assert isinstance(refused, StoreUnavailableError), refused
        assert "nothing was changed" in str(refused)
        assert await kv.get("p", b"k") == (b"v", version)
        async with opened(after_a_crash(path, tmp_path)) as recovered:
            for store in (kv, recovered):
                assert await keys(store) == [b"k"]
                assert await store.get("p", b"k") == (b"v", version)


async def test_a_store_that_another_process_holds_is_unavailable_after_a_bound(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "_POLLS", 20)
    async with opened(path) as kv:
        version = await put(kv, b"k")
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")
        found = await outcomes([put(kv, b"k", b"2") for _ in range(5)])
        assert all(isinstance(outcome, StoreUnavailableError) for outcome in found), found
        assert await kv.get("p", b"k") == (b"v", version)
        other.execute("ROLLBACK")
        other.close()
        await put(kv, b"k", b"3")


async def test_a_lock_lost_during_single_retries_answers_all_callers(
    path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "_POLLS", 20)
    roll_back = sqlite_writer.Writer._roll_back
    waits: list[object] = []
    monkeypatch.setattr(sqlite_writer.Writer, "_met_another_process", waits.append)
    async with opened(path, "failing-disk") as kv:
        other = apsw.Connection(str(path))
        one_at_a_time = threading.Lock()

        def roll_back_and_lose_the_lock(writer: sqlite_writer.Writer) -> None:
            roll_back(writer)
            with one_at_a_time:
                if not other.in_transaction:
                    other.execute("BEGIN IMMEDIATE")

        monkeypatch.setattr(sqlite_writer.Writer, "_roll_back", roll_back_and_lose_the_lock)
        disk.full = True
        other.execute("BEGIN IMMEDIATE")  # until all ten are in one group
        tasks = [asyncio.ensure_future(put(kv, b"%d" % number)) for number in range(10)]
        await asyncio.sleep(0)
        with one_at_a_time:
            other.execute("ROLLBACK")
        found = await outcomes(tasks)
        assert {type(outcome) for outcome in found} <= {StoreFullError, StoreUnavailableError}, found
        assert isinstance(found[-1], StoreUnavailableError)
        assert len(waits) <= 2, "ten callers do not wait ten times as long"
        disk.full = False
        other.close()
        assert await keys(kv) == []
        await put(kv, b"k")


async def test_unexpected_writer_error_fails_all_waiting_calls(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(path) as kv:
        version = await put(kv, b"k")
        with monkeypatch.context() as patched:
            patched.setattr(sqlite_writer.Writer, "_group", lambda writer, jobs: 1 / 0)
            found = await outcomes([put(kv, b"k", b"%d" % number) for number in range(5)])
            assert all(isinstance(outcome, OutcomeUnknownError) for outcome in found), found
            assert "division by zero" in str(found[0])
        assert await kv.get("p", b"k") == (b"v", version)
        await put(kv, b"k", b"2")


# ---- SQLite: several processes


async def test_a_write_is_seen_by_another_store_on_the_same_file(path: Path) -> None:
    async with opened(path) as one, opened(path) as two:
        for number in range(100):
            writer, reader = (one, two) if number % 2 else (two, one)
            version = await put(writer, b"k", b"%d" % number)
            assert await reader.get("p", b"k") == (b"%d" % number, version)
            assert await writer.get("p", b"k") == (b"%d" % number, version)


async def test_two_stores_racing_to_delete_agree_on_one_winner(path: Path) -> None:
    async with opened(path) as one, opened(path) as two:
        for _ in range(100):
            take = Batch([Check("p", b"k", await put(one, b"k"))], deletes=[Delete("p", b"k")])
            found = await outcomes([one.apply(take), two.apply(take)])
            assert sorted(type(outcome).__name__ for outcome in found) == ["PredicateFailed", "int"]


def child(*arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, __file__, *map(str, arguments)], stdout=subprocess.PIPE)


@pytest.mark.slow
async def test_a_killed_process_loses_nothing_it_acknowledged(path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    acknowledged: set[bytes] = set()
    for turn in range(4):
        with child("write", path, turn) as process:
            assert process.stdout is not None
            for _ in range(chance.randrange(1, 400)):
                acknowledged.add(process.stdout.readline().rstrip())
            process.send_signal(signal.SIGKILL)
            # What it acknowledged before it died, but for a line that was cut short.
            acknowledged |= {line.rstrip() for line in process.stdout.readlines() if line.endswith(b"\n")}
        assert process.returncode == -signal.SIGKILL
        store = SqliteKV(path)
        assert acknowledged <= set(await keys(store))
        await store.close()
    assert len(acknowledged) >= 4


def both(started: Iterable[subprocess.Popen[bytes]]) -> list[list[bytes]]:
    """What processes said, word by word, once they have ended well."""
    children = list(started)
    try:
        said = [process.communicate(timeout=240)[0].split() for process in children]
        assert [process.returncode for process in children] == [0] * len(children)
        return said
    finally:
        for process in children:
            process.kill()
            process.communicate()


async def _increments(kv: KVStore, times: int) -> None:
    async def several() -> list[int]:
        return [await increment(kv) for _ in range(times // 4)]

    for values in await asyncio.gather(*(several() for _ in range(4))):
        print(*values, sep="\n")


async def _crosses(kv: KVStore, number: int) -> None:
    mine, other = (b"left", b"right") if number == 0 else (b"right", b"left")
    for turn in range(100):
        await kv.apply(Batch(puts=[Put("meet", b"%d/%d" % (turn, number), b"")]))
        while len(await kv.scan("meet", b"%d/" % turn, b"%d0" % turn)) < 2:
            pass
        batch = Batch([Check(f"round{turn}", other, ABSENT)], [Put(f"round{turn}", mine, b"")])
        if isinstance((await outcomes([kv.apply(batch)]))[0], int):
            print(turn)


async def _writes_until_killed(kv: KVStore, turn: int) -> None:
    async def caller(number: int) -> None:
        count = 0
        while True:
            key = b"%d-%d-%d" % (turn, number, count := count + 1)
            await put(kv, key)
            os.write(1, key + b"\n")

    await asyncio.gather(*(caller(number) for number in range(8)))


if __name__ == "__main__":
    _, verb, where, argument = sys.argv
    work = {"increment": _increments, "cross": _crosses, "write": _writes_until_killed}[verb]

    async def main() -> None:
        kv = store_at(where)
        try:
            await work(kv, int(argument))
        finally:
            await kv.close()

    asyncio.run(main())
