"""Counts calls instead of seconds: the number of store calls of an operation must not grow with the lake."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.branch.compare_and_swap import swap
from lakebed_engine.operations.commit.commit_file import NewCommit, commit_file, commit_row
from lakebed_engine.operations.context import open_repo, read_branch
from lakebed_engine.operations.objects.stage import new_entry
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.tree.fold import fold
from lakebed_engine.tree.rows import delta_table
from lakebed_engine.tree.trees import EMPTY_TREE
from lakebed_engine.vocabulary.events import NewEvent
from lakebed_engine.vocabulary.records import Branch

from tests.engine.layering import just_seal, push, write
from tests.engine.support import REPO, HookedKV, commit, make_engine, put, run
from tests.engine.trees import Delta
from tests.support.services.object_stores import OneStore


class CountingObjects(MemoryObjects):
    """Counts whole reads and writes."""

    calls = 0

    async def get(self, key: str) -> bytes:
        self.calls += 1
        return await super().get(key)

    async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
        self.calls += 1
        await super().put(key, data, if_absent=if_absent, by_content=by_content)


async def rows(count: int) -> AsyncIterator[pa.Table]:
    for start in range(0, count, 100_000):
        numbers = range(start, min(count, start + 100_000))
        yield delta_table(
            [(f"p/{n:06}", new_entry(f"data/{n:032x}", f"{n:032x}", n, 1, "text/plain", {})) for n in numbers]
        )


async def filled(kv: HookedKV, stores: OneStore[CountingObjects], count: int) -> Engine:
    """A lake of `count` committed entries, made below the operations: quickly."""
    engine = await make_engine(kv, stores)
    ctx = engine.context
    repo = await open_repo(ctx, REPO)
    seen = await read_branch(ctx, repo, "main")
    tree = (await fold(ctx.trees, stores.store, ctx.runtime, EMPTY_TREE, rows(count))).tree
    parent = await engine.commits.get(REPO, "main")
    made, write = commit_file(ctx, repo, NewCommit(tree, None, "", "", {}), [parent])
    await write()
    new: Branch = msgspec.structs.replace(seen.record, gen=2, commit_id=made.id)
    event = NewEvent(type="branch.committed", branch="main", gen=new.gen, commit_id=made.id)
    assert await swap(ctx, repo, seen, new, puts=[commit_row(repo, made)], events=[event])
    return engine


VERBS: dict[str, Callable[[Engine], Awaitable[Any]]] = {
    "stat": lambda e: e.objects.stat(REPO, "main", "p/000777"),
    "miss": lambda e: e.objects.list(REPO, "main", prefix="q"),
    "list": lambda e: e.objects.list(REPO, "main", after="p/000500", amount=100),
    "list grouped": lambda e: e.objects.list(REPO, "main", delimiter="/"),
    "stage": lambda e: put(e, "p/000778x", "new"),
    "stat staged": lambda e: e.objects.stat(REPO, "main", "p/000778x"),
    "diff": lambda e: e.branches.diff(REPO, "main"),
    "commit": commit,
    "diff refs": lambda e: e.commits.diff(REPO, "main~1", "main", mode="two_dot"),
    "delete": lambda e: e.objects.delete(REPO, "main", "p/000778x"),
    "commit again": commit,
}


def counted(count: int, cold: bool) -> dict[str, tuple[int, int]]:
    async def job() -> dict[str, tuple[int, int]]:
        kv, stores = HookedKV(MemoryKV()), OneStore(CountingObjects("mem://lake"))
        engine = await filled(kv, stores, count)
        found = {}
        for name, verb in VERBS.items():
            if cold:
                engine.clear_caches()
            kv.calls = stores.store.calls = 0
            await verb(engine)
            found[name] = kv.calls, stores.store.calls
        await engine.close()
        return found

    return run(job())


@pytest.mark.slow
@pytest.mark.parametrize("cold", [False, True])
@pytest.mark.parametrize("entries", [100_000, pytest.param(1_000_000, marks=pytest.mark.soak)])
def test_calls_are_the_same_with_many_entries(entries: int, cold: bool) -> None:
    assert counted(entries, cold) == counted(1_000, cold)


def test_calls_do_not_grow_with_the_lake() -> None:
    for cold in (False, True):
        small, large = counted(1_000, cold), counted(20_000, cold)
        assert small == large
    warm = counted(1_000, cold=False)
    assert warm["stat"][0] <= 4
    assert warm["stage"][0] <= 4
    assert warm["commit"] <= (9, 3)


async def layered(engine: Engine) -> None:
    """Five layers of the same rows in any lake: three pushed, two sealed."""
    for number in range(5):
        delta: Delta = {f"p/000{number}{5 * n:02}": None if n % 7 == 0 else "new" for n in range(8)}
        await (push(engine, delta) if number % 2 else write(engine, delta))
        await just_seal(engine)


LAYERED: dict[str, Callable[[Engine], Awaitable[Any]]] = {
    "stat committed": lambda e: e.objects.stat(REPO, "main", "p/000777"),
    "stat in a layer": lambda e: e.objects.stat(REPO, "main", "p/000105"),
    "list": lambda e: e.objects.list(REPO, "main", after="p/000100", amount=100),
    "diff": lambda e: e.branches.diff(REPO, "main", amount=10),
    "stage": lambda e: write(e, {"p/000150": "x"}),
    "push": lambda e: push(e, {f"p/0002{n:02}": "pushed" for n in range(30)}),
    "reset object": lambda e: e.branches.reset_object(REPO, "main", "p/000150"),
    "reset prefix": lambda e: e.branches.reset_prefix(REPO, "main", "p/00021"),
    "compact": lambda e: e.branches.compact(REPO, "main", least=2),
    "commit all": commit,
    "stage one": lambda e: write(e, {"p/000333": "one"}),
    "commit one": commit,
}


async def test_calls_do_not_grow_with_the_lake_below_five_layers() -> None:
    async def job(count: int, cold: bool) -> dict[str, tuple[int, int]]:
        kv, stores = HookedKV(MemoryKV()), OneStore(CountingObjects("mem://lake"))
        engine = await filled(kv, stores, count)
        await layered(engine)
        assert len((await engine.branches.get(REPO, "main")).layers) == 5
        found = {}
        for name, verb in LAYERED.items():
            if cold:
                engine.clear_caches()
            kv.calls = stores.store.calls = 0
            await verb(engine)
            found[name] = kv.calls, stores.store.calls
        assert (await engine.branches.get(REPO, "main")).layers == ()
        await engine.close()
        return found

    for cold in (False, True):
        assert await job(1_000, cold) == await job(20_000, cold)
    warm = await job(1_000, cold=False)
    assert warm["push"][0] <= 6
    assert warm["push"][1] == 1, "one file, one swap, however many rows"
    assert warm["stat in a layer"][1] <= 1
