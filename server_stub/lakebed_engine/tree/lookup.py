"""What a tree has at the paths of a delta: which rows of it really change something, and what the ranges have there.

Few paths are looked up one by one, many by columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lakebed_format.schemas import compact, flat

from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.tree.manifest import RangeInfo, Tree, single
from lakebed_engine.tree.patches import with_before
from lakebed_engine.tree.rows import upper_bound
from lakebed_engine.tree.trees import Trees
from lakebed_engine.vocabulary.ports import Runtime

Known = tuple[bytes, int]
"""Identity and size of an entry; ``b""`` and 0 of none."""

_NONE: Known = (b"", 0)


async def changes_of(trees: Trees, store: ObjectStore, runtime: Runtime, tree: Tree, delta: pa.Table) -> pa.Table:
    """The rows of `delta` that change what the tree shows, with PATCH_SCHEMA."""
    if delta.num_rows == 0:
        return with_before(delta, [], [])
    if delta.num_rows <= trees.limits.looked_up:
        return await _one_by_one(trees, store, tree, delta)
    below = await _ranges_at(trees, store, runtime, tree, delta)
    patches = [await trees.rows(store, info) for info in tree.patches]
    return await runtime.cpu(_by_column, delta, below, patches)


async def _one_by_one(trees: Trees, store: ObjectStore, tree: Tree, delta: pa.Table) -> pa.Table:
    deleted, wanted = delta.column("deleted").to_pylist(), delta.column("identity").to_pylist()
    ranges = Tree(tree.id, tree.ranges, tree.max_paths)
    before: list[Known] = []
    keep: list[bool] = []
    for path, gone, identity in zip(delta.column("path").to_pylist(), deleted, wanted, strict=True):
        _, entry = await trees.lookup(store, ranges, path)
        here = below = _NONE if entry is None else (entry.identity, entry.size)
        for info in tree.patches:
            if not info.min_path <= path <= info.max_path:
                continue
            known, entry = await trees.lookup(store, single(info), path)
            if known:
                here = _NONE if entry is None else (entry.identity, entry.size)
                break
        before.append(below)
        keep.append(here[0] != (b"" if gone else identity))
    rows = with_before(delta, [one for one, _ in before], [size for _, size in before])
    return rows if all(keep) else compact(rows.filter(pa.array(keep)))


async def _ranges_at(trees: Trees, store: ObjectStore, runtime: Runtime, tree: Tree, delta: pa.Table) -> pa.Table:
    """The key columns of all ranges that a delta touches."""
    touched: list[RangeInfo] = []
    start = 0
    while start < delta.num_rows:
        index = tree.seek(str(delta.column("path")[start].as_py()))
        if index == len(tree.ranges):
            break
        touched.append(tree.ranges[index])
        start += upper_bound(delta.slice(start), tree.ranges[index].max_path)
    tables = await runtime.gather([lambda info=info: trees.keys(store, info) for info in touched])  # type: ignore[misc]
    return [await runtime.cpu(_known, table, delta) for table in tables]


def _known(keys: pa.Table, delta: pa.Table) -> pa.Table:
    """Those of a range's keys that a delta has too."""
    return keys.select(["path", "size_bytes", "identity"]).filter(
        pc.is_in(keys.column("path"), value_set=flat(delta.column("path")))
    )


def _by_column(delta: pa.Table, below: list[pa.Table], patches: list[pa.Table]) -> pa.Table:
    paths = flat(delta.column("path"))
    known = compact(pa.concat_tables(below)) if below else None
    before, sizes = _values(known, paths)
    here = before
    for rows in reversed(patches):
        at = pc.index_in(paths, value_set=flat(rows.column("path")))
        found = pc.is_valid(at)
        here = pc.if_else(found, _shown(rows).take(at), here)
    wanted = _shown(delta)
    rows = with_before(delta, before, sizes)
    keep = pc.not_equal(here, wanted)
    return compact(rows if pc.all(keep).as_py() else rows.filter(keep))


def _shown(delta: pa.Table) -> Any:
    """The identity that each row shows; empty for a tombstone."""
    identity = flat(delta.column("identity")).cast(pa.binary())
    return pc.if_else(flat(delta.column("deleted")), pa.scalar(b"", pa.binary()), identity)


def _values(known: pa.Table | None, paths: Any) -> tuple[Any, Any]:
    """Identity and size at each path."""
    if known is None or known.num_rows == 0:
        return pa.array([b""] * len(paths), pa.binary()), pa.array(np.zeros(len(paths), dtype=np.int64))
    at = pc.index_in(paths, value_set=flat(known.column("path")))
    identity = flat(known.column("identity")).cast(pa.binary()).take(at).fill_null(b"")
    return identity, flat(known.column("size_bytes")).take(at).fill_null(0)
