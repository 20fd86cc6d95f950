"""Keys that the engine did not make: creation refuses them, sweeps and every other deletion leave them in place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from lakebed_engine.operations.expiry_clock import REMEMBERED
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.stores.objects.multipart_objects import ObjectParts, folder_of
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.ports import RandomIds
from lakebed_engine.vocabulary.reports import Finding, FsckOptions, SweepOptions
from lakebed_engine.vocabulary.requests import WorkspaceRequest
from lakebed_format.keys import COMMITS, PARTS, RANGES, REPOSITORY_MARKER, is_made, is_mark, workspace_of

from tests.engine.support import REPO, chunked, content, fails, make_engine, new_engine, put_commit
from tests.engine.swept import DATA, DAY, WAYS, Lake, fill, memory_lake, settle

ID, HEX = "ab" * 16, "cd" * 32

FOREIGN = [
    "data/warehouse/part-0.parquet", "data/2026010112/part-0.parquet", f"data/2026010112/{ID}.parquet",
    f"data/2026010112/{ID}/part", f"data/2026010112/{ID.upper()}", f"data/20260101/{ID}", f"data/2026010112/{ID},1.2",
    f"{RANGES}notes.txt", f"{RANGES}{HEX}", f"{RANGES}{HEX}.parquet.bak", f"{RANGES}x/{HEX}.parquet",
    f"{COMMITS}README", f"_lakebed/layers/{ID}.parquet", f"_lakebed/metaranges/{ID}.parquet",
    f"{PARTS}{ID}/notes.txt", "_lakebed/dumps/draft-of-a-letter", "workspaces/readme.txt", "workspaces/bob/model.bin",
    f"workspaces/{ID}", f"workspaces/{ID}.old/x", f"workspaces/{ID}x/y",
]  # fmt: skip
"""Near to what the engine makes, and not it."""


@pytest.mark.parametrize("key", FOREIGN)
def test_foreign_keys_are_not_treated_as_keys_of_the_engine(key: str) -> None:
    assert (is_made(key), workspace_of(key), is_mark(key)) == (False, "", False)


@pytest.mark.parametrize(
    "key",
    [
        REPOSITORY_MARKER, f"{COMMITS}{HEX}.json", f"{RANGES}{HEX}.parquet", f"_lakebed/layers/{ID}-00000.parquet",
        f"_lakebed/refs/20260101T000000000Z-{HEX}.json", f"_lakebed/dumps/{HEX}.jsonl", f"_lakebed/dumps/draft-{ID}",
        f"{PARTS}{ID}/10000-{ID}", "_lakebed/sweep-clock", f"data/2026010112/{ID}",
        f"data/2026010112/{ID},0069f0e1a.{HEX}",
    ],
)  # fmt: skip
def test_every_form_of_the_engine(key: str) -> None:
    assert is_made(key)


def test_folders_of_workspaces() -> None:
    assert workspace_of(f"workspaces/{ID}/any path") == ID
    assert workspace_of(f"workspaces/{ID}/~/{ID}/x\ny") == ID
    assert workspace_of(f"workspaces/{ID}.12/x") == ID
    assert is_mark(f"workspaces/{ID}.used")
    assert is_mark(f"workspaces/{ID}.committed")


async def test_all_that_the_engine_writes_has_a_form() -> None:
    lake = await memory_lake()
    await fill(lake)
    for leave in WAYS:
        await leave(lake)
    await lake.engine.maintenance.snapshot_refs()
    files = await lake.files()
    assert len(files) > 20
    assert [key for key in files if not is_made(key)] == []


# creation


async def _nothing_but(store: ObjectStore, key: str) -> bool:
    return [blob.key async for blob in store.list()] == [key]


async def test_a_namespace_that_holds_anything_is_refused_unless_it_is_accepted(tmp_path: Path) -> None:
    async def job(namespace: str) -> None:
        stores = Stores(tmp_path)
        engine = new_engine(MemoryKV(), stores)
        store = stores.open(namespace)
        await store.put("warehouse/part-0.parquet", b"theirs")
        for bare in (False, True):
            error = await fails(engine.repositories.create(REPO, namespace, bare=bare), errors.NamespaceNotEmptyError)
            assert "'warehouse/part-0.parquet'" in str(error)
        assert await _nothing_but(store, "warehouse/part-0.parquet")
        await engine.repositories.create("other", f"{namespace}-2")
        await engine.repositories.create(REPO, namespace, allow_non_empty=True)
        await put_commit(engine, {"a": "1"})
        assert await content(engine) == {"a": "1"}
        assert await store.get("warehouse/part-0.parquet") == b"theirs"
        await fails(engine.repositories.create(REPO, namespace), errors.RepositoryExistsError)
        stores.close()

    await job("mem://lake")
    await job("local://lake")


async def test_directories_without_an_object_are_empty(tmp_path: Path) -> None:
    for name in ("lake/deep/er", "lake/.lakebed-tmp"):
        (tmp_path / name).mkdir(parents=True)
    stores = Stores(tmp_path)
    engine = new_engine(MemoryKV(), stores)
    await engine.repositories.create(REPO, "local://lake")
    await put_commit(engine, {"a": "1"})
    assert await content(engine) == {"a": "1"}
    stores.close()


async def test_keys_that_no_file_name_can_hold_are_seen_too(tmp_path: Path) -> None:
    stores = Stores(tmp_path)
    await stores.open("local://lake").put("a//b", b"x")
    error = await fails(
        new_engine(MemoryKV(), stores).repositories.create(REPO, "local://lake"), errors.NamespaceNotEmptyError
    )
    assert "'a//b'" in str(error)
    stores.close()


async def test_foreign_check_makes_one_store_call_for_any_number_of_objects() -> None:
    stores = Stores(None)
    store: Any = stores.open("mem://lake")
    for number in range(3000):
        await store.put(f"theirs/{number}", b"x")
    asked: list[str] = []
    any_key, store.list = store.any_key, None

    async def counted() -> Any:
        asked.append("")
        return await any_key()

    store.any_key = counted
    await fails(new_engine(MemoryKV(), stores).repositories.create(REPO, "mem://lake"), errors.NamespaceNotEmptyError)
    assert len(asked) == 1


async def test_the_leftovers_of_a_deleted_repository_are_named_as_such() -> None:
    engine = await make_engine()
    await engine.repositories.delete(REPO)
    for accept in (False, True):
        error = await fails(
            engine.repositories.create("new", "mem://lake", allow_non_empty=accept), errors.NamespaceInUseError
        )
        assert "repository 'lake'" in str(error)
        assert "lakebed rebuild" in str(error)


ODD = [
    b"",
    b"[]",
    b'"x"',
    b"1",
    b"null",
    b"{",
    b'{"uid": 1}',
    b"\xff",
    b"[" * 100_000,
    b'{"uid":' * 100_000,
    b" " * (1 << 20),
]


@pytest.mark.parametrize("marker", ODD, ids=lambda data: repr(data[:10]))
async def test_an_invalid_marker_error_names_the_marker(marker: bytes) -> None:
    stores = Stores(None)
    engine = new_engine(MemoryKV(), stores)
    store = stores.open("mem://lake")
    await store.put(REPOSITORY_MARKER, marker)
    for accept in (False, True):
        error = await fails(
            engine.repositories.create(REPO, "mem://lake", allow_non_empty=accept), errors.NamespaceInUseError
        )
        assert REPOSITORY_MARKER in str(error)
    assert await store.get_range(REPOSITORY_MARKER, 0, 2 << 20) == marker
    await fails(engine.repositories.get(REPO), errors.RepositoryNotFoundError)
    await engine.repositories.create(REPO, "mem://elsewhere")


# deletion


async def litter(lake: Lake) -> None:
    for key in FOREIGN:
        await lake.store.put(key, b"theirs")


async def test_a_sweep_counts_what_is_foreign_and_leaves_it() -> None:
    lake = await memory_lake()
    shown = await fill(lake)
    await settle(lake)
    for leave in WAYS:
        await leave(lake)
    await litter(lake)
    shown["f"] = "live"
    await settle(lake)
    for age in (0.0, DAY + 1):
        await lake.age(age)
        (found,) = (await lake.sweep()).reports
        assert (found.foreign, found.foreign_bytes) == (len(FOREIGN), 6 * len(FOREIGN))
        assert found.foreign_example in FOREIGN
    assert found.deleted > 5
    assert set(FOREIGN) <= await lake.files()
    assert await content(lake.engine) == shown
    report = await lake.engine.maintenance.fsck(REPO, FsckOptions(data=True, orphan_age=0.0))
    assert (report.ok, report.orphan_count) == (True, 0)
    assert report.foreign_count == sum(not key.startswith("workspaces/") for key in FOREIGN)
    await lake.engine.repositories.delete(REPO)
    await settle(lake)
    assert set(FOREIGN) <= await lake.files()


async def test_folders_of_unknown_workspaces_are_foreign() -> None:
    lake = await memory_lake()
    unknown, noted = "12" * 16, "34" * 16
    keys = [f"workspaces/{one}{more}/x" for one in (unknown, noted) for more in ("", ".1")]
    for key in keys:
        await lake.store.put(key, b"x")
    await lake.store.put(f"workspaces/{noted}.used", b"{}")
    await lake.age()
    (found,) = (await lake.sweep()).reports
    assert (found.deleted, found.foreign) == (2, 2)
    assert set(keys) & await lake.files() == {key for key in keys if unknown in key}
    assert f"workspaces/{noted}.used" in await lake.files()


async def test_a_workspace_that_is_forgotten_is_known_as_long_as_files_are_left() -> None:
    lake = await memory_lake()
    engine = lake.engine
    spaces = [await engine.workspaces.create(REPO, WorkspaceRequest(ref="main", creator="ann")) for _ in range(2)]
    left = f"{spaces[0].prefix}part-0"
    await lake.store.put(left, b"never committed")
    for one in spaces:
        await engine.workspaces.delete(REPO, one.uid)
    lake.clock.forward(REMEMBERED + DAY)
    await engine.maintenance.clean()
    for one in spaces:
        await fails(engine.workspaces.get(REPO, one.uid), errors.WorkspaceNotFoundError)
    marks = {key for key in await lake.files() if is_mark(key)}
    assert marks == {f"workspaces/{spaces[0].uid}.used"}
    assert (await lake.sweep()).deleted == 1
    assert left not in await lake.files()


async def test_clearing_an_upload_leaves_what_is_no_part_of_it() -> None:
    store = Stores(None).open("mem://lake")
    parts, key = ObjectParts(store, RandomIds()), f"data/2026010112/{ID}"
    await parts.put(key, "", 1, 3, chunked([b"abc"]))
    other = f"{folder_of(key)}notes.txt"
    await store.put(other, b"theirs")
    await parts.clear(key, "")
    assert await _nothing_but(store, other)


async def test_a_sweep_holds_back_when_much_is_older_than_the_repository() -> None:
    async def job(old: int, young: int) -> tuple[bool, int]:
        lake = await memory_lake()
        assert isinstance(lake.store, MemoryObjects)
        created = (await lake.engine.repositories.get(REPO)).creation_date
        for number in range(old + young):
            lake.clock.time = created - 10 if number < old else created + 10
            await lake.store.put(f"data/2026010112/{number:032x}", b"x")
        await lake.age(2 * DAY)
        holding = SweepOptions(data=True, grace=1.0, hold_older=True)
        reported: list[Finding] = []
        swept = await lake.engine.maintenance.sweep(REPO, holding, sink=reported.append)
        (report,) = swept.reports
        assert (report.older, report.found) == (old, old + young)
        assert len(reported) == old + young
        assert swept.ok is not report.held
        if report.held:
            assert (await lake.sweep(DATA)).deleted == old + young
        return report.held, report.deleted

    assert await job(1, 20) == (False, 21)
    assert await job(2, 20) == (False, 22)
    assert await job(3, 20) == (True, 0)
    assert await job(1, 0) == (True, 0)
    assert await job(0, 3) == (False, 3)


async def test_files_on_a_disk_keep_the_times_of_another_tool(tmp_path: Path) -> None:
    """The review's probe: a file of another tool, ten days old, below `data/` of a namespace that is taken later."""
    legacy = tmp_path / "legacy/data/warehouse/part-0.parquet"
    legacy.parent.mkdir(parents=True)
    legacy.write_bytes(b"their data")
    os.utime(legacy, (legacy.stat().st_mtime - 10 * DAY,) * 2)
    stores = Stores(tmp_path)
    engine = new_engine(MemoryKV(), stores)
    await fails(engine.repositories.create(REPO, "local://legacy"), errors.NamespaceNotEmptyError)
    await engine.repositories.create(REPO, "local://legacy", allow_non_empty=True)
    swept = await engine.maintenance.sweep(REPO, SweepOptions(data=True, grace=0.0))
    assert [(one.foreign, one.deleted) for one in swept.reports] == [(1, 0)]
    assert legacy.read_bytes() == b"their data"
    stores.close()
