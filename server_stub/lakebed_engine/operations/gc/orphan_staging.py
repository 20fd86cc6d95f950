"""Staged rows under tokens that no record names.

Swaps note every token that they drop, and the cleaner removes its rows. So such rows remain only when a repository was
deleted during a request. A token is in a record before it has rows, and never returns to a record that it has left.
Therefore the sweep first lists the partitions and then reads every record and note.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from lakebed_engine.operations.branch.compare_and_swap import everything_of
from lakebed_engine.operations.context import BAD_ROW, Context, decode_branch, decode_workspace
from lakebed_engine.operations.gc.lease import Lease
from lakebed_engine.operations.gc.scratch_db import Found, ScratchDb
from lakebed_engine.operations.keys import (
    BRANCH_ROWS,
    DROPS,
    REPOSITORY_PARTITIONS,
    STAGING_PARTITIONS,
    WORKSPACE_ROWS,
    staging,
    under,
)
from lakebed_engine.stores.kv.base import scan_pages, scan_rows
from lakebed_engine.vocabulary.errors import CorruptDataError


async def look_at_tokens(ctx: Context, scratch: ScratchDb) -> int:
    """The first check: count the tokens that have rows and that no record names. Raises CorruptDataError."""
    async for name in _partitions(ctx, STAGING_PARTITIONS):
        scratch.add_found(0, Found(name, 0, 0.0))
    await _read_names(ctx, scratch)
    return sum(not scratch.is_named(one.key) for page in scratch.found() for one in page)


async def drop_tokens(ctx: Context, scratch: ScratchDb, lease: Lease) -> int:
    """The second check: drop the rows of tokens that were unnamed in both. Returns the number of tokens."""
    await _read_names(ctx, scratch)
    dropped = 0
    for page in scratch.found():
        for one in page:
            if not scratch.is_named(one.key):
                await lease.keep()
                await ctx.kv.drop_partition(one.key)
                dropped += 1
    return dropped


async def _read_names(ctx: Context, scratch: ScratchDb) -> None:
    """Read the records of every repository that has rows, in any state."""
    try:
        async for partition in _partitions(ctx, REPOSITORY_PARTITIONS):
            for prefix, decode in ((BRANCH_ROWS, decode_branch), (WORKSPACE_ROWS, decode_workspace)):
                async for row in scan_rows(ctx.kv, partition, *under(prefix)):
                    scratch.name(staging(layer.id) for layer in everything_of(decode(row.value)))
        async for rows in scan_pages(ctx.kv, DROPS):
            scratch.name(staging(row.key.decode()) for row in rows)
    except BAD_ROW as error:
        raise CorruptDataError(f"a record cannot be read ({error}): no staged rows were swept") from error


async def _partitions(ctx: Context, prefix: str) -> AsyncIterator[str]:
    start, end = prefix, prefix[:-1] + "0"
    while names := await ctx.kv.partitions(start, end, 1000):
        for name in names:
            yield name
        start = names[-1] + "\0"
