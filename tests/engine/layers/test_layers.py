"""Layers against a dictionary: pushes, seals, compactions and resets on one branch, one after another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_engine.operations.layers.compaction import choose_run
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.tree.cache import ByteCache
from lakebed_engine.tree.cursor import TreeCursor
from lakebed_engine.tree.layers import layer_delta, layer_tree, overlaid, write_layer
from lakebed_engine.tree.trees import Trees
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.ports import AsyncioRuntime
from lakebed_engine.vocabulary.records import Layer, LayerPart
from lakebed_format.tree.reading import RowFile, reopen
from lakebed_format.tree.split import row_sizes

from tests.engine.layering import (
    Inline,
    Model,
    World,
    just_seal,
    layers_of,
    observed,
    push,
    shown,
    uncommitted,
    write,
)
from tests.engine.support import REPO, chunked, commit, fails
from tests.engine.trees import Delta, Lake, applied, changed, cuts, deltas, entry, order, table, values
from tests.support.sizes import examples
from tests.support.waiting import PATIENCE

PATHS = ["a", "a/", "a/b", "a/b/c", "a0", "b", "b/x", "\0", "é", "\U0001f600/e", "\U0010ffff", "p/1", "p/2", "p/3"]
_MAX_BYTES = 300
TINY = Tuning(commit_wait=0.002, layer_bytes=_MAX_BYTES, reset_rows=3)
"""Of a part of a layer here."""
few_paths = st.sampled_from(PATHS)
few = st.dictionaries(few_paths, st.one_of(st.none(), values), min_size=1, max_size=6)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), few),
        st.tuples(st.just("push"), few, st.lists(st.integers(1, 5), max_size=3)),
        st.tuples(st.just("push rows"), few),
        st.tuples(st.just("seal")),
        st.tuples(st.just("compact"), st.integers(0, 4)),
        st.tuples(st.just("reset"), few_paths),
        st.tuples(st.just("reset prefix"), st.sampled_from(["", "a", "a/", "a/b", "p/", "\U0010ffff", "z"])),
        st.tuples(st.just("reset all")),
        st.tuples(st.just("commit")),
    ),
    max_size=14,
)


@pytest.fixture(autouse=True, scope="module")
def _tiny() -> Iterator[None]:
    """Row groups of a few rows, and filters from three rows on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lakebed_format.tree.files.ROW_GROUP_ROWS", 2)
        patch.setattr("lakebed_format.tree.files.BLOOM_FROM", 3)
        yield


async def step(engine: Any, model: Model, name: str, *args: Any) -> None:
    """One step on both."""
    before = await layers_of(engine)
    if name == "write":
        await write(engine, args[0])
        model.write(args[0])
    elif name == "push":
        await push(engine, args[0], at=args[1])
        model.write(args[0])
    elif name == "push rows":
        rows = [(path, None if text is None else entry(text)) for path, text in args[0].items()]
        await engine.branches.push(REPO, "main", rows[::-1])
        model.write(args[0])
    elif name == "seal":
        await just_seal(engine)
    elif name == "compact":
        taken = await engine.branches.compact(REPO, "main", least=args[0])
        assert taken == len(before) - len(await layers_of(engine))
        assert taken > 0 or len(before) < max(2, args[0])
    elif name == "reset":
        await engine.branches.reset_object(REPO, "main", args[0])
        model.reset_object(args[0])
    elif name == "reset prefix":
        await engine.branches.reset_prefix(REPO, "main", args[0])
        model.reset(args[0])
        again = await layers_of(engine)
        await engine.branches.reset_prefix(REPO, "main", args[0])
        assert await layers_of(engine) == again, "the second reset had nothing to do"
    elif name == "reset all":
        await engine.branches.reset(REPO, "main")
        model.reset()
    elif model.commit():
        await commit(engine)
    else:
        await fails(commit(engine), errors.NoChangesError)


