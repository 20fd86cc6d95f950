"""The merge base of two commits."""

from __future__ import annotations

import heapq

from lakebed_engine.operations.branch.resolve import resolve_commit
from lakebed_engine.operations.context import Context, Repo, load_commit, load_commits, open_repo
from lakebed_engine.vocabulary.errors import NoMergeBaseError
from lakebed_engine.vocabulary.records import Commit, MergeBase


async def find_base(ctx: Context, repo: Repo, one: Commit, other: Commit) -> Commit | None:
    """The common ancestor with the greatest generation."""
    if one.id == other.id:
        return one
    sides = {one.id: 1, other.id: 2}
    queue = [(-one.generation, one.id), (-other.generation, other.id)]
    heapq.heapify(queue)
    done: set[str] = set()
    while queue:
        commit_id = heapq.heappop(queue)[1]
        if commit_id in done:
            continue
        done.add(commit_id)
        commit = await load_commit(ctx, repo, commit_id)
        if sides[commit_id] == 3:
            return commit
        for parent in await load_commits(ctx, repo, commit.parents):
            sides[parent.id] = sides.get(parent.id, 0) | sides[commit_id]
            heapq.heappush(queue, (-parent.generation, parent.id))
    return None


async def merge_base(ctx: Context, repo_name: str, source: str, destination: str) -> MergeBase:
    """The two commits and their nearest common ancestor. Raises NoMergeBaseError."""
    repo = await open_repo(ctx, repo_name)
    theirs = await resolve_commit(ctx, repo, source)
    ours = await resolve_commit(ctx, repo, destination)
    base = await require_base(ctx, repo, theirs, ours)
    return MergeBase(theirs.id, ours.id, base.id)


async def require_base(ctx: Context, repo: Repo, one: Commit, other: Commit) -> Commit:
    """As `find_base`. Raises NoMergeBaseError."""
    base = await find_base(ctx, repo, one, other)
    if base is None:
        raise NoMergeBaseError(
            f"commits {one.id[:16]} and {other.id[:16]} have no common ancestor: they cannot be merged"
        )
    return base
