"""fsck reports each missing or damaged file, with the refs that need it, and nothing else."""

from __future__ import annotations

import copy
import json
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple, cast

import pyarrow as pa
import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import load_commit, open_repo
from lakebed_engine.operations.fsck import refs_and_commits
from lakebed_engine.operations.fsck.row_checks import look_at_metarange, look_at_range
from lakebed_engine.operations.keys import branch_key, commit_key, staging, tag_key
from lakebed_engine.stores.kv.base import Batch, Delete, Put
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.base import BlobStat, ObjectStore
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.tree.rewrite import TreeWriter
from lakebed_engine.tree.rows import delta_table, live_rows
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.reports import Finding, Foreign, FsckOptions, FsckReport, Orphan, Problem
from lakebed_format import encode_metarange, encode_range, identity, metarange_id, range_id, row_sizes
from lakebed_format.keys import COMMITS, DRAFTS, DUMPS, LAYERS, METARANGES, RANGES, REFS, REPOSITORY_MARKER
from lakebed_format.schemas import METARANGE_SCHEMA

from tests.engine.calls import crash_after_seal
from tests.engine.support import (
    REPO,
    FakeClock,
    HookedKV,
    commit,
    fails,
    make_engine,
    merge,
    new_engine,
    put,
    put_commit,
)

