"""Completes multipart uploads: combines the parts to an object.

There are three steps. Any process can repeat each of them:

1. The plan: which parts. One compare-and-swap writes it to the upload's row and checks the rows of the parts. From
   then on the upload takes no parts and no other plan, so every process writes the same bytes to the upload's address.
2. The store assembles the parts. After a lost response, the object at the address shows the outcome.
3. One batch stages the entry under the condition of the request, ends the upload and records the result. A later
   request to complete it with the same parts returns that result.

If the process is killed between two steps, the upload can be completed again with the same parts, or aborted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec

from lakebed_engine.operations.branch.view import steady
from lakebed_engine.operations.context import Context, Repo, open_repo, read_record
from lakebed_engine.operations.keys import ended_key, staging
from lakebed_engine.operations.multipart.abort import clear
from lakebed_engine.operations.multipart.part_selection import Chosen, choose, with_sizes
from lakebed_engine.operations.multipart.records import (
    Ended,
    Found,
    assembler_of,
    check_of,
    decode_ended,
    ending,
    find,
    no_upload,
)
from lakebed_engine.operations.objects.stage import condition, held, new_entry, put_rows
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, Put
from lakebed_engine.tree.rows import encode_row
from lakebed_engine.vocabulary.direct_writes import SentPart
from lakebed_engine.vocabulary.errors import (
    BlobNotFound,
    CorruptDataError,
    EngineError,
    InvalidPartError,
    InvalidRequestError,
    OutcomeUnknownError,
    PreconditionFailedError,
    PredicateFailed,
    StoreUnavailableError,
)
from lakebed_engine.vocabulary.multipart import Completed, Target, Upload
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import UploadRequest

Test = Callable[[Entry | None], None]

_LOOKS = 6
"""How often to assemble parts when the response is lost. The pauses between double, 6 s in total."""


async def complete(
    ctx: Context,
    repo_name: str,
    target: Target,
    parts: Sequence[SentPart],
    *,
    if_none_match: bool = False,
    if_match: str | None = None,
    unlike: str | None = None,
    checksum: str = "",
    size: int | None = None,
) -> Completed:
    """Combine the parts to the object, if the path meets the conditions. Safe to repeat with the same parts.

    `checksum` and `size`, if given, must match the object.

    Raises UploadNotFoundError, InvalidPartError, PartOrderError, PartTooSmallError, PartTooLargeError,
    ChecksumMismatchError, PreconditionFailedError.
    """
    repo = await open_repo(ctx, repo_name, write=True, branch=target.branch)
    test = condition(UploadRequest(path=target.path, if_none_match=if_none_match, if_match=if_match, unlike=unlike))

    async def attempt() -> Completed | None:
        found = await find(ctx, repo, target)
        if found is None:
            return await _remembered(ctx, repo, target, parts)
        try:
            chosen = await choose(ctx, repo, found.upload, parts, checksum, size)
            if test is not None:  # refuse early, before the parts are assembled: the batch that stages tests again
                test(await steady(ctx, repo, f"{target.branch}$", lambda view: view.find(target.path)))
        except (InvalidPartError, PreconditionFailedError):
            if await find(ctx, repo, target) is None:
                return None  # another request has completed it: that caused the error
            raise
        again = bool(found.upload.plan)
        planned = await _plan(ctx, repo, found, chosen)
        if planned is None:
            return None
        if not (again and await _is_there(repo, planned.upload, chosen)):
            await _assemble(ctx, repo, planned, chosen)
        return await _stage_object(ctx, repo, target, chosen, test)

    return await retry_on_conflict(f"upload {target.id}", attempt)


async def _plan(ctx: Context, repo: Repo, found: Found, chosen: Chosen) -> Found | None:
    """The upload with this plan. None when its row has changed: read it again."""
    if found.upload.plan == chosen.plan:
        return found
    if found.upload.plan:
        raise InvalidPartError(
            f"upload {found.upload.id} is being completed with other parts: complete it with those parts, or abort it"
        )
    upload = msgspec.structs.replace(found.upload, plan=chosen.plan)
    # a part that is sent again now changes only its own row
    return await _replace(ctx, repo, found, upload, chosen.checks)


async def _replace(
    ctx: Context, repo: Repo, found: Found, upload: Upload, checks: Sequence[Check] = ()
) -> Found | None:
    check = check_of(repo, found)
    try:
        put = Put(check.partition, check.key, msgspec.json.encode(upload))
        return Found(upload, await ctx.kv.apply(Batch(checks=[check, *checks], puts=[put])))
    except (PredicateFailed, OutcomeUnknownError):
        return None


async def _is_there(repo: Repo, upload: Upload, chosen: Chosen) -> bool:
    """Whether the parts are already assembled."""
    try:
        return (await repo.store.head(upload.address)).size == chosen.size
    except BlobNotFound:
        return False


async def _assemble(ctx: Context, repo: Repo, planned: Found, chosen: Chosen) -> None:
    upload = planned.upload
    assembler = assembler_of(ctx, repo, begun=upload)
    for attempt in range(_LOOKS):
        gone = False
        try:
            await assembler.assemble(upload.address, upload.store_id, chosen.stored)
        except BlobNotFound:
            gone = True  # assembled before, or the upload has ended
        except OutcomeUnknownError:
            pass  # only this upload writes to the address, so an object there is its result
        except InvalidRequestError as error:  # a part was sent again while it was planned
            await _replace(ctx, repo, planned, msgspec.structs.replace(upload, plan=""))
            raise InvalidPartError(error.message) from None
        try:
            blob = await repo.store.head(upload.address)
        except BlobNotFound:
            if gone:
                raise no_upload(repo, Target(upload.branch, upload.path, upload.id)) from None
            await ctx.runtime.sleep(0.1 * 2**attempt)
            continue
        if blob.size != chosen.size:
            where = f"{repo.store.uri}/{upload.address}"
            raise CorruptDataError(f"{where}: {blob.size} bytes, its parts have {chosen.size}")
        return
    text = f"the store does not report the outcome of upload {upload.id}; complete it again with the same parts"
    raise StoreUnavailableError(text, public_message=text)


async def _stage_object(ctx: Context, repo: Repo, target: Target, chosen: Chosen, test: Test | None) -> Completed:
    """Stage the entry and end the upload, in one batch. Of several attempts by any process, one succeeds."""
    lost: OutcomeUnknownError | None = None

    async def attempt() -> Completed | None:
        nonlocal lost
        started = ctx.clock.monotonic()
        try:
            found = await find(ctx, repo, target)
            if found is None:
                return await _remembered(ctx, repo, target, chosen.sent)
            entry = _entry(ctx, found.upload, chosen)
            await _stage(ctx, repo, found, entry, chosen.checksum, started, test)
        except PredicateFailed:
            return None
        except OutcomeUnknownError as error:
            lost = error
            return None
        except PreconditionFailedError:
            if await find(ctx, repo, target) is None:
                return None  # another request has completed it: that caused the error
            raise
        with suppress(EngineError):  # the second clearing removes any leftovers of this one
            await clear(ctx, repo, Ended(upload=found.upload, entry=entry))
        return Completed(entry, chosen.checksum, found.upload.checksum)

    try:
        return await retry_on_conflict(f"object {target.path!r} on {target.branch!r}", attempt)
    except EngineError as error:
        if lost is not None:
            raise lost from error  # the object may exist in spite of this error
        raise


async def _stage(
    ctx: Context, repo: Repo, found: Found, entry: Entry, checksum: str, started: float, test: Test | None
) -> None:
    upload = found.upload
    path = upload.path.encode()
    checks = [check_of(repo, found)]
    seen = await read_record(ctx, repo, upload.branch)
    if test is not None:
        live, now = await held(ctx, repo, seen, started, upload.path)
        test(now)
        checks.append(Check(staging(seen.record.staging_token), path, ABSENT if live is None else live.version))
    puts, deletes = ending(ctx, repo, upload, entry=entry, checksum=checksum)
    await put_rows(ctx, repo, seen, [(path, encode_row(entry))], checks, puts, deletes)


def _entry(ctx: Context, upload: Upload, chosen: Chosen) -> Entry:
    metadata = with_sizes(dict(upload.metadata), [part.size for part in chosen.stored])
    if chosen.kept is not None:
        metadata |= chosen.kept.metadata()
    entry = new_entry(upload.address, chosen.md5, chosen.size, ctx.now(), upload.content_type, metadata)
    return msgspec.structs.replace(entry, parts=len(chosen.stored))


async def _remembered(ctx: Context, repo: Repo, target: Target, parts: Sequence[SentPart]) -> Completed:
    """The result of an upload that was completed with the same parts. Raises UploadNotFoundError."""
    row = await ctx.kv.get(repo.partition, ended_key(target.id))
    ended = None if row is None else decode_ended(row.value)
    if ended is None or ended.entry is None or (ended.upload.branch, ended.upload.path) != target[:2]:
        raise no_upload(repo, target)
    if ended.entry.etag != _etag(parts):
        raise no_upload(repo, target)
    return Completed(ended.entry, ended.checksum, ended.upload.checksum)


def _etag(parts: Sequence[SentPart]) -> str:
    """The ETag as S3 calculates it: the MD5 of the parts' MD5s, with their number. Empty when an ETag is not an MD5."""
    try:
        raw = b"".join(bytes.fromhex(part.etag) for part in parts)
    except ValueError:
        return ""
    return f"{hashlib.md5(raw, usedforsecurity=False).hexdigest()}-{len(parts)}"
