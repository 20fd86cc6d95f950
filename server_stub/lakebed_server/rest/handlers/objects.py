"""Objects: reading, listing, writing, copying, deleting. One function per operation (`handlers`).

`http` reads and writes everything about bytes (headers, forms, ranges).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Final

from lakebed_auth import Need, arn
from lakebed_auth.actions import Fs
from lakebed_engine.vocabulary.hooks import ACTION_FOLDERS
from lakebed_engine.vocabulary.requests import FoundObject, Held, PublishRequest, UploadRequest
from lakebed_wire import models
from lakebed_wire import operations as ops
from lakebed_wire.operations import ERROR_KINDS
from msgspec import UNSET

from lakebed_server.http import downloads, responses, uploads
from lakebed_server.http.authorization import allowed_paths, plain_branch, refused
from lakebed_server.http.request import Call
from lakebed_server.http.responses import UNKNOWN, Reply, StreamReply, empty, json, last_modified
from lakebed_server.rest import archives, errors, object_frames, presigned, serializers
from lakebed_server.rest.handlers.hooks import action_files
from lakebed_server.rest.rights import authors
from lakebed_server.vocabulary import Header, bad_request, not_implemented

MOST_PATHS = 1000
_ACTION_SUFFIXES: Final = (".yaml", ".yml")
OCTETS: Final[Header] = (b"content-type", b"application/octet-stream")


async def get_object(call: Call, p: ops.GetObjectParams) -> Reply:
    """getObject."""
    signs = await presigned.wanted(call, p.repository, p.presign, p.may_presign)
    entry = await call.engine.objects.stat(p.repository, p.ref, p.path)
    if signs and (elsewhere := await presigned.redirect(call, p, entry)) is not None:
        return elsewhere
    return downloads.content(call.engine, p.repository, p.ref, p.path, entry, p.range, p.if_none_match)


async def get_objects(call: Call, p: ops.GetObjectsParams, body: models.ObjectsRead) -> Reply:
    """getObjects."""
    has_paths = body.paths is not UNSET
    if has_paths == (body.prefix is not UNSET):
        raise bad_request("body: expected either paths or prefix")
    if has_paths and body.after is not UNSET:
        raise bad_request("body after: only with prefix")
    if body.paths is not UNSET:
        found, has_more = await call.engine.objects.find_many(p.repository, p.ref, body.paths), False
    else:
        prefix, after = serializers.text(body.prefix), serializers.text(body.after)
        page = await call.engine.objects.find_below(p.repository, p.ref, prefix=prefix, after=after)
        found, has_more = page.items, page.has_more
    found = _readable(call, p.repository, found)
    largest = None if body.max_object_size is UNSET else body.max_object_size
    describe = partial(errors.object_error, call=call)
    frames = object_frames.framed(found, call.services.read_ahead, describe, has_more=has_more, largest=largest)
    return StreamReply(200, frames, UNKNOWN, (OCTETS, responses.cache_control(p.ref)))


def _readable(call: Call, repository: str, found: Sequence[FoundObject]) -> Sequence[FoundObject]:
    """The objects, with an error for each that the caller must not read."""
    allowed = allowed_paths(call, Fs.READ_OBJECT, repository, [one.path for one in found])
    if all(allowed):
        return found
    pairs = zip(found, allowed, strict=True)
    return [
        one if may else FoundObject(one.path, refused(call, Fs.READ_OBJECT, repository, one.path)) for one, may in pairs
    ]


async def get_archive(call: Call, p: ops.GetArchiveParams) -> Reply:
    """getArchive."""
    prefix, form = serializers.text(p.prefix), "tar" if p.format is UNSET else p.format
    objects = await call.engine.objects.find_committed(p.repository, p.ref, prefix)
    chunks = archives.archived(objects, prefix, form, call.services.read_ahead)
    file = archives.file_name(p.repository, p.ref, prefix, form)
    headers = (OCTETS, responses.saved_as(file), responses.cache_control(p.ref))
    return StreamReply(200, chunks, UNKNOWN, headers)


async def head_object(call: Call, p: ops.HeadObjectParams) -> Reply:
    """headObject."""
    return downloads.head(p.ref, p.path, await call.engine.objects.stat(p.repository, p.ref, p.path), p.range)


async def stat_object(call: Call, p: ops.StatObjectParams) -> Reply:
    """statObject."""
    if p.presign is True:
        await presigned.require(call, p.repository)
    entry, address = await call.engine.objects.locate(p.repository, p.ref, p.path)
    stats = serializers.object_stats(p.path, entry, address, user_metadata=p.user_metadata is not False)
    if p.presign is True:
        await presigned.sign_one(call, p.repository, stats, entry)
    return json(200, stats, (last_modified(entry.mtime),))


async def list_objects(call: Call, p: ops.ListObjectsParams) -> Reply:
    """listObjects."""
    signs = await presigned.wanted(call, p.repository, p.presign, p.may_presign)
    page = await call.engine.objects.list(
        p.repository,
        p.ref,
        prefix=serializers.text(p.prefix),
        after=serializers.text(p.after),
        amount=serializers.amount(p.amount),
        delimiter=serializers.text(p.delimiter),
    )
    address = await call.engine.objects.addresses(p.repository)
    results = serializers.listed(page.items, address, user_metadata=p.user_metadata is not False)
    if signs:
        await presigned.sign_rows(call, p.repository, results, page.items, p.presign)
    pagination = serializers.pagination(page, lambda item: item.path)
    return json(200, models.ObjectStatsList(pagination=pagination, results=results))


async def list_object_writers(call: Call, p: ops.ListObjectWritersParams) -> Reply:
    """listObjectWriters."""
    page = await call.engine.objects.writers(
        p.repository,
        p.ref,
        prefix=serializers.text(p.prefix),
        after=serializers.text(p.after),
        amount=serializers.amount(p.amount),
    )
    pagination = serializers.pagination(page, lambda item: item.path)
    return json(200, models.ObjectWriterList(pagination=pagination, results=list(map(serializers.writer, page.items))))


async def search_objects(call: Call, p: ops.SearchObjectsParams) -> Reply:
    """searchObjects."""
    page = await call.engine.objects.search(
        p.repository,
        p.ref,
        query=p.q,
        prefix=serializers.text(p.prefix),
        after=serializers.text(p.after),
        amount=serializers.amount(p.amount),
    )
    results = serializers.listed(page.items, await call.engine.objects.addresses(p.repository), user_metadata=False)
    end = serializers.pagination_before(page.after, len(results))
    return json(
        200,
        models.ObjectSearch(pagination=end, results=results, scanned=page.scanned, bound_reached=page.bound_reached),
    )


async def upload_object(call: Call, p: ops.UploadObjectParams) -> Reply:
    """uploadObject."""
    request, chunks = await uploads.single(call, p)
    if _is_action_file(p.path):
        return await _upload_action_file(call, p, request, chunks)
    made = await call.engine.objects.upload(p.repository, p.branch, request, chunks)
    return json(201, serializers.object_stats(p.path, *made))


def _is_action_file(path: str) -> bool:
    """Whether an object at this path is an action file: directly in one of the two folders."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/" in ACTION_FOLDERS and name.endswith(_ACTION_SUFFIXES)


