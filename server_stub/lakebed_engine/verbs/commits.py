"""Commits, merges and diffs. Part of the one door to the engine."""

from __future__ import annotations

from collections.abc import AsyncIterable, Sequence
from typing import Literal

from lakebed_engine.operations.branch.resolve import resolve_commit
from lakebed_engine.operations.commit import commit as commit_commit
from lakebed_engine.operations.commit import import_commits
from lakebed_engine.operations.commit import publish_uploads as commit_publish_uploads
from lakebed_engine.operations.context import open_repo
from lakebed_engine.operations.history import diff
from lakebed_engine.operations.history import log as history_log
from lakebed_engine.operations.history import merge_base as history_merge_base
from lakebed_engine.operations.merge import cherry_pick as merge_cherry_pick
from lakebed_engine.operations.merge import merge as merge_merge
from lakebed_engine.operations.tasks.async_commit import LongWork
from lakebed_engine.verbs.base import Verbs
from lakebed_engine.vocabulary.records import (
    Commit,
    CommitRequest,
    Deletion,
    DiffEntry,
    Entry,
    LogRequest,
    MergeBase,
    MergeRequest,
    Page,
    PickRequest,
    Published,
    PublishRequest,
    UploadRequest,
)


class CommitVerbs(Verbs):
    """Commits, merges and diffs."""

    long_work: LongWork
    """Made by the engine, as it goes with its tasks."""

    async def commit(self, repo: str, branch: str, request: CommitRequest, key: str = "") -> Commit:
        """Commit what is staged; with a `key` once. Raises NoChangesError, TooManyAttemptsError, KeyReusedError."""
        if key:
            new = await self.long_work.commit_once(repo, branch, request, key)
        else:
            new = await commit_commit.commit(self._ctx, repo, branch, request)
        await self._refs_changed(repo)
        return new

    async def publish(
        self, repo: str, branch: str, changes: Sequence[tuple[str, Entry | None]], request: PublishRequest
    ) -> Commit:
        """Commit changes (None: delete the path) at once, without staging them. Raises DirtyOverlapError too."""
        new, _ = await self.long_work.publish(repo, branch, changes, request)
        await self._refs_changed(repo)
        return new

    async def publish_uploads(
        self,
        repo: str,
        branch: str,
        changes: AsyncIterable[tuple[UploadRequest, AsyncIterable[bytes]] | Deletion],
        request: PublishRequest,
    ) -> Published:
        """As `upload_many`, but committed at once and never staged. Raises what `publish` does."""
        publish = self.long_work.publish
        made = await commit_publish_uploads.publish_uploads(self._ctx, repo, branch, changes, request, publish)
        await self._refs_changed(repo)
        return made

    async def commit_tree(self, repo: str, branch: str, metarange_id: str, request: CommitRequest) -> Commit:
        """Commit a metarange as the content of a clean branch. Raises DirtyBranchError, NoChangesError."""
        new = await import_commits.commit_tree(self._ctx, repo, branch, metarange_id, request)
        await self._refs_changed(repo)
        return new

    async def record_commit(self, repo: str, commit: Commit, *, force: bool = False) -> None:
        """Store a commit exactly as it is told; no branch moves. Raises AlreadyExistsError, InvalidRequestError."""
        await import_commits.record_commit(self._ctx, repo, commit, force=force)

    async def get_commit(self, repo: str, ref: str) -> Commit:
        """The commit that a ref expression names."""
        return await resolve_commit(self._ctx, await open_repo(self._ctx, repo), ref)

    async def log(self, repo: str, ref: str, request: LogRequest) -> Page[Commit]:
        """A page of history, newest first."""
        return await history_log.log(self._ctx, repo, ref, request)

    async def merge(self, repo: str, source: str, destination: str, request: MergeRequest, key: str = "") -> Commit:
        """Merge a ref into a branch; with a `key` once.

        Raises MergeConflictError, DirtyBranchError, NoChangesError, NoMergeBaseError, KeyReusedError.
        """
        if key:
            new = await self.long_work.merge_once(repo, source, destination, request, key)
        else:
            new = await merge_merge.merge(self._ctx, repo, source, destination, request)
        await self._refs_changed(repo)
        return new

    async def revert(self, repo: str, branch: str, request: PickRequest, key: str = "") -> Commit:
        """Take back a commit, as a new one; with a `key` once.

        Raises MergeConflictError, DirtyBranchError, MergeParentError, NoChangesError, KeyReusedError.
        """
        if key:
            new = await self.long_work.revert_once(repo, branch, request, key)
        else:
            new = await merge_cherry_pick.revert(self._ctx, repo, branch, request)
        await self._refs_changed(repo)
        return new

    async def cherry_pick(self, repo: str, branch: str, request: PickRequest, key: str = "") -> Commit:
        """Apply the change of a commit, as a new one; with a `key` once.

        Raises MergeConflictError, DirtyBranchError, NoChangesError, KeyReusedError.
        """
        if key:
            new = await self.long_work.cherry_pick_once(repo, branch, request, key)
        else:
            new = await merge_cherry_pick.cherry_pick(self._ctx, repo, branch, request)
        await self._refs_changed(repo)
        return new

    async def merge_base(self, repo: str, source: str, destination: str) -> MergeBase:
        """The nearest common ancestor. Raises NoMergeBaseError."""
        return await history_merge_base.merge_base(self._ctx, repo, source, destination)

    async def diff_branch(
        self, repo: str, branch: str, *, after: str = "", amount: int = 100, prefix: str = "", delimiter: str = ""
    ) -> Page[DiffEntry]:
        """A page of uncommitted changes."""
        return await diff.diff_branch(self._ctx, repo, branch, after, amount, prefix, delimiter)

    async def diff_refs(
        self,
        repo: str,
        left: str,
        right: str,
        *,
        mode: Literal["two_dot", "three_dot"] = "three_dot",
        after: str = "",
        amount: int = 100,
        prefix: str = "",
        delimiter: str = "",
        details: bool = True,
    ) -> Page[DiffEntry]:
        """A page of differences. two_dot: left to right. three_dot: what right changed since the merge base.

        Without `details` the entries may tell only size and identity, which is several times faster.
        """
        return await diff.diff_refs(self._ctx, repo, left, right, mode, after, amount, prefix, delimiter, details)
