"""Small commits: the metarange contains the newest patch. Tests of its writing, reading, checks and sweeps."""

from __future__ import annotations

from typing import Any

import pytest
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.tree.fold import fold
from lakebed_engine.tree.manifest import (
    LIMITS,
    MAX_FILES_WITH_INLINE_PATCH,
    Limits,
    RangeInfo,
    metarange_rows,
    tree_with_inline_patch,
)
from lakebed_engine.tree.trees import Tree
from lakebed_engine.vocabulary.errors import CorruptDataError
from lakebed_engine.vocabulary.reports import FsckOptions
from lakebed_format import decode_tree, encode_metarange
from lakebed_format.keys import METARANGES, RANGES
from lakebed_format.tree.digest import metarange_id

from tests.engine.support import REPO, chunked, content, put_commit
from tests.engine.swept import Lake as Swept
from tests.engine.swept import memory_lake
from tests.engine.trees import Delta, Lake, State, applied, table

PATCHED = Limits(share=0)
"""Any small change is a patch, however small the tree."""

DEEP = FsckOptions(data=True, deep=True, orphan_age=0.0)


async def lake_of(*commits: Delta, **options: Any) -> Swept:
    lake = await memory_lake(tuning=Tuning(trees=PATCHED), **options)
    for delta in commits:
        await put_commit(lake.engine, delta)
    return lake


async def head(lake: Swept) -> Tree:
    commit = await lake.engine.commits.get(REPO, "main")
    return await lake.engine.context.trees.load(lake.store, commit.metarange_id)


async def test_a_small_commit_writes_itself_and_its_metarange() -> None:
    lake = await lake_of({"a": "1", "b": "2"})
    before = await lake.files()
    await put_commit(lake.engine, {"a": "3", "b": None, "c": "4"})
    [patch] = (await head(lake)).patches
    assert patch.file == f"{METARANGES}{(await head(lake)).id}.parquet"
    new = {name for name in await lake.files() - before if name.startswith("_lakebed/")}
    folders = sorted(name.split("/")[1] for name in new)
    assert folders == ["commits", "metaranges"]
    lake.engine.clear_caches()
    assert await content(lake.engine) == {"a": "3", "c": "4"}


@pytest.mark.parametrize("rows", [LIMITS.small, LIMITS.small + 1])
async def test_only_small_patches_are_carried(rows: int) -> None:
    lake = Lake()
    lake.limits = lake.trees.limits = Limits(share=0)
    base = await lake.tree({"z": "one"})
    tree = (await lake.fold(base, table({f"p/{n:04}": "one" for n in range(rows)}))).tree
    assert bool(tree.patches[0].inline_in) == (rows == LIMITS.small)
    assert tree.patches[0].file.startswith(RANGES if rows > LIMITS.small else METARANGES)
    await lake.check(tree)
    # the next commit absorbs a small patch, and is above a larger one
    after = (await lake.fold(tree, table({"p/0000": "two"}))).tree
    assert [bool(one.inline_in) for one in after.patches] == [True] + [False] * (rows > LIMITS.small)
    assert (await lake.state(after))["p/0000"] == "two"
    lake.close()


async def test_a_tree_of_many_files_carries_nothing() -> None:
    lake = Lake(patches=True)
    state: State = {f"p/{n:04}": "one" for n in range(2200)}
    base = await lake.tree(state)
    assert len(base.ranges) >= MAX_FILES_WITH_INLINE_PATCH
    tree = (await lake.fold(base, table({"p/0000": "two"}))).tree
    assert [one.inline_in for one in tree.patches] == [""]
    assert await lake.state(tree) == applied(state, {"p/0000": "two"})
    lake.close()


async def test_another_servers_limits_leave_every_tree_whole() -> None:
    """With equal limits, a new patch always absorbs an inline patch. With other limits, it gets a separate file."""
    lake = Lake()
    lake.limits = lake.trees.limits = Limits(share=0)
    base = await lake.tree({"z": "one"})
    first = {f"p/{n}": "one" for n in range(9)}
    tree = (await lake.fold(base, table(dict(first)))).tree
    assert tree.patches[0].inline_in == tree.id
    less = Limits(share=0, small=1)
    cold = lake.cold()
    folded = await fold(cold, lake.store, lake.runtime, tree, chunked([table({"q": "two"})]), limits=less)
    assert [bool(one.inline_in) for one in folded.tree.patches] == [True, False]
    assert folded.written == 2
    await lake.store.delete([tree.patches[0].file])  # the old tree's file: nothing of the new one is in it
    assert await lake.state(folded.tree) == {**first, "q": "two", "z": "one"}
    await lake.check(folded.tree)
    lake.close()


