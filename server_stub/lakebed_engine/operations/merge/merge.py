"""Merge: applies the changes of the source since the base to the destination's head (`PROTOCOL.md` 3, MERGE).

A trial finds the conflicts without merging.
"""

from __future__ import annotations

from typing import NamedTuple

from lakebed_engine.operations.branch.resolve import resolve_commit
from lakebed_engine.operations.branch.view import tree_of
from lakebed_engine.operations.commit.clean_branch import move_clean_branch
from lakebed_engine.operations.commit.commit import check_commit_texts
from lakebed_engine.operations.commit.commit_file import NewCommit
from lakebed_engine.operations.commit.queue import Cause, CommitGuard
from lakebed_engine.operations.context import Context, Repo, open_repo
from lakebed_engine.operations.history.changed_paths import collect_paths
from lakebed_engine.operations.history.merge_base import require_base
from lakebed_engine.operations.merge.three_way import Join, Resolution, Sides
from lakebed_engine.tree.changed_paths import ChangedPathsBuilder
from lakebed_engine.tree.fold import fold
from lakebed_engine.tree.trees import Tree
from lakebed_engine.vocabulary.errors import Conflict, MergeConflictError, NoChangesError
from lakebed_engine.vocabulary.records import Commit, Page
from lakebed_engine.vocabulary.requests import MergeRequest

STRATEGY_KEY = ".lakefs.merge.strategy"
"""Metadata key that existing clients read (`facts/rest_api.md` 3)."""


async def merge(
    ctx: Context,
    repo_name: str,
    source: str,
    destination: str,
    request: MergeRequest,
    guard: CommitGuard | None = None,
    *,
    reviewed: bool = False,
) -> Commit:
    """Merge a ref into a branch, always as a merge commit. `reviewed` as in `move_clean_branch`.

    Raises MergeConflictError with the paths, DirtyBranchError, NoChangesError, NoMergeBaseError, ProtectedBranchError,
    and the errors of the guard.
    """
    resolution = Resolution(request.strategy, request.resolve)
    check_commit_texts(request.message, request.metadata, request.committer)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force)
    theirs = await resolve_commit(ctx, repo, source)

    async def build(ours: Commit) -> NewCommit:
        base = await require_base(ctx, repo, theirs, ours)
        sides = await sides_of(ctx, repo, base, theirs, ours)
        join = Join(ctx, repo, sides, resolution, after=request.conflicts_after, amount=request.conflicts_amount)
        tree, changed_paths = await _joined(ctx, repo, join)
        # clients of lakeFS rely on a commit here: in lakeFS, the first commit has another tree than an emptied branch
        from_first = not ours.parents and base.id == ours.id != theirs.id
        if not join.changes and not (request.allow_empty or request.force or from_first):
            raise NoChangesError(f"merge of {source[:80]!r} into {destination!r}: no changes since their common base")
        message = request.message or f"Merge '{source}' into '{destination}'"
        metadata = {**request.metadata, STRATEGY_KEY: request.strategy or "default"}
        parents = [ours] if request.squash else [ours, theirs]
        return NewCommit(tree, changed_paths, request.committer, message, metadata, parents=parents)

    cause = Cause("branch.merged", {"source": source, "source_commit_id": theirs.id})
    return (await move_clean_branch(ctx, repo, destination, build, cause, guard, reviewed=reviewed))[0]


async def _joined(ctx: Context, repo: Repo, join: Join) -> tuple[Tree, ChangedPathsBuilder | None]:
    """The tree of a merge, and its changed paths if they are known. Raises MergeConflictError."""
    if join.only_source_changed:
        # the log computes the changed paths of a squash when it needs them; it needs none for a merge
        return join.sides.theirs if await join.source_changed() else join.sides.ours, None
    changed_paths = ChangedPathsBuilder()
    delta = collect_paths(ctx.runtime, join.delta(), changed_paths)
    folded = await fold(ctx.trees, repo.store, ctx.runtime, join.sides.ours, delta)
    return folded.tree, changed_paths


async def sides_of(ctx: Context, repo: Repo, base: Commit, theirs: Commit, ours: Commit) -> Sides:
    """The trees of three commits."""
    return Sides(*[await tree_of(ctx, repo, one.id) for one in (base, theirs, ours)])


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
