"""Ingest (seeds/003): objects elsewhere become entries without a copy, page by page, and one commit."""

from __future__ import annotations

import asyncio
import random
import time
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
from lakebed_engine.operations.ingest import ingest
from lakebed_engine.stores.kv.base import Batch
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.base import BlobStat
from lakebed_engine.stores.objects.external import Foreign, is_same, version_of
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.reports import FsckOptions, SweepOptions
from lakebed_engine.vocabulary.requests import IngestPage, WorkspaceRequest

from tests.engine.ingest import World, asked, make_world
from tests.engine.support import (
    REPO,
    FakeClock,
    HookedKV,
    content,
    fails,
    history,
    new_engine,
    paths,
    put,
    put_commit,
)
from tests.engine.workspacing import now, store_of, workspace
from tests.support.sizes import sized


def counts(pages: list[IngestPage]) -> tuple[int, int, int, int, int]:
    """Listed, added, changed, removed, unchanged."""
    names = ("listed", "added", "changed", "removed", "unchanged")
    listed, added, changed, removed, unchanged = (sum(getattr(page, name) for page in pages) for name in names)
    return listed, added, changed, removed, unchanged


async def test_adds_changes_and_removals_without_a_copy() -> None:
    world = await make_world()
    await put_commit(world.engine, {"a": "1", "t/gone": "x", "u": "2"})
    await world.write("b", "new")
    await world.write("c/d", "deep")
    [page] = await world.diff(max_changes=10)
    assert [(one.type, one.path) for one in page.changes] == [
        ("added", "t/b"),
        ("added", "t/c/d"),
        ("removed", "t/gone"),
    ]
    made = await world.ingest()
    assert made is not None
    assert await content(world.engine) == {"a": "1", "t/b": "new", "t/c/d": "deep", "u": "2"}
    entry, uri = await world.engine.objects.locate(REPO, "main", "t/c/d")
    assert (entry.physical_address, uri, entry.size) == ("mem://source/in/c/d", "mem://source/in/c/d", 4)
    own = [blob.key async for blob in (await store_of(world.engine)).list("data/")]
    assert len(own) == 3  # what was uploaded, and nothing else
    await world.write("b", "newer")
    await world.remove("c/d")
    assert counts(await world.diff()) == (1, 0, 1, 1, 0)
    await world.ingest()
    assert await content(world.engine) == {"a": "1", "t/b": "newer", "u": "2"}


@pytest.mark.medium
@pytest.mark.parametrize("amount", [1, 3, 1000])
@pytest.mark.parametrize("seed", range(6))
async def test_ingest_keeps_the_prefix_equal_to_the_source(seed: int, amount: int) -> None:
    """Against a dict, with odd names, pages of any length, and patches as well as ranges below."""
    names = ["a", "a!", "a/b", "a/b/c", "a0", "b", "\U00010000", "\ue000", "z/ ", "data.parquet", "q?x=%20"]
    rng = random.Random(seed)
    world = await make_world()
    await put_commit(world.engine, {"s": "1", "t": "2", "t/old": "3", "t0": "4", "u": "5"})
    model: dict[str, str] = {}
    for _ in range(8):
        for name in rng.sample(names, rng.randint(0, 5)):
            if rng.random() < 0.3:
                model.pop(name, None)
                await world.remove(name)
            else:
                model[name] = str(rng.random())
                await world.write(name, model[name])
        if rng.random() < 0.4:
            await put_commit(world.engine, {f"t/{rng.choice(names)}": "by hand"})
        await world.ingest(amount=amount)
        found = await content(world.engine)
        assert {path[2:]: text for path, text in found.items() if path.startswith("t/")} == model
        assert {path for path in found if not path.startswith("t/")} == {"s", "t", "t0", "u"}
        assert sum(counts(await world.diff(amount=amount))[1:4]) == 0


async def test_everything_can_be_ingested_at_the_root() -> None:
    world = await make_world()
    await put_commit(world.engine, {"a": "1", "z": "2"})
    await world.write("m", "3")
    await world.ingest(prefix="")
    assert await content(world.engine) == {"m": "3"}


async def test_a_second_run_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    kv = HookedKV(MemoryKV())
    stores = Stores(None)
    world = await make_world(kv, stores)
    for number in range(50):
        await world.write(f"{number:03}", str(number))
    first = await world.ingest()
    head = await world.engine.commits.get(REPO, "main")
    assert first == head
    calls: list[str] = []

    async def note(name: str, what: Any) -> None:
        calls.append(name)

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a write to an object store")

    kv.before = note
    for name in ("put", "put_stream", "delete", "copy"):
        monkeypatch.setattr(MemoryObjects, name, refuse)
    assert await world.ingest(amount=20) is None
    kv.before = None
    assert "get" in calls
    assert not {"apply", "drop_partition"} & set(calls)
    assert await world.engine.commits.get(REPO, "main") == head
    assert not (await world.engine.workspaces.list(REPO)).items


