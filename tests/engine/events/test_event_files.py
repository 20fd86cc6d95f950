"""The drain moves events to files, each into one; readers see every event once, in order."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import open_repo
from lakebed_engine.operations.events.drain import EVERY_REPOSITORY, LEASE, MOST_ROWS
from lakebed_engine.operations.keys import JOURNAL, under
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.vocabulary.errors import StoreUnavailableError
from lakebed_engine.vocabulary.events import Event, Flush
from lakebed_engine.vocabulary.reports import FsckOptions
from lakebed_format.journal import JOURNAL_SCHEMA, PLACES, decode_journal, journal_number
from lakebed_format.keys import JOURNAL as FILES

from tests.engine.support import REPO, FakeClock, HookedKV, commit, make_engine, new_engine, put_commit
from tests.support.services.object_stores import OneStore


async def files(engine: Engine) -> list[str]:
    store = (await open_repo(engine.context, REPO)).store
    return [blob.key async for blob in store.list(FILES)]


async def rows(engine: Engine) -> int:
    return len(await engine.context.kv.scan((await open_repo(engine.context, REPO)).partition, *under(JOURNAL)))


async def events(engine: Engine, amount: int = 1000, **wanted: Any) -> list[Event]:
    """All events, page by page."""
    found, after = [], 0
    while True:
        page = await engine.events.page(REPO, after=after, amount=amount, **wanted)
        found += page.items
        if not page.has_more:
            return found
        assert page.position > after, "a next page that is the same page"
        after = page.position


async def commits(engine: Engine, count: int) -> list[str]:
    return [(await commit(engine, allow_empty=True)).id for _ in range(count)]


async def test_events_move_to_a_file_and_readers_see_the_same_before_and_after() -> None:
    engine = await make_engine(clock=FakeClock())
    made = await commits(engine, 3)
    before = await events(engine)
    assert [one.commit_id for one in before[1:]] == made
    assert {one.logical_timestamp for one in before} == {0}
    assert await engine.events.drain(REPO) == 4
    assert await rows(engine) == 0
    after = await events(engine)
    number = journal_number((await files(engine))[0])
    assert number == 1_700_000_000_000
    assert [one.logical_timestamp for one in after] == [number * PLACES + place for place in range(4)]
    assert [(one.id, one.type, one.commit_id, one.time, one.gen) for one in after] == [
        (one.id, one.type, one.commit_id, one.time, one.gen) for one in before
    ]
    assert await engine.events.drain(REPO) == 0
    assert len(await files(engine)) == 1


async def test_pages_of_any_size_have_every_event_once() -> None:
    engine = await make_engine()
    made = await commits(engine, 9)
    await engine.events.drain(REPO, most=4)
    made += await commits(engine, 5)
    assert len(await files(engine)) == 3
    for amount in (1, 2, 3, 7, 1000):
        found = [one.commit_id for one in await events(engine, amount) if one.type == "branch.committed"]
        assert found == made, amount


async def test_pages_filter_by_branch_type_and_group() -> None:
    engine = await make_engine()
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, {"a": "1"}, "dev")
    await engine.events.drain(REPO)
    await engine.tags.create(REPO, "v1", "dev")
    assert [one.type for one in await events(engine, branch="dev")] == ["branch.created", "branch.committed"]
    assert [one.branch for one in await events(engine, type="branch.committed")] == ["dev"]
    assert [one.type for one in await events(engine, type="tag")] == ["tag.created"]
    assert await events(engine, type="ta") == []


async def test_two_drains_at_the_same_time_write_each_event_once() -> None:
    kv, store = MemoryKV(), MemoryObjects("mem://lake")
    engine = await make_engine(kv, OneStore(store))
    other = new_engine(kv, OneStore(store))
    for _ in range(5):
        made = await commits(engine, 6)
        moved = await asyncio.gather(*[one.events.drain(REPO, most=2) for one in (engine, other, engine)])
        assert sum(one or 0 for one in moved) + await rows(engine) >= len(made)
    await engine.events.drain(REPO)
    found = [event["id"] for key in await files(engine) for _, event in decode_journal(await store.get(key))]
    assert len(found) == len(set(found)) == 31


async def test_a_drain_that_was_passed_by_another_changes_nothing() -> None:
    clock, inner = FakeClock(), MemoryKV()
    kv, stores = HookedKV(inner), OneStore(MemoryObjects("mem://lake"))
    engine = await make_engine(kv, stores, clock=clock)
    other = new_engine(inner, stores, clock=clock)
    await commits(engine, 3)
    passed: list[int | None] = []

    async def stall(name: str, what: Any) -> None:
        if name == "scan" and what[3] == MOST_ROWS and not passed:  # the lease is taken, the rows are not read yet
            clock.forward(LEASE + 1)
            passed.append(await other.events.drain(REPO))
            await commits(other, 1)

    kv.before = stall
    moved = await engine.events.drain(REPO)
    kv.before = None
    assert (passed, moved) == ([4], 4), "it found the file of the other one"
    await engine.events.drain(REPO)
    assert len(await events(engine)) == 5
    found = [event["id"] for key in await files(engine) for _, event in decode_journal(await stores.store.get(key))]
    assert len(found) == len(set(found)) == 5


async def test_a_bucket_that_takes_no_files_keeps_the_events_in_the_kv_store() -> None:
    class Full(MemoryObjects):
        down = False

        async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
            if self.down and key.startswith(FILES):
                raise StoreUnavailableError("the bucket is away")
            await super().put(key, data, if_absent=if_absent, by_content=by_content)

    clock, store = FakeClock(), Full("mem://lake")
    engine = await make_engine(MemoryKV(), OneStore(store), clock=clock)
    made = await commits(engine, 2)
    store.down = True
    clock.forward(6)
    assert await engine.maintenance.drain_events() == 0
    assert [one.commit_id for one in await events(engine) if one.type == "branch.committed"] == made
    store.down = False
    clock.forward(LEASE + 1)
    assert await engine.maintenance.drain_events() == 3


@pytest.mark.parametrize(
    ("flush", "count"), [(Flush(rows=4), 3), (Flush(bytes=900), 3), (Flush(age=5.0), 0)], ids=["rows", "bytes", "age"]
)
async def test_events_move_at_an_age_a_number_or_a_size(flush: Flush, count: int) -> None:
    clock = FakeClock()
    engine = await make_engine(clock=clock, flush=flush)
    assert await engine.maintenance.drain_events() == 0
    await commits(engine, count)
    clock.forward(0 if count else 5)
    assert await engine.maintenance.drain_events() == 1 + count


async def test_the_events_of_a_process_that_ended_move_too() -> None:
    clock, kv, stores = FakeClock(), MemoryKV(), OneStore(MemoryObjects("mem://lake"))
    await commits(await make_engine(kv, stores, clock=clock), 2)
    other = new_engine(kv, stores, clock=clock)
    assert await other.maintenance.drain_events() == 0
    clock.forward(EVERY_REPOSITORY)
    assert await other.maintenance.drain_events() == 3


async def test_a_deleted_repository_leaves_all_its_events_in_its_bucket() -> None:
    store = MemoryObjects("mem://lake")
    engine = await make_engine(MemoryKV(), OneStore(store))
    await commits(engine, 2)
    await engine.repositories.delete(REPO)
    (key,) = [blob.key async for blob in store.list(FILES)]
    assert [event["type"] for _, event in decode_journal(await store.get(key))] == [
        "repository.created",
        "branch.committed",
        "branch.committed",
        "repository.deleted",
    ]


async def test_the_cleaner_writes_the_last_events_of_a_repository_whose_deletion_was_interrupted() -> None:
    class Away(MemoryObjects):
        down = True

        async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
            if self.down and key.startswith(FILES):
                raise StoreUnavailableError("the bucket is away")
            await super().put(key, data, if_absent=if_absent, by_content=by_content)

    clock, store = FakeClock(), Away("mem://lake")
    engine = await make_engine(MemoryKV(), OneStore(store), clock=clock, cleanup_grace=0)
    await engine.repositories.delete(REPO)

    async def clean() -> None:
        clock.forward(LEASE + 1)
        await engine.maintenance.keep_time()
        await engine.maintenance.clean()

    await clean()
    assert [blob.key async for blob in store.list(FILES)] == []
    store.down = False
    await clean()
    assert len([blob.key async for blob in store.list(FILES)]) == 1
    assert await engine.context.kv.partitions("repo/", "repo0") == []


async def test_a_rebuilt_repository_continues_its_event_log() -> None:
    clock, kv, store = FakeClock(), MemoryKV(), MemoryObjects("mem://lake")
    engine = await make_engine(kv, OneStore(store), clock=clock)
    await commits(engine, 2)
    await engine.maintenance.snapshot_refs()
    await engine.events.drain(REPO)
    before = await events(engine)
    kv.reset()
    clock.forward(-3600)  # of another machine
    rebuilt = new_engine(kv, OneStore(store), clock=clock)
    await rebuilt.maintenance.rebuild("mem://lake")
    await rebuilt.events.drain(REPO)
    found = await events(rebuilt)
    assert [one.id for one in found[:3]] == [one.id for one in before]
    assert (found[3].type, found[3].data) == ("repository.created", {"rebuilt": True})
    assert found[3].logical_timestamp > found[2].logical_timestamp


async def test_fsck_and_the_sweep_leave_the_files_alone() -> None:
    clock = FakeClock()
    engine = await make_engine(clock=clock)
    await commits(engine, 2)
    await engine.events.drain(REPO)
    kept = await files(engine)
    clock.forward(30 * 24 * 3600)
    report = await engine.maintenance.fsck(REPO, FsckOptions())
    assert (report.ok, report.orphan_count) == (True, 0)
    await engine.maintenance.sweep(REPO)
    assert await files(engine) == kept


def test_the_columns_of_a_file() -> None:
    assert JOURNAL_SCHEMA.names == [
        "logical_timestamp", "id", "type", "time", "repository_uid", "branch", "path", "user", "request_id",
        "commit_id", "payload",
    ]  # fmt: skip