async def _upload_action_file(
    call: Call, p: ops.UploadObjectParams, request: UploadRequest, chunks: AsyncIterator[bytes]
) -> Reply:
    """An upload whose answer says whether the action file can be used."""
    content = bytearray()
    made = await call.engine.objects.upload(p.repository, p.branch, request, action_files.kept(chunks, content))
    stats = serializers.object_stats(p.path, *made)
    return json(201, stats, await action_files.warning(p.path, bytes(content)))


async def upload_objects(call: Call, p: ops.UploadObjectsParams) -> Reply:
    """uploadObjects."""
    asked, changes = await uploads.batch(call, p.repository)
    if asked is None:
        made = await call.engine.objects.upload_many(p.repository, p.branch, changes, force=bool(p.force))
        return json(201, serializers.batch_result(made))
    if call.rights is not None:
        call.rights.require(Need(Fs.CREATE_COMMIT, arn.branch(p.repository, plain_branch(p.branch))))
    await authors.commit_as(call, p.repository, p.branch, asked.author)
    request = publish_request(call, asked, force=bool(p.force))
    done = await call.engine.commits.publish_uploads(p.repository, p.branch, changes, request)
    call.commit_id = done.commit.id
    return json(201, serializers.batch_result(done.objects, done.commit))


def publish_request(call: Call, asked: models.PublishCreation, *, force: bool) -> PublishRequest:
    """The engine's request for a commit together with its objects."""
    return PublishRequest(
        committer=call.committer,
        message=asked.message,
        metadata=authors.metadata(call, asked.metadata),
        date=None if asked.date is UNSET else asked.date,
        idempotency_key=serializers.text(asked.idempotency_key),
        allow_empty=bool(asked.allow_empty),
        force=force,
    )


async def delete_object(call: Call, p: ops.DeleteObjectParams) -> Reply:
    """deleteObject."""
    etag = uploads.etag_of(p.if_match)
    expected = None if etag is None else Held(etag=etag)
    await call.engine.objects.delete(p.repository, p.branch, p.path, force=bool(p.force), expected=expected)
    return empty()


async def delete_objects(call: Call, p: ops.DeleteObjectsParams, body: models.PathList) -> Reply:
    """deleteObjects."""
    if len(body.paths) > MOST_PATHS:
        raise bad_request(f"body paths: at most {MOST_PATHS} paths in one request, got {len(body.paths)}")
    allowed = allowed_paths(call, Fs.DELETE_OBJECT, p.repository, body.paths)
    pairs = list(zip(body.paths, allowed, strict=True))
    may = [path for path, is_allowed in pairs if is_allowed]
    failures = await call.engine.objects.delete_many(p.repository, p.branch, may, force=bool(p.force))
    errors = [
        models.ObjectError(status_code=ERROR_KINDS.get(f.kind, 500), message=f.message, path=f.path) for f in failures
    ]
    errors += [_not_deleted(call, p.repository, path) for path, is_allowed in pairs if not is_allowed]
    return json(200, models.ObjectErrorList(errors=errors))


def _not_deleted(call: Call, repository: str, path: str) -> models.ObjectError:
    error = refused(call, Fs.DELETE_OBJECT, repository, path)
    return models.ObjectError(status_code=ERROR_KINDS[error.kind], message=error.message, path=path)


async def copy_object(call: Call, p: ops.CopyObjectParams, body: models.ObjectCopyCreation) -> Reply:
    """copyObject."""
    if body.shallow:
        raise not_implemented("a shallow copy is not possible; leave shallow out to copy the content")
    made = await call.engine.objects.copy(
        p.repository, p.branch, p.dest_path, body.src_ref or p.branch, body.src_path, force=bool(body.force)
    )
    return json(201, serializers.object_stats(p.dest_path, *made))
