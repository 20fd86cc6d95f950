"""Batches in one SQLite transaction share the reads of their checks. Each batch is still atomic."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest
from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, Delete, Put
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.stores.kv.sqlite.writer import _VERSION_OF, _settle
from lakebed_engine.vocabulary.errors import OutcomeUnknownError, PredicateFailed, StoreUnavailableError

from tests.support.waiting import PATIENCE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kv.sqlite"


@pytest.fixture
def kv(path: Path) -> Iterator[SqliteKV]:
    store = SqliteKV(path)
    yield store
    asyncio.run(store.close())


@pytest.fixture
def looks(kv: SqliteKV, monkeypatch: pytest.MonkeyPatch) -> Counter[bytes]:
    """How often the version of each key was looked up by the writer."""
    seen: Counter[bytes] = Counter()
    execute = kv._writer._execute

    def counted(statement: str, bindings: tuple[Any, ...] = ()) -> Any:
        if statement == _VERSION_OF:
            seen[bindings[1]] += 1
        return execute(statement, bindings)

    monkeypatch.setattr(kv._writer, "_execute", counted)
    return seen


@asynccontextmanager
async def one_group(path: Path) -> AsyncIterator[None]:
    """Calls begun inside become one transaction, because another process holds the file until the end."""
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
        await asyncio.sleep(0)  # every task that was made has queued its batch
    finally:
        other.execute("ROLLBACK")
        other.close()


async def together(path: Path, calls: Sequence[Awaitable[Any]]) -> list[Any]:
    async with one_group(path):
        tasks = [asyncio.ensure_future(call) for call in calls]
    return await asyncio.gather(*tasks, return_exceptions=True)


def guarded(version: int, key: bytes) -> Batch:
    return Batch([Check("p", b"record", version)], [Put("q", key, b"")])


async def test_batches_that_check_one_record_share_one_read(kv: SqliteKV, path: Path, looks: Counter[bytes]) -> None:
    version = await kv.apply(Batch(puts=[Put("p", b"record", b"")]))
    for _ in range(2):
        found = await together(path, [kv.apply(guarded(version, b"%d" % number)) for number in range(32)])
        assert [type(one) for one in found] == [int] * 32
    assert looks == {b"record": 2}, "once in each transaction: another process may have written in between"


async def test_shared_read_fails_only_batches_with_another_version(kv: SqliteKV, path: Path) -> None:
    version = await kv.apply(Batch(puts=[Put("p", b"record", b"")]))
    calls = [kv.apply(guarded(version + number % 2, b"%d" % number)) for number in range(10)]
    found = await together(path, calls)
    assert [type(one) for one in found] == [int, PredicateFailed] * 5
    assert [row.key for row in await kv.scan("q")] == [b"%d" % number for number in range(0, 10, 2)]


@pytest.mark.parametrize("change", ["put", "delete", "drop"])
async def test_change_by_an_earlier_batch_ends_the_shared_read(kv: SqliteKV, path: Path, change: str) -> None:
    version = await kv.apply(Batch(puts=[Put("p", b"record", b"")]))

    async def middle() -> None:
        match change:
            case "put":
                await kv.apply(Batch(puts=[Put("p", b"record", b"")]))
            case "delete":
                await kv.apply(Batch(deletes=[Delete("p", b"record")]))
            case _:
                await kv.drop_partition("p")

    before, _, after, absent = await together(
        path,
        [
            kv.apply(guarded(version, b"before")),
            middle(),
            kv.apply(guarded(version, b"after")),
            kv.apply(guarded(ABSENT, b"absent")),
        ],
    )
    assert isinstance(before, int)
    assert isinstance(after, PredicateFailed)
    assert isinstance(absent, PredicateFailed if change == "put" else int)
    assert [row.key for row in await kv.scan("q")] == ([b"before"] if change == "put" else [b"absent", b"before"])


async def test_a_group_sees_a_key_that_it_created(kv: SqliteKV, path: Path) -> None:
    """The group also remembers that a key is absent, until a put creates it."""
    make = Batch([Check("p", b"record", ABSENT)], [Put("p", b"record", b"")])
    found = await together(path, [kv.apply(make) for _ in range(5)])
    assert [type(one) for one in found] == [int] + [PredicateFailed] * 4


async def test_the_next_transaction_sees_what_another_process_wrote(kv: SqliteKV, path: Path) -> None:
    version = await kv.apply(Batch(puts=[Put("p", b"record", b"")]))
    assert await kv.apply(guarded(version, b"before"))
    other = apsw.Connection(str(path))
    other.execute("UPDATE kv SET version = version + 1000 WHERE key = ?", (b"record",))
    other.close()
    with pytest.raises(PredicateFailed):
        await kv.apply(guarded(version, b"after"))


async def test_a_group_of_several_loops_is_answered_in_each(kv: SqliteKV, path: Path) -> None:
    async def elsewhere(names: Sequence[bytes]) -> list[int]:
        return await asyncio.gather(*(kv.apply(Batch(puts=[Put("p", name, b"")])) for name in names))

    queued = kv._writer._queue.qsize
    with ThreadPoolExecutor(2) as threads:
        async with one_group(path):
            loop = asyncio.get_running_loop()
            jobs = [
                loop.run_in_executor(threads, asyncio.run, elsewhere([b"%d%d" % (number, step) for step in range(9)]))
                for number in range(2)
            ]
            while queued() < 17:  # the writer holds the first of 18 already
                await asyncio.sleep(0)
        reported = [version for versions in await asyncio.gather(*jobs) for version in versions]
    assert [row.version for row in await kv.scan("p")] == reported


class Steps:
    """The writer's transactions step by step: `at` is called before each BEGIN and COMMIT, with its number."""

    def __init__(self, kv: SqliteKV, monkeypatch: pytest.MonkeyPatch) -> None:
        self.counts: Counter[str] = Counter()
        self.at: Callable[[str, int], None] = lambda what, number: None
        execute = kv._writer._execute

        def stepped(statement: str, bindings: tuple[Any, ...] = ()) -> Any:
            if (what := statement.split(maxsplit=1)[0]) in ("BEGIN", "COMMIT"):
                self.counts[what] += 1
                self.at(what, self.counts[what])
            return execute(statement, bindings)

        monkeypatch.setattr(kv._writer, "_execute", stepped)


