"""Merges the pull requests that wait for their reviews and checks (`auto_merge`).

A permanently refused merge is not tried again: the pull request stops waiting, and its timeline says why.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import msgspec

from lakebed_engine.operations.context import Context, Repo, open_repo
from lakebed_engine.operations.keys import AUTO_MERGES
from lakebed_engine.operations.pulls.merge import merge_pull
from lakebed_engine.operations.pulls.records import PullChange, change_pull, event_of, read_pull
from lakebed_engine.operations.pulls.state import pull_state
from lakebed_engine.stores.kv.base import Batch, Check, Delete, Row, scan_rows
from lakebed_engine.vocabulary.errors import (
    DirtyBranchError,
    EngineError,
    HookRefusedError,
    MergeConflictError,
    NoChangesError,
    NotFoundError,
    NotMergeableError,
    PredicateFailed,
    PullClosedError,
    ReadOnlyRepositoryError,
    SourceMovedError,
    StoreError,
    TooManyAttemptsError,
)
from lakebed_engine.vocabulary.events import Actor, act_as
from lakebed_engine.vocabulary.pulls import AutoMerge, Pull, PullMerge

log = logging.getLogger("lakebed.engine")

_PASSING = (
    DirtyBranchError,
    MergeConflictError,
    NoChangesError,
    NotFoundError,
    NotMergeableError,
    PredicateFailed,
    PullClosedError,
    ReadOnlyRepositoryError,
    SourceMovedError,
    TooManyAttemptsError,
)
"""Temporary refusals: the merge is tried again. Any other refusal stops it."""

_TEXT = 4_000
"""Characters of a refusal in the timeline."""

May = Callable[[str, Pull], Awaitable[bool]]
"""Whether the user of `auto_merge` may still merge this pull request of a repository."""


async def merge_ready(ctx: Context, may: May) -> list[str]:
    """Merge each waiting pull request that nothing blocks. Returns the names of the changed repositories.

    The failure of one merge does not stop the others. A failing store does: raises StoreError. The outcome of that
    merge may be unknown, so it is tried again: a pull request is merged only once.
    """
    merged = []
    async for row in scan_rows(ctx.kv, AUTO_MERGES):
        try:
            if await _try(ctx, row, may):
                merged.append(row.value.decode())
        except StoreError:
            raise
        except EngineError as error:
            log.info("auto-merge of %s in %s: %s", row.key.decode(), row.value.decode(), error.message)
    return merged


async def _try(ctx: Context, row: Row, may: May) -> bool:
    repo_name, (uid, _, pull_id) = row.value.decode(), row.key.decode().partition("/")
    try:
        repo = await open_repo(ctx, repo_name)
        pull = (await read_pull(ctx, repo, pull_id)).pull if repo.record.uid == uid else None
    except NotFoundError:  # the repository was deleted
        pull = None
    if pull is None or pull.auto_merge is None:
        await _forget(ctx, row)
        return False
    wanted = pull.auto_merge
    state = await pull_state(ctx, repo_name, pull_id)
    if state.mergeable != "clean" and not (state.mergeable == "conflicts" and wanted.strategy):
        return False
    if not await may(repo_name, pull):
        return False
    act_as(Actor(user=wanted.user))
    request = PullMerge(
        actor=wanted.user,
        committer=wanted.committer,
        source_commit_id=state.source_commit_id,
        strategy=wanted.strategy,
        message=wanted.message,
    )
    try:
        await merge_pull(ctx, repo_name, pull_id, request)
    except (StoreError, *_PASSING):
        raise
    except EngineError as error:
        if isinstance(error, HookRefusedError) and error.pending:
            raise
        await _stop(ctx, repo, pull_id, wanted, error)
        return False
    return True


async def _stop(ctx: Context, repo: Repo, pull_id: str, wanted: AutoMerge, refusal: EngineError) -> None:
    """Stop the auto-merge of a pull request, unless it was changed since the refusal."""
    log.warning("auto-merge of pull request %s in %s has stopped: %s", pull_id, repo.name, refusal.message)

    async def make(old: Pull) -> PullChange | None:
        if old.status != "open" or old.auto_merge != wanted:
            return None
        event = event_of(ctx, old, "auto_merge_stopped", "", text=refusal.message[:_TEXT], commit_id=old.head_commit_id)
        return PullChange(msgspec.structs.replace(old, auto_merge=None), [event])

    await change_pull(ctx, repo, pull_id, make, bounded=False)


async def _forget(ctx: Context, row: Row) -> None:
    """Remove a row whose pull request does not exist or no longer waits."""
    try:
        await ctx.kv.apply(Batch([Check(AUTO_MERGES, row.key, row.version)], deletes=[Delete(AUTO_MERGES, row.key)]))
    except PredicateFailed:
        pass  # it was set again
