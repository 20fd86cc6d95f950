"""Merges a pull request: the batch that moves the destination also makes the pull request merged."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from lakebed_engine.operations.commit.queue import CommitGuard
from lakebed_engine.operations.context import Context, Repo, open_repo, read_branch
from lakebed_engine.operations.merge.merge import merge
from lakebed_engine.operations.pulls.records import SeenPull, event_of, read_pull, rows_of, unmark
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.kv.base import Put
from lakebed_engine.vocabulary.errors import EngineError, PullClosedError, SourceMovedError
from lakebed_engine.vocabulary.pulls import Pull, PullMerge
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import MergeRequest

PULL_KEY = "lakebed.pull_request"
"""The key in the metadata of a merge commit. Its value is the id of the pull request."""


class _ChangedError(EngineError):
    """The pull request has changed since it was read."""


async def merge_pull(ctx: Context, repo_name: str, pull_id: str, request: PullMerge) -> Commit:
    """Merge a pull request. Of two merges at the same time, the second one gets PullClosedError.

    Raises PullNotFoundError, PullClosedError, SourceMovedError, and what a merge raises.
    """
    repo = await open_repo(ctx, repo_name, write=True, force=request.force)

    async def attempt() -> Commit | None:
        seen = await read_pull(ctx, repo, pull_id)
        source = await _source(ctx, repo, seen.pull, request)
        guard = _guard(ctx, repo, seen, source, request.actor)
        asked = _merge_request(seen.pull, request)
        try:
            return await merge(ctx, repo_name, source, seen.pull.destination_branch, asked, guard)
        except _ChangedError:
            return None

    return await retry_on_conflict(f"pull request {pull_id} of {repo_name!r}", attempt)


async def _source(ctx: Context, repo: Repo, pull: Pull, request: PullMerge) -> str:
    """The commit to merge. Raises PullClosedError, BranchNotFoundError, SourceMovedError."""
    if pull.status != "open":
        how = f"merged as commit {pull.merged_commit_id}" if pull.status == "merged" else "closed"
        raise PullClosedError(f"pull request {pull.id} is {how}: nothing was changed")
    head = (await read_branch(ctx, repo, pull.source_branch)).record.commit_id
    if request.source_commit_id not in ("", head):
        raise SourceMovedError(
            f"branch {pull.source_branch!r} is at commit {head}, not at {request.source_commit_id[:80]!r}: nothing was "
            "changed; read the new commits, then merge again"
        )
    return head


def _merge_request(pull: Pull, request: PullMerge) -> MergeRequest:
    return MergeRequest(
        committer=request.committer,
        message=request.message or f"{pull.title}\n\nMerge '{pull.source_branch}' into '{pull.destination_branch}'",
        metadata={**request.metadata, PULL_KEY: pull.id},
        strategy=request.strategy,
        squash=request.squash,
        force=request.force,
        resolve=request.resolve,
    )


def _guard(ctx: Context, repo: Repo, seen: SeenPull, source: str, actor: str) -> CommitGuard:
    """Let the merge fail if the pull request has changed since it was read, and write its end with the merge."""

    def rows(commit: Commit) -> Sequence[Put]:
        pull = seen.pull
        merged = msgspec.structs.replace(
            pull, status="merged", closed_date=ctx.now(), merged_commit_id=commit.id, source_commit_id=source
        )
        event = event_of(ctx, pull, "merged", actor, commit_id=commit.id)
        return rows_of(ctx, repo, pull, merged, [event]).puts

    async def require() -> None:
        if (await read_pull(ctx, repo, seen.pull.id)).version != seen.version:
            raise _ChangedError("the pull request has changed")

    return CommitGuard([seen.check(repo)], rows, require, unmark(repo, seen.pull))
