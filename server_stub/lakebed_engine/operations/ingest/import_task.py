"""Import: objects in another store become entries of a branch, as a task (`facts/rest_api.md` 4.10). No data is copied.

An import is an ingest into its own workspace, and the commit of that workspace. The workspace has the id of the task,
and each page skips what an earlier attempt did. So an import can be interrupted anywhere, and another server continues
it. The commit ends the task in the same batch, so a cancelled import makes no commit. When a task ends without a
commit, its workspace is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import msgspec

from lakebed_engine.operations import validation
from lakebed_engine.operations.context import Context, Repo, find_workspace, load_commit, open_repo, read_branch
from lakebed_engine.operations.direct_writes.scan import register
from lakebed_engine.operations.ingest.ingest import ingest_page
from lakebed_engine.operations.namespaces import refuse_namespaces
from lakebed_engine.operations.objects.stage import MAX_BATCH, Row, new_entry
from lakebed_engine.operations.repository.lifecycle import set_metadata
from lakebed_engine.operations.tasks.runner import TaskRunner, Work
from lakebed_engine.operations.workspace.commit import advance
from lakebed_engine.operations.workspace.lifecycle import create, drop
from lakebed_engine.stores.objects.external import version_of
from lakebed_engine.vocabulary.errors import (
    BlobNotFound,
    InvalidRequestError,
    NoChangesError,
    NotFoundError,
    ObjectNotFoundError,
    WorkspaceClosedError,
)
from lakebed_engine.vocabulary.records import DEFAULT_CONTENT_TYPE
from lakebed_engine.vocabulary.requests import AdvanceRequest, IngestRequest, WorkspaceRequest
from lakebed_engine.vocabulary.tasks import IMPORT, ImportPath, ImportRequest, ImportStatus, Task

MOST_PATHS = 1000
"""The largest number of sources of one import."""


LAST_IMPORT = ".lakefs.last.import.timestamp"
"""The key of the repository's metadata with the time of its last import in Unix seconds. Clients of lakeFS read it."""


async def start(tasks: TaskRunner, repo_name: str, branch: str, request: ImportRequest) -> Task:
    """Begin an import. Raises InvalidRequestError, ForeignDeniedError, BranchNotFoundError."""
    repo = await open_repo(tasks.ctx, repo_name, write=True, force=request.force)
    await read_branch(tasks.ctx, repo, branch)
    await _check(tasks, repo, request)
    body = msgspec.to_builtins(request)
    return await tasks.submit(repo_name, IMPORT, branch, body, force=request.force)


async def status(tasks: TaskRunner, repo_name: str, branch: str, task_id: str) -> ImportStatus:
    """The state of an import. Raises TaskNotFoundError."""
    task = await tasks.get(repo_name, IMPORT, branch, task_id)
    found = task.result.get("commit")
    repo = await open_repo(tasks.ctx, repo_name)
    return ImportStatus(task, await load_commit(tasks.ctx, repo, found) if found else None)


async def cancel(tasks: TaskRunner, repo_name: str, branch: str, task_id: str) -> None:
    """Cancel an import. Raises TaskNotFoundError, TaskEndedError."""
    await tasks.cancel(repo_name, IMPORT, branch, task_id)


async def _check(tasks: TaskRunner, repo: Repo, request: ImportRequest) -> None:
    if not 1 <= len(request.paths) <= MOST_PATHS:
        raise InvalidRequestError(f"{len(request.paths)} paths: must be 1 to {MOST_PATHS}")
    validation.check_message(request.message)
    validation.check_metadata(request.metadata)
    for one in request.paths:
        validation.check_text("path", one.path)
        if one.destination or one.type == "object":
            validation.check_path(one.destination)
        if one.type == "object":
            tasks.ctx.foreign.object(one.path, repo.record.storage_id)
        else:
            tasks.ctx.foreign.beginning(one.path, repo.record.storage_id)
        await refuse_namespaces(tasks.ctx, one.path, by_name=one.type != "object")


async def run_import(task: Work) -> Mapping[str, str]:
    """Perform an import task. The task's status contains any raised error."""
    ctx, repo = task.ctx, task.repo.name
    request = msgspec.convert(task.task.request, ImportRequest)
    found = await find_workspace(ctx, task.repo, task.task.id)
    if found is None:
        wanted = WorkspaceRequest(
            ref=task.task.target,
            creator=request.committer,
            message=request.message or "Import objects",
            id=task.task.id,
            force=request.force,
        )
        await create(ctx, repo, wanted)
    task.progress = 0
    if found is None or getattr(found.record, "state", "") == "open":
        await _fill(task, request)
    with suppress(InvalidRequestError):  # the metadata is full
        await set_metadata(ctx, repo, {LAST_IMPORT: str(ctx.now())}, force=request.force)
    try:
        new = await advance(ctx, repo, task.task.id, _commit_of(task, request), direct=False, guard=task.guard())
    except NoChangesError:  # the branch already had all objects
        head = (await read_branch(ctx, task.repo, task.task.target)).record.commit_id
        return {"commit": head}
    return {"commit": new.id}


async def tidy(ctx: Context, repo: Repo, task: Task) -> None:
    """Drop the workspace of an ended import. Does nothing when its commit closed it or it has none."""
    with suppress(WorkspaceClosedError, NotFoundError):
        await drop(ctx, repo.name, task.id, force=True)


async def _fill(task: Work, request: ImportRequest) -> None:
    objects = [one for one in request.paths if one.type == "object"]
    for one in request.paths:
        if one.type == "common_prefix":
            await _folder(task, one, request.force)
    for start in range(0, len(objects), MAX_BATCH):
        await _objects(task, objects[start : start + MAX_BATCH], request.force)
    await task.check()


async def _folder(task: Work, one: ImportPath, force: bool) -> None:
    after = ""
    while True:
        await task.check()
        page = IngestRequest(source=one.path, prefix=one.destination, after=after, by_name=True, force=force)
        done = await ingest_page(task.ctx, task.repo.name, task.task.id, page)
        task.progress += done.listed
        after = done.next
        if not after:
            return


async def _objects(task: Work, objects: Sequence[ImportPath], force: bool) -> None:
    rows: dict[str, Row] = {}
    for one in objects:
        place = task.ctx.foreign.object(one.path, task.repo.record.storage_id)
        try:
            blob = await place.store.head(place.key)
        except BlobNotFound:
            raise ObjectNotFoundError(f"cannot import {one.path[:200]!r}: nothing is there") from None
        entry = new_entry(one.path, version_of(blob), blob.size, int(blob.mtime), DEFAULT_CONTENT_TYPE, {})
        rows[one.destination] = (one.destination, entry)
        task.progress += 1
    if rows:
        await register(task.ctx, task.repo.name, task.task.id, list(rows.values()), force=force)


def _commit_of(task: Work, request: ImportRequest) -> AdvanceRequest:
    return AdvanceRequest(
        committer=request.committer,
        message=request.message or "Import objects",
        metadata=request.metadata,
        policy="overwrite",
        force=request.force,
    )
