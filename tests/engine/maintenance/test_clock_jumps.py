"""A wall clock that jumps a week, in either direction and back: nothing that is open ends, and the rest still does."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import open_repo
from lakebed_engine.operations.expiry_clock import REMEMBERED, ExpiryClock
from lakebed_engine.operations.gc.deferred_deletes import OPERATION_AGE, PARTIAL_AGE
from lakebed_engine.operations.keys import OPERATIONS
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.base import BlobStat
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Workspace
from lakebed_engine.vocabulary.reports import SweepOptions
from lakebed_engine.vocabulary.requests import AdvanceRequest, CommitRequest

from tests.engine.calls import begin, complete, send
from tests.engine.support import REPO, FakeClock, fails, make_engine, new_engine, put, put_commit
from tests.engine.swept import DAY, GRACE, memory_lake
from tests.engine.workspacing import now, workspace, write_below

WEEK = 7 * DAY
HOUR = 3600.0

JUMPS = pytest.mark.parametrize("jump", [WEEK, -WEEK], ids=["ahead", "back"])


async def passes(engine: Engine, clock: FakeClock, seconds: float) -> None:
    """The server works on for a while: passes of its cleaner, with as much time between them."""
    for _ in range(10):
        clock.forward(seconds / 10)
        await engine.maintenance.keep_time()
        await engine.maintenance.clean()


async def jumped(engine: Engine, clock: FakeClock, jump: float) -> None:
    """The wall clock is wrong for an hour, and right again."""
    clock.time += jump
    await passes(engine, clock, HOUR)
    clock.time -= jump
    await passes(engine, clock, HOUR)


async def ended(engine: Engine, found: Workspace) -> bool:
    """Whether a workspace has expired, or has even been forgotten since."""
    try:
        return (await now(engine, found)).state == "expired"
    except errors.WorkspaceNotFoundError:
        return True


async def open_uploads(engine: Engine) -> int:
    repo = await open_repo(engine.context, REPO)
    return len(await engine.context.kv.scan(repo.partition, b"upload/", b"upload0"))


@JUMPS
async def test_workspaces_and_uploads_stay_open_and_expire_in_time(jump: float) -> None:
    kv, clock = MemoryKV(), FakeClock()
    engine = await make_engine(kv, clock=clock, upload_age=DAY)
    await put_commit(engine, {"a": "1"})
    before = await workspace(engine, lifetime=int(DAY))
    upload = await begin(engine)
    part = await send(engine, upload, 1, b"part")
    clock.time += jump
    await passes(engine, clock, HOUR)
    during = await workspace(engine, lifetime=int(DAY))
    await begin(engine, "second")
    await passes(engine, clock, HOUR)
    clock.time -= jump
    await passes(engine, clock, HOUR)
    for one in (before, during):
        assert (await now(engine, one)).state == "open"
    assert await open_uploads(engine) == 2
    await complete(engine, upload, [part])
    await passes(engine, clock, WEEK + 2 * DAY)  # what was made while the clock was ahead may live as much longer
    for one in (before, during):
        assert await ended(engine, one)
    assert await open_uploads(engine) == 0


@JUMPS
async def test_a_clock_that_stays_where_it_jumped_to_takes_half_of_the_time_at_most(jump: float) -> None:
    clock = FakeClock()
    engine = await make_engine(clock=clock)
    await put_commit(engine, {"a": "1"})
    made = await workspace(engine, lifetime=int(DAY))
    clock.time += jump
    await passes(engine, clock, DAY / 2 - HOUR)
    assert (await now(engine, made)).state == "open"
    await passes(engine, clock, WEEK + DAY)
    assert await ended(engine, made)
    fresh = await workspace(engine, lifetime=int(HOUR))
    await passes(engine, clock, HOUR / 2 - 60)
    assert (await now(engine, fresh)).state == "open"


@pytest.mark.parametrize("jump", [WEEK, -WEEK], ids=["ahead", "back"])
async def test_a_server_that_starts_while_the_clock_is_wrong_goes_on_where_the_last_one_was(jump: float) -> None:
    kv, clock, stores = MemoryKV(), FakeClock(), Stores(None)
    first = await make_engine(kv, stores, clock=clock)
    await put_commit(first, {"a": "1"})
    made = await workspace(first, lifetime=int(DAY))
    await passes(first, clock, HOUR)
    clock.time += jump
    second = new_engine(kv, stores, clock=clock)
    await passes(second, clock, HOUR)
    during = await workspace(second, lifetime=int(DAY))
    clock.time -= jump
    third = new_engine(kv, stores, clock=clock)
    await passes(third, clock, HOUR)
    for one in (made, during):
        assert (await now(third, one)).state == "open"
    await passes(third, clock, WEEK + 2 * DAY)
    for one in (made, during):
        assert await ended(third, one)


@JUMPS
async def test_a_key_of_a_closed_workspace_is_remembered_as_long_as_it_was_to_be(jump: float) -> None:
    async def job() -> None:
        clock = FakeClock()
        engine = await make_engine(clock=clock)
        await put_commit(engine, {"a": "1"})
        request = AdvanceRequest(committer="ann", message="w", idempotency_key="k")
        before, clock.time = await committed(engine, request, "x"), clock.time + jump
        during = await committed(engine, request, "y")
        await passes(engine, clock, HOUR)
        clock.time -= jump
        await passes(engine, clock, REMEMBERED / 2)
        for uid, commit in (before, during):
            assert (await engine.workspaces.commit(REPO, uid, request)).id == commit
        await passes(engine, clock, 2 * WEEK)
        for uid, _ in (before, during):
            await fails(engine.workspaces.commit(REPO, uid, request), errors.WorkspaceNotFoundError)

    async def committed(engine: Engine, request: AdvanceRequest, path: str) -> tuple[str, str]:
        made = await workspace(engine)
        await engine.workspaces.register(REPO, made.uid, [(path, await write_below(engine, made, path, path))])
        return made.uid, (await engine.workspaces.commit(REPO, made.uid, request)).id

    await job()


@JUMPS
async def test_keys_of_tasks_and_operations_and_files_half_written_stay(
    jump: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, stores, kv = FakeClock(), Stores(None), MemoryKV()
    engine = await make_engine(kv, stores, clock=clock)
    partials: dict[str, float] = {}

    async def list_partial(_: MemoryObjects) -> AsyncIterator[BlobStat]:
        for key, mtime in list(partials.items()):
            yield BlobStat(key, 1, mtime)

    async def delete_partial(_: MemoryObjects, key: str) -> None:
        del partials[key]

    monkeypatch.setattr(MemoryObjects, "list_partial", list_partial)
    monkeypatch.setattr(MemoryObjects, "delete_partial", delete_partial)
    repo = await open_repo(engine.context, REPO)

    async def write(name: str) -> str:
        await put(engine, name, name)
        partials[name] = clock.time
        request = CommitRequest(message=name, committer="ann")
        return (await engine.commits.create(REPO, "main", request, name)).id

    async def count(prefix: bytes) -> int:
        return len(await kv.scan(repo.partition, prefix, prefix[:-1] + b"0"))

    ids = [await write("before")]
    clock.time += jump
    ids.append(await write("during"))
    made = await count(OPERATIONS)
    await passes(engine, clock, HOUR / 4)
    clock.time -= jump
    await passes(engine, clock, HOUR / 4)
    assert set(partials) == {"before", "during"}
    assert await count(OPERATIONS) == made > 0
    for name, commit_id in zip(("before", "during"), ids, strict=True):
        request = CommitRequest(message=name, committer="ann")
        assert (await engine.commits.create(REPO, "main", request, name)).id == commit_id
    await passes(engine, clock, WEEK + REMEMBERED + PARTIAL_AGE + OPERATION_AGE)
    assert (partials, await count(OPERATIONS), await count(b"task-key/")) == ({}, 0, 0)


@JUMPS
async def test_a_clock_jump_makes_no_young_file_old_for_the_sweep(jump: float) -> None:
    lake = await memory_lake()
    options = SweepOptions(data=True, grace=GRACE, age=DAY)
    await put_commit(lake.engine, {"a": "1"})
    await lake.store.put(f"data/2026010100/{'1' * 32}", b"on its way")
    lake.clock.time += jump
    await lake.store.put(f"data/2026010100/{'2' * 32}", b"on its way")
    await passes(lake.engine, lake.clock, HOUR)
    assert (await lake.sweep(options)).deleted == 0
    lake.clock.time -= jump
    await passes(lake.engine, lake.clock, HOUR)
    assert (await lake.sweep(options)).deleted == 0
    await passes(lake.engine, lake.clock, WEEK + 2 * DAY)
    assert (await lake.sweep(options)).deleted == 2


def test_time_follows_the_wall_clock_at_half_to_twice_its_speed() -> None:
    clock = FakeClock()
    expiry_clock, start = ExpiryClock(clock), int(clock.time)
    clock.forward(100)
    assert expiry_clock.latest() == expiry_clock.due() == start + 100
    clock.time += WEEK
    assert (expiry_clock.due(), expiry_clock.latest()) == (start + 100, start + 100 + WEEK)
    clock.forward(1000)
    assert expiry_clock.due() == start + 100 + 2000
    clock.time -= WEEK
    assert (expiry_clock.due(), expiry_clock.latest()) == (start + 1100, start + 2100)
    clock.forward(2000)
    assert expiry_clock.due() == expiry_clock.latest() == start + 3100
    assert expiry_clock.before(clock.time, HOUR) == 0.0, "the wall clock was behind less than an hour ago"
    clock.forward(HOUR + 1)
    assert expiry_clock.before(clock.time, HOUR) == clock.time - HOUR
