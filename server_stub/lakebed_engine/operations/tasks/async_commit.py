"""Commits and merges as tasks: for work that outlasts a proxy, and for clients that may not ask twice by accident.

The commit and the end of its task are one batch, so a task commits once, whatever becomes of the server that does it,
and submitting it again with the same key gives its commit.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from lakebed_engine.operations.commit import commit as commit_commit
from lakebed_engine.operations.context import load_commit, open_repo, read_branch
from lakebed_engine.operations.merge import merge as merge_merge
from lakebed_engine.operations.tasks.runner import TaskRunner, Work
from lakebed_engine.vocabulary.errors import StoreError
from lakebed_engine.vocabulary.records import (
    Commit,
    CommitRequest,
    MergeRequest,
)
from lakebed_engine.vocabulary.tasks import COMMIT, MERGE, Task


async def begin_commit(
    tasks: TaskRunner, repo_name: str, branch: str, request: CommitRequest, *, key: str = "", wait: float = 0.0
) -> tuple[Task, Commit | None]:
    """Begin a commit, and wait so many seconds for its end; and the commit, when it is made.

    Raises KeyReusedError, BranchNotFoundError.
    """
    commit_commit.check_commit(request.message, request.metadata, request.committer, request.date)
    repo = await open_repo(tasks.ctx, repo_name, write=True, force=request.force, branch=branch)
    await read_branch(tasks.ctx, repo, branch)
    body = msgspec.to_builtins(request)
    task = await tasks.submit(repo_name, COMMIT, branch, body, key=key, force=request.force)
    return await _begun(tasks, repo_name, task, wait)


async def begin_merge(
    tasks: TaskRunner,
    repo_name: str,
    source: str,
    branch: str,
    request: MergeRequest,
    *,
    key: str = "",
    wait: float = 0.0,
) -> tuple[Task, Commit | None]:
    """Begin a merge of `source` into a branch. Raises as `commit`."""
    commit_commit.check_commit_texts(request.message, request.metadata, request.committer)
    repo = await open_repo(tasks.ctx, repo_name, write=True, force=request.force)
    await read_branch(tasks.ctx, repo, branch)
    body = {"source": source, "merge": msgspec.to_builtins(request)}
    task = await tasks.submit(repo_name, MERGE, branch, body, key=key, force=request.force)
    return await _begun(tasks, repo_name, task, wait)


async def get_task(tasks: TaskRunner, repo_name: str, task_id: str, *, wait: float = 0.0) -> tuple[Task, Commit | None]:
    """A task of whatever kind, and its commit when it has made one. Raises TaskNotFoundError."""
    return await _answer(tasks, repo_name, await tasks.get(repo_name, "", "", task_id), wait)


async def _begun(tasks: TaskRunner, repo_name: str, task: Task, wait: float) -> tuple[Task, Commit | None]:
    """What a task has come to that is at work, whatever becomes of the looks at it."""
    try:
        return await _answer(tasks, repo_name, task, wait)
    except StoreError:
        if task.state != "running":
            raise  # of an earlier call with its key: this one has begun nothing
        return task, None


async def _answer(tasks: TaskRunner, repo_name: str, task: Task, wait: float) -> tuple[Task, Commit | None]:
    task = await tasks.wait(repo_name, task, wait)
    found = task.result.get("commit")
    repo = await open_repo(tasks.ctx, repo_name)
    return task, await load_commit(tasks.ctx, repo, found) if found else None


async def run_commit(task: Work) -> Mapping[str, str]:
    """Do a commit."""
    request = msgspec.convert(task.task.request, CommitRequest)
    new = await commit_commit.commit(task.ctx, task.repo.name, task.task.target, request, task.guard())
    return {"commit": new.id}


async def run_merge(task: Work) -> Mapping[str, str]:
    """Do a merge."""
    source = task.task.request["source"]
    request = msgspec.convert(task.task.request["merge"], MergeRequest)
    new = await merge_merge.merge(task.ctx, task.repo.name, source, task.task.target, request, task.guard())
    return {"commit": new.id}