@examples(100, soak=200)
@given(steps, st.integers(1, 4))
async def test_any_sequence_is_what_the_dictionary_says(sequence: Sequence[tuple[Any, ...]], amount: int) -> None:
    world, model = World(tuning=TINY), Model()
    engine = await world.start()
    named: set[str] = set()
    for one in sequence:
        before = {layer.id for layer in await layers_of(engine)}
        await step(engine, model, *one)
        assert (await observed(engine)).same(model), one
        assert await uncommitted(engine, amount=amount) == changed(model.head, model.view)
        after = {layer.id for layer in await layers_of(engine)}
        assert not (after - before) & named, "a layer's id came back"
        named |= before
        assert len(after) == len(await layers_of(engine))
    cold = world.engine(cache_bytes=0)
    assert await shown(cold, amount=amount) == model.view
    for path in PATHS:
        if path in model.view:
            assert (await cold.objects.stat(REPO, "main", path)) == entry(model.view[path])
        else:
            await fails(cold.objects.stat(REPO, "main", path), errors.ObjectNotFoundError)
    await world.clean(engine)
    assert (await observed(world.engine(cache_bytes=0))).same(model)
    named_files = {info.file for layer in await layers_of(engine) for info in layer_tree(layer).ranges}
    assert world.layer_files() >= named_files


async def test_a_push_hides_what_is_older_and_is_hidden_by_what_is_newer() -> None:
    engine = await World(tuning=TINY).start()
    await write(engine, dict.fromkeys("abcdef", "head"))
    await commit(engine)
    await write(engine, {"a": "older", "b": "older", "c": None, "x": "older"})
    layer = await push(engine, {"a": "pushed", "b": None, "c": "pushed", "d": "pushed", "e": None, "y": "pushed"})
    assert [one.kind for one in await layers_of(engine)] == ["file", "kv"]
    assert (await layers_of(engine))[0] == layer
    wanted = {"a": "pushed", "c": "pushed", "d": "pushed", "f": "head", "x": "older", "y": "pushed"}
    assert await shown(engine) == wanted
    await write(engine, {"a": None, "e": "newer"})
    await push(engine, {"d": "last", "a": None})
    assert [one.kind for one in await layers_of(engine)] == ["file", "kv", "file", "kv"]
    wanted = {**wanted, "d": "last", "e": "newer"}
    del wanted["a"]
    for path in "ab":
        await fails(engine.objects.stat(REPO, "main", path), errors.ObjectNotFoundError)
    for _ in range(2):
        assert await shown(engine) == wanted
        assert await shown(engine, "main@") == dict.fromkeys("abcdef", "head")
        await engine.branches.compact(REPO, "main", least=2)
    (merged,) = await layers_of(engine)
    assert sum(part.rows for part in merged.parts) == 7, "tombstones are kept"
    await commit(engine)
    assert await shown(engine, "main@") == await shown(engine) == wanted


async def test_a_push_without_staged_rows_leaves_no_empty_layer() -> None:
    engine = await World(tuning=TINY).start()
    await push(engine, {"a": "1"})
    await push(engine, {"b": "1"})
    assert [layer.kind for layer in await layers_of(engine)] == ["file", "file"]
    for wrong in ([], [("a", None), ("b", None), ("a", entry("1"))]):
        await fails(engine.branches.push(REPO, "main", wrong), errors.InvalidRequestError)
    await fails(engine.branches.push(REPO, "main", [("", entry("1"))]), errors.InvalidPathError)
    await fails(engine.branches.push(REPO, "no", [("a", entry("1"))]), errors.BranchNotFoundError)
    assert len(await layers_of(engine)) == 2


@examples(60)
@given(st.lists(st.tuples(deltas, st.lists(st.integers(0, 40), max_size=6)), max_size=5))
async def test_layers_in_any_pieces_are_one_delta(parts: list[tuple[Delta, list[int]]]) -> None:
    wanted: Delta = {}
    for delta, _ in reversed(parts):
        wanted |= delta
    layers = [chunked(cuts(table(delta), at)) for delta, at in parts]
    pieces = [piece async for piece in overlaid(Inline(), layers)]
    assert all(piece.num_rows for piece in pieces)
    found = pa.concat_tables([table({}), *pieces])
    assert found.column("path").to_pylist() == order(wanted)
    assert found.equals(pa.concat_tables([table({}), table(wanted)]))


