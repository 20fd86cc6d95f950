"""Footprints of commits: gathered while a commit is made, stored with its row, made anew for old ones.

They follow from the trees: one that is lost, or was never written, is made from them again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress

import pyarrow as pa

from lakebed_engine.operations.branch.view import tree_of
from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.operations.keys import touched_key
from lakebed_engine.stores.kv.base import Batch, Put
from lakebed_engine.tree.changed_paths import Footprint, Touched
from lakebed_engine.tree.diff import diff
from lakebed_engine.vocabulary.errors import StoreError
from lakebed_engine.vocabulary.ports import Runtime
from lakebed_engine.vocabulary.records import Commit

_INLINE = 256
"""Rows that are looked at on the spot; more go to the executor."""


async def watched(runtime: Runtime, rows: AsyncIterator[pa.Table], touched: Touched) -> AsyncIterator[pa.Table]:
    """The same tables; their paths are gathered as they pass."""
    async for table in rows:
        if table.num_rows <= _INLINE:
            touched.add(table)
        else:
            await runtime.cpu(touched.add, table)
        yield table


def touched_row(repo: Repo, commit_id: str, touched: Touched) -> Put:
    """The KV row of a footprint: it goes into the batch that puts the commit into history."""
    return Put(repo.partition, touched_key(commit_id), touched.footprint().encode())


async def footprint_of(ctx: Context, repo: Repo, commit: Commit) -> Footprint:
    """What a commit with one parent changed. One that was made without it gets it now."""
    found = await ctx.kv.get(repo.partition, touched_key(commit.id))
    if found is not None:
        return Footprint.decode(found.value)
    old, new = await tree_of(ctx, repo, commit.parents[0]), await tree_of(ctx, repo, commit.id)
    touched = Touched()
    async for changes in diff(ctx.trees, repo.store, ctx.runtime, old, new, detail="delta"):
        touched.add(await ctx.runtime.cpu(changes.as_delta))
        if touched.lost:
            break
    with suppress(StoreError):  # the log can be told without
        await ctx.kv.apply(Batch(puts=[touched_row(repo, commit.id, touched)]))
    return touched.footprint()
