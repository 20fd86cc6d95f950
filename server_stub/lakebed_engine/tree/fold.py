"""Folds a delta into a tree (`PROTOCOL.md` 3, COMMIT): as a patch over its ranges when it is small, else into the
ranges.

So a commit of one row writes a few hundred rows instead of a range of thousands. When the patches have grown, they are
folded into the ranges (docs/decisions/0011). A patch contains only the rows that change something: `changes_of` looks
up few paths one by one, and many by columns.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from lakebed_format import DELTA_SCHEMA
from lakebed_format.schemas import compact, flat
from lakebed_format.tree.split import total_size

from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.tree.layers import overlaid
from lakebed_engine.tree.manifest import MAX_FILES_WITH_INLINE_PATCH, Limits, RangeInfo, Tree, single
from lakebed_engine.tree.patches import as_delta, part_to_fold, stacked, taken_in, too_much, with_before
from lakebed_engine.tree.rewrite import Folded, merge_rows, rewrite, written
from lakebed_engine.tree.rows import path_at, upper_bound
from lakebed_engine.tree.trees import Trees, Write
from lakebed_engine.vocabulary.ports import Runtime

__all__ = ["Folded", "fold", "merge_rows"]

_NOTHING = DELTA_SCHEMA.empty_table()


async def fold(
    trees: Trees,
    store: ObjectStore,
    runtime: Runtime,
    base: Tree,
    delta: AsyncIterator[pa.Table],
    *,
    limits: Limits | None = None,
    later: list[Write] | None = None,
    relocate: bool = False,
) -> Folded:
    """Apply `delta` (tables of DELTA_SCHEMA, ascending and disjoint) to `base`.

    With `relocate`, rows that differ only in their address are changes. The new tree has no patches then, because
    patches compare content. All files of the new tree are durable when this returns; with `later`, when all writes in
    it are done. When nothing changed, the tree is `base` itself. By default, `limits` are the limits of `trees`.
    """
    limits = limits or trees.limits
    if relocate:
        return await _onto_ranges(trees, store, runtime, base, delta, limits, later, relocate=True)
    if not base.ranges:
        return await rewrite(trees, store, runtime, base, delta, limits, later)
    first, more = await _first(delta, limits.patch_rows)
    if not first.num_rows:
        return Folded(base, 0, 0)
    if more:
        return await _through(trees, store, runtime, base, _chain([first], delta), limits, later)
    changes = await changes_of(trees, store, runtime, base, first)
    if not changes.num_rows:
        return Folded(base, 0, 0)
    patched = await _patch(trees, store, runtime, base, changes, limits, later)
    if patched is not None:
        return patched
    found = await _thin_out(trees, store, runtime, base, changes, limits, later)
    if found is None:
        work = _chain([as_delta(changes)], None)
        found = await _onto_ranges(trees, store, runtime, base, work, limits, later)
    return found._replace(changed=changes.num_rows)


async def _first(delta: AsyncIterator[pa.Table], rows: int) -> tuple[pa.Table, bool]:
    """The first rows of a delta, and whether there may be more. Reads hardly more than `rows` rows."""
    pieces: list[pa.Table] = []
    count = 0
    more = False
    async for piece in delta:
        pieces.append(piece)
        count += piece.num_rows
        if count > rows:
            more = True
            break
    if len(pieces) == 1:
        return compact(pieces[0]), more
    return (compact(pa.concat_tables(pieces)) if pieces else _NOTHING), more


async def _chain(tables: Sequence[pa.Table], rest: AsyncIterator[pa.Table] | None) -> AsyncIterator[pa.Table]:
    for table in tables:
        if table.num_rows:
            yield table
    if rest is not None:
        async for table in rest:
            yield table


async def _onto_ranges(
    trees: Trees,
    store: ObjectStore,
    runtime: Runtime,
    base: Tree,
    delta: AsyncIterator[pa.Table],
    limits: Limits,
    later: list[Write] | None,
    *,
    relocate: bool = False,
) -> Folded:
    """Rewrite the ranges with the patches and a delta over them."""
    if base.patches:
        below = await trees.patch(store, base)
        delta = overlaid(runtime, [delta, _chain([as_delta(below)], None)])
    found = await rewrite(trees, store, runtime, base, delta, limits, later, relocate=relocate)
    if found.tree is base and base.patches:  # the delta reverts all patches: the ranges alone are the tree
        tree, save = trees.named(store, base.ranges)
        await written(runtime, [save], later)
        return found._replace(tree=tree)
    return found


async def _through(
    trees: Trees,
    store: ObjectStore,
    runtime: Runtime,
    base: Tree,
    delta: AsyncIterator[pa.Table],
    limits: Limits,
    later: list[Write] | None,
) -> Folded:
    """A delta of any size. Leaves out rows that change nothing, if the patches would otherwise count as changes."""
    if not base.patches:
        return await rewrite(trees, store, runtime, base, delta, limits, later)
    changed = 0

    async def real() -> AsyncIterator[pa.Table]:
        nonlocal changed
        async for piece in delta:
            rows = await changes_of(trees, store, runtime, base, piece)
            changed += rows.num_rows
            if rows.num_rows:
                yield as_delta(rows)

    found = await _onto_ranges(trees, store, runtime, base, real(), limits, later)
    return found._replace(changed=changed) if changed else Folded(base, 0, found.written)


async def _thin_out(
    trees: Trees,
    store: ObjectStore,
    runtime: Runtime,
    base: Tree,
    changes: pa.Table,
    limits: Limits,
    later: list[Write] | None,
) -> Folded | None:
    """Fold a part of the patches and of the changes into the ranges. The rest stays one patch. None: fold all."""
    if not base.patches:
        return None
    rows = stacked([changes, *[await trees.rows(store, info) for info in base.patches]], whole=True)
    part = await runtime.cpu(part_to_fold, base, rows, limits) if rows.num_rows else None
    if part is None:
        return None
    rest = compact(rows.filter(pa.array(~part)))
    info, put = await trees.encode(store, rest, total_size(rest))
    writes = [put]
    try:
        work = _chain([as_delta(compact(rows.filter(pa.array(part))))], None)
        found = await rewrite(trees, store, runtime, base, work, limits, writes, over=(info,))
        await written(runtime, writes, later)
    except BaseException:
        put.drop()
        raise
    return found


async def _patch(
    trees: Trees,
    store: ObjectStore,
    runtime: Runtime,
    base: Tree,
    changes: pa.Table,
    limits: Limits,
    later: list[Write] | None,
) -> Folded | None:
    """The tree with one more patch, which may absorb others. None when it is better to rewrite the ranges."""
    size = total_size(changes)
    every = [(changes.num_rows, size), *((info.rows, info.size_bytes) for info in base.patches)]
    first = min([path_at(changes, 0), *(info.min_path for info in base.patches)])
    last = max([path_at(changes, -1), *(info.max_path for info in base.patches)])
    if too_much(base, first, last, sum(one for one, _ in every), sum(two for _, two in every), limits):
        return None
    count = taken_in(base.patches, changes.num_rows, limits)
    taken = [await trees.rows(store, info) for info in base.patches[:count]]
    kept = base.patches[count:]
    rows = stacked([changes, *taken], whole=not kept)
    kept, writes = await _own_files(trees, store, kept)
    count = len(writes) + bool(rows.num_rows)
    if not rows.num_rows:
        tree, save = trees.named(store, base.ranges, kept)
    elif rows.num_rows <= limits.small and len(base.files) < MAX_FILES_WITH_INLINE_PATCH:
        size = _size(rows, every[: len(taken) + 1])
        tree, save = await trees.with_inline_patch(store, base.ranges, kept, rows, size)
    else:
        info, put = await trees.encode(store, rows, _size(rows, every[: len(taken) + 1]))
        writes.append(put)
        tree, save = trees.named(store, base.ranges, (info, *kept))
    await written(runtime, [save, *writes], later)
    return Folded(tree, changes.num_rows, count)


async def _own_files(
    trees: Trees, store: ObjectStore, patches: Sequence[RangeInfo]
) -> tuple[tuple[RangeInfo, ...], list[Write]]:
    """Patches that a new tree keeps below its own. A patch inside the old tree's metarange gets a file.

    A new patch absorbs small ones, so this happens only when another server has other limits.
    """
    kept: list[RangeInfo] = []
    writes: list[Write] = []
    for info in patches:
        if not info.inline_in:
            kept.append(info)
            continue
        own, put = await trees.encode(store, await trees.rows(store, info), info.size_bytes)
        kept.append(own)
        writes.append(put)
    return tuple(kept), writes


def _size(rows: pa.Table, parts: Sequence[tuple[int, int]]) -> int:
    """The raw bytes of rows built from parts (rows, bytes): the sum of the parts, unless rows were left out."""
    whole = rows.num_rows == sum(count for count, _ in parts)
    return sum(size for _, size in parts) if whole else total_size(rows)


Known = tuple[bytes, int]
"""Identity and size of an entry. ``b""`` and 0 without an entry."""

_NONE: Known = (b"", 0)


async def changes_of(trees: Trees, store: ObjectStore, runtime: Runtime, tree: Tree, delta: pa.Table) -> pa.Table:
    """The rows of `delta` that change the content of the tree, with PATCH_SCHEMA."""
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
    """The keys of a range that a delta also has."""
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
    """The identity of each row. Empty for a tombstone."""
    identity = flat(delta.column("identity")).cast(pa.binary())
    return pc.if_else(flat(delta.column("deleted")), pa.scalar(b"", pa.binary()), identity)


def _values(known: pa.Table | None, paths: Any) -> tuple[Any, Any]:
    """Identity and size at each path."""
    if known is None or known.num_rows == 0:
        return pa.array([b""] * len(paths), pa.binary()), pa.array(np.zeros(len(paths), dtype=np.int64))
    at = pc.index_in(paths, value_set=flat(known.column("path")))
    identity = flat(known.column("identity")).cast(pa.binary()).take(at).fill_null(b"")
    return identity, flat(known.column("size_bytes")).take(at).fill_null(0)