def test_the_same_tree_made_in_two_ways_has_two_files() -> None:
    ranges = (RangeInfo("0" * 64, "a", "z", 9, 900),)
    patch = RangeInfo("1" * 64, "b", "b", 1, 60, "patch")
    lake = Lake()
    plain, _ = lake.trees.named(lake.store, ranges, (patch,))
    carrying, _ = tree_with_inline_patch(ranges, (), patch)
    assert plain.id != carrying.id
    assert {plain.patches[0].file, carrying.patches[0].file} == {
        f"{RANGES}{patch.id}.parquet", f"{METARANGES}{carrying.id}.parquet"
    }  # fmt: skip
    lake.close()


async def test_rows_that_left_the_cache_come_from_the_metarange() -> None:
    lake = Lake(patches=True)
    tree = (await lake.fold(await lake.tree({"a": "one", "b": "one"}), table({"a": "two"}))).tree
    [patch] = tree.patches
    assert patch.inline_in == tree.id
    cold = lake.cold()
    entry = await cold.find(lake.store, tree, "a")
    assert entry is not None
    assert entry.physical_address == "data/two"
    assert (await cold.rows(lake.store, patch)).num_rows == 1
    await lake.store.put(patch.file, encode_metarange(metarange_rows(tree.ranges, (patch,)), tree.id))
    with pytest.raises(CorruptDataError, match=patch.file):
        await lake.cold().rows(lake.store, patch)
    lake.close()


async def test_fsck_reads_what_metaranges_carry() -> None:
    lake = await lake_of({"a": "1", "b": "2"}, {"c": "3"})
    report = await lake.engine.maintenance.fsck(REPO, DEEP)
    assert (report.ok, report.orphan_count) == (True, 0)
    assert (report.counts["rows"], report.counts["objects"]) == (3, 3)
    tree = await head(lake)
    [row] = (await lake.engine.context.trees.patch(lake.store, tree)).to_pylist()
    await lake.store.delete([row["physical_address"]])
    [problem] = (await lake.engine.maintenance.fsck(REPO, DEEP)).problems
    assert (problem.kind, problem.what, problem.name, problem.path, problem.refs) == (
        "missing", "object", row["physical_address"], "c", ("main",)
    )  # fmt: skip


async def test_fsck_hashes_the_patch_in_a_metarange() -> None:
    lake = await lake_of({"a": "1", "b": "2"}, {"c": "3"})
    tree = await head(lake)
    file = tree.patches[0].file
    rows, inline_patch = decode_tree(await lake.store.get(file), tree.id)
    assert inline_patch is not None
    at = inline_patch.column_names.index("mtime")
    wrong = inline_patch.set_column(at, inline_patch.schema.field(at), [[7]])
    assert metarange_id(rows, carries=True) == tree.id
    await lake.store.put(file, encode_metarange(rows, tree.id, wrong))
    [problem] = (await lake.engine.maintenance.fsck(REPO, FsckOptions())).problems
    assert (problem.kind, problem.what, problem.name, problem.refs) == ("corrupt", "metarange", file, ("main",))
    assert "the patch in it: its rows do not hash to its id" in problem.detail


async def test_the_sweep_keeps_what_metaranges_carry() -> None:
    lake = await lake_of({"a": "1", "b": "2"}, {"c": "3"}, {"d": "4"})
    await put_commit(lake.engine, {"gone": "5"})
    before = await lake.files()
    await lake.store.put(f"data/2026010100/{'0' * 32}", b"nobody's")
    await lake.store.put(f"{RANGES}{(await head(lake)).patches[0].id}.parquet", b"of a patch that is inline")
    await lake.age()
    swept = await lake.sweep()
    assert await lake.files() == before
    assert swept.deleted == 2
    lake.engine.clear_caches()
    assert await content(lake.engine) == {"a": "1", "b": "2", "c": "3", "d": "4", "gone": "5"}
    assert await lake.whole()
