"""The size of a repository: objects and bytes at the head of its default branch.

A metarange has the number of rows of each range, but not the bytes of their objects. So the first request reads the
sizes in all ranges, and later ones only in the ranges that are new. One row of the repository has the last sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from lakebed_engine.operations.context import BAD_ROW, Context, Repo, load_commit, open_repo, read_branch
from lakebed_engine.operations.keys import RANGE_BYTES
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.tree.manifest import EMPTY_TREE, RangeInfo, Tree
from lakebed_engine.vocabulary.errors import BranchNotFoundError, MissingFileError, StoreError
from lakebed_engine.vocabulary.records import RepositoryStatistics

BUDGET: Final = 0.15
"""Seconds after which a request starts no further reads of ranges."""
_AT_ONCE: Final = 8


class _Sum(msgspec.Struct, frozen=True, array_like=True):
    """The bytes of the objects in the ranges of a tree, without what its patches change."""

    tree_id: str
    bytes: int


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Sum).decode


async def repository_statistics(ctx: Context, repo_name: str, *, budget: float = BUDGET) -> RepositoryStatistics:
    """The newest commit of the default branch, and its number of objects and bytes.

    `bytes` is None when a single request cannot read all ranges: the next request continues. A repository without its
    default branch is empty. Raises RepositoryNotFoundError.
    """
    repo = await open_repo(ctx, repo_name)
    try:
        head = (await read_branch(ctx, repo, repo.record.default_branch)).record
    except BranchNotFoundError:
        return RepositoryStatistics(None, 0, 0)
    commit = await load_commit(ctx, repo, head.commit_id)
    tree = await ctx.trees.load(repo.store, commit.metarange_id)
    patch = await ctx.trees.patch(repo.store, tree)
    objects = sum(info.rows for info in tree.ranges) + _more_objects(patch)
    below = await _bytes_of_ranges(ctx, repo, tree, ctx.clock.monotonic() + budget)
    return RepositoryStatistics(commit, objects, None if below is None else below + _more_bytes(patch))


def _more_objects(patch: pa.Table) -> int:
    live: int = patch.num_rows - _sum(patch.column("deleted"))
    return live - _sum(pc.greater(pc.binary_length(patch.column("before")), 0))


def _more_bytes(patch: pa.Table) -> int:
    return _sum(patch.column("size_bytes")) - _sum(patch.column("before_bytes"))


def _sum(values: pa.ChunkedArray) -> int:
    return int(pc.sum(values).as_py() or 0)


async def _bytes_of_ranges(ctx: Context, repo: Repo, tree: Tree, end: float) -> int | None:
    known, old = await _last_sum(ctx, repo)
    if old.id == tree.id:
        return known
    here, there = {info.id for info in tree.ranges}, {info.id for info in old.ranges}
    added = [info for info in tree.ranges if info.id not in there]
    removed = [info for info in old.ranges if info.id not in here]
    if len(added) + len(removed) < len(tree.ranges):
        with suppress(MissingFileError):  # a sweep may have removed files of the old tree
            more, less = await _size(ctx, repo, added, end), await _size(ctx, repo, removed, end)
            return None if more is None or less is None else await _keep(ctx, repo, tree, known + more - less)
    total = await _size(ctx, repo, tree.ranges, end)
    return None if total is None else await _keep(ctx, repo, tree, total)


async def _size(ctx: Context, repo: Repo, ranges: Sequence[RangeInfo], end: float) -> int | None:
    """The bytes of the objects in some ranges. None when the time limit passes before the last one is read."""
    sizes: dict[str, int] = {}
    unknown: list[RangeInfo] = []
    for info in ranges:
        known: int | None = ctx.range_bytes.get((repo.store.uri, info.id))
        if known is None:
            unknown.append(info)
        else:
            sizes[info.id] = known
    for first in range(0, len(unknown), _AT_ONCE):
        if first and ctx.clock.monotonic() >= end:
            return None
        some = unknown[first : first + _AT_ONCE]
        found = await ctx.runtime.gather([partial(ctx.trees.object_bytes, repo.store, info) for info in some])
        for info, size in zip(some, found, strict=True):
            ctx.range_bytes.put((repo.store.uri, info.id), size, 1)
            sizes[info.id] = size
    return sum(sizes.values())


async def _last_sum(ctx: Context, repo: Repo) -> tuple[int, Tree]:
    """The stored sum, and its tree. Without a stored sum, the empty tree."""
    found = await ctx.kv.get(repo.partition, RANGE_BYTES)
    if found is not None:
        with suppress(MissingFileError, *BAD_ROW):
            stored = _decode(found.value)
            return stored.bytes, await ctx.trees.load(repo.store, stored.tree_id)
    return 0, EMPTY_TREE


async def _keep(ctx: Context, repo: Repo, tree: Tree, bytes: int) -> int:
    """Store the sum. Ignores errors, because it can be computed again."""
    with suppress(StoreError):
        await ctx.kv.apply(Batch(puts=[Put(repo.partition, RANGE_BYTES, _encode(_Sum(tree.id, bytes)))]))
    return bytes
