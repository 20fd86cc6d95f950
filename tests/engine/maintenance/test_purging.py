"""A purge deletes a repository with its data, whenever it is interrupted, and never the data of another repository."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import decode_repository, open_repo
from lakebed_engine.operations.keys import REPOSITORIES
from lakebed_engine.operations.objects.stage import stage
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.reports import FsckOptions
from lakebed_engine.vocabulary.requests import CommitRequest, WorkspaceRequest
from lakebed_format.keys import REPOSITORY_MARKER

from tests.engine.support import REPO, HookedKV, content, fails, make_engine, merge, new_engine, put, put_commit

SPACE = "mem://lake"
FOREIGN = "warehouse/part-0.parquet"


class Killed(BaseException):
    """The process died."""


async def fill(engine: Engine, name: str = REPO) -> None:
    """History, uncommitted rows, a tag, a workspace, a snapshot: something in every folder of the bucket."""
    await put_commit(engine, {"a": "1", "dir/b": "2"})
    await engine.branches.create(name, "dev", "main")
    await put_commit(engine, {"c": "3"}, "dev")
    await merge(engine, "dev")
    await engine.tags.create(name, "v1", "main")
    await put(engine, "uncommitted", "4")
    await engine.workspaces.create(name, WorkspaceRequest(ref="main", creator="ann"))
    await engine.maintenance.snapshot_refs()
    await engine.maintenance.drain_events(everything=True)


async def keys(stores: Stores, uri: str = SPACE) -> list[str]:
    return [blob.key async for blob in stores.open(uri).list()]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pause between passes: memory and local disks have exact times."""
    monkeypatch.setattr("lakebed_engine.operations.gc.purge._PAUSE", 0.002)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("scheme", ["mem", "local"])
async def test_name_and_namespace_can_be_used_again(scheme: str, tmp_path: Path) -> None:
    stores, kv, uri = Stores(tmp_path), MemoryKV(), f"{scheme}://lake"
    engine = await make_engine(kv, stores, namespace=uri)
    await fill(engine)
    there = await keys(stores, uri)
    assert {one.split("/")[1] for one in there if one.startswith("_lakebed/")} >= {"commits", "refs", "journal"}
    report = await engine.repositories.purge(REPO)
    assert (report.done, report.deleted, report.foreign) == (True, len(there) - 1, 0)  # and the marker
    assert await keys(stores, uri) == []
    await fails(engine.repositories.get(REPO), errors.RepositoryNotFoundError)
    again = await engine.repositories.create(REPO, uri)
    assert again.storage_namespace == uri
    await put_commit(engine, {"new": "1"})
    await engine.maintenance.clean()
    assert await content(engine) == {"new": "1"}
    assert (await engine.maintenance.fsck(REPO, FsckOptions(data=True, orphan_age=0))).ok


@pytest.mark.usefixtures("quick")
async def test_what_lakebed_did_not_make_stays() -> None:
    stores = Stores(None)
    store = stores.open(SPACE)
    await store.put(FOREIGN, b"theirs")
    engine = new_engine(MemoryKV(), stores)
    await engine.repositories.create(REPO, SPACE, allow_non_empty=True)
    await fill(engine)
    await store.put("workspaces/" + "ab" * 16 + "/x", b"in a folder of no workspace that we know")
    report = await engine.repositories.purge(REPO)
    assert (report.foreign, report.foreign_example) == (2, FOREIGN)
    assert await keys(stores) == [FOREIGN, "workspaces/" + "ab" * 16 + "/x"]
    await fails(engine.repositories.create(REPO, SPACE), errors.NamespaceNotEmptyError)
    await engine.repositories.create(REPO, SPACE, allow_non_empty=True)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("how", ["staged", "committed", "tagged"])
async def test_data_that_another_repository_shows_is_not_deleted(how: str) -> None:
    """As after an import from a deleted repository that was rebuilt: no request makes such an entry otherwise."""
    stores = Stores(None)
    engine = await make_engine(stores=stores)
    await fill(engine)
    theirs = (await engine.repositories.create("theirs", "mem://theirs")).name
    located = await engine.objects.locate(REPO, "main", "a")
    entry = msgspec.structs.replace(located.entry, physical_address=located.uri)
    await stage(engine.context, await open_repo(engine.context, theirs), "main", [("x", entry)])
    if how != "staged":
        first = await engine.commits.create(theirs, "main", CommitRequest(message="m", committer="u"))
        if how == "tagged":
            await engine.tags.create(theirs, "v1", first.id)
            await engine.objects.delete(theirs, "main", "x")
            await engine.commits.create(theirs, "main", CommitRequest(message="m", committer="u"))
    before = await keys(stores)
    error = await fails(engine.repositories.purge(REPO), errors.NamespaceSharedError)
    assert "'theirs'" in str(error)
    assert located.uri in str(error)
    assert await keys(stores) == before
    assert (await content(engine))["a"] == "1"
    await engine.repositories.delete(theirs)
    assert (await engine.repositories.purge(REPO)).done
    assert await keys(stores) == []


@pytest.mark.usefixtures("quick")
async def test_a_damaged_repository_next_to_it_refuses_the_purge() -> None:
    """It is unknown then what the other repository shows."""
    stores = Stores(None)
    engine = await make_engine(stores=stores)
    await engine.repositories.create("theirs", "mem://theirs")
    await stores.open("mem://theirs").delete([REPOSITORY_MARKER])
    error = await fails(engine.repositories.purge(REPO), errors.CorruptDataError)
    assert "'theirs'" in str(error)
    assert (await engine.repositories.get(REPO)).state == "active"