async def test_a_page_into_a_workspace_that_finds_nothing_writes_nothing() -> None:
    kv = HookedKV(MemoryKV())
    world = await make_world(kv)
    await world.write("a", "1")
    await world.ingest()
    made = await workspace(world.engine)
    stored = [blob.key async for blob in (await store_of(world.engine)).list()]
    applied: list[Batch] = []

    async def note(name: str, what: Any) -> None:
        if name == "apply":
            applied.append(what)

    kv.before = note
    page = await world.engine.workspaces.ingest(REPO, made.uid, asked())
    assert (page.unchanged, page.added, applied) == (1, 0, [])
    assert [blob.key async for blob in (await store_of(world.engine)).list()] == stored


async def test_a_page_that_is_sent_twice_is_done_once() -> None:
    world = await make_world()
    await world.write("a", "1")
    made = await workspace(world.engine)
    assert (await world.engine.workspaces.ingest(REPO, made.uid, asked())).added == 1
    again = await world.engine.workspaces.ingest(REPO, made.uid, asked())
    assert (again.added, again.unchanged) == (0, 1)
    await world.remove("a")
    assert (await world.engine.workspaces.ingest(REPO, made.uid, asked())).removed == 1
    assert await paths(world.engine, made.name) == []
    assert (await world.engine.workspaces.ingest(REPO, made.uid, asked())).removed == 0


async def test_many_pages_are_compacted_on_the_way() -> None:
    world = await make_world()
    for number in range(60):
        await world.write(f"{number:03}", str(number))
    await world.ingest(amount=1)
    assert len(await paths(world.engine)) == 60


async def test_globs_leave_paths_alone_on_both_sides() -> None:
    world = await make_world()
    await put_commit(world.engine, {"t/keep.log": "x", "t/old.parquet": "x"})
    for name in ("a.parquet", "b.csv", "_tmp/c.parquet", "d/e.parquet"):
        await world.write(name, name)
    options: dict[str, Any] = {"include": ("*.parquet",), "exclude": ("_tmp/",)}
    [page] = await world.diff(**options)
    assert (page.listed, page.added, page.removed, page.ignored) == (4, 2, 1, 2)
    await world.ingest(**options)
    assert await paths(world.engine) == ["t/a.parquet", "t/d/e.parquet", "t/keep.log"]


@pytest.mark.parametrize("globs", [("",), ("# comment",), ("a" * 5, "\ud800"), ("*",) * 101])
async def test_invalid_globs_of_a_diff_are_refused(globs: Any) -> None:
    world = await make_world()
    await fails(world.diff(include=globs), errors.InvalidRequestError)


async def test_removals_can_be_left_out() -> None:
    world = await make_world()
    await put_commit(world.engine, {"t/old": "x"})
    await world.write("new", "1")
    await world.ingest(removals=False)
    assert await paths(world.engine) == ["t/new", "t/old"]


async def test_young_objects_wait_and_what_they_will_replace_stays() -> None:
    clock = FakeClock()
    stores = Stores(None)
    world = await make_world(stores=stores, clock=clock)
    world.source._clock = clock  # type: ignore[attr-defined]
    await world.write("a", "old")
    await world.write("b", "old")
    await world.ingest()
    clock.forward(100)
    await world.write("a", "half-written")
    await world.write("c", "half-written")
    [page] = await world.diff(settle=30)
    assert (page.waiting, page.added, page.changed, page.removed, page.unchanged) == (2, 0, 0, 0, 1)
    assert await world.ingest(settle=30) is None
    clock.forward(31)
    await world.ingest(settle=30)
    assert (await world.engine.objects.stat(REPO, "main", "t/a")).size == len("half-written")
    assert await paths(world.engine) == ["t/a", "t/b", "t/c"]


