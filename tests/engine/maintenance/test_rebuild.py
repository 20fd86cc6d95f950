"""Ref snapshots, and a KV store rebuilt from the bucket: every ref, log, listing and content as before."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import open_repo
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.base import BlobStat
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Rule
from lakebed_engine.vocabulary.reports import FsckOptions, RebuildReport
from lakebed_engine.vocabulary.requests import LogRequest
from lakebed_format.keys import COMMITS, REFS, REPOSITORY_MARKER
from lakebed_format.refs import BranchRef, RefsRecord, TagRef, decode_refs, encode_refs, parse_key, refs_id

from tests.engine.support import (
    REPO,
    FakeClock,
    HookedKV,
    commit,
    content,
    fails,
    make_engine,
    merge,
    new_engine,
    put,
    put_commit,
)

NAMESPACE = "mem://lake"


async def make_history(engine: Engine) -> None:
    """Branches, one of them hidden, a merge, tags, metadata, and something uncommitted that will be lost."""
    await put_commit(engine, {"a": "1", "b": "1", "dir/c": "1"}, message="first")
    await engine.tags.create(REPO, "v1", "main")
    await engine.branches.create(REPO, "dev", "main")
    await put_commit(engine, {"a": None, "d": "2"}, "dev", metadata={"k": "ü"})
    await merge(engine, "dev")
    await put_commit(engine, {"e": "3"})
    await engine.branches.create(REPO, "quiet", "main~1", hidden=True)
    await engine.tags.create(REPO, "v2.0", "main")
    await engine.repositories.set_metadata(REPO, {"owner": "ann"})


async def picture(engine: Engine, name: str = REPO) -> Any:
    """Everything that can be seen of a repository but what is uncommitted."""
    branches = (await engine.branches.list(name, show_hidden=True, amount=1000)).items
    tags = (await engine.tags.list(name, amount=1000)).items
    seen: dict[str, Any] = {}
    for ref in [*(f"{one.name}@" for one in branches), *(one.name for one in tags)]:
        log = await engine.commits.log(name, ref.rstrip("@"), LogRequest(amount=1000))
        seen[ref] = (log.items, await content(engine, ref) if name == REPO else None)
    record = await engine.repositories.get(name)
    shape = {(one.name, one.commit_id, one.hidden) for one in branches}
    about = (record.uid, record.default_branch, record.creation_date, record.protection)
    return seen, shape, tags, about, await engine.repositories.get_metadata(name)


async def snapshots(stores: Stores) -> list[str]:
    return [blob.key async for blob in stores.open(NAMESPACE).list(REFS)]


async def rebuilt(stores: Stores, kv: Any = None, **options: Any) -> tuple[Engine, RebuildReport]:
    engine = new_engine(kv or MemoryKV(), stores)
    return engine, await engine.maintenance.rebuild(NAMESPACE, **options)


async def test_everything_committed_comes_back() -> None:
    stores = Stores(None)
    engine = await make_engine(stores=stores)
    await make_history(engine)
    assert (await engine.maintenance.snapshot_refs()).written == 1
    before = await picture(engine)
    await put(engine, "uncommitted", "lost")
    again, report = await rebuilt(stores)
    assert report.ok
    assert (report.repository, report.namespace) == (REPO, NAMESPACE)
    assert (report.commits, report.branches, report.tags) == (5, 3, 2)
    assert report.snapshot == (await snapshots(stores))[-1]
    assert await picture(again) == before
    check = await again.maintenance.fsck(REPO, FsckOptions(data=True, deep=True, orphan_age=0))
    assert check.ok
    assert check.orphan_count == 1, "the data of what was uncommitted"
    await put_commit(again, {"more": "4"})
    assert (await content(again))["more"] == "4"
    await fails(again.repositories.create("other", NAMESPACE), errors.NamespaceInUseError)
    await fails(again.repositories.create(REPO, "mem://elsewhere"), errors.RepositoryExistsError)


async def test_a_dry_run_writes_nothing() -> None:
    stores = Stores(None)
    engine = await make_engine(stores=stores)
    await make_history(engine)
    await engine.maintenance.snapshot_refs()
    store, kv = stores.open(NAMESPACE), MemoryKV()
    assert isinstance(store, MemoryObjects)
    before = dict(store._blobs)
    _, dry = await rebuilt(stores, kv, dry_run=True)
    assert store._blobs == before
    assert not any(partition.rows for partition in kv._partitions.values())
    _, wet = await rebuilt(stores, kv)
    assert (dry.commits, dry.branches, dry.tags, dry.snapshot) == (
        wet.commits,
        wet.branches,
        wet.tags,
        wet.snapshot,
    )
    assert (dry.dry_run, wet.dry_run) == (True, False)


async def test_rebuild_of_an_existing_repository_is_refused() -> None:
    stores = Stores(None)
    engine = await make_engine(stores=stores)
    await make_history(engine)
    await engine.maintenance.snapshot_refs()
    before = await picture(engine)
    await fails(engine.maintenance.rebuild(NAMESPACE), errors.RepositoryExistsError)
    await fails(engine.maintenance.rebuild(NAMESPACE, "another"), errors.NamespaceInUseError)
    copy = stores.open("mem://copy")
    async for blob in stores.open(NAMESPACE).list():
        await copy.put(blob.key, await stores.open(NAMESPACE).get(blob.key))
    error = await fails(engine.maintenance.rebuild("mem://copy", "another"), errors.NamespaceInUseError)
    assert "is a copy" in str(error)
    await fails(engine.maintenance.rebuild("mem://lake/inside", "another"), errors.InvalidNamespaceError)
    await fails(engine.maintenance.rebuild("mem://nothing-there"), errors.InvalidNamespaceError)
    await fails(engine.maintenance.rebuild("nonsense"), errors.InvalidNamespaceError)
    assert await picture(engine) == before


async def test_a_copy_of_the_bucket_elsewhere_and_under_another_name() -> None:
    stores = Stores(None)
    engine = await make_engine(stores=stores)
    await make_history(engine)
    await engine.maintenance.snapshot_refs()
    copy = stores.open("mem://copy")
    async for blob in stores.open(NAMESPACE).list():
        await copy.put(blob.key, await stores.open(NAMESPACE).get(blob.key))
    again = new_engine(MemoryKV(), stores)
    report = await again.maintenance.rebuild("mem://copy/", "second")
    assert (report.repository, report.namespace) == ("second", "mem://copy")
    assert (await picture(again, "second"))[1:] == (await picture(engine))[1:]
    assert (await again.maintenance.fsck("second", FsckOptions(data=True))).ok


async def test_a_deleted_repository_waits_for_the_cleaner() -> None:
    stores, clock = Stores(None), FakeClock()
    engine = await make_engine(stores=stores, clock=clock, cleanup_grace=10.0)
    await make_history(engine)
    await engine.maintenance.snapshot_refs()
    before = await picture(engine)
    await engine.repositories.delete(REPO)
    error = await fails(engine.maintenance.rebuild(NAMESPACE), errors.TooManyAttemptsError)
    assert "still being removed" in str(error)
    for _ in range(2):
        await engine.maintenance.clean()
        clock.forward(11)
    assert (await engine.maintenance.rebuild(NAMESPACE)).ok
    engine.clear_caches()
    await engine.maintenance.clean()
    assert await picture(engine) == before


async def test_lost_commits_are_reported_and_their_branches_left_out() -> None:
    async def job(how: str) -> None:
        stores = Stores(None)
        engine = await make_engine(stores=stores)
        await make_history(engine)
        await engine.branches.create(REPO, "old", "main~2")
        await engine.maintenance.snapshot_refs()
        store = stores.open(NAMESPACE)
        head, v1 = [(await engine.commits.get(REPO, ref)).id for ref in ("dev", "v1")]
        key = f"{COMMITS}{head}.json"
        data = await store.get(key)
        await store.delete([key])
        if how == "corrupt":
            await store.put(key, data.replace(b'"committer": "ann"', b'"committer": "bob"'))
        again, report = await rebuilt(stores)
        assert not report.ok
        problems = {(one.kind, one.what, one.name): one.refs for one in report.problems}
        assert problems == {
            (how, "commit", key): ("dev", "main", "quiet", "v2.0"),
            ("missing", "branch record", "dev"): ("dev",),
        }
        names = [one.name for one in (await again.branches.list(REPO, show_hidden=True)).items]
        assert names == ["main", "old", "quiet"], "nothing is invented"
        assert (await again.commits.get(REPO, "old")).id == v1
        assert await content(again, "main") == await content(engine, "main")

    await job("missing")
    await job("corrupt")


async def test_an_empty_commit_file_that_a_killed_server_left_is_none() -> None:
    stores = Stores(None)
    engine = await make_engine(stores=stores)
    await make_history(engine)
    await engine.maintenance.snapshot_refs()
    await stores.open(NAMESPACE).put(f"{COMMITS}{'0' * 64}.json", b"")
    again, report = await rebuilt(stores)
    assert report.ok
    assert await picture(again) == await picture(engine)


async def test_without_a_snapshot_commits_come_back_and_heads_are_named() -> None:
    stores = Stores(None)
    engine = await make_engine(stores=stores)
    await make_history(engine)
    await put_commit(engine, {"z": "1"}, "dev")
    heads = sorted([(await engine.commits.get(REPO, ref)).id for ref in ("main", "dev")])
    again, report = await rebuilt(stores)
    assert [(one.kind, one.what) for one in report.problems] == [("missing", "ref snapshot")]
    assert (report.snapshot, report.branches, report.commits) == ("", 0, 6)
    assert (sorted(one.id for one in report.heads), report.head_count) == (heads, 2)
    main = (await engine.commits.get(REPO, "main")).id
    await again.branches.create(REPO, "main", main)
    assert await content(again) == await content(engine)


async def test_damaged_snapshot_or_marker_is_reported_and_an_older_one_used() -> None:
    stores, clock = Stores(None), FakeClock()
    engine = await make_engine(stores=stores, clock=clock)
    await make_history(engine)
    await engine.maintenance.snapshot_refs()
    before = await picture(engine)
    await engine.branches.delete(REPO, "dev")
    clock.forward(1)
    await engine.maintenance.snapshot_refs()
    older, newer = await snapshots(stores)
    store = stores.open(NAMESPACE)
    await store.put(newer, (await store.get(newer))[:-20])
    await store.delete([REPOSITORY_MARKER])
    again, report = await rebuilt(stores)
    assert {(one.kind, one.what, one.name) for one in report.problems} == {
        ("missing", "repository marker", REPOSITORY_MARKER),
        ("corrupt", "ref snapshot", newer),
    }
    assert report.snapshot == older
    assert await picture(again) == before
    assert json.loads(await store.get(REPOSITORY_MARKER))["uid"] == (await again.repositories.get(REPO)).uid


async def test_an_old_snapshot_under_a_newer_name_is_not_believed() -> None:
    stores, clock = Stores(None), FakeClock()
    engine = await make_engine(stores=stores, clock=clock)
    await engine.maintenance.snapshot_refs()
    await make_history(engine)
    clock.forward(1)
    await engine.maintenance.snapshot_refs()
    older, newer = await snapshots(stores)
    store = stores.open(NAMESPACE)
    forged = older.replace(older.split("-")[0], "_lakebed/refs/20990101T000000000Z")
    await store.put(forged, await store.get(older))
    again, report = await rebuilt(stores)
    assert [(one.what, one.name) for one in report.problems] == [("ref snapshot", forged)]
    assert report.snapshot == newer
    assert await picture(again) == await picture(engine)


async def test_interrupted_rebuild_is_invisible_and_can_be_repeated() -> None:
    stores = Stores(None)
    engine = await make_engine(stores=stores)
    await make_history(engine)
    await engine.maintenance.snapshot_refs()
    before = await picture(engine)
    at, ended = 0, False
    while not ended:
        at += 1
        for how in ("before", "after"):
            kv = HookedKV(MemoryKV())
            await _break_at(kv, stores, at, how)
            ended = kv.calls < at
            again = new_engine(kv, stores)
            if not (await again.repositories.list()).items:
                assert (await again.maintenance.rebuild(NAMESPACE)).ok
            assert await picture(again) == before
    assert at > 6


class Crash(Exception):
    """The process is gone."""


async def _break_at(kv: HookedKV, stores: Stores, at: int, how: str) -> None:
    """Rebuild, and die at the n-th call of the KV store: instead of it, or right after it."""
    late = False

    async def hook(*_: Any) -> None:
        nonlocal late
        if late or (kv.calls == at and how == "before"):
            raise Crash
        late = kv.calls == at

    kv.before = hook
    try:
        await new_engine(kv, stores).maintenance.rebuild(NAMESPACE)
    except Crash:
        pass
    kv.before = None


async def test_rebuild_loses_to_a_repository_created_during_it() -> None:
    stores = Stores(None)
    engine = await make_engine(stores=stores)
    await make_history(engine)
    await engine.maintenance.snapshot_refs()
    kv = HookedKV(MemoryKV())
    other = new_engine(kv, stores)

    async def meanwhile(name: str, what: Any) -> None:
        if name == "apply" and len(what.checks) > 1:
            kv.before = None
            await other.repositories.create(REPO, "mem://other")

    kv.before = meanwhile
    await fails(other.maintenance.rebuild(NAMESPACE), errors.TooManyAttemptsError)
    assert (await other.repositories.get(REPO)).storage_namespace == "mem://other"


# snapshots


async def test_a_snapshot_is_written_when_refs_changed_and_only_then() -> None:
    stores, clock = Stores(None), FakeClock()
    engine = await make_engine(stores=stores, clock=clock)

    async def written() -> int:
        clock.forward(60)
        return (await engine.maintenance.snapshot_refs()).written

    assert await written() == 1
    assert await written() == 0
    await put(engine, "a", "1")
    assert await written() == 0, "what is uncommitted is in no snapshot"
    for change in (
        lambda: commit(engine),
        lambda: engine.branches.create(REPO, "dev", "main"),
        lambda: engine.tags.create(REPO, "t", "main"),
        lambda: engine.tags.delete(REPO, "t"),
        lambda: engine.branches.delete(REPO, "dev"),
        lambda: engine.repositories.set_metadata(REPO, {"k": "v"}),
        lambda: engine.protection.replace(REPO, [Rule("release-*"), Rule("m?in")]),
    ):
        await change()
        assert await written() == 1
        assert await written() == 0
    found, time_ms, record = decode_refs(await stores.open(NAMESPACE).get((await snapshots(stores))[-1]))
    assert time_ms == (clock.now() - 60) * 1000
    assert found == refs_id(record)
    assert record.branches == (BranchRef("main", (await engine.commits.get(REPO, "main")).id),)
    assert (record.name, dict(record.metadata)) == (REPO, {"k": "v"})
    assert record.protection == ("release-*", "m?in")


async def test_snapshot_always_writes_before_the_response() -> None:
    stores = Stores(None)
    engine = await make_engine(stores=stores, snapshot_always=True)
    await make_history(engine)
    await engine.branches.create(REPO, "x", "main")
    await engine.branches.delete(REPO, "x")
    await engine.tags.delete(REPO, "v2.0")
    await engine.protection.replace(REPO, [Rule("main"), Rule("x*")])
    await engine.protection.add(REPO, Rule("late"))
    await engine.protection.delete(REPO, "x*")
    again, report = await rebuilt(stores)
    assert report.ok
    assert await picture(again) == await picture(engine)
    assert await again.protection.rules(REPO) == (Rule("main"), Rule("late"))
    await fails(put(again, "a", "1"), errors.ProtectedBranchError)
    assert (await engine.maintenance.snapshot_refs()).written == 0


async def test_the_last_ones_are_kept_and_the_order_survives_a_clock_that_goes_back() -> None:
    stores, clock = Stores(None), FakeClock()
    engine = await make_engine(stores=stores, clock=clock, snapshots_kept=3)
    heads = []
    for number in range(8):
        heads.append(await put_commit(engine, {"a": str(number)}))
        clock.time -= 500
        await engine.maintenance.snapshot_refs()
    kept = await snapshots(stores)
    records = [decode_refs(await stores.open(NAMESPACE).get(key))[2] for key in kept]
    assert [record.branches[0].commit_id for record in records] == [head.id for head in heads[-3:]]


async def test_a_second_server_and_a_restart_write_no_duplicates() -> None:
    kv, stores, clock = MemoryKV(), Stores(None), FakeClock()
    engine = await make_engine(kv, stores, clock=clock)
    await engine.maintenance.snapshot_refs()
    other = new_engine(kv, stores, clock=clock)
    assert (await other.maintenance.snapshot_refs()).written == 0
    await put_commit(engine, {"a": "1"})
    assert (await other.maintenance.snapshot_refs()).written == 1
    assert (await engine.maintenance.snapshot_refs()).written == 0
    assert len(await snapshots(stores)) == 2


async def test_a_stale_snapshot_of_another_server_is_noticed_within_the_hour() -> None:
    stores, clock = Stores(None), FakeClock()
    engine = await make_engine(stores=stores, clock=clock)
    await engine.maintenance.snapshot_refs()
    record = RefsRecord("u", REPO, NAMESPACE, "main", 1)
    key, data = encode_refs(record, int(clock.now() * 1000) + 5)
    await stores.open(NAMESPACE).put(key, data)
    assert (await engine.maintenance.snapshot_refs()).written == 0
    clock.forward(3601)
    assert (await engine.maintenance.snapshot_refs()).written == 1


class Full(MemoryObjects):
    """Takes nothing more."""

    full = False

    async def put(self, key: str, data: bytes, *, if_absent: bool = False, by_content: bool = False) -> None:
        if self.full and key.startswith(REFS):
            raise errors.StoreFullError("no space")
        await super().put(key, data, if_absent=if_absent, by_content=by_content)

    async def list(self, prefix: str = "", start_after: str = "") -> AsyncIterator[BlobStat]:
        async for blob in super().list(prefix, start_after):
            yield blob


async def test_a_snapshot_that_fails_stops_neither_the_verb_nor_other_repositories(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stores = Stores(None)
    store = stores._stores["", NAMESPACE] = Full(NAMESPACE)
    engine = await make_engine(stores=stores, snapshot_always=True)
    store.full = True
    made = await put_commit(engine, {"a": "1"})
    assert (await engine.commits.get(REPO, "main")).id == made.id
    assert "no ref snapshot was written: no space" in caplog.text
    await engine.repositories.create("zoo", "mem://zoo")
    result = await new_engine(engine.context.kv, stores).maintenance.snapshot_refs()
    assert (result.written, list(result.failures)) == (0, [(REPO, "no space")])
    store.full = False
    assert (await engine.maintenance.snapshot_refs()).written == 1


def test_the_format_of_a_snapshot() -> None:
    record = RefsRecord(
        uid="u", name="sales", storage_namespace="local://sales", default_branch="main", creation_date=1767225600,
        branches=(BranchRef("main", "1" * 64),), tags=(TagRef("v1", "2" * 64),), metadata={"k": "ü"},
    )  # fmt: skip
    assert b"protection" not in encode_refs(record, 1767225600042)[1]  # so that old snapshots keep their ids
    record = replace(record, protection=("release-*", "main"))
    key, data = encode_refs(record, 1767225600042)
    assert key == f"_lakebed/refs/20260101T000000042Z-{refs_id(record)}.json"
    assert parse_key(key) == (1767225600042, refs_id(record))
    assert decode_refs(data) == (refs_id(record), 1767225600042, record)
    for wrong in (
        data.replace(b"main", b"mair"),
        b"[]",
        b"{",
        data.replace(b"refs/1", b"refs/2"),
        b'{"format": "refs/1"}',
    ):
        with pytest.raises(ValueError):
            decode_refs(wrong)
    for name in ("_lakebed/refs/x.json", key[:-6] + ".json", key.replace("20260101", "20261399"), key + "x"):
        assert parse_key(name) is None


async def test_the_partition_is_that_of_before() -> None:
    stores = Stores(None)
    engine = await make_engine(stores=stores)
    await engine.maintenance.snapshot_refs()
    again, _ = await rebuilt(stores)
    assert (await open_repo(again.context, REPO)).partition == (await open_repo(engine.context, REPO)).partition
