"""Repositories: creation interrupted anywhere, names and namespaces, deletion, metadata."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.requests import WorkspaceRequest

from tests.engine.support import FakeClock, HookedKV, LossyKV, commit, content, fails, make_engine, new_engine, put

Step = Callable[[], Awaitable[None]]


class FailingObjects(MemoryObjects):
    """Fails before or after one put."""

    step: Step | None = None

    async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
        if self.step is not None:
            await self.step()
        await super().put(key, data, if_absent=if_absent, by_content=by_content)
        if self.step is not None:
            await self.step()


class FailingStores:
    """Opens namespaces whose puts take a step."""

    def __init__(self, step: Step | None = None) -> None:
        self.stores: dict[str, FailingObjects] = {}
        self.step = step

    def open(self, uri: str, store_id: str = "") -> ObjectStore:
        store = self.stores.setdefault(uri, FailingObjects(uri))
        store.step = self.step
        return store

    def check_new(self, uri: str, store_id: str) -> None:
        assert store_id == ""


class Crash(Exception):
    """The process died here."""


def crashes(at: int) -> tuple[Engine, HookedKV, FailingStores]:
    """An engine whose `at`-th step (KV call, before or after an object put) crashes."""
    steps = [0]

    async def step(*_: Any) -> None:
        steps[0] += 1
        if steps[0] == at:
            raise Crash

    kv, stores = HookedKV(MemoryKV()), FailingStores(step)
    kv.before = step
    return new_engine(kv, stores), kv, stores


@pytest.mark.parametrize(
    "again", [{}, {"read_only": True}, {"default_branch": "trunk"}, {"storage_namespace": "mem://elsewhere"}]
)
async def test_an_interrupted_creation_can_be_repeated(again: dict[str, Any]) -> None:
    async def job(at: int) -> bool:
        engine, kv, stores = crashes(at)
        wanted: dict[str, Any] = {
            "storage_namespace": "mem://lake",
            "default_branch": "main",
            "read_only": False,
        } | again
        try:
            await engine.repositories.create("lake", "mem://lake")
        except Crash:
            pass
        else:
            return False
        kv.before, stores.step = None, None
        await fails(engine.repositories.get("lake"), errors.RepositoryNotFoundError)
        assert not (await engine.repositories.list()).items
        made = await engine.repositories.create("lake", **wanted)
        assert {name: getattr(made, name) for name in wanted} == wanted
        assert await engine.repositories.get("lake") == made
        await put(engine, "a", "1", made.default_branch, force=True)
        await commit(engine, branch=made.default_branch, force=True)
        assert await content(engine, made.default_branch) == {"a": "1"}
        if made.storage_namespace != "mem://lake":  # the first namespace is free again
            await engine.repositories.create("other", "mem://lake")
        else:
            await fails(engine.repositories.create("other", "mem://lake"), errors.NamespaceInUseError)
        return True

    at = 1
    while await job(at):
        at += 1
    assert at > 6


@pytest.mark.parametrize("how", ["before", "after"])
async def test_a_lost_answer_while_creating(how: str) -> None:
    async def job(at: int) -> bool:
        count = 0

        def lose(_: Batch) -> str:
            nonlocal count
            count += 1
            return how if count == at else ""

        engine = new_engine(LossyKV(MemoryKV(), lose), Stores(None))
        try:
            await engine.repositories.create("lake", "mem://lake")
        except errors.OutcomeUnknownError:
            await engine.repositories.create("lake", "mem://lake")
        await put(engine, "a", "1")
        return count >= at

    assert await job(1)
    assert await job(2)


async def test_names_and_namespaces_are_unique_and_do_not_overlap() -> None:
    engine = await make_engine(namespace="mem://a/b")
    await fails(engine.repositories.create("lake", "mem://other"), errors.RepositoryExistsError)
    for taken in ("mem://a/b", "mem://a/b/", "mem://a", "mem://a/b/c", "mem://a/b/c/d"):
        await fails(engine.repositories.create("other", taken), errors.NamespaceInUseError)
    for bad in ("", "mem", "mem:/a", "mem://", "ftp://x", "mem://a/../c", "mem:///a", "s3://later", "mem://a\nb"):
        await fails(engine.repositories.create("other", bad), errors.InvalidNamespaceError)
    await engine.repositories.create("other", "mem://a/bb")
    await engine.repositories.create("more", "mem://a/c")
    await fails(engine.repositories.get("nope"), errors.RepositoryNotFoundError)


@pytest.mark.parametrize("pair", [("mem://x", "mem://x/y"), ("mem://x/y", "mem://x"), ("mem://x", "mem://x")])
async def test_two_concurrent_creations_never_share_a_namespace(pair: tuple[str, str]) -> None:
    async def job(at: int) -> bool:
        kv = HookedKV(MemoryKV())
        engine = new_engine(kv, Stores(None))
        second: list[bool] = []

        async def hook(*_: Any) -> None:
            if kv.calls == at:
                try:
                    await engine.repositories.create("two", pair[1])
                    second.append(True)
                except errors.NamespaceInUseError:
                    second.append(False)

        kv.before = hook
        try:
            await engine.repositories.create("one", pair[0])
            first = True
        except errors.NamespaceInUseError:
            first = False
        if not second:
            return False
        assert not (first and second[0])
        kv.before = None
        assert len((await engine.repositories.list()).items) == first + second[0]
        return True

    at = 1
    while await job(at):
        at += 1
    assert at > 4


async def test_many_concurrent_creations_of_one_name() -> None:
    engine = new_engine(MemoryKV(), Stores(None))
    results = await asyncio.gather(
        *(engine.repositories.create("lake", "mem://lake") for _ in range(10)), return_exceptions=True
    )
    won = [one for one in results if not isinstance(one, BaseException)]
    assert len(won) == 1
    assert all(type(one) is errors.RepositoryExistsError for one in results if isinstance(one, BaseException))
    await put(engine, "a", "1")


async def test_delete_and_create_again() -> None:
    engine = await make_engine()
    old = await engine.repositories.get("lake")
    await put(engine, "a", "1")
    await engine.repositories.delete("lake")
    await fails(engine.repositories.delete("lake"), errors.RepositoryNotFoundError)
    await fails(engine.objects.stat("lake", "main", "a"), errors.RepositoryNotFoundError)
    # the data stays, and says whose it is
    await fails(engine.repositories.create("lake", "mem://lake"), errors.NamespaceInUseError)
    await fails(engine.repositories.get("lake"), errors.RepositoryNotFoundError)
    new = await engine.repositories.create("lake", "mem://new")
    assert new.uid != old.uid
    assert await content(engine) == {}


async def test_only_an_empty_repository_is_deleted_as_one() -> None:
    engine = await make_engine()
    await put(engine, "a", "1")
    assert await engine.repositories.delete_empty("lake") == "object 'a' on branch 'main'"
    await engine.objects.delete("lake", "main", "a")
    space = await engine.workspaces.create("lake", WorkspaceRequest(ref="main", creator="kim"))
    assert "workspace" in await engine.repositories.delete_empty("lake")
    await engine.workspaces.delete("lake", space.uid)
    await engine.branches.create("lake", "dev", "main")
    await put(engine, "b", "1", branch="dev")
    assert await engine.repositories.delete_empty("lake") == "object 'b' on branch 'dev'"
    assert await content(engine, "dev") == {"b": "1"}
    await engine.objects.delete("lake", "dev", "b")
    assert await engine.repositories.delete_empty("lake") == ""
    await fails(engine.repositories.delete_empty("lake"), errors.RepositoryNotFoundError)


async def _try_to_put(engine: Engine) -> bool:
    """Whether a write was acknowledged."""
    try:
        await put(engine, "b", "1")
    except errors.NotFoundError:
        return False
    return True


@pytest.mark.parametrize("who", ["writes", "deletes"])
async def test_a_write_and_the_deletion_of_an_empty_repository_never_both_succeed(who: str) -> None:
    """Each operation runs completely before each store call of the other."""

    async def job(at: int) -> bool:
        kv = HookedKV(MemoryKV())
        engine = await make_engine(kv)
        await put(engine, "a", "1")
        await engine.objects.delete("lake", "main", "a")
        kv.calls = 0
        inner: list[bool] = []

        async def deleted() -> bool:
            return not await engine.repositories.delete_empty("lake")

        async def hook(*_: Any) -> None:
            if kv.calls == at:
                inner.append(await (deleted() if who == "writes" else _try_to_put(engine)))

        kv.before = hook
        outer = await (_try_to_put(engine) if who == "writes" else deleted())
        kv.before = None
        if inner:
            assert outer != inner[0], (outer, at)
            written = outer if who == "writes" else inner[0]
            if written:
                assert await content(engine) == {"b": "1"}
        return bool(inner)

    at = 1
    while await job(at):
        at += 1
    assert at > 3


async def test_a_deleted_empty_repository_leaves_no_rows() -> None:
    kv, clock = MemoryKV(), FakeClock()
    engine = await make_engine(kv, clock=clock)
    await put(engine, "a", "1")
    await engine.objects.delete("lake", "main", "a")
    assert await engine.repositories.delete_empty("lake") == ""
    for _ in range(2):
        await engine.maintenance.clean()
        clock.forward(1000)
    assert [one for one in await kv.partitions() if await kv.scan(one)] == []


async def test_metadata() -> None:
    engine = await make_engine()
    assert await engine.repositories.get_metadata("lake") == {}
    await asyncio.gather(*(engine.repositories.set_metadata("lake", {f"k{n}": str(n)}) for n in range(5)))
    await engine.repositories.set_metadata("lake", {"k0": "é"})
    await engine.repositories.delete_metadata("lake", ["k1", "nothing"])
    assert await engine.repositories.get_metadata("lake") == {"k0": "é", "k2": "2", "k3": "3", "k4": "4"}
    await fails(engine.repositories.set_metadata("lake", {"": "x"}), errors.InvalidRequestError)
    await fails(engine.repositories.get_metadata("nope"), errors.RepositoryNotFoundError)