@pytest.mark.usefixtures("quick")
async def test_a_read_only_repository_needs_force() -> None:
    engine = new_engine(MemoryKV(), Stores(None))
    await engine.repositories.create(REPO, SPACE, read_only=True)
    await fails(engine.repositories.purge(REPO), errors.ReadOnlyRepositoryError)
    assert (await engine.repositories.purge(REPO, force=True)).done


class Dying:
    """An object store whose process dies at a chosen call."""

    def __init__(self, inner: Any, tick: Callable[[str], None]) -> None:
        self._inner = inner
        self._tick = tick

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name in ("put", "head", "delete", "delete_older", "get", "delete_partial"):
            self._tick(name)
        return found


class DyingStores:
    """Opens stores that die."""

    def __init__(self, inner: Stores, tick: Callable[[str], None]) -> None:
        self._inner = inner
        self._tick = tick

    def open(self, uri: str, store_id: str = "") -> Any:
        return Dying(self._inner.open(uri, store_id), self._tick)

    def check_new(self, uri: str, store_id: str) -> None:
        self._inner.check_new(uri, store_id)


@pytest.mark.medium
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("way", ["the cleaner", "the same request"])
async def test_killed_at_every_call(way: str) -> None:
    """Whatever the last call of the dead process was, the next process finishes, or nothing was deleted."""
    at, ended = 0, False
    while not ended:
        at += 1
        stores, kv = Stores(None), HookedKV(MemoryKV())
        engine = await make_engine(kv, stores)
        await fill(engine)
        before = await keys(stores)
        calls = 0

        def tick(_: str, at: int = at) -> None:
            nonlocal calls
            calls += 1
            if calls == at:
                raise Killed

        async def hook(name: str, _: Any, tick: Callable[[str], None] = tick) -> None:
            tick(name)

        kv.before = hook
        try:
            await new_engine(kv, DyingStores(stores, tick)).repositories.purge(REPO)
            ended = True
        except Killed:
            kv.before = None
            await _finish_after_death(new_engine(kv, stores), stores, before, way)
    assert at > 20


async def _finish_after_death(engine: Engine, stores: Stores, before: list[str], way: str) -> None:
    found = await engine.context.kv.get(REPOSITORIES, REPO.encode())
    if found is not None and decode_repository(found.value).state == "active":
        assert await keys(stores) == before
        assert (await engine.maintenance.fsck(REPO, FsckOptions(data=True))).ok
        return
    if found is not None:
        gone = await fails(engine.repositories.get(REPO), errors.RepositoryDeletingError)
        assert "being deleted" in str(gone)
        await fails(engine.repositories.create(REPO, "mem://other"), errors.RepositoryExistsError)
        await fails(engine.repositories.create("other", SPACE), errors.NamespaceInUseError)
        if way == "the cleaner":
            assert await engine.maintenance.clean() == 1
        else:
            assert (await engine.repositories.purge(REPO)).done
    assert [key for key in await keys(stores) if key != "_lakebed/sweep-clock"] == []
    await engine.repositories.create(REPO, SPACE, allow_non_empty=True)


@pytest.mark.usefixtures("quick")
async def test_a_slow_purge_does_not_delete_a_new_repository() -> None:
    """One process stops in the middle, another finishes, a new repository takes the namespace, the first goes on."""
    stores, at = Stores(None), 0
    ended = False
    while not ended:
        at += 1
        stores, kv = Stores(None), HookedKV(MemoryKV())
        engine = await make_engine(kv, stores)
        await fill(engine)
        other = new_engine(kv, stores)
        calls = 0

        async def meanwhile(*_: Any, at: int = at, other: Engine = other) -> None:
            nonlocal calls
            calls += 1
            if calls == at:
                await other.repositories.purge(REPO)
                await other.repositories.create(REPO, SPACE)
                await put_commit(other, {"new": "1"})

        kv.before = meanwhile
        try:
            report = await engine.repositories.purge(REPO)
            ended = calls < at
            assert report.done
        except errors.RepositoryNotFoundError:
            pass
        kv.before = None
        if at > 2 and not ended:  # the first two calls find the repository: the request may mean the new one
            assert await content(other) == {"new": "1"}
            assert (await other.maintenance.fsck(REPO, FsckOptions(data=True, orphan_age=0))).ok
            assert REPOSITORY_MARKER in await keys(stores)
    assert at > 10


async def test_a_long_purge_is_left_to_the_cleaner() -> None:
    """Files in the namespace keep appearing: a client has a signed address. The request ends in time."""
    stores = Stores(None)
    engine = await make_engine(stores=stores)
    store = stores.open(SPACE)

    class Busy:
        def __getattr__(self, name: str) -> Any:
            return getattr(store, name)

        async def delete_older(self, keys: list[str], before: float) -> list[str]:
            return []

    class BusyStores:
        def open(self, uri: str, store_id: str = "") -> Any:
            return Busy()

        def check_new(self, uri: str, store_id: str) -> None:
            raise AssertionError

    busy = new_engine(engine.context.kv, BusyStores())
    report = await busy.repositories.purge(REPO, seconds=0.0)
    assert (report.done, report.deleted) == (False, 0)
    assert await engine.maintenance.clean() == 1
    assert await keys(stores) == []
