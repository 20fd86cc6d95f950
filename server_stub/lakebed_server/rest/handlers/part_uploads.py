"""Objects that clients write to the store in parts. One function per operation (`handlers`)."""

from __future__ import annotations

from lakebed_engine.vocabulary.direct_writes import PartUpload, SentPart
from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json
from lakebed_server.rest import serializers
from lakebed_server.rest.handlers.workspaces import refuse_unsigned


async def create_part_upload(call: Call, p: ops.CreatePartUploadParams, body: models.PartUploadCreation) -> Reply:
    """createPartUpload."""
    refuse_unsigned(call)
    made = await call.engine.signed_uploads.begin(
        p.repository, p.workspace, body.path, content_type=serializers.text(body.content_type)
    )
    return json(201, models.PartUpload(physical_address=made.physical_address, upload_id=made.upload))


async def sign_parts(call: Call, p: ops.SignPartsParams, body: models.PartUrlRequest) -> Reply:
    """signParts."""
    refuse_unsigned(call)
    seconds = call.services.installation.presign_seconds
    upload = PartUpload(body.physical_address, body.upload_id)
    signed = await call.engine.signed_uploads.sign_parts(p.repository, p.workspace, upload, body.parts, seconds=seconds)
    return json(200, models.PartUrlList(results=[serializers.part_url(one) for one in signed]))


async def complete_part_upload(call: Call, p: ops.CompletePartUploadParams, body: models.PartUploadCompletion) -> Reply:
    """completePartUpload."""
    refuse_unsigned(call)
    upload = PartUpload(body.physical_address, body.upload_id)
    parts = [SentPart(one.part, one.etag) for one in body.parts]
    done = await call.engine.signed_uploads.complete(p.repository, p.workspace, upload, parts, body.size_bytes)
    found = models.CompletedPartUpload(physical_address=done.physical_address, etag=done.etag, size_bytes=done.size)
    return json(200, found)


async def abort_part_upload(call: Call, p: ops.AbortPartUploadParams, body: models.PartUpload) -> Reply:
    """abortPartUpload."""
    await call.engine.signed_uploads.abort(p.repository, p.workspace, PartUpload(body.physical_address, body.upload_id))
    return empty()
