"""Work that continues without its client: commits, merges, dumps, restores. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_engine.vocabulary.tasks import DUMP, RESTORE
from lakebed_wire import models
from lakebed_wire import operations as ops
from msgspec import UNSET, UnsetType

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json
from lakebed_server.rest import serializers
from lakebed_server.rest.handlers.versions.commits import commit_request, merge_request
from lakebed_server.rest.rights import authors, task_rights


async def commit_async(call: Call, p: ops.CommitAsyncParams, body: models.CommitCreation) -> Reply:
    """commitAsync."""
    await authors.commit_as(call, p.repository, p.branch, body.author)
    request = commit_request(call, body)
    key, wait = serializers.text(p.idempotency_key), _seconds(p.wait)
    found = await call.engine.tasks.begin_commit(p.repository, p.branch, request, key=key, wait=wait)
    return json(202, serializers.task(*found))


async def merge_into_branch_async(call: Call, p: ops.MergeIntoBranchAsyncParams, body: models.Merge | None) -> Reply:
    """mergeIntoBranchAsync."""
    sent = body or models.Merge()
    await authors.commit_as(call, p.repository, p.destination_branch, sent.author)
    request = merge_request(call, sent)
    key, wait = serializers.text(p.idempotency_key), _seconds(p.wait)
    found = await call.engine.tasks.begin_merge(
        p.repository, p.source_ref, p.destination_branch, request, key=key, wait=wait
    )
    return json(202, serializers.task(*found))


async def get_task(call: Call, p: ops.GetTaskParams) -> Reply:
    """getTask."""
    await task_rights.require_reader(call, p.repository, p.task_id)
    return json(200, serializers.task(*await call.engine.tasks.get(p.repository, p.task_id, wait=_seconds(p.wait))))


async def dump_refs(call: Call, p: ops.DumpRefsParams) -> Reply:
    """dumpRefs."""
    return json(201, serializers.refs_dump(await call.engine.dumps.dump(p.repository)))


async def restore_refs(call: Call, p: ops.RestoreRefsParams, body: models.RefsRestore) -> Reply:
    """restoreRefs."""
    await call.engine.dumps.restore(p.repository, serializers.refs_parts(body), force=bool(body.force))
    return empty(200)


async def dump_submit(call: Call, p: ops.DumpSubmitParams) -> Reply:
    """dumpSubmit."""
    return json(202, models.TaskInfo(id=(await call.engine.dumps.begin_dump(p.repository)).id))


async def dump_status(call: Call, p: ops.DumpStatusParams) -> Reply:
    """dumpStatus."""
    task = await call.engine.dumps.status(p.repository, DUMP, p.task_id)
    status = models.RepositoryDumpStatus(
        id=task.id,
        done=task.state != "running",
        update_time=serializers.moment(task.updated),
        error=task.message or UNSET,
        refs=serializers.refs_dump(task.result) if task.state == "done" else UNSET,
    )
    return json(200, status)


async def restore_submit(call: Call, p: ops.RestoreSubmitParams, body: models.RefsRestore) -> Reply:
    """restoreSubmit."""
    task = await call.engine.dumps.begin_restore(p.repository, serializers.refs_parts(body), force=bool(body.force))
    return json(202, models.TaskInfo(id=task.id))


async def restore_status(call: Call, p: ops.RestoreStatusParams) -> Reply:
    """restoreStatus."""
    task = await call.engine.dumps.status(p.repository, RESTORE, p.task_id)
    status = models.RepositoryRestoreStatus(
        id=task.id,
        done=task.state != "running",
        update_time=serializers.moment(task.updated),
        error=task.message or UNSET,
    )
    return json(200, status)


async def create_symlink_file(call: Call, p: ops.CreateSymlinkFileParams) -> Reply:
    """createSymlinkFile."""
    location = await call.engine.repositories.write_symlinks(p.repository, p.branch, serializers.text(p.location))
    return json(201, models.StorageURI(location=location))


def _seconds(sent: int | UnsetType) -> int:
    return 0 if sent is UNSET else sent
