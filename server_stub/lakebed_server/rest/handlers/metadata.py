"""The metadata files of a repository's history. One function per operation (`handlers`)."""

from __future__ import annotations

from email.utils import formatdate

from lakebed_engine.vocabulary.requests import MetadataFile, MetadataKind
from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, StreamReply, json
from lakebed_server.rest import presigned


async def get_meta_range(call: Call, p: ops.GetMetaRangeParams) -> Reply:
    """getMetaRange."""
    return _located(await call.engine.repositories.metadata_file(p.repository, "meta_range", p.meta_range))


async def get_range(call: Call, p: ops.GetRangeParams) -> Reply:
    """getRange."""
    return _located(await call.engine.repositories.metadata_file(p.repository, "range", p.range))


async def get_metadata_object(call: Call, p: ops.GetMetadataObjectParams) -> Reply:
    """getMetadataObject."""
    signs = await presigned.wanted(call, p.repository, p.presign)
    kind: MetadataKind = "range" if p.type == "range" else "meta_range"
    seconds = call.services.installation.presign_seconds if signs else 0
    file = await call.engine.repositories.metadata_file(p.repository, kind, p.object_id, seconds=seconds)
    if file.url:
        return Reply(302, headers=((b"location", file.url.encode("ascii")), (b"cache-control", b"no-store")))
    headers = (
        (b"content-type", b"application/octet-stream"),
        (b"etag", f'"{p.object_id}"'.encode("ascii")),
        (b"last-modified", formatdate(file.mtime, usegmt=True).encode()),
        (b"cache-control", b"private, max-age=31536000, immutable"),
    )
    return StreamReply(200, file.open(), file.size, headers)


def _located(file: MetadataFile) -> Reply:
    """The location relative to the storage namespace, as existing clients expect."""
    return json(200, models.StorageURI(location=file.key), ((b"location", file.key.encode("ascii")),))
