"""Commits and merges as tasks: for work that outlasts a proxy, and for clients that may not ask twice by accident.

The commit and the end of its task are one batch, so a task commits once, whatever becomes of the server that does it,
and submitting it again with the same key gives its commit.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

import msgspec

from lakebed_engine.operations.commit import commit as commit_commit
from lakebed_engine.operations.commit import publish as commit_publish
from lakebed_engine.operations.commit.publish import Row
from lakebed_engine.operations.commit.queue import CommitGuard
from lakebed_engine.operations.context import Context, load_commit, open_repo, read_branch
from lakebed_engine.operations.merge import cherry_pick
from lakebed_engine.operations.merge import merge as merge_merge
from lakebed_engine.operations.tasks.idempotency import old_key_of_branch, old_key_of_workspace, once
from lakebed_engine.operations.tasks.records import Task
from lakebed_engine.operations.tasks.runner import Tasks, Work
from lakebed_engine.operations.workspace import commit as workspace_commit
from lakebed_engine.operations.workspace.lifecycle import find
from lakebed_engine.vocabulary.errors import StoreError
from lakebed_engine.vocabulary.records import (
    AdvanceRequest,
    Commit,
    CommitRequest,
    MergeRequest,
    PickRequest,
    PublishRequest,
)

COMMIT, MERGE, REVERT, CHERRY_PICK = "commit", "merge", "revert", "cherry-pick"
PUBLISH, WORKSPACE = "publish", "workspace-commit"

_AMOUNT = MergeRequest(committer="").conflicts_amount


class LongWork:
    """Submits commits and merges, and tells of them."""

    def __init__(self, ctx: Context, tasks: Tasks) -> None:
        self._ctx = ctx
        self._tasks = tasks

    async def commit(
        self, repo_name: str, branch: str, request: CommitRequest, *, key: str = "", wait: float = 0.0
    ) -> tuple[Task, Commit | None]:
        """Begin a commit, and wait so many seconds for its end; and the commit, when it is made.

        Raises KeyReusedError, BranchNotFoundError.
        """
        commit_commit.check_commit(request.message, request.metadata, request.committer, request.date)
        repo = await open_repo(self._ctx, repo_name, write=True, force=request.force, branch=branch)
        await read_branch(self._ctx, repo, branch)
        body = msgspec.to_builtins(request)
        task = await self._tasks.submit(repo_name, COMMIT, branch, body, key=key, force=request.force)
        return await self._begun(repo_name, task, wait)

    async def merge(
        self, repo_name: str, source: str, branch: str, request: MergeRequest, *, key: str = "", wait: float = 0.0
    ) -> tuple[Task, Commit | None]:
        """Begin a merge of `source` into a branch. Raises as `commit`."""
        commit_commit.check_commit_texts(request.message, request.metadata, request.committer)
        repo = await open_repo(self._ctx, repo_name, write=True, force=request.force)
        await read_branch(self._ctx, repo, branch)
        body = {"source": source, "merge": msgspec.to_builtins(request)}
        task = await self._tasks.submit(repo_name, MERGE, branch, body, key=key, force=request.force)
        return await self._begun(repo_name, task, wait)

    async def commit_once(self, repo_name: str, branch: str, request: CommitRequest, key: str) -> Commit:
        """Commit now. A second call with the key, or a task with it, gives the same commit. Raises KeyReusedError."""
        draft = self._tasks.draft(COMMIT, branch, msgspec.to_builtins(request), key)
        repo = await open_repo(self._ctx, repo_name, write=True, force=request.force, branch=branch)
        make = partial(commit_commit.commit, self._ctx, repo_name, branch, request)
        return (await once(self._ctx, self._tasks, repo, draft, make))[0]

    async def merge_once(self, repo_name: str, source: str, branch: str, request: MergeRequest, key: str) -> Commit:
        """Merge now. Else as `commit_once`; how a conflict is paged makes no other request."""
        asked = msgspec.structs.replace(request, conflicts_after="", conflicts_amount=_AMOUNT)
        body = {"source": source, "merge": msgspec.to_builtins(asked)}
        draft = self._tasks.draft(MERGE, branch, body, key)
        repo = await open_repo(self._ctx, repo_name, write=True, force=request.force)
        make = partial(merge_merge.merge, self._ctx, repo_name, source, branch, request)
        return (await once(self._ctx, self._tasks, repo, draft, make))[0]

    async def revert_once(self, repo_name: str, branch: str, request: PickRequest, key: str) -> Commit:
        """Take back a commit now. Else as `commit_once`, but there is no task of it."""
        make = partial(cherry_pick.revert, self._ctx, repo_name, branch, request)
        return await self._pick_once(repo_name, REVERT, branch, request, key, make)

    async def cherry_pick_once(self, repo_name: str, branch: str, request: PickRequest, key: str) -> Commit:
        """Apply a commit now. Else as `revert_once`."""
        make = partial(cherry_pick.cherry_pick, self._ctx, repo_name, branch, request)
        return await self._pick_once(repo_name, CHERRY_PICK, branch, request, key, make)

    async def _pick_once(
        self,
        repo_name: str,
        what: str,
        branch: str,
        request: PickRequest,
        key: str,
        make: Callable[[CommitGuard], Awaitable[Commit]],
    ) -> Commit:
        draft = self._tasks.draft(what, branch, msgspec.to_builtins(request), key)
        repo = await open_repo(self._ctx, repo_name, write=True, force=request.force)
        return (await once(self._ctx, self._tasks, repo, draft, make))[0]

    async def publish(
        self, repo_name: str, branch: str, changes: Sequence[Row], request: PublishRequest
    ) -> tuple[Commit, bool]:
        """Commit changes directly; with an idempotency key once. And whether an earlier call has made the commit."""
        ctx = self._ctx
        make = partial(commit_publish.publish, ctx, repo_name, branch, changes, request)
        if not request.idempotency_key:
            return await make(), False
        commit_publish.check_request(request)
        repo = await open_repo(ctx, repo_name, write=True, force=request.force, branch=branch)
        uid = (await read_branch(ctx, repo, branch)).record.uid
        ordered = sorted(changes, key=lambda change: change[0].encode())
        asked = {
            "publish": msgspec.to_builtins(msgspec.structs.replace(request, force=False)),
            # by content: sent again, the data has other addresses
            "changes": [[path, None if entry is None else entry.identity.hex()] for path, entry in ordered],
        }
        draft = self._tasks.draft(PUBLISH, uid, asked, request.idempotency_key, scoped=True)
        return await once(ctx, self._tasks, repo, draft, make, old_key_of_branch(uid, request, ordered))

    async def advance(self, repo_name: str, found_id: str, request: AdvanceRequest) -> Commit:
        """Commit a workspace; with an idempotency key once."""
        ctx = self._ctx
        if not request.idempotency_key:
            return await workspace_commit.advance(ctx, repo_name, found_id, request)
        workspace_commit.check_request(request)
        repo = await open_repo(ctx, repo_name, write=True, force=request.force)
        uid = (await find(ctx, repo, found_id)).record.uid
        asked = msgspec.to_builtins(msgspec.structs.replace(request, conflicts_amount=_AMOUNT, force=False))
        draft = self._tasks.draft(WORKSPACE, uid, asked, request.idempotency_key, scoped=True)

        async def make(guard: CommitGuard) -> Commit:
            return await workspace_commit.advance(ctx, repo_name, found_id, request, guard=guard)

        old = old_key_of_workspace(uid, request)
        return (await once(ctx, self._tasks, repo, draft, make, old))[0]

    async def get(self, repo_name: str, task_id: str, *, wait: float = 0.0) -> tuple[Task, Commit | None]:
        """A task of whatever kind, and its commit when it has made one. Raises TaskNotFoundError."""
        return await self._answer(repo_name, await self._tasks.get(repo_name, "", "", task_id), wait)

    async def _begun(self, repo_name: str, task: Task, wait: float) -> tuple[Task, Commit | None]:
        """What a task has come to that is at work, whatever becomes of the looks at it."""
        try:
            return await self._answer(repo_name, task, wait)
        except StoreError:
            if task.state != "running":
                raise  # of an earlier call with its key: this one has begun nothing
            return task, None

    async def _answer(self, repo_name: str, task: Task, wait: float) -> tuple[Task, Commit | None]:
        task = await self._tasks.wait(repo_name, task, wait)
        found = task.result.get("commit")
        repo = await open_repo(self._ctx, repo_name)
        return task, await load_commit(self._ctx, repo, found) if found else None


async def commit(task: Work) -> Mapping[str, str]:
    """Do a commit."""
    request = msgspec.convert(task.task.request, CommitRequest)
    new = await commit_commit.commit(task.ctx, task.repo.name, task.task.target, request, task.guard())
    return {"commit": new.id}


async def merge(task: Work) -> Mapping[str, str]:
    """Do a merge."""
    source = task.task.request["source"]
    request = msgspec.convert(task.task.request["merge"], MergeRequest)
    new = await merge_merge.merge(task.ctx, task.repo.name, source, task.task.target, request, task.guard())
    return {"commit": new.id}