@examples(40)
@given(deltas, st.lists(st.integers(0, 40), max_size=9))
async def test_a_layer_of_many_parts_is_read_like_one(delta: Delta, at: list[int]) -> None:
    lake = Lake()
    layer = await write_layer(lake.store, lake.runtime, "1", chunked(cuts(table(delta), at)), _MAX_BYTES)
    tree = layer_tree(layer)
    assert sum(one.rows for one in tree.ranges) == len(delta)
    assert len({part.id for part in layer.parts}) == len(layer.parts)
    assert all(low.max_path < high.min_path for low, high in zip(layer.parts, layer.parts[1:], strict=False))
    for trees in (lake.cold(), lake.trees):
        pieces = [piece async for piece in layer_delta(trees, lake.store, tree)]
        assert pa.concat_tables([table({}), *pieces]).equals(pa.concat_tables([table({}), table(delta)]))
    cursor = TreeCursor(lake.cold(), lake.store, tree)
    await cursor.seek("")
    for path in order(delta):
        text = delta[path]
        assert (cursor.path, cursor.entry()) == (path, None if text is None else entry(text))
        for trees in (lake.cold(), lake.trees):
            known, found = await trees.lookup(lake.store, tree, path)
            assert (known, found) == (True, None if text is None else entry(text))
            assert await trees.lookup(lake.store, tree, path + "\0") == (
                (path + "\0") in delta,
                entry(other) if (other := delta.get(path + "\0")) is not None else None,
            )
        await cursor.next()
    assert cursor.path is None
    lake.close()


async def test_parts_are_written_a_few_at_a_time() -> None:
    """Two parts are written at the same time, but never more, so that memory is bounded."""

    class Counting(Inline):
        most: list[int]

        async def gather(self, jobs: Sequence[Callable[[], Awaitable[Any]]], limit: int = 8) -> list[Any]:
            self.most.append(min(len(jobs), limit))
            return await super().gather(jobs, limit)

    lake, runtime = Lake(), Counting()
    runtime.most = []
    rows = table({f"p/{number:03}": f"{number}" for number in range(100)})
    layer = await write_layer(lake.store, runtime, "1", chunked(cuts(rows, [*range(1, 100)])), _MAX_BYTES)
    assert len(layer.parts) > 9
    assert {*runtime.most[:-1]} == {4}
    assert sum(runtime.most) == len(layer.parts)
    lake.close()


class BrokenOffError(Exception):
    pass


class Held(MemoryObjects):
    """A store whose puts wait until they are let go."""

    def __init__(self) -> None:
        super().__init__("mem://held")
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.at_work = self.most = 0
        self.fail = False

    async def put(self, key: str, data: bytes, **how: bool) -> None:
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        self.begun.set()
        try:
            await self.go.wait()
            if self.fail:
                self.fail = False
                raise BrokenOffError
            await asyncio.sleep(0.02)
            await super().put(key, data, **how)
        finally:
            self.at_work -= 1


async def test_parts_are_written_while_the_next_rows_come() -> None:
    store, runtime = Held(), AsyncioRuntime(threads=2)
    rows = table({f"p/{number:03}": f"{number}" for number in range(100)})
    full = int(np.argmax(np.cumsum(row_sizes(rows)) >= _MAX_BYTES))

    async def delta() -> AsyncIterator[pa.Table]:
        for number, piece in enumerate(cuts(rows, [*range(1, 100)])):
            yield piece
            if number == full:  # a full part: it is written in the background
                await asyncio.wait_for(store.begun.wait(), PATIENCE)
                assert not store._blobs
                asyncio.get_running_loop().call_later(0.05, store.go.set)

    layer = await write_layer(store, runtime, "1", delta(), _MAX_BYTES)
    assert len(layer.parts) > 9
    assert 1 < store.most <= 4
    assert {info.file for info in layer_tree(layer).ranges} == {*store._blobs}
    runtime.close()


