"""Finds the conflicts of a merge without merging."""

from __future__ import annotations

from typing import NamedTuple

from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.operations.history.merge_base import require_base
from lakebed_engine.operations.merge.merge import sides_of
from lakebed_engine.operations.merge.three_way import Join, Resolution
from lakebed_engine.vocabulary.errors import Conflict, MergeConflictError
from lakebed_engine.vocabulary.records import Commit, Page


class Trial(NamedTuple):
    """The result of a trial merge. `changes`: whether the source has changed anything."""

    base_id: str
    conflicts: bool
    changes: bool


async def try_merge(ctx: Context, repo: Repo, theirs: Commit, ours: Commit) -> Trial:
    """Whether a merge of `theirs` into `ours` has conflicts. Raises NoMergeBaseError."""
    key = (repo.partition, theirs.id, ours.id)
    trial: Trial | None = ctx.conflicts.get(key)
    if trial is None:
        base = await require_base(ctx, repo, theirs, ours)
        join = Join(ctx, repo, await sides_of(ctx, repo, base, theirs, ours), Resolution("", ()), amount=1)
        found = await _conflicts(join)
        trial = Trial(base.id, bool(found.items), join.changes)
        ctx.conflicts.put(key, trial, 1)
    return trial


async def list_conflicts(
    ctx: Context, repo: Repo, theirs: Commit, ours: Commit, *, after: str = "", amount: int = 100
) -> Page[Conflict]:
    """The paths that both sides changed, in order. Raises NoMergeBaseError."""
    base = await require_base(ctx, repo, theirs, ours)
    sides = await sides_of(ctx, repo, base, theirs, ours)
    return await _conflicts(Join(ctx, repo, sides, Resolution("", ()), after=after, amount=amount))


async def _conflicts(join: Join) -> Page[Conflict]:
    try:
        async for _ in join.delta():
            pass
    except MergeConflictError as error:
        return Page(error.conflicts, error.has_more)
    return Page([], has_more=False)