@pytest.mark.parametrize(("callers", "groups"), [(1, [1]), (32, [32]), (50, [32, 18]), (100, [50, 50])])
async def test_half_of_many_callers_are_answered_while_the_disk_syncs_the_rest(
    kv: SqliteKV, monkeypatch: pytest.MonkeyPatch, callers: int, groups: list[int]
) -> None:
    """No call returns before the COMMIT of its transaction."""
    steps, all_in, reported = Steps(kv, monkeypatch), threading.Event(), threading.Semaphore(0)
    seen: list[int] = []
    done = 0

    def at(what: str, number: int) -> None:
        if (what, number) == ("BEGIN", 1):
            assert all_in.wait(PATIENCE)
        if what == "COMMIT":
            for _ in range(groups[number - 2] if number > 1 else 0):
                assert reported.acquire(timeout=PATIENCE)
            seen.append(done)

    async def caller(number: int) -> None:
        nonlocal done
        await kv.apply(Batch(puts=[Put("p", b"%d" % number, b"")]))
        done += 1
        reported.release()

    steps.at = at
    tasks = [asyncio.ensure_future(caller(number)) for number in range(callers)]
    await asyncio.sleep(0)
    all_in.set()
    await asyncio.gather(*tasks)
    assert seen == [sum(groups[:number]) for number in range(len(groups))]
    assert len(await kv.scan("p")) == callers


async def test_no_answer_waits_for_the_lock_of_another_process(
    kv: SqliteKV, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, all_in = Steps(kv, monkeypatch), threading.Event()
    other = apsw.Connection(str(path))

    def at(what: str, number: int) -> None:
        if (what, number) == ("BEGIN", 1):
            assert all_in.wait(PATIENCE)
        if (what, number) == ("BEGIN", 2):
            other.execute("BEGIN IMMEDIATE")

    steps.at = at
    tasks = [asyncio.ensure_future(kv.apply(Batch(puts=[Put("p", b"%d" % number, b"")]))) for number in range(64)]
    await asyncio.sleep(0)
    all_in.set()
    await asyncio.gather(*tasks[:32])
    assert not any(task.done() for task in tasks[32:])
    other.execute("ROLLBACK")
    await asyncio.gather(*tasks)
    other.close()


async def test_waiting_callers_are_refused_together(kv: SqliteKV, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction that cannot begin waits for ten seconds. No call waits for two of them."""
    monkeypatch.setattr("lakebed_engine.stores.kv.sqlite.file._POLLS", 20)
    steps = Steps(kv, monkeypatch)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    calls = [kv.apply(Batch(puts=[Put("p", b"%d" % number, b"")])) for number in range(100)]
    found = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(one) for one in found} == {StoreUnavailableError}
    assert steps.counts == {"BEGIN": 1}
    other.close()
    assert await kv.apply(Batch(puts=[Put("p", b"a", b"")]))


async def test_failure_of_second_transaction_does_not_fail_the_first(
    kv: SqliteKV, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, all_in = Steps(kv, monkeypatch), threading.Event()

    def at(what: str, number: int) -> None:
        if (what, number) == ("BEGIN", 1):
            assert all_in.wait(PATIENCE)
        if (what, number) == ("COMMIT", 2):
            raise apsw.IOError("the disk failed")

    steps.at = at
    tasks = [asyncio.ensure_future(kv.apply(Batch(puts=[Put("p", b"%02d" % number, b"")]))) for number in range(64)]
    await asyncio.sleep(0)
    all_in.set()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(one) for one in found] == [int] * 32 + [OutcomeUnknownError] * 32
    assert [row.key for row in await kv.scan("p")] == [b"%02d" % number for number in range(32)]


async def test_a_future_is_settled_only_by_its_own_loop() -> None:
    """It is not thread-safe."""
    mine = asyncio.get_running_loop().create_future()
    other = asyncio.new_event_loop()
    foreign: asyncio.Future[int] = other.create_future()
    other.close()
    _settle(mine.get_loop(), [(foreign, 1), (mine, 2)])
    assert mine.result() == 2
    assert not foreign.done()
