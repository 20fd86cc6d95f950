"""Staged rows under tokens that no record names.

Swaps note every token that they drop, and the cleaner removes its rows: so there are none, unless a repository was
deleted under a call. A token is in a record before it has rows, and once it has left the record it never comes back:
partitions are listed first, then every record and note is read.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from lakebed_engine.operations.branch.compare_and_swap import DROPS, everything_of
from lakebed_engine.operations.context import BAD_ROW, Context, decode_branch, decode_workspace, staging
from lakebed_engine.operations.gc.lease import Lease
from lakebed_engine.operations.gc.mark_refs import rows_of
from lakebed_engine.operations.gc.scratch_db import Found, Ledger
from lakebed_engine.vocabulary.errors import CorruptDataError

_REPOSITORIES = "repo/"
_STAGE = "stage/"


async def look_at_tokens(ctx: Context, ledger: Ledger) -> int:
    """The first look: tokens that have rows and that nothing names. How many. Raises CorruptDataError."""
    async for name in _partitions(ctx, _STAGE):
        ledger.add_found(0, Found(name, 0, 0.0))
    await _read_names(ctx, ledger)
    return sum(not ledger.is_named(one.key) for page in ledger.found() for one in page)


async def drop_tokens(ctx: Context, ledger: Ledger, lease: Lease) -> int:
    """The second look; then drop the rows of tokens that nothing named in either. How many."""
    await _read_names(ctx, ledger)
    dropped = 0
    for page in ledger.found():
        for one in page:
            if not ledger.is_named(one.key):
                await lease.keep()
                await ctx.kv.drop_partition(one.key)
                dropped += 1
    return dropped


async def _read_names(ctx: Context, ledger: Ledger) -> None:
    """Of every repository that has rows, whatever its state."""
    try:
        async for partition in _partitions(ctx, _REPOSITORIES):
            for prefix, decode in ((b"branch/", decode_branch), (b"workspace/", decode_workspace)):
                async for rows in rows_of(ctx.kv, partition, prefix, prefix[:-1] + b"0"):
                    for row in rows:
                        ledger.name(staging(layer.id) for layer in everything_of(decode(row.value)))
        async for rows in rows_of(ctx.kv, DROPS, b"", None):
            ledger.name(staging(row.key.decode()) for row in rows)
    except BAD_ROW as error:
        raise CorruptDataError(f"a record cannot be read ({error}): no staged rows were swept") from error


async def _partitions(ctx: Context, prefix: str) -> AsyncIterator[str]:
    start, end = prefix, prefix[:-1] + "0"
    while names := await ctx.kv.partitions(start, end, 1000):
        for name in names:
            yield name
        start = names[-1] + "\0"
