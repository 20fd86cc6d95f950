"""Objects that clients put into the store themselves, whole or in parts. One function per operation (`handlers`).

`workspaces` has other operations of Lakebed for the same purpose.

`workspaces` and `part_uploads` have Lakebed's own operations for the same purpose.
"""

from __future__ import annotations

from lakebed_engine.vocabulary.direct_writes import LinkRequest, PartUpload, SentPart
from lakebed_engine.vocabulary.requests import PartSource
from lakebed_wire import models
from lakebed_wire import operations as ops
from msgspec import UNSET, UnsetType

from lakebed_server.http.ranges import part_of
from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, empty, json
from lakebed_server.http.uploads import OCTETS, etag_of
from lakebed_server.rest import presigned, serializers
from lakebed_server.rest.handlers.workspaces import refuse_unsigned


async def upload_object_preflight(call: Call, p: ops.UploadObjectPreflightParams) -> Reply:
    """uploadObjectPreflight."""
    await call.engine.repositories.get(p.repository)
    return empty()


async def update_object_user_metadata(
    call: Call, p: ops.UpdateObjectUserMetadataParams, body: models.UpdateObjectUserMetadata
) -> Reply:
    """updateObjectUserMetadata."""
    await call.engine.objects.set_metadata(p.repository, p.branch, p.path, body.set, force=bool(p.force))
    return empty()


async def get_underlying_properties(call: Call, p: ops.GetUnderlyingPropertiesParams) -> Reply:
    """getUnderlyingProperties."""
    found = await call.engine.objects.storage_class(p.repository, p.ref, p.path)
    return json(200, models.UnderlyingObjectProperties(storage_class=found))


async def stage_object(call: Call, p: ops.StageObjectParams, body: models.ObjectStageCreation) -> Reply:
    """stageObject."""
    request = LinkRequest(
        path=p.path,
        physical_address=body.physical_address,
        checksum=body.checksum,
        size=body.size_bytes,
        mtime=None if body.mtime is UNSET else body.mtime,
        content_type=serializers.text(body.content_type) or OCTETS,
        metadata=body.metadata or {},
        force=bool(body.force),
    )
    entry = await call.engine.physical_addresses.link(p.repository, p.branch, request)
    return json(201, serializers.object_stats(p.path, entry, body.physical_address))


async def get_physical_address(call: Call, p: ops.GetPhysicalAddressParams) -> Reply:
    """getPhysicalAddress."""
    if p.presign is True:
        await presigned.require(call, p.repository)
    seconds = call.services.installation.presign_seconds if p.presign is True else 0
    given = await call.engine.physical_addresses.get(p.repository, p.branch, p.path, seconds=seconds)
    location = models.StagingLocation(
        physical_address=given.physical_address,
        presigned_url=given.url or UNSET,
        presigned_headers=dict(given.headers) if given.url and given.headers else UNSET,
        presigned_url_expiry=given.expires if given.url else UNSET,
    )
    return json(200, location)


async def link_physical_address(call: Call, p: ops.LinkPhysicalAddressParams, body: models.StagingMetadata) -> Reply:
    """linkPhysicalAddress."""
    address = serializers.text(body.staging.physical_address)
    request = LinkRequest(
        path=p.path,
        physical_address=address,
        checksum=body.checksum,
        size=body.size_bytes,
        mtime=None if body.mtime is UNSET else body.mtime,
        content_type=serializers.text(body.content_type) or OCTETS,
        metadata=body.user_metadata or {},
        if_none_match=etag_of(p.if_none_match) == "*",
        if_match=etag_of(p.if_match),
        unlike=etag_of(p.if_none_match),
        force=bool(body.force),
    )
    entry = await call.engine.physical_addresses.link(p.repository, p.branch, request)
    return json(200, serializers.object_stats(p.path, entry, address))


async def create_presign_multipart_upload(call: Call, p: ops.CreatePresignMultipartUploadParams) -> Reply:
    """createPresignMultipartUpload."""
    refuse_unsigned(call)
    wanted = 0 if isinstance(p.parts, UnsetType) else p.parts
    seconds = call.services.installation.presign_seconds
    begun, urls = await call.engine.physical_addresses.begin_upload(
        p.repository, p.branch, p.path, parts=wanted, seconds=seconds
    )
    made = models.PresignMultipartUpload(
        upload_id=begun.upload, physical_address=begun.physical_address, presigned_urls=urls or UNSET
    )
    return json(201, made)


async def upload_part(call: Call, p: ops.UploadPartParams, body: models.UploadPartFrom) -> Reply:
    """uploadPart."""
    refuse_unsigned(call)
    upload = PartUpload(body.physical_address, p.upload_id)
    seconds = call.services.installation.presign_seconds
    url = await call.engine.physical_addresses.sign_part(
        p.repository, p.branch, p.path, upload, p.part_number, seconds=seconds
    )
    return json(200, models.UploadTo(presigned_url=url))


async def upload_part_copy(call: Call, p: ops.UploadPartCopyParams, body: models.UploadPartCopyFrom) -> Reply:
    """uploadPartCopy."""
    refuse_unsigned(call)
    wanted = body.copy_source
    entry = await call.engine.objects.stat(wanted.repository, wanted.ref, wanted.path)
    part = part_of("body copy_source.range", serializers.text(wanted.range), entry.size)
    source = PartSource(wanted.repository, entry, part.start, part.length)
    upload = PartUpload(body.physical_address, p.upload_id)
    etag = await call.engine.physical_addresses.copy_part(p.repository, p.branch, p.path, upload, p.part_number, source)
    return empty(204, ((b"etag", etag.encode()),))


async def complete_presign_multipart_upload(
    call: Call, p: ops.CompletePresignMultipartUploadParams, body: models.CompletePresignMultipartUpload
) -> Reply:
    """completePresignMultipartUpload."""
    refuse_unsigned(call)
    request = LinkRequest(
        path=p.path,
        physical_address=body.physical_address,
        content_type=serializers.text(body.content_type) or OCTETS,
        metadata=body.user_metadata or {},
    )
    parts = [SentPart(one.part_number, one.etag) for one in body.parts]
    entry = await call.engine.physical_addresses.complete_upload(p.repository, p.branch, request, p.upload_id, parts)
    return json(200, serializers.object_stats(p.path, entry, entry.physical_address))


async def abort_presign_multipart_upload(
    call: Call, p: ops.AbortPresignMultipartUploadParams, body: models.AbortPresignMultipartUpload
) -> Reply:
    """abortPresignMultipartUpload."""
    await call.engine.physical_addresses.abort_upload(
        p.repository, p.branch, p.path, body.physical_address, p.upload_id
    )
    return empty()


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
