"""A metadata file that is larger than its kind may be is refused by its size, before it is read into memory."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.errors import CorruptDataError
from lakebed_engine.vocabulary.reports import FsckOptions, SweepOptions
from lakebed_format.keys import COMMITS, LAYERS, METARANGES, RANGES, REFS, REPOSITORY_MARKER, largest

from tests.engine.support import REPO, commit, fails, make_engine, put, put_commit, run

HUGE = 100 << 30


@asynccontextmanager
async def lake(root: Path) -> AsyncIterator[tuple[Engine, ObjectStore, Path]]:
    """A repository on disk with a commit, a ref snapshot and a layer."""
    stores = Stores(root)
    engine = await make_engine(stores=stores, namespace="local://lake")
    await put_commit(engine, {"a": "1", "b": "2"})
    await engine.maintenance.snapshot_refs()
    await put(engine, "c", "3")
    yield engine, stores.open("local://lake"), root / "lake"


async def grow(store: ObjectStore, root: Path, folder: str, size: int) -> str:
    """Make one file of a folder this large; it takes no room on the disk."""
    key = [blob.key async for blob in store.list(folder)][-1]
    os.truncate(root / key, size)
    return key


@pytest.mark.parametrize("folder", [RANGES, METARANGES])
@pytest.mark.parametrize("over", [1, HUGE])
def test_a_file_of_a_tree_is_refused_by_its_size(tmp_path: Path, folder: str, over: int) -> None:
    async def job() -> None:
        async with lake(tmp_path) as (engine, store, root):
            key = await grow(store, root, folder, largest(folder) + over)
            engine.clear_caches()
            error = await fails(engine.objects.stat(REPO, "main@", "a"), CorruptDataError)
            assert f"local://lake/{key}" in str(error)
            assert f"at most {largest(folder):,}" in str(error)
            assert isinstance(error, CorruptDataError)
            assert key in error.public_message
            await fails(commit(engine), CorruptDataError)

    run(job())


@pytest.mark.parametrize(
    ("folder", "what"),
    [
        (RANGES, "range"),
        (METARANGES, "metarange"),
        (COMMITS, "commit"),
        (REFS, "ref snapshot"),
        (REPOSITORY_MARKER, "repository marker"),
    ],
)
def test_fsck_reports_such_a_file_and_the_sweep_stops(tmp_path: Path, folder: str, what: str) -> None:
    async def job() -> None:
        async with lake(tmp_path) as (engine, store, root):
            key = await grow(store, root, folder, HUGE)
            report = await engine.maintenance.fsck(REPO, FsckOptions(data=True))
            found = {(one.kind, one.what, one.name) for one in report.problems}
            assert found == {("corrupt", what, key)}
            assert f"at most {largest(key):,}" in report.problems[0].detail
            swept = await engine.maintenance.sweep(REPO, SweepOptions(data=True, dry_run=True))
            assert bool(swept.failures) is (folder != COMMITS), "the sweep reads commits from the KV store"

    run(job())


@pytest.mark.parametrize(
    "key", [REPOSITORY_MARKER, f"{COMMITS}a", f"{REFS}a", f"{METARANGES}a", f"{RANGES}a", f"{LAYERS}a"]
)
def test_every_kind_of_file_has_a_bound(key: str) -> None:
    assert 64 << 10 <= largest(key) <= 256 << 20
