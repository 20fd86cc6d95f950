"""Merges a pull request: the batch that moves the destination also marks the pull request as merged."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from lakebed_engine.operations.commit.queue import CommitGuard
from lakebed_engine.operations.context import Context, Repo, open_repo, read_branch
from lakebed_engine.operations.merge.merge import merge
from lakebed_engine.operations.pulls.records import (
    SeenPull,
    event_of,
    read_pull,
    require_open,
    require_source,
    rows_of,
    unmark,
    with_head,
)
from lakebed_engine.operations.pulls.state import readiness, require_ready
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.kv.base import ABSENT, Check, Put
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.pulls import Pull, PullEvent, PullMerge
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import MergeRequest

PULL_KEY = "lakebed.pull_request"
"""The key in the metadata of a merge commit. Its value is the id of the pull request."""


class _ChangedError(EngineError):
    """The pull request or a check has changed since it was read."""


async def merge_pull(ctx: Context, repo_name: str, pull_id: str, request: PullMerge) -> Commit:
    """Merge a pull request. Of two merges at the same time, the second one gets PullClosedError.

    Raises PullNotFoundError, PullClosedError, SourceMovedError, NotMergeableError, and the errors of a merge.
    """

    async def attempt() -> Commit | None:
        repo = await open_repo(ctx, repo_name, write=True, force=request.force)
        seen = await read_pull(ctx, repo, pull_id)
        require_open(seen.pull)
        await read_branch(ctx, repo, seen.pull.source_branch)
        pull, pushed = await with_head(ctx, repo, seen.pull)
        require_source(pull, request.source_commit_id)
        ready = await readiness(ctx, repo, pull)
        require_ready(pull, ready)
        guard = _guard(ctx, repo, seen, pull, pushed, ready.rows, request.actor)
        asked = _merge_request(pull, request)
        try:
            return await merge(
                ctx, repo_name, pull.head_commit_id, pull.destination_branch, asked, guard, reviewed=True
            )
        except _ChangedError:
            return None

    return await retry_on_conflict(f"pull request {pull_id} of {repo_name!r}", attempt)


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


def _guard(
    ctx: Context,
    repo: Repo,
    seen: SeenPull,
    pull: Pull,
    pushed: Sequence[PullEvent],
    required: Sequence[Check],
    actor: str,
) -> CommitGuard:
    """Make the merge fail if the pull request or a required check has changed, and record its end with the merge.

    `pull` is the pull request that was seen, at the head of its source. `required` are the checks that it needs.
    """
    checks = [seen.check(repo), *required]

    def rows(commit: Commit) -> Sequence[Put]:
        merged = msgspec.structs.replace(
            pull,
            status="merged",
            closed_date=ctx.now(),
            merged_commit_id=commit.id,
            source_commit_id=pull.head_commit_id,
        )
        event = event_of(ctx, pull, "merged", actor, commit_id=commit.id)
        return rows_of(ctx, repo, seen.pull, merged, [*pushed, event]).puts

    async def require() -> None:
        found = await ctx.kv.get_many(repo.partition, [check.key for check in checks])
        if [ABSENT if row is None else row.version for row in found] != [check.version for check in checks]:
            raise _ChangedError("the pull request or a check has changed")

    return CommitGuard(checks, rows, require, unmark(repo, pull))
