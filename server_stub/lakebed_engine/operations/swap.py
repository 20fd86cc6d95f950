"""The one place where a branch record changes: every compare-and-swap batch of the engine is built here.

Above `context`. A batch holds the check of the record, the new record, the operation key that settles a lost
answer, and notes for the cleaner about what the swap dropped (`PROTOCOL.md` 1 and 3). A journal's events will go
into the same batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from lakebed_engine.operations.context import MARKER, Context, Repo, Seen, branch_key, encode, staging
from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, Delete, Put
from lakebed_engine.vocabulary.errors import OutcomeUnknownError, PredicateFailed
from lakebed_engine.vocabulary.records import Branch, Layer

DROPS = "drops"
"""Partition of the cleaner's notes: staging tokens that no record names any more."""

OPERATIONS = b"op/"
"""Prefix of operation keys inside a repository's partition; each holds the Unix second it was written."""


def sealed(record: Branch, token: str) -> Branch:
    """The record with its token sealed as the newest layer, and a new token."""
    layers = (Layer(record.staging_token), *record.layers)
    return msgspec.structs.replace(record, gen=record.gen + 1, staging_token=token, layers=layers)


def emptied(record: Branch, token: str) -> Branch:
    """The record with everything staged dropped."""
    return msgspec.structs.replace(record, gen=record.gen + 1, staging_token=token, layers=())


def tokens_of(record: Branch) -> list[str]:
    """Every staging token that the record names."""
    return [record.staging_token, *(layer.id for layer in record.layers if layer.kind == "kv")]


async def swap(
    ctx: Context,
    repo: Repo,
    seen: Seen,
    new: Branch | None,
    *,
    puts: Sequence[Put] = (),
    checks: Sequence[Check] = (),
    dropped: Sequence[str] = (),
) -> bool:
    """Replace the branch record as it was seen by `new`, or delete it; with further rows in the same batch.

    True: it landed. False: the record had changed and nothing was done. `dropped` are staging tokens that nothing
    names afterwards. Raises OutcomeUnknownError only when reading back could not settle a lost answer.
    """
    key = branch_key(seen.record.name)
    operation = OPERATIONS + ctx.ids.new().encode()
    stamp = str(ctx.now()).encode()
    rows = [*puts, Put(repo.partition, operation, stamp)]
    rows += [Put(DROPS, token.encode(), stamp) for token in dropped]
    if new is not None:
        rows.append(Put(repo.partition, key, encode(new)))
    batch = Batch(
        checks=[seen.check(repo), *checks],
        puts=rows,
        deletes=[Delete(repo.partition, key)] if new is None else [],
    )
    return await apply(ctx, repo, batch, operation)


async def apply(ctx: Context, repo: Repo, batch: Batch, operation: bytes) -> bool:
    """Apply a batch that writes the operation key `operation`; settle a lost answer by reading that key.

    Only the key proves that the batch landed: vanished ids may have been reset away. It is absent for good only
    when the checks can no longer hold, so an absent key is settled by looking at the first check once more.
    """
    try:
        await ctx.kv.apply(batch)
    except PredicateFailed:
        return False
    except OutcomeUnknownError:
        if await ctx.kv.get(repo.partition, operation) is not None:
            return True
        check = batch.checks[0]
        now = await ctx.kv.get(check.partition, check.key)
        if (now.version if now is not None else 0) != check.version:
            return await ctx.kv.get(repo.partition, operation) is not None
        raise
    return True


async def seal(ctx: Context, repo: Repo, seen: Seen) -> Seen | None:
    """Seal the token if it has rows (`PROTOCOL.md` 3, SEAL). None: the record changed meanwhile, read it again."""
    if await ctx.kv.get(staging(seen.record.staging_token), MARKER) is None:
        return seen
    new = sealed(seen.record, ctx.ids.new())
    if not await swap(ctx, repo, seen, new):
        return None
    return await _reread(ctx, repo, new)


async def _reread(ctx: Context, repo: Repo, new: Branch) -> Seen | None:
    found = await ctx.kv.get(repo.partition, branch_key(new.name))
    if found is None:
        return None
    record = msgspec.json.decode(found.value, type=Branch)
    return Seen(record, found.version) if record.uid == new.uid else None


async def is_staged(ctx: Context, record: Branch) -> bool:
    """Whether a branch has any uncommitted row, effective or not."""
    if record.layers:
        return True
    return await ctx.kv.get(staging(record.staging_token), MARKER) is not None


def nothing_staged(record: Branch) -> Check:
    """The check that the live token has no rows: guards swaps that must not overtake a staged write."""
    return Check(staging(record.staging_token), MARKER, ABSENT)
