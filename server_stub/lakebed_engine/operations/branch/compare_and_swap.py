"""The one place where a branch record changes: every compare-and-swap batch of the engine is built here.

A batch holds the check of the record, the new record, the operation key that settles a lost answer, and notes for the
cleaner about what the swap dropped (`PROTOCOL.md` 1 and 3). A journal's events will go into the same batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from lakebed_engine.operations.branch.record import notes
from lakebed_engine.operations.context import Context, Repo, Seen, decode_record, encode
from lakebed_engine.operations.keys import OPERATIONS, STAGED_MARKER, record_key, staging
from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, Delete, Put
from lakebed_engine.vocabulary.errors import OutcomeUnknownError, PredicateFailed, StoreError
from lakebed_engine.vocabulary.records import Branch, Layer

RESENDS = 4
"""How often a batch whose answer was lost is sent again; its own check lets it land only once."""


def sealed(record: Branch, token: str) -> Branch:
    """The record with its token sealed as the newest layer, and a new token."""
    layers = (Layer(record.staging_token), *record.layers)
    return msgspec.structs.replace(record, gen=record.gen + 1, staging_token=token, layers=layers)


async def swap(
    ctx: Context,
    repo: Repo,
    seen: Seen,
    new: Branch | None,
    *,
    puts: Sequence[Put] = (),
    checks: Sequence[Check] = (),
    dropped: Sequence[Layer] = (),
) -> bool:
    """Replace the branch record as it was seen by `new`, or delete it; with further rows in the same batch.

    True: it landed. False: the record had changed and nothing was done. `dropped` are layers that nothing
    names afterwards. Raises OutcomeUnknownError only when reading back could not settle a lost answer.
    """
    key = record_key(seen.record.name)
    operation = OPERATIONS + ctx.ids.new().encode()
    rows = [*puts, Put(repo.partition, operation, str(ctx.now()).encode())]
    rows += notes(ctx, repo, dropped)
    if new is not None:
        rows.append(Put(repo.partition, key, encode(new)))
    batch = Batch(
        checks=[seen.check(repo), *checks],
        puts=rows,
        deletes=[Delete(repo.partition, key)] if new is None else [],
    )
    landed = await apply(ctx, repo, batch, operation)
    if landed and new is not None and len(new.layers) >= ctx.tuning.compact_from:
        ctx.crowded[repo.name, new.name] = None
    return landed


async def apply(ctx: Context, repo: Repo, batch: Batch, operation: bytes) -> bool:
    """Apply a batch that writes the operation key `operation`; settle a lost answer by that key.

    Only the key proves that the batch landed: vanished ids may have been reset away. While it is absent the same
    batch is sent again: its first check names a version that never comes back, so it lands once or not at all, even
    if the first one was only late. (That a key is absent can come true again: then a refusal settles nothing.)
    """
    lost: OutcomeUnknownError | None = None
    for attempt in range(RESENDS + 1):
        try:
            await ctx.kv.apply(batch)
        except PredicateFailed:
            if lost is None:
                return False
            if not await _landed(ctx, repo, operation, lost) and batch.checks[0].version == ABSENT:
                raise lost from None
            return await _landed(ctx, repo, operation, lost)
        except OutcomeUnknownError as error:
            lost = error
            if await _landed(ctx, repo, operation, lost):
                return True
            if attempt == RESENDS:
                raise
            await ctx.runtime.sleep(0.05 * 2**attempt)
            continue
        except StoreError as error:
            if lost is None:
                raise
            raise lost from error  # this one was refused, the one before it may have landed
        return True
    raise AssertionError("unreachable")


async def _landed(ctx: Context, repo: Repo, operation: bytes, lost: OutcomeUnknownError) -> bool:
    try:
        return await ctx.kv.get(repo.partition, operation) is not None
    except StoreError as error:
        raise lost from error


async def seal(ctx: Context, repo: Repo, seen: Seen) -> Seen | None:
    """Seal the token if it has rows (`PROTOCOL.md` 3, SEAL). None: the record changed meanwhile, read it again."""
    if await ctx.kv.get(staging(seen.record.staging_token), STAGED_MARKER) is None:
        return seen
    new = sealed(seen.record, ctx.ids.new())
    if not await swap(ctx, repo, seen, new):
        return None
    return await _reread(ctx, repo, new)


async def _reread(ctx: Context, repo: Repo, new: Branch) -> Seen | None:
    found = await ctx.kv.get(repo.partition, record_key(new.name))
    if found is None:
        return None
    record = decode_record(new.name, found.value)
    return Seen(record, found.version) if record.uid == new.uid else None


async def is_staged(ctx: Context, record: Branch) -> bool:
    """Whether a branch has any uncommitted row, effective or not."""
    if record.layers:
        return True
    return await ctx.kv.get(staging(record.staging_token), STAGED_MARKER) is not None


class Change(NamedTuple):
    """A new record, with the further checks of its swap and the layers that nothing names afterwards."""

    record: Branch
    checks: Sequence[Check] = ()
    dropped: Sequence[Layer] = ()


async def rotated(ctx: Context, record: Branch, head: str) -> Change:
    """The record with another head and a new token; an old token with rows becomes a layer.

    With the old token, a reader of the old record would see rows that are staged after the swap, but not the new head.
    """
    old = Layer(record.staging_token)
    new = msgspec.structs.replace(record, gen=record.gen + 1, commit_id=head, staging_token=ctx.ids.new())
    if await ctx.kv.get(staging(record.staging_token), STAGED_MARKER) is not None:
        return Change(msgspec.structs.replace(new, layers=(old, *record.layers)))
    return Change(new, [nothing_staged(record)], [old])


def nothing_staged(record: Branch) -> Check:
    """The check that the live token has no rows: guards swaps that must not overtake a staged write."""
    return Check(staging(record.staging_token), STAGED_MARKER, ABSENT)
