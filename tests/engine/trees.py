"""What the tree tests share: a lake of trees with tiny ranges, and dictionaries to compare them with."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import pyarrow as pa
from hypothesis import strategies as st
from lakebed_engine.operations.objects.stage import new_entry
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.tree.cache import ByteCache
from lakebed_engine.tree.diff import diff
from lakebed_engine.tree.fold import Folded, fold
from lakebed_engine.tree.manifest import Limits
from lakebed_engine.tree.rows import delta_table
from lakebed_engine.tree.trees import EMPTY_TREE, RangeInfo, Tree, Trees
from lakebed_engine.vocabulary.ports import AsyncioRuntime
from lakebed_engine.vocabulary.records import Entry
from lakebed_format.keys import RANGES
from lakebed_format.tree.split import total_size

from tests.engine.support import chunked

T = TypeVar("T")
State = dict[str, str]
Delta = dict[str, str | None]

ODD = ["a//b", "/x", "..", "a/../b", "\U0001f600/e", "\U0010ffff", "\U0010ffff\U0010ffff", "\0", "\0\0", "a\0",
       "\ud7ff", "\ue000", "\uffff", "\U00010000", "é", "e\u0301", "x" * 1000, " ", "%2F", "\n"]  # fmt: skip
paths = st.one_of(
    st.integers(0, 120).map(lambda n: f"p/{n:03}"), st.sampled_from(ODD), st.text("ab/", min_size=1, max_size=5)
)
values = st.sampled_from(["", "one", "two", "three"])
states = st.dictionaries(paths, values, max_size=60)
deltas = st.dictionaries(paths, st.one_of(st.none(), values), max_size=40)


def entry(text: str, mtime: int = 5) -> Entry:
    """An entry whose identity follows from its text: many paths share one."""
    return new_entry(f"data/{text}", hashlib.md5(text.encode()).hexdigest(), len(text), mtime, "t", {})


def order(delta: Delta) -> list[str]:
    """Paths in the order of their bytes."""
    return sorted(delta, key=lambda path: path.encode())


def table(delta: Delta) -> pa.Table:
    """A dictionary as a delta; None is a tombstone."""
    return delta_table([(path, None if (text := delta[path]) is None else entry(text)) for path in order(delta)])


def applied(state: State, delta: Delta) -> State:
    """The oracle of a fold."""
    both: Delta = {**state, **delta}
    return {path: text for path, text in both.items() if text is not None}


def changed(before: State, after: State) -> Delta:
    """The oracle of a diff."""
    every = {*before, *after}
    return {path: after.get(path) for path in every if before.get(path) != after.get(path)}


class Lake:
    """Trees over one memory store, with ranges of a few rows; with `patches`, small patches over them as well."""

    def __init__(self, low: int = 400, high: int = 1500, *, patches: bool = False, piece: int = 50_000) -> None:
        self.runtime = AsyncioRuntime(threads=1)
        self.store = MemoryObjects("mem://trees")
        self.low = low
        self.limits = Limits(
            low,
            high,
            patch_rows=20 if patches else 0,
            small=2,
            patches=3,
            share=0,
            portion=4,
            at_once=2,
            piece=piece,
            looked_up=2 if patches else 64,
        )
        self.trees = Trees(self.runtime, ByteCache(1 << 22), self.limits)

    def close(self) -> None:
        self.runtime.close()

    def cold(self) -> Trees:
        """The same files without a cache."""
        return Trees(self.runtime, ByteCache(0))

    async def fold(self, base: Tree, *pieces: pa.Table) -> Folded:
        return await fold(self.trees, self.store, self.runtime, base, chunked(pieces))

    async def tree(self, state: State) -> Tree:
        found = (await self.fold(EMPTY_TREE, table(dict(state)))).tree
        await self.check(found)
        return found

    async def state(self, tree: Tree) -> State:
        """Every path with its text, read without a cache."""
        trees = self.cold()
        found: State = {}
        for info in tree.ranges:
            rows = await trees.rows(self.store, info)
            paths = rows.column("path").to_pylist()
            assert not found.keys() & set(paths)
            texts = [address.removeprefix("data/") for address in rows.column("physical_address").to_pylist()]
            found.update(zip(paths, texts, strict=True))
        for info in reversed(tree.patches):
            for row in (await trees.rows(self.store, info)).to_pylist():
                found.pop(row["path"], None)
                if not row["deleted"]:
                    found[row["path"]] = row["physical_address"].removeprefix("data/")
        return {path: found[path] for path in sorted(found, key=lambda path: path.encode())}

    async def check(self, tree: Tree) -> None:
        """What holds for every tree."""
        trees = self.cold()
        last = b""
        if tree.id:
            assert await trees.load(self.store, tree.id) == tree
        for info in tree.ranges:
            rows = await trees.rows(self.store, info)
            found = [path.encode() for path in rows.column("path").to_pylist()]
            assert found == sorted(set(found))
            assert (found[0], found[-1], len(found)) == (info.min_path.encode(), info.max_path.encode(), info.rows)
            assert last < found[0] or not last
            last = found[-1]
        await self.check_patches(trees, tree)
        assert tree.max_paths == [info.max_path for info in tree.ranges]

    async def check_patches(self, trees: Trees, tree: Tree) -> None:
        """Each patch row knows what the ranges have at its path."""
        limits = self.limits
        assert len(tree.patches) <= max(1, limits.patches)
        assert sum(info.rows for info in tree.patches) <= limits.patch_rows
        below: dict[str, tuple[bytes, int]] = {}
        for info in tree.ranges:
            for row in (await trees.rows(self.store, info)).to_pylist():
                below[row["path"]] = (row["identity"], row["size_bytes"])
        for info in tree.patches:
            rows = await trees.rows(self.store, info)
            paths = rows.column("path").to_pylist()
            assert [path.encode() for path in paths] == sorted({path.encode() for path in paths})
            assert (paths[0], paths[-1], len(paths), total_size(rows)) == info[1:5]
            for row in rows.to_pylist():
                assert (row["before"], row["before_bytes"]) == below.get(row["path"], (b"", 0))

    async def diff(self, left: Tree, right: Tree, **bounds: Any) -> dict[str, tuple[str | None, str | None]]:
        """Changed paths in the order given, with the identities of both sides, in hex."""
        found: dict[str, tuple[str | None, str | None]] = {}
        async for part in diff(self.trees, self.store, self.runtime, left, right, **bounds):
            olds, news = [
                [word.hex() for word in rows.column("identity").to_pylist()] for rows in (part.left, part.right)
            ]
            left_paths, right_paths = part.left.column("path").to_pylist(), part.right.column("path").to_pylist()
            for old, new in zip(part.at_left.tolist(), part.at_right.tolist(), strict=True):
                path = right_paths[new] if new >= 0 else left_paths[old]
                assert path not in found
                assert old < 0 or left_paths[old] == path
                found[path] = (olds[old] if old >= 0 else None, news[new] if new >= 0 else None)
            if bounds.get("detail") != "slim":
                delta_paths = part.as_delta().column("path").to_pylist()
                assert delta_paths == order(dict.fromkeys(delta_paths))
        return found

    async def stored(self) -> set[str]:
        """Range files."""
        return {blob.key async for blob in self.store.list(RANGES)}


def ids(tree: Tree) -> set[str]:
    """Ids of a tree's ranges."""
    return {info.id for info in tree.ranges}


def touched(tree: Tree, delta: Delta) -> int:
    """The number of ranges of a tree that a delta changes. Rows after the last range count to it."""
    found: set[RangeInfo] = set()
    for path in delta:
        at = min(tree.seek(path), len(tree.ranges) - 1)
        if at >= 0:
            found.add(tree.ranges[at])
    return len(found)


def cuts(rows: pa.Table, at: Sequence[int]) -> Iterator[pa.Table]:
    """A table in pieces."""
    start = 0
    for end in [*sorted({min(one, rows.num_rows) for one in at}), rows.num_rows]:
        if end > start:
            yield rows.slice(start, end - start)
        start = end
