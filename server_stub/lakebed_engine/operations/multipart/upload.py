"""Open multipart uploads: begin, send parts, list.

An upload is invisible until it is completed. Its state is in the KV store and the object store, so any process can
continue it. One KV batch records a part and checks that the upload still takes parts.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable
from contextlib import suppress

import msgspec

from lakebed_engine.operations.context import Context, Repo, open_repo, read_record
from lakebed_engine.operations.keys import end_of, part_key, parts_prefix
from lakebed_engine.operations.multipart.records import (
    Found,
    assembler_of,
    check_of,
    decode_part,
    due_put,
    find,
    find_open,
    key_of,
    no_upload,
    target_of,
)
from lakebed_engine.operations.objects.read import open_entry
from lakebed_engine.operations.objects.stage import check_upload, new_address
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.operations.validation import check_amount
from lakebed_engine.stores.kv.base import Batch, Put, Row
from lakebed_engine.stores.objects.multipart import StoredPart
from lakebed_engine.stores.objects.presign import LARGEST_PUT, MOST_PARTS
from lakebed_engine.vocabulary.errors import (
    BlobNotFound,
    EngineError,
    InvalidRangeError,
    InvalidRequestError,
    OutcomeUnknownError,
    PartTooLargeError,
    PredicateFailed,
)
from lakebed_engine.vocabulary.multipart import Target, Upload, UploadedPart
from lakebed_engine.vocabulary.records import Entry, Page
from lakebed_engine.vocabulary.requests import UploadRequest


async def create(
    ctx: Context,
    repo_name: str,
    branch: str,
    request: UploadRequest,
    *,
    creator: str = "",
    checksum: str = "",
    whole: bool = False,
) -> Upload:
    """Begin an upload. The conditions of the request are tested when it is completed. Raises BranchNotFoundError.

    `checksum` is the algorithm of the parts' checksums. `whole`: the checksum of the object is a full-object checksum.
    """
    check_upload(request)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force, branch=branch)
    await read_record(ctx, repo, branch)
    address = new_address(ctx)
    assembler = assembler_of(ctx, repo)
    store_id = await assembler.begin(address, request.content_type)
    upload = Upload(
        id=address.rpartition("/")[2],
        branch=branch,
        path=request.path,
        address=address,
        created=ctx.now(),
        creator=creator,
        content_type=request.content_type,
        metadata=dict(request.metadata),
        store_id=store_id,
        checksum=checksum,
        whole=whole,
    )
    rows = [
        Put(repo.partition, key_of(target_of(upload)), msgspec.json.encode(upload)),
        due_put(repo, upload, ctx.expiry_clock.latest() + ctx.upload_lifetime),
    ]
    try:
        await ctx.kv.apply(Batch(puts=rows))
    except OutcomeUnknownError:
        raise  # if the row exists, the upload will expire
    except EngineError:
        with suppress(EngineError):
            await assembler.clear(address, store_id)
        raise
    return upload


async def get(ctx: Context, repo_name: str, target: Target) -> Upload:
    """An upload that takes parts. Raises UploadNotFoundError."""
    return (await find_open(ctx, await open_repo(ctx, repo_name), target)).upload


async def put_part(
    ctx: Context,
    repo_name: str,
    target: Target,
    number: int,
    size: int,
    chunks: AsyncIterable[bytes],
    checksum: Callable[[], str] = str,
) -> UploadedPart:
    """Write a part of exactly `size` bytes. `checksum` returns the part's checksum after the last chunk."""
    _check_part(number, size)
    repo = await open_repo(ctx, repo_name, write=True, branch=target.branch)
    found = await find_open(ctx, repo, target)
    upload = found.upload
    assembler = assembler_of(ctx, repo, begun=upload)
    try:
        stored = await assembler.put(upload.address, upload.store_id, number, size, chunks)
    except BlobNotFound:
        raise no_upload(repo, target) from None
    return await _note(ctx, repo, found, stored, checksum())


