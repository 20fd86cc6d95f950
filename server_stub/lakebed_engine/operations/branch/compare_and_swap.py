"""Branch records: their new values, and every compare-and-swap batch that changes one.

A batch holds the check of the record, the new record, the operation key that settles a lost answer, the events of the
change, and notes for the cleaner about the layers that the swap drops (`PROTOCOL.md` 1 and 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from lakebed_engine.operations.context import Context, Repo, Seen, decode_record, encode
from lakebed_engine.operations.events.rows import event_rows
from lakebed_engine.operations.keys import DROPS, OPERATIONS, STAGED_MARKER, record_key, scan_token, staging
from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, Delete, Put
from lakebed_engine.tree.layers import layer_tree
from lakebed_engine.vocabulary.errors import OutcomeUnknownError, PredicateFailed, StoreError
from lakebed_engine.vocabulary.events import NewEvent
from lakebed_engine.vocabulary.records import Branch, Layer, Workspace

RESENDS = 4
"""How often to send a batch again when its response is lost. Its check prevents a second apply."""


def sealed(record: Branch, token: str) -> Branch:
    """The record with a new token. The old token is sealed as the newest layer."""
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
    deletes: Sequence[Delete] = (),
    dropped: Sequence[Layer] = (),
    events: Sequence[NewEvent] = (),
) -> bool:
    """Replace the branch record `seen` by `new`, or delete it, with further changes in the same batch.

    Returns False when the record has changed. Nothing is written then. `dropped` are layers that no record names
    afterwards. `events` must say how the head of the branch moved, if it did.

    Raises OutcomeUnknownError only when the outcome is unknown after a lost response and a failed read.
    """
    assert events or (new is not None and new.commit_id == seen.record.commit_id), "a ref changes without an event"
    key = record_key(seen.record.name)
    operation = OPERATIONS + ctx.ids.new().encode()
    rows = [*puts, Put(repo.partition, operation, str(ctx.now()).encode())]
    rows += [*notes(ctx, repo, dropped), *event_rows(ctx, repo, *events)]
    if new is not None:
        rows.append(Put(repo.partition, key, encode(new)))
    batch = Batch(
        checks=[seen.check(repo), *checks],
        puts=rows,
        deletes=[*deletes, Delete(repo.partition, key)] if new is None else deletes,
    )
    applied = await apply(ctx, repo, batch, operation)
    if applied and new is not None:
        ctx.observer.branch_changed(len(new.layers))
        if len(new.layers) >= ctx.tuning.compact_from:
            ctx.crowded[repo.name, new.name] = None
    return applied


async def apply(ctx: Context, repo: Repo, batch: Batch, operation: bytes) -> bool:
    """Apply a batch that writes the operation key `operation`. After a lost response, read that key.

    Only the key proves that the batch was applied. Missing rows prove nothing: a reset may have removed them. While
    the key is absent, this sends the same batch again. Its first check names a version that never comes back, so the
    batch applies at most once, even if the first request is only late.

    A check that a key is absent can become true again. A refused batch with such a check therefore settles nothing.
    """
    lost: OutcomeUnknownError | None = None
    for attempt in range(RESENDS + 1):
        try:
            await ctx.kv.apply(batch)
        except PredicateFailed:
            if lost is None:
                return False
            if not await _was_applied(ctx, repo, operation, lost) and batch.checks[0].version == ABSENT:
                raise lost from None
            return await _was_applied(ctx, repo, operation, lost)
        except OutcomeUnknownError as error:
            lost = error
            if await _was_applied(ctx, repo, operation, lost):
                return True
            if attempt == RESENDS:
                raise
            await ctx.runtime.sleep(0.05 * 2**attempt)
            continue
        except StoreError as error:
            if lost is None:
                raise
            raise lost from error  # the store refused this request, but may have applied the previous one
        return True
    raise AssertionError("unreachable")


async def _was_applied(ctx: Context, repo: Repo, operation: bytes, lost: OutcomeUnknownError) -> bool:
    try:
        return await ctx.kv.get(repo.partition, operation) is not None
    except StoreError as error:
        raise lost from error


async def seal(ctx: Context, repo: Repo, seen: Seen) -> Seen | None:
    """Seal the token if it has rows (`PROTOCOL.md` 3, SEAL). None when the record has changed: read it again."""
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
    """A new record, the further checks of its swap, and the layers that no record names afterwards."""

    record: Branch
    checks: Sequence[Check] = ()
    dropped: Sequence[Layer] = ()


async def rotated(ctx: Context, record: Branch, head: str) -> Change:
    """The record with another head and a new token. An old token with rows becomes a layer.

    The token must change: with the old one, a reader of the old record would see rows that are staged after the swap,
    without the new head.
    """
    old = Layer(record.staging_token)
    new = msgspec.structs.replace(record, gen=record.gen + 1, commit_id=head, staging_token=ctx.ids.new())
    if await ctx.kv.get(staging(record.staging_token), STAGED_MARKER) is not None:
        return Change(msgspec.structs.replace(new, layers=(old, *record.layers)))
    return Change(new, [nothing_staged(record)], [old])


def nothing_staged(record: Branch) -> Check:
    """The check that the live token has no rows. It makes a swap fail when a write is staged before it."""
    return Check(staging(record.staging_token), STAGED_MARKER, ABSENT)


def emptied(record: Branch, token: str) -> Branch:
    """The record with nothing staged."""
    return msgspec.structs.replace(record, gen=record.gen + 1, staging_token=token, layers=())


def after_reset(record: Branch) -> Branch:
    """The record after the reset of a path or a prefix. The count makes a running commit fold again."""
    return msgspec.structs.replace(record, gen=record.gen + 1, resets=record.resets + 1)


def staged_of(record: Branch) -> list[Layer]:
    """Everything staged: the live token as a layer, and the sealed layers."""
    return [Layer(record.staging_token), *record.layers]


def everything_of(record: Branch) -> list[Layer]:
    """All layers that belong to a record: what is staged, and the scan ledger of a workspace."""
    seen = [Layer(scan_token(record.uid))] if isinstance(record, Workspace) else []
    return [*staged_of(record), *seen]


class Note(msgspec.Struct, frozen=True):
    """A note for the cleaner: it must remove rows of a token, or files of a namespace in a store. `at` is in Unix
    seconds.
    """

    at: int
    namespace: str = ""
    files: tuple[str, ...] = ()
    storage_id: str = ""


def notes(ctx: Context, repo: Repo, dropped: Sequence[Layer]) -> list[Put]:
    """The cleaner's notes about layers that a swap drops."""
    rows = []
    for layer in dropped:
        files = tuple(info.file for info in layer_tree(layer).ranges)
        note = Note(ctx.now(), repo.store.uri, files, repo.record.storage_id)
        rows.append(Put(DROPS, layer.id.encode(), encode(note)))
    return rows
