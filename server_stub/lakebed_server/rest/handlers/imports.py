"""Imports of objects that lie elsewhere. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_engine.operations.ingest.import_task import ImportPath, ImportRequest
from lakebed_wire import models
from lakebed_wire import operations as ops
from msgspec import UNSET

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json
from lakebed_server.rest import serializers


async def import_start(call: Call, p: ops.ImportStartParams, body: models.ImportCreation) -> Reply:
    """importStart. Of the commit only message and metadata count."""
    request = ImportRequest(
        paths=tuple(ImportPath(one.type.value, one.path, one.destination) for one in body.paths),
        committer=call.user,
        message=body.commit.message,
        metadata=body.commit.metadata or {},
        force=bool(body.force),
    )
    task = await call.engine.importing.start(p.repository, p.branch, request)
    return json(202, models.ImportCreationResponse(id=task.id))


async def import_status(call: Call, p: ops.ImportStatusParams) -> Reply:
    """importStatus."""
    found = await call.engine.importing.status(p.repository, p.branch, p.id)
    status = models.ImportStatus(
        completed=found.task.state != "running",
        update_time=serializers.moment(found.task.updated),
        ingested_objects=found.task.progress,
        metarange_id=UNSET if found.commit is None else found.commit.metarange_id,
        commit=UNSET if found.commit is None else serializers.commit(found.commit),
        error=serializers.task_error(found.task),
    )
    return json(200, status)


async def import_cancel(call: Call, p: ops.ImportCancelParams) -> Reply:
    """importCancel."""
    await call.engine.importing.cancel(p.repository, p.branch, p.id)
    return empty()