async def copy_part(
    ctx: Context, repo_name: str, target: Target, number: int, source_repo: str, source: Entry, span: tuple[int, int]
) -> UploadedPart:
    """Create a part from an entry's bytes. `span` is the first byte and the length. Raises InvalidRangeError."""
    start, length = span
    _check_part(number, length)
    if not 0 <= start <= start + length <= source.size:
        raise InvalidRangeError(
            f"bytes {start} to {start + length - 1} of an object of {source.size}: nothing was copied", source.size
        )
    repo = await open_repo(ctx, repo_name, write=True, branch=target.branch)
    found = await find_open(ctx, repo, target)
    stored = await _copied(ctx, repo, found.upload, number, source_repo, source, start, length)
    if stored is not None:
        return await _note(ctx, repo, found, stored, "")
    async with open_entry(ctx, source_repo, source, start, length) as chunks:
        return await put_part(ctx, repo_name, target, number, length, chunks)


async def _copied(
    ctx: Context, repo: Repo, upload: Upload, number: int, source_repo: str, source: Entry, start: int, length: int
) -> StoredPart | None:
    """Copy the part inside the store. None when the server must read it, for example to calculate its checksum."""
    key = source.physical_address.removeprefix(f"{repo.store.uri}/")
    if source_repo != repo.name or "://" in key or upload.checksum or not length:
        return None
    assembler = assembler_of(ctx, repo, begun=upload)
    try:
        return await assembler.copy(upload.address, upload.store_id, number, key, start, length)
    except BlobNotFound:
        return None  # the upload or the source is missing: reading and writing the part shows which


async def _note(ctx: Context, repo: Repo, found: Found, stored: StoredPart, checksum: str) -> UploadedPart:
    """Record a part, and replace an earlier one of the same number. Raises UploadNotFoundError when it is too late."""
    target = target_of(found.upload)
    part = UploadedPart(stored.number, stored.size, stored.md5, stored.handle, ctx.now(), checksum)
    row = Put(repo.partition, part_key(target.id, part.number), msgspec.json.encode(part))

    async def attempt() -> UploadedPart | None:
        nonlocal found
        try:
            await ctx.kv.apply(Batch(checks=[check_of(repo, found)], puts=[row]))
            return part
        except PredicateFailed:
            now = await find(ctx, repo, target)
        if now is None:  # the upload has ended, and the request that ended it may have missed this part
            with suppress(EngineError):
                await assembler_of(ctx, repo, begun=found.upload).clear(found.upload.address, found.upload.store_id)
            raise no_upload(repo, target)
        if now.upload.plan:
            raise no_upload(repo, target)
        found = now
        return None

    return await retry_on_conflict(f"upload {target.id}", attempt)


async def list_parts(
    ctx: Context, repo_name: str, target: Target, *, after: int = 0, amount: int = 1000
) -> tuple[Upload, Page[UploadedPart]]:
    """An upload, and a page of its parts in order of their numbers. Raises UploadNotFoundError."""
    check_amount(amount)
    repo = await open_repo(ctx, repo_name)
    found = await find(ctx, repo, target)
    if found is None:
        raise no_upload(repo, target)
    parts = await read_parts(ctx, repo, target.id, after, amount + 1)
    return found.upload, Page(parts[:amount], has_more=len(parts) > amount)


async def read_parts(ctx: Context, repo: Repo, upload_id: str, after: int, most: int) -> list[UploadedPart]:
    """Parts with numbers greater than `after`, in order."""
    return [decode_part(row.value) for row in await part_rows(ctx, repo, upload_id, after, most)]


async def part_rows(ctx: Context, repo: Repo, upload_id: str, after: int, most: int) -> list[Row]:
    """The rows of `read_parts`."""
    start = part_key(upload_id, min(after, MOST_PARTS) + 1)
    return await ctx.kv.scan(repo.partition, start, end_of(parts_prefix(upload_id)), most)


def _check_part(number: int, size: int) -> None:
    if not 1 <= number <= MOST_PARTS:
        raise InvalidRequestError(f"part number {number}: must be an integer between 1 and {MOST_PARTS}")
    if size > LARGEST_PUT:
        raise PartTooLargeError(f"part {number} has {size} bytes, at most {LARGEST_PUT}: send smaller parts")
