"""The cleaner, on a clock driven by hand: what it may drop, and when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lakebed_engine.operations.branch.compare_and_swap import everything_of
from lakebed_engine.operations.context import open_repo
from lakebed_engine.operations.gc.deferred_deletes import OPERATION_AGE
from lakebed_engine.operations.keys import DROPS, staging
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors

from tests.engine.calls import crash_after_seal
from tests.engine.support import (
    REPO,
    FakeClock,
    HookedKV,
    commit,
    content,
    fails,
    make_engine,
    merge,
    put,
    put_commit,
)

GRACE = 300.0


def staged(kv: MemoryKV) -> set[str]:
    """Staging partitions that hold rows."""
    return {name for name, found in kv._partitions.items() if name.startswith("stage/") and found.rows}


async def drop_all(engine: Any, clock: FakeClock) -> None:
    await engine.maintenance.clean()
    clock.forward(GRACE + 1)
    await engine.maintenance.clean()


async def test_dropped_layers_are_deleted_only_after_the_grace() -> None:
    kv, clock = MemoryKV(), FakeClock()
    engine = await make_engine(kv, clock=clock, cleanup_grace=GRACE)
    await put_commit(engine, {"a": "1"})
    gone = staged(kv)
    assert len(gone) == 1
    await put(engine, "b", "2")
    clock.forward(10 * GRACE)  # how long the note stood before this process saw it does not count
    assert await engine.maintenance.clean() == 0
    clock.forward(GRACE - 1)
    assert await engine.maintenance.clean() == 0
    assert gone < staged(kv)
    clock.forward(2)
    assert await engine.maintenance.clean() == 1
    assert not gone & staged(kv)
    assert await kv.scan(DROPS) == []
    assert await content(engine) == {"a": "1", "b": "2"}
    assert await engine.maintenance.clean() == 0


async def test_a_note_written_during_a_slow_pass_keeps_its_age() -> None:
    """Found by the simulation (seed 76466757718): its age counted from before the scan that showed it."""
    inner, clock = MemoryKV(), FakeClock()
    kv = HookedKV(inner)
    engine = await make_engine(kv, clock=clock, cleanup_grace=GRACE)

    async def before(name: str, what: Any) -> None:
        if name == "scan" and what[0] == DROPS:
            kv.before = None
            clock.forward(2 * GRACE)
            await put_commit(engine, {"a": "1"})

    kv.before = before
    assert await engine.maintenance.clean() == 0
    gone = staged(inner)
    assert len(gone) == 1
    clock.forward(1)
    assert await engine.maintenance.clean() == 0
    assert gone == staged(inner)
    clock.forward(GRACE)
    assert await engine.maintenance.clean() == 1
    assert not staged(inner)


async def test_every_way_to_drop_a_token_and_nothing_else() -> None:
    kv, clock = MemoryKV(), FakeClock()
    engine = await make_engine(kv, clock=clock, cleanup_grace=GRACE)
    await engine.branches.create(REPO, "dev", "main")
    await engine.branches.create(REPO, "kept", "main")
    await put(engine, "k", "layer", "kept")
    await crash_after_seal(engine, "kept")
    await put(engine, "l", "token", "kept")
    await put_commit(engine, {"a": "1"})
    await put(engine, "a", "1")
    await fails(commit(engine), errors.NoChangesError)
    await put(engine, "a", "2")
    await crash_after_seal(engine)
    await put(engine, "a", "3")
    await engine.branches.reset(REPO, "main")
    await put(engine, "a", "1")
    await engine.objects.delete(REPO, "main", "nothing")
    await put(engine, "x", "1", "dev")
    await commit(engine, branch="dev")
    await merge(engine, "dev")
    await put(engine, "y", "1", "dev")
    await crash_after_seal(engine, "dev")
    await put(engine, "z", "1", "dev")
    await engine.branches.delete(REPO, "dev")
    kept = {staging(layer.id) for layer in everything_of(await engine.branches.get(REPO, "kept"))}
    assert staged(kv) > kept
    await drop_all(engine, clock)
    assert staged(kv) == kept
    assert await content(engine, "kept") == {"k": "layer", "l": "token"}
    assert await content(engine) == {"a": "1", "x": "1"}


async def test_a_deleted_repository_goes_with_all_its_tokens() -> None:
    kv, clock = MemoryKV(), FakeClock()
    engine = await make_engine(kv, clock=clock, cleanup_grace=GRACE)
    await engine.repositories.create("other", "mem://other")
    await put_commit(engine, {"a": "1"})
    await put(engine, "a", "2")
    await crash_after_seal(engine)
    await put(engine, "a", "3")
    partition = (await open_repo(engine.context, REPO)).partition
    await engine.repositories.delete(REPO)
    await engine.maintenance.clean()
    assert await kv.scan(partition)
    clock.forward(GRACE + 1)
    await engine.maintenance.clean()
    assert staged(kv) == set()
    assert not await kv.scan(partition)
    assert (await engine.branches.get("other", "main")).name == "main"
    assert await kv.scan(DROPS) == []


async def test_operation_keys_go_after_an_hour() -> None:
    kv, clock = MemoryKV(), FakeClock()
    engine = await make_engine(kv, clock=clock)
    await put_commit(engine, {"a": "1"})
    partition = (await open_repo(engine.context, REPO)).partition

    async def keys() -> list[bytes]:
        return [row.key for row in await kv.scan(partition, b"op/", b"op0")]

    old = await keys()
    assert old
    clock.forward(OPERATION_AGE - 1)
    await engine.maintenance.clean()
    await engine.tags.create(REPO, "t", "main")
    assert set(await keys()) > set(old)
    clock.forward(3)
    await engine.maintenance.clean()
    assert len(await keys()) == 1
    assert (await engine.tags.get(REPO, "t")).name == "t"
    assert await content(engine) == {"a": "1"}


async def test_leftovers_of_broken_uploads_go_after_a_day(tmp_path: Path) -> None:
    import time

    stores, clock = Stores(tmp_path), FakeClock(time.time())
    engine = await make_engine(stores=stores, namespace="local://lake", clock=clock)
    await put_commit(engine, {"a": "1"})
    await engine.maintenance.clean()
    clock.forward(30 * 24 * 3600)
    await engine.maintenance.clean()
    assert await content(engine) == {"a": "1"}
    await engine.close()
    stores.close()


async def test_an_error_keeps_the_note() -> None:
    async def job(at: int) -> bool:
        kv, clock = HookedKV(MemoryKV()), FakeClock()
        engine = await make_engine(kv, clock=clock, cleanup_grace=GRACE)
        await put_commit(engine, {"a": "1"})
        await put(engine, "b", "2")
        await engine.maintenance.clean()
        clock.forward(GRACE + 1)
        kv.calls = 0

        async def hook(*_: Any) -> None:
            if kv.calls == at:
                raise errors.StoreUnavailableError("down")

        kv.before = hook
        try:
            await engine.maintenance.clean()
            return False
        except errors.StoreUnavailableError:
            kv.before = None
            assert isinstance(kv.inner, MemoryKV)
            await engine.maintenance.clean()
            await drop_all(engine, clock)
            assert len(staged(kv.inner)) == 1
            assert await content(engine) == {"a": "1", "b": "2"}
            return True

    at = 1
    while await job(at):
        at += 1
    assert at > 4


@pytest.mark.parametrize("calls", range(1, 12))
async def test_a_commit_under_a_running_cleaner(calls: int) -> None:
    kv, clock = HookedKV(MemoryKV()), FakeClock()
    engine = await make_engine(kv, clock=clock, cleanup_grace=GRACE)
    await put_commit(engine, {"a": "1"})
    await put(engine, "b", "2")

    async def hook(*_: Any) -> None:
        if kv.calls == calls:
            await drop_all(engine, clock)

    kv.calls, kv.before = 0, hook
    await commit(engine)
    kv.before = None
    assert await content(engine, "main@") == {"a": "1", "b": "2"}
