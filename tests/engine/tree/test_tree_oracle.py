"""Trees with tiny ranges against dictionaries: fold and diff."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.tree.layers import overlaid, token_delta
from lakebed_engine.tree.rows import encode_row, prefix_end
from lakebed_engine.tree.trees import EMPTY_TREE

from tests.engine.trees import (
    ODD,
    Delta,
    Lake,
    State,
    applied,
    changed,
    cuts,
    deltas,
    entry,
    ids,
    order,
    paths,
    states,
    table,
    touched,
)
from tests.support.sizes import examples

FEW = examples(60)


@pytest.fixture(autouse=True, scope="module")
def _tiny() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lakebed_format.tree.split.RAGGEDNESS", 3)
        yield


@FEW
@given(states, st.lists(deltas, max_size=3))
async def test_folds_are_dictionary_updates(state: State, more: list[Delta]) -> None:
    lake = Lake()
    tree = await lake.tree(state)
    here = state
    for delta in more:
        after = applied(here, delta)
        folded = await lake.fold(tree, table(delta))
        await lake.check(folded.tree)
        assert await lake.state(folded.tree) == after
        assert folded.changed == len(changed(here, after))
        tree, here = folded.tree, after
    assert list(await lake.state(tree)) == order(dict(here))
    lake.close()


@FEW
@given(states, deltas, st.lists(st.integers(0, 40), max_size=8), st.sampled_from([1, 3, 50_000]))
async def test_streamed_delta_folds_like_a_whole_delta(state: State, delta: Delta, at: list[int], piece: int) -> None:
    lake = Lake(piece=piece)
    tree = await lake.tree(state)
    at_once = await lake.fold(tree, table(delta))
    streamed = await lake.fold(tree, *cuts(table(delta), at))
    assert streamed == at_once
    lake.close()


@FEW
@given(states, deltas)
async def test_untouched_ranges_are_kept_and_few_are_written(state: State, delta: Delta) -> None:
    lake = Lake()
    tree = await lake.tree(state)
    before = await lake.stored()
    real = changed(state, applied(state, delta))
    folded = await lake.fold(tree, table(delta))
    if not real:
        assert folded.tree is tree
        assert (folded.written, await lake.stored()) == (0, before)
    fresh = sum(info.rows for info in folded.tree.ranges if info.id not in ids(tree))
    bound = touched(tree, real)
    grown = sum(len(path.encode()) + 140 for path in real) // lake.low + 1
    assert folded.written <= bound + 2 + grown
    assert len(ids(tree) - ids(folded.tree)) <= 2 * bound, "each touched range joins one neighbour at most"
    assert fresh <= sum(info.rows for info in tree.ranges if info.id not in ids(folded.tree)) + len(real)
    lake.close()


@FEW
@given(states, paths, st.sampled_from([None, "one", "new"]))
async def test_single_key_change_writes_at_most_three_ranges(state: State, path: str, text: str | None) -> None:
    lake = Lake()
    tree = await lake.tree(state)
    folded = await lake.fold(tree, table({path: text}))
    assert folded.written <= 3
    assert await lake.state(folded.tree) == applied(state, {path: text})
    lake.close()


@pytest.mark.parametrize("path", ["p/0000", "p/0100x", "p/0100", "p/0299"])
async def test_change_shifts_few_ranges_that_only_their_size_closes(path: str) -> None:
    async def job() -> None:
        lake = Lake()
        state = {f"p/{n:04}": "one" for n in range(300)}
        tree = await lake.tree(state)
        folded = await lake.fold(tree, table({path: None if path in state else "one"}))
        assert folded.changed == 1
        assert folded.written <= 3
        assert len(ids(tree) - ids(folded.tree)) <= 2
        await lake.check(folded.tree)
        lake.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lakebed_format.tree.split.RAGGEDNESS", 1 << 40)
        await job()


async def test_small_rest_of_a_range_is_joined_to_its_neighbour() -> None:
    lake = Lake()
    state = {f"p/{n:04}": "one" for n in range(300)}
    tree = await lake.tree(state)
    at = next(index for index, info in enumerate(tree.ranges) if index > 2 and info.rows > 2)
    info = tree.ranges[at]
    gone = [path for path in state if info.min_path < path <= info.max_path]
    folded = await lake.fold(tree, table(dict.fromkeys(gone)))
    joined = folded.tree.ranges[folded.tree.seek(info.min_path)]
    assert joined.rows > 1
    assert ids(tree) - ids(folded.tree) == {info.id, tree.ranges[at + 1].id}
    lake.close()


async def test_ids_do_not_depend_on_the_lake_that_made_them() -> None:
    state = {f"p/{n:04}": "one" for n in range(300)} | dict.fromkeys(ODD, "two")
    one, other = Lake(), Lake()
    first = await one.tree(state)
    assert len(first.ranges) > 20
    assert first == await other.tree(dict(reversed(state.items())))
    back = await other.fold((await other.fold(first, table({"p/0100": "x"}))).tree, table({"p/0100": "one"}))
    assert await other.state(back.tree) == state
    assert len(ids(back.tree) ^ ids(first)) <= 6
    assert (await other.fold(first, table(dict.fromkeys(state)))).tree == EMPTY_TREE
    one.close()
    other.close()


async def test_no_op_rows_and_tombstones_for_nothing_change_nothing() -> None:
    lake = Lake()
    state = {f"p/{n:04}": "" for n in range(100)}
    tree = await lake.tree(state)
    before = await lake.stored()
    nothing: Delta = {"a": None, "p/00500": None, "z": None, "\U0010ffff": None, "p/0050": "", "p/0099": ""}
    assert await lake.fold(tree, table(nothing)) == (tree, 0, 0)
    assert (await lake.fold(tree)).tree is tree
    assert (await lake.fold(EMPTY_TREE, table({"a": None}))).tree is EMPTY_TREE
    assert await lake.stored() == before
    lake.close()


@FEW
@given(states, deltas, st.sampled_from(["", "p/", "p/1", "a", "a/", "\U0010ffff", "/"]), paths | st.just(""))
async def test_diffs_are_dictionary_differences(state: State, delta: Delta, prefix: str, start: str) -> None:
    lake = Lake()
    left = await lake.tree(state)
    after = applied(state, delta)
    right = (await lake.fold(left, table(delta))).tree
    other = await lake.tree(after)  # the same content, perhaps in other ranges
    wanted = {
        path: tuple(None if text is None else entry(text).identity.hex() for text in (state.get(path), after.get(path)))
        for path in order(changed(state, after))
        if path.startswith(prefix) and path.encode() >= start.encode()
    }
    for one in (right, other):
        found = await lake.diff(left, one, prefix=prefix, start=start)
        assert list(found) == list(wanted)
        assert found == wanted
        assert len(await lake.diff(one, left, prefix=prefix, start=start)) == len(wanted)
    assert await lake.diff(right, other) == {}
    lake.close()


@FEW
@given(states, deltas)
async def test_a_diff_applied_as_a_delta_gives_the_other_tree(state: State, delta: Delta) -> None:
    from lakebed_engine.tree.diff import diff

    lake = Lake()
    left = await lake.tree(state)
    right = await lake.tree(applied(state, delta))
    pieces = [part.as_delta() async for part in diff(lake.trees, lake.store, lake.runtime, left, right)]
    assert await lake.state((await lake.fold(left, *pieces)).tree) == applied(state, delta)
    lake.close()


@FEW
@given(states, st.lists(paths, min_size=1, max_size=8))
async def test_lookups_and_pieces_with_and_without_a_cache(state: State, wanted: list[str]) -> None:
    async def job() -> None:
        lake = Lake(low=10_000, high=100_000)
        tree = await lake.tree(state)
        for trees in (lake.trees, lake.cold()):
            for path in [*wanted, *state]:
                found = await trees.find(lake.store, tree, path)
                assert (found and found.physical_address) == (f"data/{state[path]}" if path in state else None)
        lake.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lakebed_format.tree.files.ROW_GROUP_ROWS", 3)
        await job()


@FEW
@given(st.lists(deltas, max_size=4), st.integers(1, 7))
async def test_staged_tokens_are_a_delta_newest_first(tokens: list[Delta], page: int) -> None:
    lake, kv = Lake(), MemoryKV()
    for number, delta in enumerate(tokens):
        puts = [Put(str(number), b"", b"")]
        puts += [
            Put(str(number), path.encode(), encode_row(None if text is None else entry(text)))
            for path, text in delta.items()
        ]
        await kv.apply(Batch(puts=puts))
    wanted: Delta = {}
    for delta in reversed(tokens):
        wanted |= delta
    names = [str(number) for number in range(len(tokens))]
    layers = [token_delta(kv, lake.runtime, name, page) for name in names]
    pieces = [piece async for piece in overlaid(lake.runtime, layers)]
    found = [path for piece in pieces for path in piece.column("path").to_pylist()]
    assert found == order(wanted)
    assert pa.concat_tables([table({}), *pieces]).equals(pa.concat_tables([table({}), table(wanted)]))
    lake.close()


@given(st.text(st.characters(codec="utf-8"), max_size=3), st.text(st.characters(codec="utf-8"), max_size=4))
def test_prefix_end(prefix: str, text: str) -> None:
    end = prefix_end(prefix)
    assert end is None or (end.encode() > (prefix + text).encode())
    assert (end is None or text < end) == (text < prefix or text.startswith(prefix))
    assert prefix_end("\U0010ffff") is None
    assert prefix_end("a\ud7ff") == "a\ue000"
