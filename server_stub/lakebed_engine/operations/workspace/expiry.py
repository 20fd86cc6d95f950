"""The janitor of workspaces: closes expired ones, writes missing markers, and deletes rows of long closed ones.

It deletes only rows. Commits may name objects below a workspace's prefix, so only the sweep deletes these. If objects
are below the prefix of a deleted workspace, the janitor leaves a note in the bucket. The sweep deletes only objects in
the folders of known workspaces, and knows a workspace by its row or its note.
"""

from __future__ import annotations

from lakebed_engine.operations.context import Context, Repo, Seen, active_records, find_workspace, opened
from lakebed_engine.operations.expiry_clock import REMEMBERED
from lakebed_engine.operations.keys import (
    PENDING_MARKERS,
    WORKSPACE_DUE,
    due_key,
    due_name,
    end_of,
    idempotency_key,
    workspace_key,
)
from lakebed_engine.operations.retry import Failures
from lakebed_engine.operations.workspace.commit import write_marker
from lakebed_engine.operations.workspace.lifecycle import close, has_objects, mark_used, record_of
from lakebed_engine.stores.kv.base import Batch, Check, Delete, scan_pages
from lakebed_engine.vocabulary.errors import PredicateFailed
from lakebed_engine.vocabulary.records import Workspace


async def tidy(ctx: Context) -> int:
    """Make one pass over all repositories. Returns how many workspaces it closed or deleted.

    Raises the first StoreError at its end.
    """
    done, failures = 0, Failures()
    async for record in active_records(ctx):
        with failures.kept():
            repo = opened(ctx, record)
            await _markers(ctx, repo)
            done += await _workspaces(ctx, repo)
    failures.raise_first()
    return done


async def _markers(ctx: Context, repo: Repo) -> None:
    """Write missing markers, and delete their rows. Usually the committer has written the marker already."""
    async for rows in scan_pages(ctx.kv, repo.partition, PENDING_MARKERS, end_of(PENDING_MARKERS)):
        for row in rows:
            found_id = row.key.removeprefix(PENDING_MARKERS).decode()
            if ctx.marked.get((PENDING_MARKERS, found_id)) is None:
                await write_marker(ctx, repo, found_id, row.value.decode())
        await ctx.kv.apply(Batch(deletes=[Delete(repo.partition, row.key) for row in rows]))


async def _workspaces(ctx: Context, repo: Repo) -> int:
    """Process the due workspaces. Reads only these."""
    done = 0
    start, end = WORKSPACE_DUE, due_key(WORKSPACE_DUE, ctx.expiry_clock.due() + 1)
    async for rows in scan_pages(ctx.kv, repo.partition, start, end):
        for row in rows:
            name = due_name(row.key)
            if "." in name:  # a key of `publishing`, of a branch
                gone = [Delete(repo.partition, row.key), Delete(repo.partition, idempotency_key(*name.split(".", 1)))]
                await ctx.kv.apply(Batch(deletes=gone))
                continue
            seen = await find_workspace(ctx, repo, name)
            if seen is not None and _is_due(ctx, record_of(seen)):
                if not await _come(ctx, repo, seen):
                    continue  # the record has changed: the next pass processes it
                done += 1
            await ctx.kv.apply(Batch(deletes=[Delete(repo.partition, row.key)]))
    return done


def _is_due(ctx: Context, record: Workspace) -> bool:
    """Whether a workspace is due now. It may have rows for earlier times, because it was renewed."""
    return (record.expires if record.state == "open" else record.closed + REMEMBERED) <= ctx.expiry_clock.due()


async def _come(ctx: Context, repo: Repo, seen: Seen) -> bool:
    record = record_of(seen)
    if record.state == "open":
        return await close(ctx, repo, seen, "expired")
    if record.state != "committed" and await has_objects(repo, record.prefix):
        await mark_used(repo, record)
    return await _forget(ctx, repo, seen, record.uid)


async def _forget(ctx: Context, repo: Repo, seen: Seen, found_id: str) -> bool:
    keys = idempotency_key(found_id)
    rows = await ctx.kv.scan(repo.partition, keys, end_of(keys), 10_000)
    gone = [Delete(repo.partition, row.key) for row in rows]
    key = workspace_key(found_id)
    try:
        await ctx.kv.apply(
            Batch(checks=[Check(repo.partition, key, seen.version)], deletes=[*gone, Delete(repo.partition, key)])
        )
    except PredicateFailed:
        return False
    return True
