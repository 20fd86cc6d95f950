"""Ingests and imports of objects from other storage. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_engine.vocabulary import requests
from lakebed_engine.vocabulary.tasks import ImportPath, ImportRequest
from lakebed_wire import models
from lakebed_wire import operations as ops
from msgspec import UNSET

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json
from lakebed_server.rest import serializers

MOST = 100_000


async def ingest_objects(call: Call, p: ops.IngestObjectsParams, body: models.IngestRequest) -> Reply:
    """ingestObjects."""
    return json(200, _shown(await call.engine.workspaces.ingest(p.repository, p.workspace, _request(body))))


async def diff_ingest(call: Call, p: ops.DiffIngestParams, body: models.IngestRequest) -> Reply:
    """diffIngest."""
    return json(200, _shown(await call.engine.workspaces.ingest_diff(p.repository, p.ref, _request(body))))


async def import_start(call: Call, p: ops.ImportStartParams, body: models.ImportCreation) -> Reply:
    """importStart. Uses only message and metadata of the commit."""
    request = ImportRequest(
        paths=tuple(ImportPath(one.type.value, one.path, one.destination) for one in body.paths),
        committer=call.committer,
        message=body.commit.message,
        metadata=body.commit.metadata or {},
        force=bool(body.force),
    )
    task = await call.engine.imports.start(p.repository, p.branch, request)
    return json(202, models.ImportCreationResponse(id=task.id))


async def import_status(call: Call, p: ops.ImportStatusParams) -> Reply:
    """importStatus."""
    found = await call.engine.imports.status(p.repository, p.branch, p.id)
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
    await call.engine.imports.cancel(p.repository, p.branch, p.id)
    return empty()


def _request(body: models.IngestRequest) -> requests.IngestRequest:
    return requests.IngestRequest(
        source=body.source,
        prefix=serializers.text(body.prefix),
        include=tuple(body.include or ()),
        exclude=tuple(body.exclude or ()),
        settle=body.settle or 0,
        removals=not body.keep_removed,
        after=serializers.text(body.after),
        amount=body.amount or MOST,
        max_changes=body.changes_amount or 0,
        force=bool(body.force),
    )


def _shown(page: requests.IngestPage) -> models.IngestPage:
    return models.IngestPage(
        base_commit_id=page.base_commit_id,
        has_more=bool(page.next),
        next_offset=page.next,
        listed=page.listed,
        added=page.added,
        changed=page.changed,
        removed=page.removed,
        unchanged=page.unchanged,
        waiting=page.waiting,
        ignored=page.ignored,
        results=[serializers.diff(one) for one in page.changes],
    )
