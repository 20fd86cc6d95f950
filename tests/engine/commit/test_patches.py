"""Trees with patches over tiny ranges against dictionaries: fold, diff, lookups, cursors and written files."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.tree.cursor import Cursor, tree_cursor
from lakebed_engine.tree.diff import Detail, diff
from lakebed_engine.tree.fold import fold
from lakebed_engine.tree.manifest import LIMITS, Limits, RangeInfo, Tree
from lakebed_engine.tree.patches import taken_in, too_much
from lakebed_engine.tree.rows import lower_bound, upper_bound
from lakebed_engine.vocabulary.errors import CorruptDataError, MissingFileError
from lakebed_engine.vocabulary.reports import FsckOptions

from tests.engine.support import REPO, chunked, new_engine, put_commit
from tests.engine.trees import Delta, Lake, State, applied, changed, entry, ids, order, paths, states, table
from tests.support.services.object_stores import OneStore
from tests.support.sizes import examples

SOME = examples(60, soak=120)
small = st.lists(st.dictionaries(paths, st.sampled_from([None, "", "one", "two"]), max_size=4), min_size=1, max_size=8)


@pytest.fixture(autouse=True, scope="module")
def _tiny() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lakebed_format.tree.split.RAGGEDNESS", 3)
        patch.setattr("lakebed_engine.tree.patches._FEW", 2)
        yield


async def grown(lake: Lake, state: State, more: list[Delta]) -> list[tuple[Tree, State]]:
    """A tree, and the trees that small changes made from it."""
    made = [(await lake.tree(state), state)]
    for delta in more:
        tree, here = made[-1]
        made.append(((await lake.fold(tree, table(delta))).tree, applied(here, delta)))
    return made


@SOME
@given(states, small)
async def test_folds_are_dictionary_updates(state: State, more: list[Delta]) -> None:
    lake = Lake(patches=True)
    tree, here = await lake.tree(state), state
    for delta in more:
        after = applied(here, delta)
        folded = await lake.fold(tree, table(delta))
        await lake.check(folded.tree)
        assert await lake.state(folded.tree) == after
        assert list(await lake.state(folded.tree)) == order(dict(after))
        assert folded.changed == len(changed(here, after))
        assert (folded.tree is tree) == (not folded.changed)
        tree, here = folded.tree, after
    lake.close()


@SOME
@given(states, small, small, st.sampled_from(["", "p/", "p/1", "a", "\U0010ffff"]), paths | st.just(""))
async def test_diffs_are_dictionary_differences(
    state: State, more: list[Delta], others: list[Delta], prefix: str, start: str
) -> None:
    lake = Lake(patches=True)
    one = (await grown(lake, state, more))[-1]
    both = [one, (await grown(lake, state, others))[-1], (await lake.tree(one[1]), one[1])]
    for left, before in both:
        for right, after in both:
            wanted = {
                path: tuple(None if text is None else entry(text).identity.hex() for text in pair)
                for path, pair in {
                    path: (before.get(path), after.get(path)) for path in order(changed(before, after))
                }.items()
                if path.startswith(prefix) and path.encode() >= start.encode()
            }
            details: list[Detail] = ["full", "slim"]
            for detail in details:
                found = await lake.diff(left, right, prefix=prefix, start=start, detail=detail)
                assert list(found) == list(wanted)
                assert found == wanted
    lake.close()


@SOME
@given(states, small, small)
async def test_a_diff_is_the_delta_to_the_other_tree(state: State, more: list[Delta], others: list[Delta]) -> None:
    lake = Lake(patches=True)
    left, before = (await grown(lake, state, more))[-1]
    right, after = (await grown(lake, state, others))[-1]
    found = diff(lake.trees, lake.store, lake.runtime, left, right, detail="delta")
    pieces = [part.as_delta() async for part in found]
    assert {path for piece in pieces for path in piece.column("path").to_pylist()} == set(changed(before, after))
    assert await lake.state((await lake.fold(left, *pieces)).tree) == after
    lake.close()


@SOME
@given(states, small, st.lists(paths, max_size=6))
async def test_find_and_cursors_read_through_patches(state: State, more: list[Delta], wanted: list[str]) -> None:
    lake = Lake(patches=True)
    tree, here = (await grown(lake, state, more))[-1]
    for trees in (lake.trees, lake.cold()):
        for path in [*wanted, *here, *more[-1]]:
            found = await trees.find(lake.store, tree, path)
            assert (found and found.physical_address) == (f"data/{here[path]}" if path in here else None)
        cursor = tree_cursor(trees, lake.store, tree)
        for start in ["", *wanted]:
            await cursor.seek(start)
            rest = []
            while cursor.path is not None:
                shown = cursor.entry()
                assert shown is not None
                assert shown.physical_address == f"data/{here[cursor.path]}"
                rest.append(cursor.path)
                await cursor.next()
            assert rest == [path for path in order(dict(here)) if path.encode() >= start.encode()]
    lake.close()


@given(st.sets(paths | st.just(""), max_size=9), st.lists(paths | st.sampled_from(["", "\ud800", "é"]), max_size=4))
def test_bounds_of_a_slice(held: set[str], wanted: list[str]) -> None:
    rows = table(dict.fromkeys(held, "x"))
    for start in range(len(held) + 1):
        piece = rows.slice(start)
        found = [path.encode() for path in piece.column("path").to_pylist()]
        for path in wanted:
            raw = path.encode(errors="surrogatepass")
            assert (lower_bound(piece, path), upper_bound(piece, path)) == (
                bisect_left(found, raw),
                bisect_right(found, raw),
            )


async def test_undoing_a_change_gives_the_same_tree() -> None:
    lake = Lake(patches=True)
    tree = await lake.tree({f"p/{n:03}": "one" for n in range(100)})
    one = (await lake.fold(tree, table({"p/050": "two"}))).tree
    assert one.ranges == tree.ranges
    assert [info.rows for info in one.patches] == [1]
    back = await lake.fold(one, table({"p/050": "one"}))
    assert (back.tree, back.changed) == (tree, 1)
    lake.close()


async def test_patches_are_folded_into_the_ranges_when_they_have_grown() -> None:
    lake = Lake(patches=True)
    state = {f"p/{n:03}": "one" for n in range(100)}
    tree = await lake.tree(state)
    seen = set()
    for n in range(50):
        state[f"p/{n:03}"] = "two"
        folded = await lake.fold(tree, table({f"p/{n:03}": "two"}))
        tree = folded.tree
        seen.add(len(tree.patches))
        assert sum(info.rows for info in tree.patches) <= lake.limits.patch_rows
    assert await lake.state(tree) == state
    assert {0, 1, 2} <= seen, "some folds rewrote ranges, others stacked patches"
    lake.close()


@pytest.mark.slow
async def test_full_patches_over_many_ranges_are_folded_in_portions() -> None:
    lake = Lake(patches=True)
    limits = Limits(400, 1500, patch_rows=40, small=2, patches=3, share=0, portion=4, at_once=3)
    state = {f"p/{n:04}": "one" for n in range(400)}
    tree = await lake.tree(state)
    assert len(tree.ranges) > 60
    most = 0
    for n in range(300):
        path = f"p/{n * 37 % 400:04}"
        state[path] = f"two{n}"
        one = chunked([table({path: state[path]})])
        folded = await fold(lake.trees, lake.store, lake.runtime, tree, one, limits=limits)
        assert folded.changed == 1
        most = max(most, len(ids(tree) - ids(folded.tree)))
        tree = folded.tree
        assert sum(info.rows for info in tree.patches) <= 40
        if n % 20 == 0:
            assert await lake.state(tree) == state
    assert await lake.state(tree) == state
    assert 3 <= most <= 3 * 11, "no commit rewrites the whole tree"
    lake.limits = limits
    await lake.check(tree)
    lake.close()


def info(rows: int, kind: str = "patch") -> RangeInfo:
    return RangeInfo("x", "a", "b", rows, 100 * rows, kind)  # type: ignore[arg-type]


def test_a_row_is_written_again_a_logarithm_of_times() -> None:
    sizes: list[int] = []
    written = 0
    for _ in range(20_000):
        count = taken_in([info(size) for size in sizes], 1, LIMITS)
        sizes = [1 + sum(sizes[:count]), *sizes[count:]]
        written += sizes[0]
        assert len(sizes) <= LIMITS.patches
    assert sum(sizes) == 20_000
    assert written < 20_000 * LIMITS.small * 0.75


@pytest.mark.parametrize(
    ("rows", "limits", "wanted"),
    [
        (10, Limits(share=8), False),  # 800 rows of ranges between its paths
        (101, Limits(share=8), True),
        (10, Limits(share=8, patch_rows=9), True),
        (10, Limits(share=8, max_bytes=999), True),
        (10, Limits(share=90), True),
    ],
)
def test_when_ranges_are_rewritten(rows: int, limits: Limits, wanted: bool) -> None:
    ranges = tuple(RangeInfo(str(n), f"{n}a", f"{n}z", 100, 9000) for n in range(8))
    base = Tree("t", ranges, [one.max_path for one in ranges])
    assert too_much(base, "0b", "7x", rows, 100 * rows, limits) == wanted
    assert too_much(base, "3b", "3c", rows, 100 * rows, limits) == (wanted or rows * limits.share >= 100)


class SlowReads(MemoryObjects):
    """Notes which files are asked for."""

    def __init__(self) -> None:
        super().__init__("mem://slow")
        self.asked: list[str] = []

    async def get(self, key: str) -> bytes:
        self.asked.append(key)
        return await super().get(key)


async def to_the_end(cursor: Cursor) -> None:
    while cursor.path is not None:
        await cursor.next()


async def test_a_listing_fetches_the_next_range_before_it_is_needed() -> None:
    lake = Lake()
    lake.store = store = SlowReads()
    tree = await lake.tree({f"p/{n:03}": "one" for n in range(100)})
    files = [one.file for one in tree.ranges]
    trees = lake.cold()
    store.asked.clear()
    cursor = tree_cursor(trees, store, tree)
    await cursor.seek("")
    for _ in range(3):
        await asyncio.sleep(0)
    assert store.asked == files[:2]
    await to_the_end(cursor)
    assert store.asked == files, "each file once, in order"
    # a prefetched file that is gone by then is fetched again, and reported as missing
    await cursor.seek("")
    await store.delete([files[1]])
    with pytest.raises(MissingFileError, match=files[1]):
        await to_the_end(cursor)
    assert len(trees._coming) <= 8
    lake.close()


async def test_fsck_and_the_reader_know_patches() -> None:
    store = MemoryObjects("mem://lake")
    limits = Limits(400, 1500, patch_rows=20, small=2, patches=3, share=0)
    engine = new_engine(MemoryKV(), OneStore(store), tuning=Tuning(trees=limits))
    await engine.repositories.create(REPO, "mem://lake")
    for step in range(4):
        await put_commit(engine, {f"p/{step}": str(step)})
    tree = await engine.context.trees.load(store, (await engine.commits.get(REPO, "main")).metarange_id)
    assert tree.patches
    assert (await engine.maintenance.fsck(REPO, FsckOptions(data=True))).ok
    file = tree.patches[0].file
    data = store._blobs[file].data
    flipped = bytearray(data)
    flipped[100] ^= 1
    await store.put(file, bytes(flipped))
    assert [(one.kind, one.name) for one in (await engine.maintenance.fsck(REPO, FsckOptions())).problems] == [
        ("corrupt", file)
    ]
    engine.clear_caches()
    with pytest.raises(CorruptDataError, match=file):
        await engine.objects.list(REPO, "main")
    await store.delete([file])
    assert [(one.kind, one.name) for one in (await engine.maintenance.fsck(REPO, FsckOptions())).problems] == [
        ("missing", file)
    ]
    await engine.close()
