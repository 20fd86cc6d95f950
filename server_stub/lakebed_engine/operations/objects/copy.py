"""Copies inside a repository: the new row shares the data of the source."""

from __future__ import annotations

import msgspec
from lakebed_format import identity

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.view import steady
from lakebed_engine.operations.context import Context, Repo, open_repo, read_record
from lakebed_engine.operations.objects.read import located
from lakebed_engine.operations.objects.stage import check_upload, condition, stage, stage_if
from lakebed_engine.vocabulary.errors import ObjectNotFoundError, PreconditionFailedError
from lakebed_engine.vocabulary.records import Entry, Located
from lakebed_engine.vocabulary.requests import UploadRequest


async def copy_object(
    ctx: Context, repo_name: str, branch: str, path: str, source_ref: str, source_path: str, *, force: bool = False
) -> Located:
    """Stage an entry that shares the source's data. Raises ObjectNotFoundError."""
    validation.check_path(path)
    repo, source = await _source(ctx, repo_name, branch, source_ref, source_path, force)
    entry = msgspec.structs.replace(source, mtime=ctx.now())
    await stage(ctx, repo, branch, [(path, entry)])
    return located(repo, entry)


async def copy_as(
    ctx: Context,
    repo_name: str,
    branch: str,
    request: UploadRequest,
    source_ref: str,
    source_path: str,
    *,
    source_etag: str | None = None,
) -> Located:
    """Stage the source's data like an upload, with a separate type, metadata and conditions.

    With `source_etag`, only while the source has this ETag. Raises ObjectNotFoundError, PreconditionFailedError.
    """
    check_upload(request)
    repo, source = await _source(ctx, repo_name, branch, source_ref, source_path, request.force)
    if source_etag is not None and source.etag != source_etag:
        raise PreconditionFailedError(
            f"{source_path!r} has ETag {source.etag!r} now, not {source_etag!r}: nothing was copied; read it again"
        )
    metadata = dict(request.metadata)
    entry = msgspec.structs.replace(
        source,
        mtime=ctx.now(),
        content_type=request.content_type,
        metadata=metadata,
        identity=identity(source.size, source.checksum, request.content_type, metadata),
    )
    test = condition(request)
    if test is None:
        await stage(ctx, repo, branch, [(request.path, entry)])
    else:
        await stage_if(ctx, repo, branch, request.path, entry, test)
    return located(repo, entry)


async def _source(
    ctx: Context, repo_name: str, branch: str, source_ref: str, source_path: str, force: bool
) -> tuple[Repo, Entry]:
    validation.check_path(source_path)
    repo = await open_repo(ctx, repo_name, write=True, force=force, branch=branch)
    await read_record(ctx, repo, branch)
    ref = source_ref or branch
    source = await steady(ctx, repo, ref, lambda view: view.find(source_path))
    if source is None:
        raise ObjectNotFoundError(f"object {source_path!r} not found in {ref!r} of repository {repo_name!r}")
    return repo, source
