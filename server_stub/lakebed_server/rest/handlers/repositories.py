"""Repositories, their metadata and the files of their history. One function per operation (`handlers`)."""

from __future__ import annotations

from email.utils import formatdate
from typing import Final

from lakebed_auth import Need, arn
from lakebed_auth.actions import Fs
from lakebed_engine.vocabulary.records import Page, Repository
from lakebed_engine.vocabulary.requests import MetadataFile, MetadataKind
from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.http.authorization import note_addresses, shares_directory
from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply, StreamReply, empty, json
from lakebed_server.rest import presigned, serializers
from lakebed_server.rest.rights.filtered_pages import filtered

PURGE_SECONDS: Final = 15.0
"""How long a request deletes the data of a repository. After that, the server continues without it."""


async def list_repositories(call: Call, p: ops.ListRepositoriesParams) -> Reply:
    """listRepositories."""
    page = await _visible(call, p)
    pagination = serializers.pagination(page, lambda item: item.name)
    return json(
        200, models.RepositoryList(pagination=pagination, results=[serializers.repository(r) for r in page.items])
    )


async def _visible(call: Call, p: ops.ListRepositoriesParams) -> Page[Repository]:
    """A page of the repositories that the caller may list. Raises RequestError (403) if there cannot be any."""
    amount, after = serializers.amount(p.amount), serializers.text(p.after)
    prefix, search, rights = serializers.text(p.prefix), serializers.text(p.search), call.rights
    if rights is None:
        return await call.engine.repositories.list(prefix=prefix, search=search, after=after, amount=amount)
    if not rights.policies.allows_some(Fs.LIST_REPOSITORIES):
        rights.require(Need(Fs.LIST_REPOSITORIES, arn.ALL))
    return await filtered(
        lambda after, amount: call.engine.repositories.list(prefix=prefix, search=search, after=after, amount=amount),
        lambda items: rights.allowed(Fs.LIST_REPOSITORIES, [arn.repository(one.name) for one in items]),
        lambda item: item.name,
        after=after,
        amount=amount,
    )


async def create_repository(call: Call, p: ops.CreateRepositoryParams, body: models.RepositoryCreation) -> Reply:
    """createRepository."""
    made = await call.engine.repositories.create(
        body.name,
        serializers.text(body.storage_namespace),
        storage_id=body.storage_id or "",
        default_branch=body.default_branch or "main",
        read_only=bool(body.read_only),
        bare=bool(p.bare),
        samples_by=call.committer if body.sample_data else "",
        allow_non_empty=bool(body.allow_non_empty_namespace),
        below=call.services.installation.prefix_of(body.storage_id or ""),
    )
    return json(201, serializers.repository(made))


async def get_repository(call: Call, p: ops.GetRepositoryParams) -> Reply:
    """getRepository."""
    found = await call.engine.repositories.get(p.repository)
    return json(200, serializers.repository(found, await _directory(call, p.repository)))


async def get_repository_statistics(call: Call, p: ops.GetRepositoryStatisticsParams) -> Reply:
    """getRepositoryStatistics."""
    found = await call.engine.repositories.statistics(p.repository)
    return json(200, serializers.repository_statistics(found))


async def delete_repository(call: Call, p: ops.DeleteRepositoryParams) -> Reply:
    """deleteRepository."""
    if p.purge:
        report = await call.engine.repositories.purge(p.repository, force=bool(p.force), seconds=PURGE_SECONDS)
        return json(200 if report.done else 202, serializers.repository_purge(report))
    await call.engine.repositories.delete(p.repository, force=bool(p.force))
    return empty()


async def get_repository_metadata(call: Call, p: ops.GetRepositoryMetadataParams) -> Reply:
    """getRepositoryMetadata."""
    return json(200, await call.engine.repositories.get_metadata(p.repository))


async def set_repository_metadata(
    call: Call, p: ops.SetRepositoryMetadataParams, body: models.RepositoryMetadataSet
) -> Reply:
    """setRepositoryMetadata."""
    await call.engine.repositories.set_metadata(p.repository, body.metadata)
    return empty()


async def delete_repository_metadata(
    call: Call, p: ops.DeleteRepositoryMetadataParams, body: models.RepositoryMetadataKeys
) -> Reply:
    """deleteRepositoryMetadata."""
    await call.engine.repositories.delete_metadata(p.repository, body.keys)
    return empty()


async def _directory(call: Call, repository: str) -> str:
    """The directory of a repository's data, if the client may know it."""
    if not shares_directory(call, repository):
        return ""
    directory = (await call.engine.repositories.data_place(repository)).directory
    if directory:
        note_addresses(call, ("",))
    return directory


async def get_meta_range(call: Call, p: ops.GetMetaRangeParams) -> Reply:
    """getMetaRange."""
    return _located(await call.engine.repositories.metadata_file(p.repository, "meta_range", p.meta_range))


async def get_range(call: Call, p: ops.GetRangeParams) -> Reply:
    """getRange."""
    return _located(await call.engine.repositories.metadata_file(p.repository, "range", p.range))


async def get_metadata_object(call: Call, p: ops.GetMetadataObjectParams) -> Reply:
    """getMetadataObject."""
    if p.presign is True:
        await presigned.require(call, p.repository)
    kind: MetadataKind = "range" if p.type == "range" else "meta_range"
    seconds = call.services.installation.presign_seconds if p.presign is True else 0
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
