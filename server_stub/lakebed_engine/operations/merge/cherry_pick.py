"""Revert and cherry-pick: merges with another base (`PROTOCOL.md` 3, MERGE).

A revert applies the change from the commit to its parent, a cherry-pick the change from the parent to the commit. Both
apply it to the head of a clean branch, as one commit with one parent. They refuse to break the version order of Delta
logs (`merge.delta_log_replay`).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from lakebed_engine.operations.branch.resolve import resolve_commit
from lakebed_engine.operations.commit.clean_branch import move_clean_branch
from lakebed_engine.operations.commit.commit import check_commit_texts
from lakebed_engine.operations.commit.commit_file import NewCommit
from lakebed_engine.operations.commit.queue import Cause, CommitGuard
from lakebed_engine.operations.context import Context, Repo, load_commit, open_repo
from lakebed_engine.operations.history.changed_paths import collect_paths
from lakebed_engine.operations.merge.delta_log_replay import DeltaLines
from lakebed_engine.operations.merge.merge import sides_of
from lakebed_engine.operations.merge.three_way import Join, Resolution
from lakebed_engine.tree.changed_paths import ChangedPathsBuilder
from lakebed_engine.tree.fold import fold
from lakebed_engine.vocabulary.errors import (
    InvalidRequestError,
    MergeParentError,
    NoChangesError,
)
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import PickRequest

ORIGIN_KEY = "cherry-pick-origin"
COMMITTER_KEY = "cherry-pick-committer"
"""Metadata keys that existing clients read (`facts/rest_api.md` 3)."""

_TITLE = 72
"""Characters of a title that the message of a revert repeats."""


class _Picked(NamedTuple):
    """A commit and the parent to compare it with."""

    commit: Commit
    parent: Commit


async def revert(
    ctx: Context, repo_name: str, branch: str, request: PickRequest, guard: CommitGuard | None = None
) -> Commit:
    """Undo the changes of a commit, compared with a parent, as a new commit.

    Raises MergeParentError for a merge without `parent_number`, MergeConflictError, DirtyBranchError, NoChangesError,
    and the errors of the guard.
    """
    check_commit_texts(request.message, request.metadata or {}, request.committer)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force)

    # resolve only once: `main` must not change its meaning while this runs
    commit = await resolve_commit(ctx, repo, request.ref)
    if len(commit.parents) > 1 and not request.parent_number:
        raise MergeParentError(
            f"commit {commit.id[:16]} is a merge of {len(commit.parents)} parents: choose a parent to go back to, "
            f"from 1 to {len(commit.parents)}"
        )
    picked = await _picked(ctx, repo, commit, request)
    build = partial(_reverted, ctx, repo, branch, picked, request)
    cause = Cause("branch.reverted", {"source_commit_id": commit.id})
    return (await move_clean_branch(ctx, repo, branch, build, cause, guard))[0]


async def cherry_pick(
    ctx: Context, repo_name: str, branch: str, request: PickRequest, guard: CommitGuard | None = None
) -> Commit:
    """Apply the changes of a commit, compared with a parent, as a new commit that names its origin.

    If the branch already has the change, this makes an empty commit, as existing clients expect.

    Raises InvalidRequestError for a merge without `parent_number`, MergeConflictError, DirtyBranchError, and
    NoChangesError when the commit itself is empty.
    """
    check_commit_texts(request.message, request.metadata or {}, request.committer)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force)

    commit = await resolve_commit(ctx, repo, request.ref)
    if len(commit.parents) > 1 and not request.parent_number:
        raise InvalidRequestError(
            f"commit {commit.id[:16]} is a merge of {len(commit.parents)} parents: choose a parent to compare with, "
            f"from 1 to {len(commit.parents)}"
        )
    picked = await _picked(ctx, repo, commit, request)
    build = partial(_cherry_picked, ctx, repo, branch, picked, request)
    cause = Cause("branch.cherry_picked", {"source_commit_id": commit.id})
    return (await move_clean_branch(ctx, repo, branch, build, cause, guard))[0]


async def _picked(ctx: Context, repo: Repo, commit: Commit, request: PickRequest) -> _Picked:
    number = request.parent_number or 1
    if not 1 <= number <= len(commit.parents):
        raise InvalidRequestError(
            f"there is no parent {request.parent_number}: commit {commit.id[:16]} has {len(commit.parents)} parents"
        )
    return _Picked(commit, await load_commit(ctx, repo, commit.parents[number - 1]))


async def _reverted(
    ctx: Context, repo: Repo, branch: str, picked: _Picked, request: PickRequest, ours: Commit
) -> NewCommit:
    sides = await sides_of(ctx, repo, picked.commit, picked.parent, ours)
    join = Join(ctx, repo, sides, Resolution("", ()))
    changed_paths, lines = ChangedPathsBuilder(), DeltaLines()
    delta = collect_paths(ctx.runtime, lines.collect(join.delta()), changed_paths)
    folded = await fold(ctx.trees, repo.store, ctx.runtime, sides.ours, delta)
    if not folded.changed and not request.allow_empty:
        raise NoChangesError(f"revert of {picked.commit.id[:16]} on {branch!r}: no changes: nothing is left to undo")
    await lines.check(ctx, repo, sides, folded.tree, "revert")
    message = request.message or _revert_message(picked.commit)
    return NewCommit(folded.tree, changed_paths, request.committer, message, request.metadata or {})


def _revert_message(commit: Commit) -> str:
    """Name the commit by its id and its title, because the ref of the request, such as `main`, soon points to another
    commit."""
    title = commit.message.split("\n", 1)[0].strip()
    title = title if len(title) <= _TITLE else title[: _TITLE - 1] + "…"
    return f"Revert {commit.id[:12]}" + (f": {title}" if title else "")


async def _cherry_picked(
    ctx: Context, repo: Repo, branch: str, picked: _Picked, request: PickRequest, ours: Commit
) -> NewCommit:
    commit = picked.commit
    sides = await sides_of(ctx, repo, picked.parent, commit, ours)
    join = Join(ctx, repo, sides, Resolution("", ()))
    changed_paths, lines = ChangedPathsBuilder(), DeltaLines()
    delta = collect_paths(ctx.runtime, lines.collect(join.delta()), changed_paths)
    folded = await fold(ctx.trees, repo.store, ctx.runtime, sides.ours, delta)
    if not join.changes:
        raise NoChangesError(f"cherry-pick of {commit.id[:16]} to {branch!r}: no changes: the commit is empty")
    await lines.check(ctx, repo, sides, folded.tree, "cherry-pick")
    kept = commit.metadata if request.metadata is None else request.metadata
    metadata = {**kept, ORIGIN_KEY: commit.id, COMMITTER_KEY: commit.committer}
    message = commit.message if request.message is None else request.message
    return NewCommit(folded.tree, changed_paths, request.committer, message, metadata)