@pytest.mark.parametrize("how", ["rows", "store"])
async def test_abandoned_layer_returns_after_its_last_write(how: str) -> None:
    store, runtime = Held(), AsyncioRuntime(threads=2)
    rows = table({f"p/{number:03}": f"{number}" for number in range(100)})
    full = int(np.argmax(np.cumsum(row_sizes(rows)) >= _MAX_BYTES))

    async def delta() -> AsyncIterator[pa.Table]:
        for number, piece in enumerate(cuts(rows, [*range(1, 100)])):
            yield piece
            if number == full:
                await asyncio.wait_for(store.begun.wait(), PATIENCE)
                asyncio.get_running_loop().call_later(0.05, store.go.set)
                if how == "rows":
                    raise BrokenOffError
                store.fail = True

    with pytest.raises(BrokenOffError):
        await write_layer(store, runtime, "1", delta(), _MAX_BYTES)
    assert (store.begun.is_set(), store.at_work) == (True, 0)
    runtime.close()


@pytest.mark.parametrize("paths", [("a", "b", "b", "c"), ("b", "a", "c", "b"), ("b", "b")])
async def test_push_with_a_duplicate_path_is_refused(paths: tuple[str, ...]) -> None:
    world = World(tuning=TINY)
    engine = await world.start()
    files = world.layer_files()
    rows = [(path, entry(f"{number}")) for number, path in enumerate(paths)]
    refusal = await fails(engine.branches.push(REPO, "main", rows), errors.InvalidRequestError)
    assert "'b' occurs twice" in str(refusal)
    assert (await shown(engine), world.layer_files()) == ({}, files)


def layer(number: int, rows: int) -> Layer:
    return Layer(str(number), "file", (LayerPart(f"{number}-0", "a", "b", rows, 1),)) if rows else Layer(str(number))


def test_compaction_run_is_newest_first_and_bounds_rewrites() -> None:
    assert choose_run(tuple(layer(n, 0) for n in range(7)), 8) == ()
    every = tuple(layer(n, 0) for n in range(8))
    assert choose_run(every, 8) == every
    big = (*every[:5], layer(5, 100_000), *every[6:])
    assert choose_run(big, 8) == big[:5]
    assert choose_run((layer(1, 0), layer(2, 10), layer(3, 10**6), layer(4, 0)), 2) == (layer(1, 0), layer(2, 10))
    assert choose_run((layer(1, 0), layer(2, 10**6)), 2) == (layer(1, 0), layer(2, 10**6)), "fewer than two are none"
    assert choose_run((layer(1, 0),), 0) == (), "one layer is merged already"
    stack: tuple[Layer, ...] = ()
    rewritten = 0
    for number in range(2000):
        stack = (layer(number, 1000), *stack)
        run = choose_run(stack, 8)
        if run:
            rows = sum(part.rows for one in run for part in one.parts)
            rewritten += rows
            stack = (layer(10_000 + number, rows), *stack[len(run) :])
        assert len(stack) < 16
    assert rewritten < 10 * 2_000_000


async def test_at_the_cap_a_push_is_refused_and_changes_nothing() -> None:
    async def job(staged: bool) -> None:
        world = World(tuning=TINY)
        engine = await world.start()
        for number in range(world.tuning.max_layers - staged):
            await push(engine, {"a": str(number)})
        if staged:
            await write(engine, {"b": "live"})
        record, files = await engine.branches.get(REPO, "main"), world.layer_files()
        before = await observed(engine)
        refusal = await fails(push(engine, {"a": "refused"}), errors.BackpressureError)
        assert "main" in str(refusal)
        assert await engine.branches.get(REPO, "main") == record
        assert (await observed(engine)).same(before)
        if not staged:
            assert world.layer_files() == files, "refused before anything is written"
            await fails(engine.branches.reset_prefix(REPO, "main", ""), errors.BackpressureError)
            assert await engine.branches.get(REPO, "main") == record
        await write(engine, {"c": "a row still finds room"})
        assert await engine.branches.compact(REPO, "main") == len(record.layers) - 1
        await push(engine, {"a": "room"})
        assert (await shown(engine))["a"] == "room"

    async def made_by_a_commit() -> None:
        world = World(tuning=TINY)
        engine = await world.start()
        for number in range(world.tuning.max_layers):
            await push(engine, {"a": str(number)})
        await write(engine, {"b": "live"})
        await commit(engine)
        assert await layers_of(engine) == ()
        await push(engine, {"a": "room"})
        assert await shown(engine) == {"a": "room", "b": "live"}

    await job(False)
    await job(True)
    await made_by_a_commit()