def test_same_content_at_another_address_is_no_change() -> None:
    """An object in Lakebed whose MD5 is the source's ETag is unchanged."""
    blob = BlobStat("k", 3, 5.5, '"acbd18db4cc2f85cedef654fccc4a4d8"')
    assert version_of(blob) == "etag:acbd18db4cc2f85cedef654fccc4a4d8"
    assert is_same("acbd18db4cc2f85cedef654fccc4a4d8", 3, blob)
    assert is_same(version_of(blob), 3, blob)
    assert not is_same(version_of(blob), 4, blob)
    assert not is_same("", 3, blob)
    assert version_of(BlobStat("k", 3, 5.5)) == f"stat:{5_500_000_000:x}-3"
    assert version_of(BlobStat("k", 3, 5.5, 'W/"x"')) == "etag:x"


# what may be read


@pytest.mark.parametrize(
    ("allow", "uri", "allowed"),
    [
        ((), "mem://source/in/", False),
        (("mem://source",), "mem://source", True),
        (("mem://source/in",), "mem://source/in", True),
        (("mem://source/in/",), "mem://source/in/deeper", True),
        (("mem://source/in",), "mem://source/inside", False),
        (("mem://source/in",), "mem://source", False),
        (("mem://sourc",), "mem://source/in", False),
        (("s3://b", "mem://"), "mem://source/in", True),
        (("s3://source",), "mem://source/in", False),
    ],
)
async def test_only_what_the_administrator_allows(allow: tuple[str, ...], uri: str, allowed: bool) -> None:
    world = await make_world(allow=allow)
    made = await workspace(world.engine)
    for attempt in (world.diff(source=uri), world.engine.workspaces.ingest(REPO, made.uid, asked(source=uri))):
        if allowed:
            await attempt
        else:
            assert "ingest.allow" in str(await fails(attempt, errors.ForeignDeniedError))


@pytest.mark.parametrize(
    "uri",
    ["", "source/in", "mem://", "mem:///in", "http://x/y", "mem://source/../other", "mem://source/./in", "mem://a b/c"],
)
async def test_invalid_source_uris_are_refused(uri: str) -> None:
    world = await make_world(allow=("mem://",))
    await fails(world.diff(source=uri), errors.InvalidRequestError)


async def test_local_sources_stay_below_the_root(tmp_path: Any) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("x")
    (tmp_path / "root" / "in").mkdir(parents=True)
    (tmp_path / "root" / "in" / "a").write_text("1")
    stores = Stores(tmp_path / "root")
    world = await make_world(stores=stores, allow=("local://", "local://in/../../"))
    for uri in ("local://../secret", "local://in/../../secret", "local:///secret", "local://.."):
        await fails(world.diff(source=uri), errors.InvalidRequestError)
    await world.ingest(source="local://in")
    assert await content(world.engine) == {"t/a": "1"}


@pytest.mark.parametrize("rule", ["bucket", "s3:/x", "ftp://x", "s3:///x"])
def test_an_invalid_rule_is_refused(rule: str) -> None:
    with pytest.raises(errors.InvalidRequestError):
        Foreign(Stores(None).open, [rule])


async def test_an_entry_elsewhere_is_read_only_where_that_is_allowed() -> None:
    """A full URI in a commit must not give access to another bucket."""
    stores, kv = Stores(None), MemoryKV()
    world = await make_world(kv, stores)
    await world.write("a", "1")
    await world.ingest()
    assert await content(world.engine) == {"t/a": "1"}
    other = new_engine(kv, stores, foreign=Foreign(stores.open, ("mem://source/other",)))
    await fails(content(other), errors.ForeignDeniedError)


@pytest.mark.parametrize("uri", ["mem://lake", "mem://lake/data/", "mem://lake/x"])
async def test_the_data_of_repositories_is_no_source(uri: str) -> None:
    """Their sweeps would delete it."""
    world = await make_world(allow=("mem://",))
    await fails(world.diff(source=uri), errors.InvalidRequestError)
    await world.engine.repositories.create("other", "mem://source/in/deep")
    await fails(world.diff(), errors.InvalidRequestError)


async def test_changed_or_deleted_source_object_raises_and_returns_no_data() -> None:
    world = await make_world()
    await world.write("a", "1")
    await world.write("b", "1")
    await world.ingest()
    time.sleep(0.002)  # the object gets another modification time, which is in milliseconds
    await world.write("a", "2")  # as long as before
    await world.remove("b")
    for path, word in (("t/a", "has changed"), ("t/b", "is gone")):
        entry = await world.engine.objects.stat(REPO, "main", path)

        async def read(entry: Any = entry) -> None:
            async with world.engine.objects.open(REPO, entry):
                pass

        assert word in str(await fails(read(), errors.ObjectGoneError))


async def test_a_path_that_does_not_fit_is_named() -> None:
    world = await make_world()
    await world.write("x" * 1000, "1")
    await fails(world.diff(prefix="p" * 100), errors.InvalidPathError)
    assert await world.ingest(prefix="p" * 100, exclude=("xxx*",)) is None


