"""Summaries of the paths that a commit changed (`ChangedPaths`). The log uses them to skip commits.

A commit collects its summary and stores it with its row. If it is missing, it is made again from the trees.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress

import pyarrow as pa

from lakebed_engine.operations.branch.view import tree_of
from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.operations.keys import changed_paths_key
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.tree.changed_paths import ChangedPaths, ChangedPathsBuilder
from lakebed_engine.tree.diff import diff
from lakebed_engine.vocabulary.errors import StoreError
from lakebed_engine.vocabulary.ports import Runtime
from lakebed_engine.vocabulary.records import Commit

_INLINE = 256
"""Up to this number of rows, the event loop reads the paths itself. Larger tables go to the executor."""


async def collect_paths(
    runtime: Runtime, rows: AsyncIterator[pa.Table], changed_paths: ChangedPathsBuilder
) -> AsyncIterator[pa.Table]:
    """Pass the tables on, and collect their paths."""
    async for table in rows:
        if table.num_rows <= _INLINE:
            changed_paths.add(table)
        else:
            await runtime.cpu(changed_paths.add, table)
        yield table


def changed_paths_row(repo: Repo, commit_id: str, changed_paths: ChangedPaths) -> Put:
    """The KV row with the changed paths of a commit. It goes into the batch that adds the commit to history."""
    return Put(repo.partition, changed_paths_key(commit_id), changed_paths.encode())


async def changed_paths_of(ctx: Context, repo: Repo, commit: Commit) -> ChangedPaths:
    """The changed paths of a commit with one parent. Makes and stores a missing one."""
    found = await ctx.kv.get(repo.partition, changed_paths_key(commit.id))
    if found is not None:
        return ChangedPaths.decode(found.value)
    old, new = await tree_of(ctx, repo, commit.parents[0]), await tree_of(ctx, repo, commit.id)
    changed_paths = ChangedPathsBuilder()
    async for changes in diff(ctx.trees, repo.store, ctx.runtime, old, new, detail="delta"):
        changed_paths.add(await ctx.runtime.cpu(changes.as_delta))
        if changed_paths.lost:
            break
    found_paths = changed_paths.build()
    with suppress(StoreError):  # the log does not need the stored row
        await ctx.kv.apply(Batch(puts=[changed_paths_row(repo, commit.id, found_paths)]))
    return found_paths