async def test_a_look_up_skips_layers_by_their_bounds_and_by_their_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tuning=TINY)
    engine = await world.start()
    await push(engine, {f"m/{n:03}": "one" for n in range(50)})
    await push(engine, {f"p/{n:03}": "one" for n in range(50)})
    await write(engine, {"z": "two"})
    await just_seal(engine)
    engine = world.engine(cache_bytes=1 << 24)
    decoded: list[str] = []

    def reading(*args: Any) -> RowFile:
        decoded.append("group")
        return reopen(*args)

    monkeypatch.setattr("lakebed_engine.tree.trees.reopen", reading)
    for path in ("a", "m/", "n", "zz", "p/0499"):
        world.log = []
        await fails(engine.objects.stat(REPO, "main", path), errors.ObjectNotFoundError)
        assert not [call for call in world.log if call.startswith("get ")], path
    misses = 0
    for n in range(49):
        before = len(decoded)
        await fails(engine.objects.stat(REPO, "main", f"p/{n:03}x"), errors.ObjectNotFoundError)
        misses += len(decoded) > before
    assert misses <= 5, "a filter lets about one path in a hundred through"
    files = [call for call in world.log if call.startswith("get ")]
    assert len(files) == 1, "the one layer of that range is fetched once"
    before = len(decoded)
    assert await engine.objects.stat(REPO, "main", "p/007") == entry("one")
    assert len(decoded) == before + 1, "one row group of twenty-five"
    for path in ("z", "m/001"):
        await engine.objects.stat(REPO, "main", path)


async def test_a_push_is_all_or_nothing_in_a_page() -> None:
    old = {f"p/{n:02}": "old" for n in range(12)}
    delta: Delta = {**{f"p/{n:02}": "new" for n in range(0, 12, 2)}, "p/03": None, "p/20": "new"}

    async def job(call: int) -> bool:
        world = World(tuning=TINY)
        engine = await world.start(cache_bytes=0)
        await write(engine, {path: text for path, text in old.items() if path < "p/06"})
        await commit(engine)
        await write(engine, {path: text for path, text in old.items() if path >= "p/06"})
        await push(engine, {"q": "old"})
        reached = world.at(call, lambda: push(world.engine(), delta, at=[2, 4, 6]))
        page = await engine.objects.list(REPO, "main", prefix="p/")
        world.hook = None
        found = {row.path: row.entry.physical_address[5:] for row in page.items if row.entry}
        assert found in (old, applied(old, delta)), call
        if reached():
            assert await shown(engine, prefix="p/") == applied(old, delta)
        return reached()

    call = 1
    while await job(call):
        call += 1
    assert call > 6


async def test_threads_do_not_share_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Parquet reader that threads share sometimes raises errors or crashes the process."""
    readers: list[Any] = []

    def reading(*args: Any) -> RowFile:
        file = reopen(*args)
        readers.append(file)
        return file

    async def job() -> None:
        lake = Lake(low=1 << 20, high=1 << 23)
        runtime = AsyncioRuntime(threads=4)
        state = {f"p/{n:04}": f"{n}" for n in range(1000)}
        committed = await lake.tree(state)
        pushed = layer_tree(await write_layer(lake.store, runtime, "1", chunked([table(dict(state))]), 1 << 23))
        for tree in (committed, pushed):
            trees = Trees(runtime, ByteCache(1 << 30))
            some = list(state)[::20]
            found = await asyncio.gather(*(trees.find(lake.store, tree, path) for path in some))
            assert found == [entry(state[path]) for path in some]
            assert len({id(one) for one in readers}) == len(readers) == len(some)
            readers.clear()
        runtime.close()
        lake.close()

    monkeypatch.setattr("lakebed_format.tree.files.ROW_GROUP_ROWS", 20)
    monkeypatch.setattr("lakebed_engine.tree.trees.reopen", reading)
    await job()
