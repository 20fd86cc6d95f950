"""Ingest of objects that lie elsewhere. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_engine.vocabulary import records
from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, json
from lakebed_server.rest import serializers

MOST = 100_000


async def ingest_objects(call: Call, p: ops.IngestObjectsParams, body: models.IngestRequest) -> Reply:
    """ingestObjects."""
    return json(200, _shown(await call.engine.ingest_page(p.repository, p.workspace, _request(body))))


async def diff_ingest(call: Call, p: ops.DiffIngestParams, body: models.IngestRequest) -> Reply:
    """diffIngest."""
    return json(200, _shown(await call.engine.ingest_diff(p.repository, p.ref, _request(body))))


def _request(body: models.IngestRequest) -> records.IngestRequest:
    return records.IngestRequest(
        source=body.source,
        prefix=serializers.text(body.prefix),
        include=tuple(body.include or ()),
        exclude=tuple(body.exclude or ()),
        settle=body.settle or 0,
        removals=not body.keep_removed,
        after=serializers.text(body.after),
        amount=body.amount or MOST,
        told=body.changes_amount or 0,
        force=bool(body.force),
    )


def _shown(page: records.IngestPage) -> models.IngestPage:
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