NAMESPACE = "mem://lake"
EVERYTHING = FsckOptions(data=True, deep=True, orphan_age=0.0)
RANGE_BYTES = 600
BIG = {"note": "x" * (RANGE_BYTES // 2)}
"""Two entries of this metadata fill a range of the lake."""


class Lake(NamedTuple):
    """A repository with one of everything, and what each of its files is needed for."""

    engine: Engine
    kv: MemoryKV
    store: ObjectStore
    needs: dict[str, set[str]]

    async def check(self, options: FsckOptions = EVERYTHING) -> FsckReport:
        return await self.engine.maintenance.fsck(REPO, options)

    async def partition(self) -> str:
        return (await open_repo(self.engine.context, REPO)).partition


_made: list[tuple[MemoryKV, dict[str, Any], dict[str, set[str]]]] = []


async def make_lake(**options: Any) -> Lake:
    """A copy of one lake that is made once."""
    if not _made:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(cast("dict[str, Any]", TreeWriter.__init__.__kwdefaults__), "max_bytes", RANGE_BYTES)
            _made.append(await _make_lake())
    made, blobs, needs = _made[0]
    kv, stores = MemoryKV(), Stores(None)
    kv._partitions, kv._version = copy.deepcopy(made._partitions), made._version
    store = stores.open(NAMESPACE)
    assert isinstance(store, MemoryObjects)
    store._blobs, store._version = dict(blobs), object()
    return Lake(new_engine(kv, stores, **options), kv, store, defaultdict(set, needs))


async def _make_lake() -> tuple[MemoryKV, dict[str, Any], dict[str, set[str]]]:
    """Two lines of history with shared ranges, a merge, tags, uncommitted rows and layers of both kinds."""
    kv, stores = MemoryKV(), Stores(None)
    engine = await make_engine(kv, stores)
    for name in "abcdef":
        await put(engine, name, f"{name}1", metadata=BIG)
    await commit(engine, "first")
    await engine.tags.create(REPO, "v1", "main")
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, {"f": "f2"}, "dev")
    await put_commit(engine, {"a2": "1", "b": None})
    await merge(engine, "dev")
    await engine.branches.create(REPO, "old", "main~1", hidden=True)
    await put_commit(engine, {"g": "1"}, "dev")
    await engine.branches.create(REPO, "busy", "main")
    await put(engine, "u/1", "staged", "busy")
    await crash_after_seal(engine, "busy")
    await push(engine, {"u/2": "pushed", "a": None}, "busy")
    await put(engine, "u/3", "live", "busy")
    await engine.maintenance.snapshot_refs()
    lake = Lake(engine, kv, stores.open(NAMESPACE), defaultdict(set))
    for ref in ("main", "dev", "old", "busy", "v1"):
        await note_needs(lake, ref)
    return kv, lake.store._blobs, lake.needs  # type: ignore[attr-defined]


async def push(engine: Engine, rows: dict[str, str | None], branch: str) -> None:
    """Publish rows as a file layer; their data are uploaded to a branch that is forgotten."""
    await engine.branches.create(REPO, "scratch", "main")
    entries = [
        (path, None if data is None else await put(engine, path, data, "scratch")) for path, data in rows.items()
    ]
    await engine.branches.delete(REPO, "scratch")
    await engine.branches.push(REPO, branch, entries)


async def note_needs(lake: Lake, ref: str) -> None:
    """What a ref needs, found with the engine's own reading: no ledger, no SQL."""
    ctx = lake.engine.context
    repo = await open_repo(ctx, REPO)
    todo = [(await lake.engine.commits.get(REPO, ref)).id]
    while todo:
        found = await load_commit(ctx, repo, todo.pop())
        lake.needs[f"{COMMITS}{found.id}.json"].add(ref)
        lake.needs[found.id].add(ref)
        todo += found.parents
        if not found.metarange_id:
            continue
        lake.needs[f"{METARANGES}{found.metarange_id}.parquet"].add(ref)
        for info in (await ctx.trees.load(repo.store, found.metarange_id)).files:
            lake.needs[info.file].add(ref)
            for address in (await ctx.trees.rows(repo.store, info)).column("physical_address").to_pylist():
                lake.needs[address].add(ref)


async def damage(lake: Lake, key: str, how: str) -> None:
    """Make a file go, or change one byte of it, or cut it."""
    data = bytearray(await lake.store.get(key))
    if how == "missing":
        await lake.store.delete([key])
        return
    if how == "flip":
        at = data.index(b'"message": "') + 12 if key.startswith(COMMITS) else len(data) // 2
        data[at] ^= 1
    await lake.store.put(key, bytes(data[:-3] if how == "cut" else data))


async def files(lake: Lake, folder: str) -> list[str]:
    return [blob.key async for blob in lake.store.list(folder)]


async def remove_row(lake: Lake, key: bytes) -> None:
    await lake.kv.apply(Batch(deletes=[Delete(await lake.partition(), key)]))


async def change_row(lake: Lake, key: bytes, change: Callable[[bytes], bytes]) -> None:
    partition = await lake.partition()
    found = await lake.kv.get(partition, key)
    assert found is not None
    await lake.kv.apply(Batch(puts=[Put(partition, key, change(found.value))]))


def brief(report: FsckReport) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return sorted((one.kind, one.what, one.name, one.refs) for one in report.problems)


async def test_fsck_of_an_intact_repository_finds_no_problem_and_no_orphan() -> None:
    clock = FakeClock()
    lake = await make_lake(clock=clock, cleanup_grace=300.0)
    before = {**lake.store._blobs}  # type: ignore[attr-defined]
    for _ in range(2):
        report = await lake.check()
        assert report.ok
        assert brief(report) == []
        await lake.engine.maintenance.clean()
        clock.forward(301)
    report = await lake.check()
    assert report.ok
    assert (report.orphan_count, report.recent_count, report.unknown) == (0, 0, [])
    counts = report.counts
    assert (counts["branches"], counts["tags"], counts["commits"]) == (4, 1, 6)
    assert counts["ranges"] == len(await files(lake, RANGES)) > 4
    assert counts["metaranges"] == len(await files(lake, METARANGES)) == 5
    assert counts["objects"] == len(await files(lake, "data/")) == 12
    assert counts["uncommitted rows"] == 4
    assert counts["bytes read"] > 20
    assert lake.store._blobs == before, "a check writes nothing"  # type: ignore[attr-defined]


async def test_layers_due_for_cleaning_are_no_orphans() -> None:
    clock = FakeClock()
    lake = await make_lake(clock=clock, cleanup_grace=300.0)
    await commit(lake.engine, branch="busy")
    assert await files(lake, LAYERS)
    assert (await lake.check()).orphan_count == 0
    for _ in range(2):
        await lake.engine.maintenance.clean()
        clock.forward(301)
    assert not await files(lake, LAYERS)
    assert (await lake.check()).orphan_count == 0


async def test_without_data_no_object_is_looked_at() -> None:
    lake = await make_lake()
    await lake.store.delete(await files(lake, "data/"))
    report = await lake.check(FsckOptions(orphan_age=0.0))
    assert report.ok
    assert "objects" not in report.counts


@pytest.mark.medium
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("how", ["missing", "flip", "cut"])
@pytest.mark.parametrize(("folder", "what"), [(COMMITS, "commit"), (METARANGES, "metarange"), (RANGES, "range")])
async def test_damaged_file_is_the_only_finding_with_the_refs_that_need_it(
    folder: str, what: str, how: str, seed: int
) -> None:
    lake = await make_lake()
    key = random.Random(seed).choice(await files(lake, folder))
    await damage(lake, key, how)
    report = await lake.check()
    kind = "missing" if how == "missing" else "corrupt"
    assert brief(report) == [(kind, what, key, tuple(sorted(lake.needs[key])))]
    assert not report.ok
    assert report.orphan_count == 0, "what a damaged file might name is never called an orphan"
    assert ("data/" in report.unknown) == (what != "commit")


@pytest.mark.medium
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("how", ["missing", "flip", "cut"])
async def test_damaged_object_is_the_only_finding_with_the_refs_that_need_it(how: str, seed: int) -> None:
    lake = await make_lake()
    key = random.Random(seed).choice(await files(lake, "data/"))
    await damage(lake, key, how) if how != "cut" else await lake.store.put(key, b"longer than it was")
    report = await lake.check()
    kind = "missing" if how == "missing" else "corrupt"
    assert brief(report) == [(kind, "object", key, tuple(sorted(lake.needs[key])) or ("busy",))]
    assert report.problems[0].path
    assert report.orphan_count == 0
    quick = await lake.check(FsckOptions(data=True))
    assert quick.ok == (how == "flip"), "only a deep check reads"


async def test_a_damaged_layer() -> None:
    async def job(how: str) -> None:
        lake = await make_lake()
        (key,) = await files(lake, LAYERS)
        await damage(lake, key, how)
        report = await lake.check()
        assert brief(report) == [("missing" if how == "missing" else "corrupt", "layer", key, ("busy",))]
        assert report.unknown == [LAYERS, "data/"]

    for how in ("missing", "flip", "cut"):
        await job(how)


async def test_lost_and_damaged_staged_rows() -> None:
    lake = await make_lake()
    branch = await lake.engine.branches.get(REPO, "busy")
    (sealed,) = [layer for layer in branch.layers if layer.kind == "kv"]
    live = staging(branch.staging_token)
    await lake.kv.apply(Batch(puts=[Put(live, b"u/3", b"no entry")]))
    await lake.kv.drop_partition(staging(sealed.id))
    report = await lake.check()
    assert brief(report) == [
        ("corrupt", "staged rows", live, ("busy",)),
        ("missing", "staged rows", staging(sealed.id), ("busy",)),
    ]


@pytest.mark.parametrize("seed", range(4))
async def test_a_lost_commit_row(seed: int) -> None:
    lake = await make_lake()
    found = random.Random(seed).choice(await files(lake, COMMITS)).removeprefix(COMMITS).removesuffix(".json")
    await remove_row(lake, commit_key(found))
    report = await lake.check()
    assert brief(report) == [("missing", "commit row", found, tuple(sorted(lake.needs[found])))]
    assert (report.orphan_count, report.unknown) == (0, [])
    await damage(lake, f"{COMMITS}{found}.json", "missing")
    report = await lake.check()
    assert [row[1] for row in brief(report)] == ["commit", "commit row"]
    assert report.orphan_count == 0
    assert RANGES in report.unknown


async def test_a_changed_commit_row() -> None:
    async def job(change: Callable[[bytes], bytes], said: str) -> None:
        lake = await make_lake()
        found = (await lake.engine.commits.get(REPO, "dev~1")).id
        await change_row(lake, commit_key(found), change)
        report = await lake.check()
        assert brief(report) == [("corrupt", "commit row", found, tuple(sorted(lake.needs[found])))]
        assert said in report.problems[0].detail
        assert report.orphan_count == 0

    def other_message(value: bytes) -> bytes:
        return json.dumps({**json.loads(value), "message": "forged"}).encode()

    def other_parents(value: bytes) -> bytes:
        return json.dumps({**json.loads(value), "parents": ["0" * 64]}).encode()

    await job(other_message, "message")
    await job(other_parents, "parents")
    await job(lambda _: b"{", "cannot be read")


async def test_a_wrong_generation_which_no_hash_covers() -> None:
    lake = await make_lake()
    found = (await lake.engine.commits.get(REPO, "dev")).id
    key = f"{COMMITS}{found}.json"
    right = b'"generation": 4'
    data = await lake.store.get(key)
    assert right in data
    await lake.store.put(key, data.replace(right, b'"generation": 9'))
    await change_row(lake, commit_key(found), lambda value: value.replace(b'"generation":4', b'"generation":9'))
    report = await lake.check()
    assert brief(report) == [("corrupt", "commit", key, ("dev",))]


@pytest.mark.parametrize(
    ("key", "what", "name"),
    [(branch_key("dev"), "branch record", "dev"), (tag_key("v1"), "tag record", "v1")],
)
async def test_a_damaged_record(key: bytes, what: str, name: str) -> None:
    lake = await make_lake()
    await change_row(lake, key, lambda _: b"[]")
    assert brief(await lake.check()) == [("corrupt", what, name, (name,))]


async def test_the_marker_and_the_snapshots() -> None:
    lake = await make_lake()
    (snapshot,) = await files(lake, REFS)
    data = await lake.store.get(snapshot)
    await lake.store.put(snapshot, data.replace(b'"dev"', b'"dew"'))
    await lake.store.put(REPOSITORY_MARKER, b'{"uid": "another", "name": "x"}')
    found = [("corrupt", "ref snapshot", snapshot, ()), ("corrupt", "repository marker", REPOSITORY_MARKER, ())]
    assert brief(await lake.check()) == found
    await lake.store.delete([REPOSITORY_MARKER, snapshot])
    assert brief(await lake.check()) == [("missing", "repository marker", REPOSITORY_MARKER, ())]


async def test_a_bucket_that_is_gone() -> None:
    lake = await make_lake()
    await lake.store.delete(await files(lake, ""))
    report = await lake.check()
    kinds = {(one.kind, one.what) for one in report.problems}
    assert kinds == {("missing", what) for what in ("repository marker", "commit", "metarange", "layer", "object")}
    assert report.orphan_count == 0


async def test_orphans_and_what_is_too_young_to_be_one() -> None:
    lake = await make_lake()
    strange = sorted([
        f"{COMMITS}{'0' * 64}.json", f"{RANGES}{'1' * 64}.parquet", f"{METARANGES}{'2' * 64}.parquet",
        f"{LAYERS}{'3' * 32}-00000.parquet", f"data/2026010100/{'4' * 32}", f"{DRAFTS}{'5' * 32}",
    ])  # fmt: skip
    others = sorted([
        f"{LAYERS}x-00000.parquet", f"{REFS}notes.txt", "_lakebed/other", "data/2026010100/none",
        f"{DUMPS}notes.txt", f"{RANGES}{'1' * 63}.parquet", f"{COMMITS}{'0' * 64}", "data/warehouse/part-0.parquet",
    ])  # fmt: skip
    for key in strange + others:
        await lake.store.put(key, b"12345")
    await lake.store.put("workspaces/of-others", b"not ours to judge")
    await lake.engine.dumps.dump(REPO)
    reported: list[Finding] = []
    report = await lake.engine.maintenance.fsck(REPO, EVERYTHING, sink=reported.append)
    assert report.ok
    assert [orphan.key for orphan in report.orphans] == strange
    assert (report.orphan_count, report.orphan_bytes) == (6, 30)
    assert [one.key for one in reported if isinstance(one, Foreign)] == others
    assert (report.foreign_count, report.foreign_bytes) == (8, 40)
    assert 0 <= report.orphans[0].age < 60
    young = await lake.check(FsckOptions(data=True))
    assert young.orphan_count == 0
    assert young.recent_count >= 6


async def test_findings_beyond_keep_are_counted_and_sent_to_the_sink() -> None:
    lake = await make_lake()
    gone = await files(lake, "data/")
    await lake.store.delete(gone)
    reported: list[Finding] = []
    report = await lake.engine.maintenance.fsck(
        REPO, FsckOptions(data=True, keep=3), sink=reported.append, progress=lambda *_: None
    )
    assert len(report.problems) == 3
    assert report.problem_count == len(gone) == len(reported)
    assert {one.name for one in reported if isinstance(one, Problem)} == set(gone)
    assert not any(isinstance(one, Orphan) for one in reported)


class BrokenStore(MemoryObjects):
    """Fails at the n-th read or listed file."""

    fail_at = 0
    calls = 0

    def _step(self) -> None:
        self.calls += 1
        if self.calls == self.fail_at:
            raise errors.StoreUnavailableError("the store does not answer")

    async def get(self, key: str) -> bytes:
        self._step()
        return await super().get(key)

    def open(self, key: str, start: int = 0, length: int | None = None) -> Any:
        self._step()
        return super().open(key, start, length)

    async def head(self, key: str) -> BlobStat:
        self._step()
        return await super().head(key)

    async def list(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        self._step()
        async for blob in super().list(prefix, start_after):
            self._step()
            yield blob


async def test_a_store_that_fails_makes_the_check_fail_and_nothing_is_called_missing() -> None:
    lake = await make_lake()
    broken = BrokenStore(NAMESPACE)
    broken._blobs, broken._version = lake.store._blobs, object()  # type: ignore[attr-defined]
    stores = Stores(None)
    stores._stores["", NAMESPACE] = broken
    engine = new_engine(lake.kv, stores)
    assert (await engine.maintenance.fsck(REPO, EVERYTHING)).ok
    total = broken.calls
    assert total > 40
    for at in range(1, total + 1):
        reported: list[Finding] = []
        broken.calls, broken.fail_at = 0, at
        await fails(engine.maintenance.fsck(REPO, EVERYTHING, sink=reported.append), errors.StoreUnavailableError)
        assert reported == []


async def test_commits_made_while_commits_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some are children of commits whose ids the check has passed already."""
    monkeypatch.setattr(refs_and_commits, "PAGE", 1)

    async def job() -> None:
        kv = HookedKV(MemoryKV())
        engine = await make_engine(kv)
        made = 0

        async def more(name: str, what: Any) -> None:
            nonlocal made
            if name == "scan" and what[1].startswith(b"commit/") and made < 40:
                made += 1
                await put_commit(engine, {"a": str(made)})

        await put_commit(engine, {"a": "0"})
        kv.before = more
        report = await engine.maintenance.fsck(REPO, FsckOptions(data=True))
        kv.before = None
        assert brief(report) == []
        assert made > 1

    for _ in range(10):
        await job()


async def test_fsck_during_writes_reports_nothing_missing() -> None:
    clock, inner = FakeClock(), MemoryKV()
    kv = HookedKV(inner)
    engine = await make_engine(kv, clock=clock, cleanup_grace=1.0)
    count = 0

    async def busy(*_: Any) -> None:
        nonlocal count
        count += 1
        await put(engine, f"p{count % 7}", f"{count}")
        if count % 3 == 0:
            await crash_after_seal(engine)
        if count % 5 == 0:
            await commit(engine)
        clock.forward(2.0)
        await engine.maintenance.clean()

    for _ in range(10):
        await busy()
    kv.before = busy
    report = await engine.maintenance.fsck(REPO, FsckOptions(data=True, deep=True))
    kv.before = None
    assert brief(report) == []
    assert count > 20


def table(rows: list[tuple[str, str]]) -> pa.Table:
    """A range's rows: path and checksum."""
    made = [(path, Entry(f"data/{path}", sum_, 0, 1, 2, "t", {}, identity(1, sum_, "t", {}))) for path, sum_ in rows]
    return live_rows(delta_table(made))


GOOD = table([("a", "1"), ("b", "2"), ("c", "3")])


@pytest.mark.parametrize(
    ("rows", "complaints"),
    [
        (GOOD, []),
        (GOOD.slice(0, 2), ["hash", "max_path is 'b'", "count is 2", "size_bytes"]),
        (GOOD.slice(1, 2), ["hash", "min_path is 'b'", "count is 2", "size_bytes"]),
        (GOOD.take([0, 2, 1]), ["hash", "order", "max_path"]),
        (GOOD.take([0, 1, 1, 2]), ["hash", "order", "count is 4", "size_bytes"]),
        (table([("a", "1"), ("b", "9"), ("c", "3")]), ["hash"]),
        (GOOD.set_column(8, "identity", pa.array([bytes(32)] * 3, pa.binary(32))), ["identity of 'a'"]),
        (GOOD.slice(0, 0), ["hash", "no rows"]),
    ],
)
def test_fsck_finds_wrong_rows_of_a_range_with_a_valid_checksum(rows: pa.Table, complaints: list[str]) -> None:
    found = range_id(GOOD)
    said = [("a", "c", 3, int(row_sizes(GOOD).sum()))]
    rows = rows.cast(GOOD.schema).combine_chunks()
    looked = look_at_range(encode_range(rows, found), found, said, True)
    assert len(looked.complaints) == len(complaints), looked.complaints
    assert all(part in text for part, text in zip(complaints, looked.complaints, strict=True))
    assert len(looked.objects) == rows.num_rows


def test_fsck_finds_wrong_rows_of_a_metarange_with_a_valid_checksum() -> None:
    def made(*infos: tuple[str, str, str, int, int]) -> pa.Table:
        return pa.table([list(one) for one in zip(*infos, strict=True)], schema=METARANGE_SCHEMA)

    right = made(("1" * 64, "a", "c", 3, 9), ("2" * 64, "d", "e", 2, 9))
    found = metarange_id(right)
    assert look_at_metarange(encode_metarange(right, found), found)[0] == []
    overlap = made(("1" * 64, "a", "d", 3, 9), ("2" * 64, "d", "e", 2, 9))
    complaints, infos, _, readable = look_at_metarange(encode_metarange(overlap, found), found)
    assert ["hash" in complaints[0], "overlap" in complaints[1]] == [True, True]
    assert (len(infos), readable) == (2, True)
    empty = made(("1" * 64, "a", "c", 0, 0))
    assert "empty" in look_at_metarange(encode_metarange(empty, found), found)[0][1]
    assert look_at_metarange(b"rubbish", found)[1:] == ([], None, False)
