"""Pull requests in the bucket: ref snapshots name their files, and a rebuild, a check and a sweep know them."""

from __future__ import annotations

from typing import Any

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.pulls import AutoMerge
from lakebed_engine.vocabulary.records import Requirements, Rule
from lakebed_engine.vocabulary.reports import FsckOptions, SweepOptions
from lakebed_format.decoding import FormatError
from lakebed_format.refs import decode_pull, decode_refs, encode_pull

from tests.engine.pulling import comment, edit, merge_pull, mergeable, open_lake, open_pull, review
from tests.engine.support import REPO, HookedKV, content, new_engine, put_commit


async def picture(engine: Engine) -> list[Any]:
    """All pull requests with their events, the marks of open ones, and the rules."""
    repo = await engine.repositories.get(REPO)
    prefixes = (b"pull/", b"pull-event/", b"pull-open/")
    found = [await engine.context.kv.scan(f"repo/{repo.uid}", one, one[:-1] + b"0") for one in prefixes]
    waiting = await engine.context.kv.scan("auto-merges")
    rows = [(row.key, row.value) for row in (*(row for rows in found for row in rows), *waiting)]
    return [rows, repo.rules]


async def files(engine: Engine, folder: str = "_lakebed/pulls/") -> list[str]:
    return [blob.key async for blob in engine.context.stores.open("mem://lake").list(folder)]


async def busy_lake(stores: Stores, **options: Any) -> Engine:
    """A repository with an open, a merged and a closed pull request, and a rule."""
    engine = await open_lake(stores=stores, **options)
    await engine.protection.replace(REPO, [Rule("x"), Rule("rel*", Requirements(2, ("tests", "fresh")))])
    still = await open_pull(engine, description="é @bob")
    await comment(engine, still, "bob", "why? 😀")
    await review(engine, still, "bob", "request_changes", text="no")
    await edit(engine, still, reviewers=("bob",), auto_merge=AutoMerge(user="ann", committer="ann"))
    closed = await open_pull(engine)
    await edit(engine, closed, status="closed")
    await put_commit(engine, {"c": "3"}, "dev")
    await merge_pull(engine, await open_pull(engine))
    return engine


async def test_a_rebuild_restores_pull_requests_and_the_requirements_of_rules() -> None:
    stores = Stores(None, memory=True)
    engine = await busy_lake(stores)
    await engine.maintenance.snapshot_refs()
    again = new_engine(MemoryKV(), stores)
    tried = await again.maintenance.rebuild("mem://lake", dry_run=True)
    report = await again.maintenance.rebuild("mem://lake")
    assert (tried.pulls, report.pulls, report.problem_count) == (3, 3, 0)
    assert await picture(again) == await picture(engine)
    assert await content(again) == await content(engine)
    still = next(one for one in (await again.pulls.list(REPO)).items if one.status == "open")
    await put_commit(again, {"d": "4"}, "dev")
    await review(again, still, "bob")
    await merge_pull(again, still)
    checked = await again.maintenance.fsck(REPO, FsckOptions(data=True, deep=True))
    assert (checked.ok, checked.foreign_count) == (True, 0)


async def test_a_snapshot_writes_only_the_files_of_changed_pull_requests() -> None:
    stores = Stores(None, memory=True)
    engine = await busy_lake(stores)
    await engine.maintenance.snapshot_refs()
    first = await files(engine)
    assert len(first) == 3
    assert (await engine.maintenance.snapshot_refs()).written == 0
    pull = next(one for one in (await engine.pulls.list(REPO)).items if one.status == "open")
    await comment(engine, pull, "eve")
    assert (await engine.maintenance.snapshot_refs()).written == 1
    second = await files(engine)
    assert len(second) == 4
    other = new_engine(engine.context.kv, stores)  # another server finds the files in the bucket
    await comment(engine, pull, "eve")
    await other.maintenance.snapshot_refs()
    assert len(await files(engine)) == 5
    newest = max(await files(engine, "_lakebed/refs/"))
    record = decode_refs(await stores.open("mem://lake").get(newest))[2]
    assert len(record.pulls) == 3
    assert {f"_lakebed/pulls/{one.id}-{one.revision}.json" for one in record.pulls} <= set(await files(engine))


async def test_the_sweep_removes_files_that_no_snapshot_names() -> None:
    stores = Stores(None, memory=True)
    engine = await busy_lake(stores, snapshots_kept=1)
    pull = next(one for one in (await engine.pulls.list(REPO)).items if one.status == "open")
    for _ in range(3):
        await comment(engine, pull, "eve")
        await engine.maintenance.snapshot_refs()
    assert len(await files(engine)) == 5
    checked = await engine.maintenance.fsck(REPO, FsckOptions(orphan_age=0.0))
    assert (checked.ok, checked.orphan_count) == (True, 2)
    swept = await engine.maintenance.sweep(REPO, SweepOptions(grace=0.0, age=0.0))
    assert (swept.failures, swept.reports[0].deleted) == ([], 2)
    assert len(await files(engine)) == 3
    again = new_engine(MemoryKV(), stores)
    assert (await again.maintenance.rebuild("mem://lake")).problem_count == 0
    assert await picture(again) == await picture(engine)


async def test_a_missing_and_a_damaged_file_are_reported_and_the_rest_is_rebuilt() -> None:
    stores = Stores(None, memory=True)
    engine = await busy_lake(stores)
    await engine.maintenance.snapshot_refs()
    store, names = stores.open("mem://lake"), sorted(await files(engine))
    await store.delete([names[0]])
    data = await store.get(names[1])
    await store.delete([names[1]])
    await store.put(names[1], data.replace(b"ann", b"eve"))
    checked = await engine.maintenance.fsck(REPO, FsckOptions())
    found = {one.name: (one.kind, one.what) for one in checked.problems}
    assert found == {names[0]: ("missing", "pull request"), names[1]: ("corrupt", "pull request")}
    report = await new_engine(MemoryKV(), stores).maintenance.rebuild("mem://lake")
    assert (report.pulls, report.problem_count) == (1, 2)


async def test_a_merge_during_the_snapshot_is_in_it_whole_or_not_at_all() -> None:
    stores, kv = Stores(None, memory=True), HookedKV(MemoryKV())
    engine = await open_lake(kv=kv, stores=stores)
    pull = await open_pull(engine)
    seen: list[str] = []

    async def merge_it(name: str, what: Any) -> None:
        seen.append(name)
        if name == "scan" and what[1].startswith(b"tag/"):  # between the branches and the tags
            kv.before = None
            await merge_pull(engine, pull)

    kv.before = merge_it
    await engine.maintenance.snapshot_refs()
    again = new_engine(MemoryKV(), stores)
    await again.maintenance.rebuild("mem://lake")
    merged = (await again.pulls.get(REPO, pull.id)).merged_commit_id
    assert (await again.branches.get(REPO, "main")).commit_id == merged
    assert await mergeable(again, pull) == "unknown"


def test_a_file_that_was_changed_is_refused() -> None:
    data = encode_pull({"id": "x", "title": "é"}, [{"id": 1}])
    assert decode_pull(data) == ({"id": "x", "title": "é"}, [{"id": 1}])
    for bad in (b"", b"{}", b"[]", data[:-3], data.replace(b"pull/1", b"pull/2"), data.replace(b'"id":1', b'"id":2')):
        with pytest.raises(FormatError):
            decode_pull(bad)
