"""Commits and merges as tasks, for work that takes longer than a proxy waits and for clients that may repeat a request.

One batch commits and ends the task. So a task commits once, even if its server dies, and a second request with the same
key returns its commit.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from lakebed_engine.operations.commit import commit as commit_commit
from lakebed_engine.operations.context import load_commit, open_repo, read_branch
from lakebed_engine.operations.merge import merge as merge_merge
from lakebed_engine.operations.tasks.runner import TaskRunner, Work
from lakebed_engine.vocabulary.errors import StoreError
from lakebed_engine.vocabulary.records import Commit
from lakebed_engine.vocabulary.requests import CommitRequest, MergeRequest
from lakebed_engine.vocabulary.tasks import COMMIT, MERGE, Task


async def begin_commit(
    tasks: TaskRunner, repo_name: str, branch: str, request: CommitRequest, *, key: str = "", wait: float = 0.0
) -> tuple[Task, Commit | None]:
    """Begin a commit and wait up to `wait` seconds for its end. Returns the task, and the commit if it exists.

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
    """Begin a merge of `source` into a branch. Raises as `begin_commit`."""
    commit_commit.check_commit_texts(request.message, request.metadata, request.committer)
    repo = await open_repo(tasks.ctx, repo_name, write=True, force=request.force)
    await read_branch(tasks.ctx, repo, branch)
    body = {"source": source, "merge": msgspec.to_builtins(request)}
    task = await tasks.submit(repo_name, MERGE, branch, body, key=key, force=request.force)
    return await _begun(tasks, repo_name, task, wait)


async def get_task(tasks: TaskRunner, repo_name: str, task_id: str, *, wait: float = 0.0) -> tuple[Task, Commit | None]:
    """A task of any kind, and its commit if it has made one. Raises TaskNotFoundError."""
    return await _answer(tasks, repo_name, await tasks.get(repo_name, "", "", task_id), wait)


async def _begun(tasks: TaskRunner, repo_name: str, task: Task, wait: float) -> tuple[Task, Commit | None]:
    """The response for a begun task. When its state cannot be read, returns the task as it was begun."""
    try:
        return await _answer(tasks, repo_name, task, wait)
    except StoreError:
        if task.state != "running":
            raise  # the task of an earlier request with this key: this request has begun nothing
        return task, None


async def _answer(tasks: TaskRunner, repo_name: str, task: Task, wait: float) -> tuple[Task, Commit | None]:
    task = await tasks.wait(repo_name, task, wait)
    found = task.result.get("commit")
    repo = await open_repo(tasks.ctx, repo_name)
    return task, await load_commit(tasks.ctx, repo, found) if found else None


async def run_commit(task: Work) -> Mapping[str, str]:
    """Perform a commit task."""
    request = msgspec.convert(task.task.request, CommitRequest)
    new = await commit_commit.commit(task.ctx, task.repo.name, task.task.target, request, task.guard())
    return {"commit": new.id}


async def run_merge(task: Work) -> Mapping[str, str]:
    """Perform a merge task."""
    source = task.task.request["source"]
    request = msgspec.convert(task.task.request["merge"], MergeRequest)
    new = await merge_merge.merge(task.ctx, task.repo.name, source, task.task.target, request, task.guard())
    return {"commit": new.id}
