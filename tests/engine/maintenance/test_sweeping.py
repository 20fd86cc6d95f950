"""The sweep deletes unreferenced files after two scans and a day, and never a file with a possible reference."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import open_repo, read_branch
from lakebed_engine.operations.gc.deferred_deletes import PARTIAL_AGE
from lakebed_engine.operations.gc.lease import LeaseRow
from lakebed_engine.operations.keys import SWEEP_LEASE, workspace_key
from lakebed_engine.operations.layers.push import put_on_top
from lakebed_engine.stores.kv.base import Batch, Delete, Put
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.stores.objects.base import BlobStat
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Workspace
from lakebed_engine.vocabulary.reports import FsckOptions, Orphan, SweepOptions, SweepPass
from lakebed_format.keys import COMMITS, DUMPS, LAYERS, METARANGES, RANGES, REPOSITORY_MARKER

from tests.engine.calls import crash_after_seal
from tests.engine.support import (
    REPO,
    FakeClock,
    HookedKV,
    commit,
    content,
    make_engine,
    merge,
    put,
    put_commit,
)
from tests.engine.swept import (
    DATA,
    DAY,
    GRACE,
    WAYS,
    Lake,
    Waiting,
    fill,
    lost_commit,
    memory_lake,
    settle,
    written_layer,
)
from tests.support.sampling import after

FOLDERS = (COMMITS, METARANGES, RANGES, LAYERS)
FULL_URI = f"data/2026010100/{'f' * 32}"


async def local_lake(place: Path, stack: ExitStack) -> Lake:
    """On SQLite and files; the machine's clock and the files' have nothing to do with each other."""
    clock, stores = FakeClock(time.time()), Stores(place / "objects")
    kv = HookedKV(SqliteKV(place / "kv.sqlite"))
    stack.callback(stores.close)
    runtime = Waiting(clock)
    engine = await make_engine(kv, stores, namespace="local://lake", clock=clock, runtime=runtime)
    store = stores.open("local://lake")
    return Lake(engine, kv, store, clock, runtime)


@pytest.fixture(params=["memory", "local"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Awaitable[Lake]]]:
    with ExitStack() as stack:
        yield memory_lake if request.param == "memory" else lambda: local_lake(tmp_path, stack)


# ways to leave something behind


@pytest.mark.medium
@pytest.mark.parametrize("leave", WAYS)
async def test_every_kind_of_orphan_is_deleted_after_two_scans_and_a_day(
    opened: Callable[[], Awaitable[Lake]], leave: Callable[[Lake], Awaitable[None]]
) -> None:
    lake = await opened()
    shown = await fill(lake)
    await settle(lake)
    await leave(lake)
    shown["f"] = "live"
    await settle(lake)
    before = await lake.files()
    (young,) = (await lake.sweep()).reports
    assert (young.found, young.deleted) == (0, 0)
    assert young.recent > 0
    assert lake.runtime.slept == 0
    lake.clock.forward(30 * DAY if not isinstance(lake.store, MemoryObjects) else 0)  # the store's clock counts
    await lake.age(DAY - 3600)
    (young,) = (await lake.sweep()).reports
    assert (young.found, young.deleted) == (0, 0)
    await lake.age(3601)
    (dry,) = (await lake.sweep(SweepOptions(data=True, dry_run=True, grace=GRACE))).reports
    assert dry.deleted == 0
    assert dry.found == young.recent
    assert await lake.files() == before
    seen: list[set[str]] = []

    async def look() -> None:
        seen.append(await lake.files())

    lake.runtime.meanwhile = look
    (done,) = (await lake.sweep()).reports
    assert seen == [before]
    assert lake.runtime.slept >= GRACE
    gone = before - await lake.files()
    assert len(gone) == done.deleted == done.found == young.recent
    assert await content(lake.engine) == shown
    assert await lake.whole()
    (again,) = (await lake.sweep()).reports
    assert (again.found, again.recent) == (0, 0)
    await lake.kv.close()


async def test_without_data_objects_stay() -> None:
    lake = await memory_lake()
    await fill(lake)
    for leave in WAYS:
        await leave(lake)
    await settle(lake)
    await lake.age()
    reported: list[Orphan] = []
    found = await lake.engine.maintenance.sweep(REPO, SweepOptions(grace=GRACE), sink=reported.append)  # type: ignore[arg-type]
    kinds = {one.key.rpartition("/")[0] + "/" for one in reported}
    assert kinds == {*FOLDERS, DUMPS}
    assert found.deleted == len(reported)
    assert all(one.age > DAY for one in reported)
    assert not await lake.whole(), "orphaned data is left"
    await lake.sweep()
    assert await lake.whole()


async def test_file_referenced_between_the_two_scans_is_kept() -> None:
    """A push takes longer than a day and then succeeds. Only the second scan can see it."""
    lake = await memory_lake()
    await fill(lake)
    layer = await written_layer(lake)
    await settle(lake)
    await lake.age()

    async def land() -> None:
        repo = await open_repo(lake.engine.context, REPO)
        assert await put_on_top(lake.engine.context, repo, await read_branch(lake.engine.context, repo, "main"), layer)

    lake.runtime.meanwhile = land
    (found,) = (await lake.sweep()).reports
    assert found.found == 2
    assert found.deleted == 0
    assert (await content(lake.engine))["pushed"] == "y"
    assert await lake.whole()


async def test_file_rewritten_between_the_two_scans_is_kept() -> None:
    """A running commit of the same tree has written the files again, and has not swapped the branch yet."""
    lake = await memory_lake()
    await fill(lake)
    await lost_commit(lake)
    await settle(lake)
    await lake.age()
    files: dict[str, bytes] = {}

    async def write() -> None:
        for key in await orphans(lake):
            files[key] = await lake.store.get(key)
            await lake.store.put(key, files[key])

    lake.runtime.meanwhile = write
    (found,) = (await lake.sweep()).reports
    assert found.found == len(files) > 0
    assert found.deleted == 0
    assert set(files) < await lake.files()
    await lake.age()
    assert (await lake.sweep()).deleted == len(files)


async def orphans(lake: Lake) -> list[str]:
    report = await lake.engine.maintenance.fsck(REPO, FsckOptions(data=True, orphan_age=0.0))
    return [one.key for one in report.orphans]


async def test_a_repeated_commit_revives_its_files() -> None:
    lake = await memory_lake()
    await fill(lake)
    await lost_commit(lake)
    await settle(lake)
    await lake.age()

    async def again() -> None:
        await put_commit(lake.engine, {"lost": "x"}, "dev")

    lake.runtime.meanwhile = again
    await lake.sweep()
    assert (await content(lake.engine, "dev"))["lost"] == "x"
    assert (await lake.engine.maintenance.fsck(REPO, FsckOptions(data=True, deep=True))).ok


class Failing(MemoryObjects):
    """Fails at the n-th call of some kinds; `at` 0: never."""

    at = 0
    calls = 0
    deletes = 0

    async def _count(self) -> None:
        self.calls += 1
        if self.calls == self.at:
            raise errors.StoreUnavailableError("down")

    async def get(self, key: str) -> bytes:
        await self._count()
        return await super().get(key)

    async def head(self, key: str) -> BlobStat:
        await self._count()
        return await super().head(key)

    async def delete_older(self, keys: Sequence[str], before: float) -> Sequence[str]:
        await self._count()
        return await super().delete_older(keys, before)

    async def delete(self, keys: Sequence[str]) -> None:
        self.deletes += sum(key.startswith(("data/", DUMPS, *FOLDERS)) for key in keys)
        await super().delete(keys)


@pytest.mark.slow
async def test_failed_scan_deletes_nothing() -> None:
    """Any call may fail, of the KV store or of the bucket."""

    async def make() -> tuple[Lake, Failing]:
        clock, stores, kv = FakeClock(), Stores(None), HookedKV(MemoryKV())
        store = Failing("mem://lake", clock)
        stores._stores["", "mem://lake"] = store
        runtime = Waiting(clock)
        engine = await make_engine(kv, stores, clock=clock, runtime=runtime, cleanup_grace=GRACE)
        lake = Lake(engine, kv, store, clock, runtime)
        await fill(lake)
        for leave in WAYS:
            await leave(lake)
        await settle(lake)
        await lake.age()
        kv.calls = store.calls = store.deletes = 0
        return lake, store

    async def job(in_kv: int, in_bucket: int) -> bool:
        lake, store = await make()
        store.at = in_bucket

        async def hook(*_: Any) -> None:
            if lake.kv.calls == in_kv:
                raise errors.StoreUnavailableError("down")

        lake.kv.before = hook
        found = await fails_softly(lake)
        lake.kv.before, store.at = None, 0
        if found is not None and found.ok:
            assert found.deleted == store.deletes > 0
            return False
        assert found is None or found.deleted == 0
        if store.deletes:  # deletion had begun: then both scans were complete
            assert (in_kv or in_bucket) > 10
        shown = await content(lake.engine)
        assert shown["f"] == "live"
        lake.clock.forward(3600)  # the lease runs out
        assert (await lake.sweep()).ok
        assert await lake.whole()
        return True

    for which in (lambda at: (at, 0), lambda at: (0, at)):
        at = 1
        while await job(*which(at)):
            at = after(at)
        assert at > 10


async def fails_softly(lake: Lake) -> SweepPass | None:
    try:
        return await lake.sweep()
    except errors.StoreUnavailableError:
        return None  # before it had begun


async def delete_rows(lake: Lake, key: bytes) -> None:
    partition = (await open_repo(lake.engine.context, REPO)).partition
    await lake.kv.apply(Batch(deletes=[Delete(partition, key)]))


async def an_older_kv_store(lake: Lake) -> None:
    """Restored from a copy of before the last commit."""
    partition = (await open_repo(lake.engine.context, REPO)).partition
    rows = await lake.kv.scan(partition)
    await lake.age()
    new = await put_commit(lake.engine, {"new": "1"})
    await lake.engine.maintenance.snapshot_refs()
    await delete_rows(lake, b"commit/" + new.id.encode())
    await lake.kv.apply(Batch(puts=[Put(partition, row.key, row.value) for row in rows]))


async def another_bucket(lake: Lake) -> None:
    await lake.store.put(REPOSITORY_MARKER, b'{"uid": "other", "name": "x"}')


async def an_empty_disk(lake: Lake) -> None:
    await lake.store.delete([REPOSITORY_MARKER])


async def a_lost_commit_row(lake: Lake) -> None:
    head = await lake.engine.commits.get(REPO, "main")
    await delete_rows(lake, b"commit/" + head.parents[0].encode())


async def a_lost_metarange(lake: Lake) -> None:
    head = await lake.engine.commits.get(REPO, "v1")
    await lake.store.delete([f"{METARANGES}{head.metarange_id}.parquet"])


async def a_damaged_range(lake: Lake) -> None:
    head = await lake.engine.commits.get(REPO, "v1")
    (key, *_) = [info.file for info in (await lake.engine.context.trees.load(lake.store, head.metarange_id)).ranges]
    await lake.store.put(key, (await lake.store.get(key))[:-9])


async def a_new_kind_of_row(lake: Lake) -> None:
    partition = (await open_repo(lake.engine.context, REPO)).partition
    await lake.kv.apply(Batch(puts=[Put(partition, b"bundle/1", b"{}")]))


async def a_damaged_record(lake: Lake) -> None:
    partition = (await open_repo(lake.engine.context, REPO)).partition
    await lake.kv.apply(Batch(puts=[Put(partition, b"branch/x", b"{")]))


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (an_older_kv_store, "ref snapshot _lakebed/refs/"),
        (another_bucket, "belongs to repository 'other'"),
        (an_empty_disk, "has no marker"),
        (a_lost_commit_row, "which is not in the KV store"),
        (a_lost_metarange, "cannot be read"),
        (a_damaged_range, "cannot be read"),
        (a_new_kind_of_row, "b'bundle/1' is of an unknown kind"),
        (a_damaged_record, "a record cannot be read"),
    ],
)
async def test_a_sweep_of_a_damaged_repository_deletes_nothing(
    harm: Callable[[Lake], Awaitable[None]], said: str
) -> None:
    async def job(options: SweepOptions, *, late: bool) -> None:
        lake = await memory_lake()
        await fill(lake)
        for leave in WAYS:
            await leave(lake)
        await settle(lake)
        await lake.age()
        if late:
            lake.runtime.meanwhile = lambda: harm(lake)
            before = await lake.files()
        else:
            await harm(lake)
            await lake.age()
            before = await lake.files()
        found = await lake.sweep(options)
        assert found.deleted == 0
        assert [name for name, _ in found.failures] == [REPO]
        assert said in found.failures[0][1]
        assert "nothing was swept" in found.failures[0][1]
        if harm is not a_lost_metarange and harm is not an_empty_disk:
            assert before <= await lake.files()

    await job(DATA, late=False)
    if harm in (another_bucket, an_empty_disk, a_new_kind_of_row, a_damaged_record):
        await job(DATA, late=True)


# objects


async def test_a_sweep_keeps_named_objects() -> None:
    lake = await memory_lake()
    shown = await fill(lake)
    engine = lake.engine
    entry = await engine.objects.stat(REPO, "main", "f")
    full = msgspec.structs.replace(entry, physical_address=f"mem://lake/{FULL_URI}")
    await lake.store.put(FULL_URI, b"live")
    await engine.branches.push(REPO, "dev", [("full", full)])
    await settle(lake)
    await lake.age()
    for _ in range(2):
        assert (await lake.sweep()).ok
    assert await content(engine) == shown
    assert await content(engine, "v1") == {"a": "1", "b": "2", "c": "3"}
    assert FULL_URI in await lake.files()
    await commit(engine)
    await commit(engine, branch="dev")
    await settle(lake)
    await lake.age()
    assert (await lake.sweep()).deleted == 0
    assert await content(engine) == shown
    assert FULL_URI in await lake.files()


async def test_a_sweep_keeps_objects_of_a_deleted_branch() -> None:
    lake = await memory_lake()
    await fill(lake)
    head = await put_commit(lake.engine, {"only": "here"}, "dev")
    await lake.engine.branches.delete(REPO, "dev")
    await settle(lake)
    await lake.age()
    assert (await lake.sweep()).ok
    await lake.engine.branches.create(REPO, "back", head.id)
    assert (await content(lake.engine, "back"))["only"] == "here"


async def test_objects_below_the_folder_of_an_open_workspace_stay_and_go_when_it_is_closed() -> None:
    """Tools write there without the server, and may register the objects later."""
    lake = await memory_lake()
    repo = await open_repo(lake.engine.context, REPO)
    head = await lake.engine.commits.get(REPO, "main")
    uid = "ab" * 16
    old = f"workspaces/{uid}/part/file"
    forgotten = "cd" * 16
    keys = [old, f"workspaces/{forgotten}/file", f"workspaces/{uid}.committed", f"workspaces/{forgotten}.used"]
    for key in keys:
        await lake.store.put(key, b"x")
    record = Workspace(
        name=f"main+{uid}", uid=uid, gen=1, commit_id=head.id, staging_token="t", branch="main",
        prefix=f"workspaces/{uid}/", creator="ann", creation_date=0, expires=1,
    )  # fmt: skip
    for state, gone in (("open", {keys[1]}), ("committed", {keys[1], old})):
        row = msgspec.json.encode(msgspec.structs.replace(record, state=state))
        await lake.kv.apply(Batch(puts=[Put(repo.partition, workspace_key(uid), row)]))
        await lake.age()
        assert (await lake.sweep(SweepOptions())).deleted == 0
        assert (await lake.sweep()).ok
        assert set(keys) - await lake.files() == gone


# staged rows


async def test_rows_of_tokens_that_no_record_names_go() -> None:
    lake = await memory_lake()
    shown = await fill(lake)
    await lake.kv.apply(Batch(puts=[Put("stage/lost", b"", b""), Put("stage/lost", b"x", b"")]))
    note_seen = await lake.kv.scan("drops")
    held = await lake.kv.partitions("stage/", "stage0")
    assert note_seen
    dry = await lake.sweep(SweepOptions(dry_run=True), repo="")
    assert (dry.tokens, dry.tokens_dropped) == (1, 0)
    assert await lake.kv.partitions("stage/", "stage0") == held
    found = await lake.sweep(repo="")
    assert (found.tokens, found.tokens_dropped, found.deleted) == (1, 1, 1)
    assert lake.runtime.slept >= GRACE
    assert await lake.kv.partitions("stage/", "stage0") == [one for one in held if one != "stage/lost"]
    assert await content(lake.engine) == shown
    await settle(lake)
    assert (await lake.sweep(repo="")).tokens == 0
    assert await content(lake.engine) == shown


async def test_tokens_of_a_repository_that_is_being_deleted_are_the_cleaners() -> None:
    lake = await memory_lake()
    await fill(lake)
    await lake.engine.repositories.delete(REPO)
    assert (await lake.sweep(repo="")).tokens == 0
    await settle(lake)
    assert await lake.kv.partitions("stage/", "stage0") == []


# one at a time


async def test_only_a_single_process_sweeps_at_a_time() -> None:
    lake = await memory_lake()
    await fill(lake)
    await lost_commit(lake)
    await settle(lake)
    await lake.age()
    second: list[SweepPass] = []

    async def other() -> None:
        second.append(await lake.sweep())

    lake.runtime.meanwhile = other
    assert (await lake.sweep()).deleted > 0
    assert second[0].skipped == [(REPO, "another process is sweeping it")]
    assert second[0].deleted == 0
    again = await lake.sweep(SweepOptions(every=3600.0))
    assert again.skipped == [(REPO, "it was swept a short time ago")]
    lake.clock.forward(3601)
    assert len((await lake.sweep(SweepOptions(every=3600.0))).reports) == 1


async def test_lease_of_a_crashed_sweep_expires() -> None:
    async def job(seconds: float, clock_goes_back: float = 0.0) -> SweepPass:
        lake = await memory_lake()
        partition = (await open_repo(lake.engine.context, REPO)).partition
        row = LeaseRow("dead", lake.clock.now() + 900.0, 0.0)
        await lake.kv.apply(Batch(puts=[Put(partition, SWEEP_LEASE, msgspec.json.encode(row))]))
        lake.clock.forward(seconds)
        lake.clock.time -= clock_goes_back
        return await lake.sweep()

    assert (await job(890.0)).skipped
    assert (await job(901.0)).reports
    assert (await job(0.0, 365 * DAY)).reports, "a clock that went back"


async def test_sweep_without_its_lease_stops_deleting() -> None:
    lake = await memory_lake()
    await fill(lake)
    await lost_commit(lake)
    await settle(lake)
    await lake.age()
    before = await lake.files()
    other: list[SweepPass] = []

    async def sleep_long() -> None:
        lake.clock.forward(5000)  # as a laptop whose lid was closed
        lake.runtime.meanwhile = nothing
        other.append(await lake.engine.maintenance.sweep(REPO, SweepOptions(dry_run=True)))
        partition = (await open_repo(lake.engine.context, REPO)).partition
        row = LeaseRow("other", lake.clock.now() + 900.0, 0.0)
        await lake.kv.apply(Batch(puts=[Put(partition, SWEEP_LEASE, msgspec.json.encode(row))]))

    async def nothing() -> None:
        return

    lake.runtime.meanwhile = sleep_long
    found = await lake.sweep()
    assert found.deleted == 0
    assert "another process has taken over" in found.failures[0][1]
    assert await lake.files() == before


@pytest.mark.slow
async def test_two_concurrent_sweeps_delete_only_orphans() -> None:
    """As after an expired lease: each deletes only files that it found unreferenced in two scans of its own."""

    async def job(calls: int) -> bool:
        lake = await memory_lake()
        shown = await fill(lake)
        await lost_commit(lake)
        await settle(lake)
        await lake.age()
        happened = False

        async def hook(*_: Any) -> None:
            nonlocal happened
            if lake.kv.calls == calls:
                happened = True
                await delete_rows(lake, SWEEP_LEASE)
                await lake.engine.maintenance.sweep(REPO, DATA)

        lake.kv.calls, lake.kv.before = 0, hook
        await lake.sweep()
        lake.kv.before = None
        assert await content(lake.engine) == shown
        if not happened:
            assert await lake.whole()
        return happened

    calls = 1
    while await job(calls):
        calls += 1
    assert calls > 15


# concurrent work


@pytest.mark.medium
@pytest.mark.parametrize("seed", range(6))
async def test_work_goes_on_between_any_two_calls_of_a_sweep(seed: int) -> None:
    """All files count as old, so only the times of references and rewrites decide."""
    chance = random.Random(seed)
    lake = await memory_lake()
    await fill(lake)
    for leave in WAYS:
        await leave(lake)
    done: list[str] = []

    async def act(*_: Any) -> None:
        lake.clock.forward(1)
        if chance.random() < 0.25:
            done.append(await one_step(lake.engine, chance))

    lake.kv.before = act
    for _ in range(6):
        await lake.engine.maintenance.sweep(REPO, SweepOptions(data=True, grace=GRACE, age=0.0))
        lake.clock.forward(5)
    lake.kv.before = None
    assert len(set(done)) > 5
    for branch in ("main", "dev"):
        await content(lake.engine, branch)
    assert (await lake.engine.maintenance.fsck(REPO, FsckOptions(data=True, deep=True))).ok
    await settle(lake)
    for _ in range(2):
        lake.clock.forward(DAY + 1)
        await lake.sweep()
    assert await lake.whole()


async def one_step(engine: Engine, chance: random.Random) -> str:
    branch, path, text = chance.choice(["main", "dev"]), chance.choice("abcdefgh"), chance.choice("123")
    steps: dict[str, Callable[[], Awaitable[Any]]] = {
        "put": lambda: put(engine, path, text, branch),
        "commit": lambda: commit(engine, text, branch),
        "delete": lambda: engine.objects.delete(REPO, branch, path),
        "merge": lambda: merge(engine, "dev"),
        "reset": lambda: engine.branches.reset(REPO, branch),
        "reset_object": lambda: engine.branches.reset_object(REPO, branch, path),
        "compact": lambda: engine.branches.compact(REPO, branch, least=2),
        "seal": lambda: crash_after_seal(engine, branch),
        "copy": lambda: engine.objects.copy(REPO, branch, path, "main", chance.choice("abcdef")),
        "again": lambda: again(engine),
        "clean": engine.maintenance.clean,
        "snapshot": engine.maintenance.snapshot_refs,
    }
    name = chance.choice(list(steps))
    try:
        await steps[name]()
    except errors.StoreError:
        raise  # nothing may be missing
    except (errors.EngineError, AssertionError):
        return name
    return name


async def again(engine: Engine) -> None:
    await engine.branches.delete(REPO, "dev")
    await engine.branches.create(REPO, "dev", "main")


# what it costs


async def test_second_scan_reads_only_new_files() -> None:
    lake = await memory_lake()
    await fill(lake)
    await lost_commit(lake)
    await settle(lake)
    await lake.age()
    reads: list[str] = []
    get = lake.store.get

    async def counted(key: str) -> bytes:
        reads.append(key)
        return await get(key)

    lake.store.get = counted  # type: ignore[method-assign]

    async def more() -> None:
        reads.append("--")
        await put_commit(lake.engine, {"new": "1"})
        reads.append("--")

    lake.runtime.meanwhile = more
    await lake.sweep()
    first, _, second = (part.split() for part in " ".join(reads).split("--"))
    assert len([key for key in first if key.startswith(METARANGES)]) == 2
    assert len([key for key in second if key.startswith(METARANGES)]) == 1


async def test_leftovers_of_broken_uploads_go_after_a_day(tmp_path: Path) -> None:
    stores, clock = Stores(tmp_path), FakeClock(time.time())
    engine = await make_engine(stores=stores, namespace="local://lake", clock=clock)
    store = stores.open("local://lake")
    await put_commit(engine, {"a": "1"})
    temp = Path(store._places.temp.decode())  # type: ignore[attr-defined]
    (temp / ("0" * 32)).write_bytes(b"left by a killed process")

    async def left() -> int:
        return len([blob async for blob in store.list_partial()])

    assert await left() == 1, "the name is one that a put takes"
    clock.forward(PARTIAL_AGE - 60)
    await engine.maintenance.clean()
    assert await left() == 1
    clock.forward(120)
    await engine.maintenance.clean()
    assert await left() == 0
    assert await content(engine) == {"a": "1"}
    await engine.close()
    stores.close()