async def test_folder_markers_are_not_ingested() -> None:
    world = await make_world()
    for name in ("", "d/", "d/e"):
        await world.write(name)
    assert counts(await world.diff()) == (1, 1, 0, 0, 0)


@pytest.mark.parametrize(
    "bad",
    [{"amount": 0}, {"amount": ingest.MOST + 1}, {"max_changes": 1001}, {"settle": -1}, {"after": "elsewhere"}],
)
async def test_invalid_ingest_options_are_refused(bad: Any) -> None:
    world = await make_world()
    await fails(world.engine.workspaces.ingest_diff(REPO, "main", asked(**bad)), errors.InvalidRequestError)


async def test_a_page_ends_in_time_and_the_next_goes_on() -> None:
    clock = FakeClock()
    world = await make_world(clock=clock)
    for number in range(2500):
        await world.write(f"{number:05}")
    listed = world.source.list

    async def slow(prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        async for blob in listed(prefix, start_after):
            clock.forward(0.015)
            yield blob

    world.source.list = slow  # type: ignore[method-assign]
    pages = await world.diff()
    assert [page.added for page in pages] == [2000, 500]


async def test_a_store_in_no_order_is_listed_again() -> None:
    world = await make_world()
    for name in ("a", "b"):
        await world.write(name, name)
    listed, broken = world.source.list, [True]

    async def list_once(prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        async for blob in listed(prefix, start_after):
            yield blob
            if broken and broken.pop():
                raise errors.UnsortedListing("b before a")

    world.source.list = list_once  # type: ignore[method-assign]
    await world.ingest()
    assert await content(world.engine) == {"t/a": "a", "t/b": "b"}


# with others at work


async def with_a_page(world: World) -> Any:
    """A workspace with one ingested page, claimed as the SDK does."""
    head = await world.engine.commits.get(REPO, "main")
    made = await world.engine.workspaces.create(
        REPO, WorkspaceRequest(ref=head.id, branch="main", creator="ann", claims=("t/",))
    )
    await world.engine.workspaces.ingest(REPO, made.uid, asked())
    return made


async def advance(world: World, made: Any, policy: str) -> None:
    from tests.engine.workspacing import advance

    await advance(world.engine, made, policy)


@pytest.mark.parametrize("policy", ["rebase", "abort", "overwrite"])
@pytest.mark.parametrize("theirs", ["u", "t/other", "t/a"])
async def test_concurrent_commit_during_ingest(theirs: str, policy: str) -> None:
    world = await make_world()
    await world.write("a", "mine")
    made = await with_a_page(world)
    await put_commit(world.engine, {theirs: "theirs"})
    allowed = policy == "overwrite" or (policy == "rebase" and theirs == "u")
    if not allowed:
        await fails(advance(world, made, policy), errors.ConcurrentCommitError)
        assert await content(world.engine) == {theirs: "theirs"}
        return
    await advance(world, made, policy)
    assert await content(world.engine) == {theirs: "theirs", "t/a": "mine"}
    if theirs == "t/other":  # the next pass puts it right
        await world.ingest()
        assert await content(world.engine) == {"t/a": "mine"}


@pytest.mark.parametrize("path", ["t/a", "t/other"])
async def test_uncommitted_changes_below_the_prefix_are_not_committed_over(path: str) -> None:
    world = await make_world()
    await world.write("a", "1")
    await put(world.engine, path, "staged")
    await fails(world.ingest(), errors.DirtyOverlapError)
    assert (await content(world.engine))[path] == "staged"
    assert not (await world.engine.workspaces.list(REPO)).items


async def test_many_concurrent_ingests_and_commits() -> None:
    world = await make_world()
    for number in range(20):
        await world.write(f"{number}", str(number))

    async def one(number: int) -> None:
        for _ in range(30):
            try:
                await world.ingest(prefix=f"t{number % 2}")
                return
            except errors.ConcurrentCommitError:
                await asyncio.sleep(0)

    async def other() -> None:
        for number in range(10):
            await put_commit(world.engine, {f"x/{number}": "1"})

    await asyncio.gather(*(one(number) for number in range(4)), other())
    assert len(await paths(world.engine)) == 20 + 20 + 10
    assert len(await history(world.engine)) == 1 + 2 + 10  # two ingests had nothing left to do


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("landed", [False, True])
async def test_a_crash_in_the_middle_changes_nothing(number: int, landed: bool) -> None:
    """The process dies at one of its three batches, before it or just behind it; another one goes on."""

    class Crash(BaseException):
        pass

    kv, stores, clock = HookedKV(MemoryKV()), Stores(None), FakeClock()
    world = await make_world(kv, stores, clock=clock)
    await put_commit(world.engine, {"t/old": "1"})
    await world.write("a", "1")
    batches = 0

    async def die(name: str, what: Any) -> None:
        nonlocal batches
        if landed and batches == number:
            raise Crash
        batches += name == "apply"
        if not landed and batches == number:
            raise Crash

    kv.before = die
    with suppress(Crash):
        await world.ingest()
        assert (number, landed) == (3, True)  # nothing asks the store behind the last one
    kv.before = None
    assert batches == number
    fresh = await make_fresh(kv, stores, clock)
    assert await content(fresh.engine) == ({"t/a": "1"} if (number, landed) == (3, True) else {"t/old": "1"})
    await fresh.ingest()
    assert await content(fresh.engine) == {"t/a": "1"}
    clock.forward(8 * 24 * 3600.0)
    await fresh.engine.maintenance.clean()
    assert not (await fresh.engine.workspaces.list(REPO)).items  # what the crash left open has expired


async def make_fresh(kv: Any, stores: Stores, clock: FakeClock) -> World:
    return World(
        new_engine(kv, stores, clock=clock, foreign=Foreign(stores.open, ("mem://source",))),
        stores.open("mem://source"),
    )


async def test_a_closed_workspace_takes_no_page() -> None:
    world = await make_world()
    made = await workspace(world.engine)
    await world.engine.workspaces.delete(REPO, made.uid)
    await fails(world.engine.workspaces.ingest(REPO, made.uid, asked()), errors.WorkspaceClosedError)
    assert (await now(world.engine, made)).state == "reverted"


async def test_workspace_deleted_during_ingest_page_is_an_error() -> None:
    world = await make_world()
    await world.write("a", "1")
    await world.ingest()
    made = await workspace(world.engine)
    listed = world.source.list

    async def list_and_drop(prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        async for blob in listed(prefix, start_after):
            await world.engine.workspaces.delete(REPO, made.uid)
            yield blob

    world.source.list = list_and_drop  # type: ignore[method-assign]
    await fails(world.engine.workspaces.ingest(REPO, made.uid, asked()), errors.WorkspaceClosedError)


async def test_sweep_and_fsck_leave_the_source_alone() -> None:
    clock = FakeClock()
    stores = Stores(None)
    world = await make_world(stores=stores, clock=clock)
    for number in range(5):
        await world.write(f"{number}", "x")
    await world.ingest()
    await world.remove("3")
    await world.ingest()
    clock.forward(30 * 24 * 3600.0)
    await world.engine.maintenance.sweep(REPO, SweepOptions())
    await world.engine.maintenance.sweep(REPO, SweepOptions())
    assert len([blob async for blob in world.source.list()]) == 4
    assert len(await content(world.engine)) == 4
    report = await world.engine.maintenance.fsck(REPO, FsckOptions(data=True))
    assert report.problem_count == 0
    assert report.counts["objects elsewhere, not checked"] == 5


# size


class Many:
    """A source of any number of objects that takes no memory itself."""

    uri = "mem://source"

    def __init__(self, count: int, changed: int = 0) -> None:
        self.count = count
        self.changed = changed

    async def list(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        first = int(start_after.removeprefix(prefix)) + 1 if start_after else 0
        for number in range(first, self.count):
            yield BlobStat(f"{prefix}{number:09}", 100, 1e9, f'"{number + (number < self.changed):032x}"')


class ManyStores(Stores):
    """Opens it as `mem://source`."""

    def __init__(self, many: Many) -> None:
        super().__init__(None)
        self.many = many

    def open(self, uri: str, store_id: str = "") -> Any:
        return self.many if uri == "mem://source" else super().open(uri, store_id)


@pytest.mark.slow
async def test_many_objects_in_bounded_memory() -> None:
    count = sized(100_000, soak=200_000)
    many = Many(count)
    world = await make_world(stores=ManyStores(many), cache_bytes=8 << 20)
    for changed, expected in ((0, True), (0, False), (2000, True)):
        many.changed = changed
        made = await world.ingest(amount=count // 4)
        assert (made is not None) is expected
    tracemalloc.start()
    assert await world.ingest(amount=count // 4) is None
    _, small = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # the cache is 8 MiB, a window of rows some more: far from what 200,000 rows of Python objects would be
    assert small < 40 << 20
