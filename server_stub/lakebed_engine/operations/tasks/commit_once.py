"""Commits of every kind, once for each idempotency key.

Without a key these operations only commit. With a key, a later request with the same key and content returns the commit
of the first one (`idempotency`).
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from functools import partial

import msgspec

from lakebed_engine.operations.commit import commit as commit_commit
from lakebed_engine.operations.commit import publish as commit_publish
from lakebed_engine.operations.commit import publish_uploads as commit_publish_uploads
from lakebed_engine.operations.commit.publish import Row
from lakebed_engine.operations.commit.queue import CommitGuard
from lakebed_engine.operations.context import open_repo, read_branch
from lakebed_engine.operations.merge import cherry_pick as merge_cherry_pick
from lakebed_engine.operations.merge import merge as merge_merge
from lakebed_engine.operations.tasks.idempotency import old_key_of_branch, old_key_of_workspace, once
from lakebed_engine.operations.tasks.runner import TaskRunner
from lakebed_engine.operations.workspace import commit as workspace_commit
from lakebed_engine.operations.workspace.lifecycle import find
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import (
    AdvanceRequest,
    CommitRequest,
    Deletion,
    MergeRequest,
    PickRequest,
    Published,
    PublishRequest,
    UploadRequest,
)
from lakebed_engine.vocabulary.tasks import CHERRY_PICK, COMMIT, MERGE, PUBLISH, REVERT, WORKSPACE

_AMOUNT = MergeRequest(committer="").conflicts_amount


async def commit(tasks: TaskRunner, repo_name: str, branch: str, request: CommitRequest, key: str = "") -> Commit:
    """Commit the staged changes. With a `key`, once. A task with the same key counts too.

    Raises NoChangesError, TooManyAttemptsError, KeyReusedError.
    """
    make = partial(commit_commit.commit, tasks.ctx, repo_name, branch, request)
    if not key:
        return await make()
    draft = tasks.draft(COMMIT, branch, msgspec.to_builtins(request), key)
    repo = await open_repo(tasks.ctx, repo_name, write=True, force=request.force, branch=branch)
    return (await once(tasks, repo, draft, make))[0]


async def merge(
    tasks: TaskRunner, repo_name: str, source: str, branch: str, request: MergeRequest, key: str = ""
) -> Commit:
    """Merge a ref into a branch. With a `key`, once. The paging of conflicts is not part of the compared request.

    Raises MergeConflictError, DirtyBranchError, NoChangesError, NoMergeBaseError, KeyReusedError.
    """
    make = partial(merge_merge.merge, tasks.ctx, repo_name, source, branch, request)
    if not key:
        return await make()
    asked = msgspec.structs.replace(request, conflicts_after="", conflicts_amount=_AMOUNT)
    draft = tasks.draft(MERGE, branch, {"source": source, "merge": msgspec.to_builtins(asked)}, key)
    repo = await open_repo(tasks.ctx, repo_name, write=True, force=request.force)
    return (await once(tasks, repo, draft, make))[0]


async def revert(tasks: TaskRunner, repo_name: str, branch: str, request: PickRequest, key: str = "") -> Commit:
    """Undo a commit with a new commit. With a `key`, once.

    Raises MergeConflictError, DirtyBranchError, MergeParentError, NoChangesError, KeyReusedError.
    """
    make = partial(merge_cherry_pick.revert, tasks.ctx, repo_name, branch, request)
    return await _pick(tasks, repo_name, REVERT, branch, request, key, make)


async def cherry_pick(tasks: TaskRunner, repo_name: str, branch: str, request: PickRequest, key: str = "") -> Commit:
    """Apply the change of a commit as a new commit. With a `key`, once.

    Raises MergeConflictError, DirtyBranchError, NoChangesError, KeyReusedError.
    """
    make = partial(merge_cherry_pick.cherry_pick, tasks.ctx, repo_name, branch, request)
    return await _pick(tasks, repo_name, CHERRY_PICK, branch, request, key, make)


async def _pick(
    tasks: TaskRunner,
    repo_name: str,
    what: str,
    branch: str,
    request: PickRequest,
    key: str,
    make: Callable[..., Awaitable[Commit]],
) -> Commit:
    if not key:
        return await make()
    draft = tasks.draft(what, branch, msgspec.to_builtins(request), key)
    repo = await open_repo(tasks.ctx, repo_name, write=True, force=request.force)
    return (await once(tasks, repo, draft, make))[0]


async def publish(
    tasks: TaskRunner, repo_name: str, branch: str, changes: Sequence[Row], request: PublishRequest
) -> Commit:
    """Commit changes (None deletes the path) without staging them. With the request's idempotency key, once.

    Raises DirtyOverlapError, NoChangesError, TooManyAttemptsError, KeyReusedError.
    """
    return (await _publish(tasks, repo_name, branch, changes, request))[0]


async def publish_uploads(
    tasks: TaskRunner,
    repo_name: str,
    branch: str,
    changes: AsyncIterable[tuple[UploadRequest, AsyncIterable[bytes]] | Deletion],
    request: PublishRequest,
) -> Published:
    """Write objects and commit them without staging them. Raises as `publish`."""
    publish_once = partial(_publish, tasks)
    return await commit_publish_uploads.publish_uploads(tasks.ctx, repo_name, branch, changes, request, publish_once)


async def _publish(
    tasks: TaskRunner, repo_name: str, branch: str, changes: Sequence[Row], request: PublishRequest
) -> tuple[Commit, bool]:
    """Commit changes directly. Also returns whether an earlier request with the key has made the commit."""
    ctx = tasks.ctx
    make = partial(commit_publish.publish, ctx, repo_name, branch, changes, request)
    if not request.idempotency_key:
        return await make(), False
    commit_publish.check_request(request)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force, branch=branch)
    uid = (await read_branch(ctx, repo, branch)).record.uid
    ordered = sorted(changes, key=lambda change: change[0].encode())
    asked = {
        "publish": msgspec.to_builtins(msgspec.structs.replace(request, force=False)),
        # compare the content: when it is sent again, the data has other addresses
        "changes": [[path, None if entry is None else entry.identity.hex()] for path, entry in ordered],
    }
    draft = tasks.draft(PUBLISH, uid, asked, request.idempotency_key, scoped=True)
    return await once(tasks, repo, draft, make, old_key_of_branch(uid, request, ordered))


async def commit_workspace(tasks: TaskRunner, repo_name: str, found_id: str, request: AdvanceRequest) -> Commit:
    """Commit a workspace. With an idempotency key, once."""
    ctx = tasks.ctx
    if not request.idempotency_key:
        return await workspace_commit.advance(ctx, repo_name, found_id, request)
    workspace_commit.check_request(request)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force)
    uid = (await find(ctx, repo, found_id)).record.uid
    asked = msgspec.to_builtins(msgspec.structs.replace(request, conflicts_amount=_AMOUNT, force=False))
    draft = tasks.draft(WORKSPACE, uid, asked, request.idempotency_key, scoped=True)

    async def make(guard: CommitGuard) -> Commit:
        return await workspace_commit.advance(ctx, repo_name, found_id, request, guard=guard)

    old = old_key_of_workspace(uid, request)
    return (await once(tasks, repo, draft, make, old))[0]
