"""Named stores: each repository works in its own, and a store that is gone stops no other repository."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import decode_repository
from lakebed_engine.operations.keys import DROPS, REPOSITORIES
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.external import Foreign
from lakebed_engine.stores.objects.registry import NamedStore, Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.reports import FsckOptions, SweepOptions
from lakebed_engine.vocabulary.requests import (
    AdvanceRequest,
    CommitRequest,
    IngestRequest,
    UploadRequest,
    WorkspaceRequest,
)

from tests.engine.support import FakeClock, HookedKV, new_engine, once
from tests.engine.support import fails as fails_with

GRACE = 300.0
DAY = 24 * 3600.0


class Place(NamedTuple):
    """One KV store and two directories: that of the default store, and that of the store `eu`."""

    kv: MemoryKV
    root: Path
    clock: FakeClock

    def stores(self, **changed: Any) -> Stores:
        named = {"eu": NamedStore(scheme="local", root=self.root / "eu")}
        return Stores(self.root / "default", durable=False, **{"named": named, **changed})

    def engine(self, stores: Stores | None = None, **options: Any) -> Engine:
        given = {"clock": self.clock, "cleanup_grace": GRACE, **options}
        return new_engine(self.kv, stores or self.stores(), **given)

    def files(self, store: str) -> set[str]:
        found = (self.root / store).rglob("*")
        return {
            str(one.relative_to(self.root / store)) for one in found if one.is_file() and one.name != ".lakebed-lock"
        }


@pytest.fixture
def place(tmp_path: Path) -> Place:
    for name in ("default", "eu"):
        (tmp_path / name).mkdir()
    return Place(MemoryKV(), tmp_path, FakeClock(time.time()))


async def fails(job: Awaitable[Any], kind: type[errors.EngineError]) -> Any:
    return await fails_with(job, kind)


async def put(engine: Engine, repo: str, path: str, data: str) -> None:
    await engine.objects.upload(repo, "main", UploadRequest(path=path), once(data.encode()))


async def commit(engine: Engine, repo: str) -> str:
    made = await engine.commits.create(repo, "main", CommitRequest(message="c", committer="ann"))
    return made.id


async def text(engine: Engine, repo: str, path: str) -> str:
    entry = await engine.objects.stat(repo, "main", path)
    async with engine.objects.open(repo, entry) as chunks:
        return b"".join([chunk async for chunk in chunks]).decode()


async def two(place: Place, **options: Any) -> Engine:
    """A repository in each store, each with a commit."""
    engine = place.engine(**options)
    await engine.repositories.create("home", "local://home")
    await engine.repositories.create("away", "local://away", storage_id="eu")
    for name in ("home", "away"):
        await put(engine, name, "a", f"of {name}")
        await commit(engine, name)
    return engine


def left_out(place: Place) -> Stores:
    """The stores of a server without the store `eu`."""
    return place.stores(named={})


async def test_each_repository_is_in_its_own_store(place: Place) -> None:
    engine = await two(place)
    home, away = place.files("default"), place.files("eu")
    assert home
    assert away
    assert {one.split("/")[0] for one in home} == {"home"}
    assert {one.split("/")[0] for one in away} == {"away"}
    assert (await engine.repositories.get("away")).storage_id == "eu"
    assert (await engine.repositories.get("home")).storage_id == ""
    engine = place.engine()  # another process
    assert [await text(engine, name, "a") for name in ("home", "away")] == ["of home", "of away"]
    for name in ("home", "away"):
        report = await engine.maintenance.fsck(name, FsckOptions(data=True))
        assert report.ok
        assert report.counts["objects"] == 1


async def test_a_namespace_belongs_to_one_repository_whatever_its_store(place: Place) -> None:
    engine = await two(place)
    for uri in ("local://home", "local://home/inside"):
        error = await fails(engine.repositories.create("third", uri, storage_id="eu"), errors.NamespaceInUseError)
        assert "local://home" in error.message
    assert not [one for one in place.files("eu") if one.startswith("home")]


async def test_creation_checks_the_store_its_scheme_and_its_prefixes(place: Place) -> None:
    stores = place.stores(named={"eu": NamedStore(scheme="local", root=place.root / "eu", prefixes=("local://lakes",))})
    engine = place.engine(stores)
    for store_id, uri, reported in (
        ("us", "local://lakes/a", "no store 'us': leave the store out for the default one; named stores .*: 'eu'"),
        ("eu", "s3://lakes/a", "store 'eu' has local:// namespaces, not s3://"),
        ("eu", "local://lakesides", "store 'eu' takes namespaces below local://lakes only"),
        ("eu", "local://other", "stores.eu.prefixes"),
    ):
        with pytest.raises(errors.InvalidNamespaceError, match=reported):
            await engine.repositories.create("one", uri, storage_id=store_id)
    assert place.files("eu") == set()
    await engine.repositories.create("one", "local://lakes/a", storage_id="eu")
    await engine.repositories.create("two", "local://anywhere")


async def test_records_of_before_named_stores_mean_the_default_store(place: Place) -> None:
    engine = await two(place)
    (row,) = [row for row in await place.kv.scan(REPOSITORIES) if row.key == b"home"]
    old = {key: value for key, value in msgspec.json.decode(row.value).items() if key != "storage_id"}
    await place.kv.apply(Batch(puts=[Put(REPOSITORIES, b"home", msgspec.json.encode(old))]))
    assert decode_repository(msgspec.json.encode(old)).storage_id == ""
    engine = place.engine()
    assert await text(engine, "home", "a") == "of home"


async def test_an_interrupted_creation_goes_on_in_another_store(place: Place) -> None:
    kv = HookedKV(place.kv)
    writes = itertools.count(1)

    async def before(name: str, what: Any) -> None:
        if name == "apply" and next(writes) == 2:  # the first one takes the name, the second one ends the creation
            raise errors.StoreUnavailableError("gone")

    kv.before = before
    engine = new_engine(kv, place.stores(), clock=place.clock)
    await fails(engine.repositories.create("one", "local://one", storage_id="eu"), errors.StoreUnavailableError)
    assert place.files("eu")
    await engine.repositories.create("one", "local://one")
    assert (await engine.repositories.get("one")).storage_id == ""
    assert place.files("eu") == set()
    assert place.files("default")


async def test_rebuild_finds_the_repository_of_a_named_store(place: Place) -> None:
    await two(place)
    lost = Place(MemoryKV(), place.root, place.clock)
    engine = lost.engine()
    await fails(engine.maintenance.rebuild("local://away"), errors.InvalidNamespaceError)
    await fails(engine.maintenance.rebuild("local://away", storage_id="us"), errors.InvalidNamespaceError)
    report = await engine.maintenance.rebuild("local://away", storage_id="eu")
    assert (report.repository, report.commits) == ("away", 2)
    assert (await engine.repositories.get("away")).storage_id == "eu"


async def test_the_sweep_and_the_cleaner_delete_in_the_right_store(place: Place) -> None:
    engine = await two(place)
    for name in ("home", "away"):
        await put(engine, name, "b", f"b of {name}")
        await engine.branches.compact(name, "main", least=1)
        await put(engine, name, "gone", "x")
        await engine.branches.reset(name, "main")
    orphans = []
    for store, name in (("default", "home"), ("eu", "away")):
        orphan = place.root / store / name / "data" / "2020010100" / ("0" * 32)
        orphan.parent.mkdir(parents=True)
        orphan.write_bytes(b"x")
        os.utime(orphan, (1, 1))
        orphans.append(orphan)
    notes = [msgspec.json.decode(row.value) for row in await place.kv.scan(DROPS)]
    assert {note["storage_id"] for note in notes} == {"", "eu"}
    await engine.maintenance.clean()
    place.clock.forward(GRACE + 1)
    assert await engine.maintenance.clean() > 0
    assert await place.kv.scan(DROPS) == []
    done = await engine.maintenance.sweep("", SweepOptions(age=DAY, grace=0.0, data=True))
    assert done.failures == []
    assert not any(one.exists() for one in orphans)
    for name in ("home", "away"):
        assert await text(engine, name, "a") == f"of {name}"


async def test_the_last_events_of_a_deleted_repository_reach_its_own_store(place: Place) -> None:
    engine = await two(place)
    await engine.maintenance.drain_events(everything=True)
    before = place.files("eu")
    other = place.files("default")
    await engine.repositories.delete("away")
    assert {one.split("/")[2] for one in place.files("eu") - before} == {"journal"}
    assert place.files("default") == other


async def test_sources_are_read_through_the_store_of_the_repository(place: Place) -> None:
    for store, data in (("default", b"default"), ("eu", b"from eu")):
        (place.root / store / "feed").mkdir()
        (place.root / store / "feed" / "x").write_bytes(data)
    stores = place.stores()
    foreign = Foreign(stores.open_foreign, ["local://feed/"], {"eu": ["local://feed/"]})
    engine = await two(place, foreign=foreign)
    for name in ("home", "away"):
        made = await engine.workspaces.create(name, WorkspaceRequest(ref="main", creator="ann"))
        page = await engine.workspaces.ingest(name, made.uid, IngestRequest(source="local://feed/", prefix="in"))
        assert page.added == 1
        await engine.workspaces.commit(name, made.uid, AdvanceRequest(message="in", committer="ann"))
    assert [await text(engine, name, "in/x") for name in ("home", "away")] == ["default", "from eu"]
    denied = place.engine(foreign=Foreign(stores.open_foreign, ["local://feed/"], {}))
    made = await denied.workspaces.create("away", WorkspaceRequest(ref="main", creator="ann"))
    request = IngestRequest(source="local://feed/", prefix="again")
    error = await fails(denied.workspaces.ingest("away", made.uid, request), errors.ForeignDeniedError)
    assert "stores.eu.ingest" in error.message


async def test_a_store_that_was_removed_from_the_settings(place: Place) -> None:
    await two(place)
    engine = place.engine(left_out(place))
    for work in (text(engine, "away", "a"), put(engine, "away", "b", "x")):
        error = await fails(work, errors.NoStoreError)
        assert "local://away" in error.message
        assert "have no store 'eu': set stores.eu.type" in error.message
        assert error.public_message == error.message
    assert [one.name for one in (await engine.repositories.list()).items] == ["away", "home"]
    assert await text(engine, "home", "a") == "of home"
    await put(engine, "home", "b", "goes on")
    await commit(engine, "home")
    swept = await engine.maintenance.sweep("", SweepOptions(age=DAY, grace=0.0))
    assert [name for name, _ in swept.failures] == ["away"]
    assert [one.repository for one in swept.reports] == ["home"]
    taken = await engine.maintenance.snapshot_refs()
    assert "home" not in [name for name, _ in taken.failures]
    again = place.engine()  # the store is back
    assert await text(again, "away", "a") == "of away"


async def test_the_cleaner_goes_on_when_a_store_is_gone(place: Place) -> None:
    engine = await two(place)
    for name in ("away", "home"):
        for number in range(3):
            await put(engine, name, f"b{number}", "x")
            await engine.branches.compact(name, "main", least=1)
    engine = place.engine(left_out(place))
    await fails(engine.maintenance.clean(), errors.NoStoreError)
    place.clock.forward(GRACE + 1)
    await fails(engine.maintenance.clean(), errors.NoStoreError)
    left = [msgspec.json.decode(row.value) for row in await place.kv.scan(DROPS)]
    assert {note["storage_id"] for note in left if note["files"]} <= {"eu"}
    again = place.engine()
    await again.maintenance.clean()
    place.clock.forward(GRACE + 1)
    await again.maintenance.clean()
    assert await place.kv.scan(DROPS) == []


async def test_a_repository_whose_store_is_gone_can_be_deleted(place: Place) -> None:
    await two(place)
    engine = place.engine(left_out(place))
    await engine.repositories.delete("away")
    assert [one.name for one in (await engine.repositories.list()).items] == ["home"]
