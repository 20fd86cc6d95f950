"""How the parts of an upload become an object.

In three steps, each of which can be done again by anybody:

1. The plan: which parts, in one compare-and-swap of the upload's row, which checks theirs. From then on it takes no
   parts and no other plan, so whoever goes on writes the same bytes to the upload's address.
2. The store puts them together. An answer that was lost is settled by what lies at the address.
3. One batch stages the entry under the condition of the request, ends the upload and remembers what came of it. Whoever
   completes it again with the same parts is told that.

A process that is killed between them leaves an upload that can be completed again with the same parts, or given up.
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
from lakebed_engine.tree.cursor import encode_row
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
from lakebed_engine.vocabulary.records import Entry, SentPart, UploadRequest

Test = Callable[[Entry | None], None]

_LOOKS = 6
"""How often parts are put together whose answer was lost, with growing pauses between: 6 s in all."""


async def complete(
    ctx: Context,
    repo_name: str,
    target: Target,
    parts: Sequence[SentPart],
    *,
    if_none_match: bool = False,
    if_match: str | None = None,
    checksum: str = "",
    size: int | None = None,
) -> Completed:
    """Make the parts the object, if the path holds what the conditions say. Safe to repeat with the same parts.

    `checksum` and `size`, where they are given, must be those of the object.

    Raises UploadNotFoundError, InvalidPartError, PartOrderError, PartTooSmallError, PartTooLargeError,
    ChecksumMismatchError, PreconditionFailedError.
    """
    repo = await open_repo(ctx, repo_name, write=True, branch=target.branch)
    test = condition(UploadRequest(path=target.path, if_none_match=if_none_match, if_match=if_match))

    async def attempt() -> Completed | None:
        found = await find(ctx, repo, target)
        if found is None:
            return await _remembered(ctx, repo, target, parts)
        try:
            chosen = await choose(ctx, repo, found.upload, parts, checksum, size)
            if test is not None:  # refused before anything is put together; asked again, exactly, when it is staged
                test(await steady(ctx, repo, f"{target.branch}$", lambda view: view.find(target.path)))
        except (InvalidPartError, PreconditionFailedError):
            if await find(ctx, repo, target) is None:
                return None  # another call has completed it, and that is why
            raise
        again = bool(found.upload.plan)
        planned = await _plan(ctx, repo, found, chosen)
        if planned is None:
            return None
        if not (again and await _is_there(repo, planned.upload, chosen)):
            await _assemble(ctx, repo, planned, chosen)
        return await _land(ctx, repo, target, chosen, test)

    return await retry_on_conflict(f"upload {target.id}", attempt)


async def _plan(ctx: Context, repo: Repo, found: Found, chosen: Chosen) -> Found | None:
    """The upload as it is completed with these parts; None when it has changed meanwhile: look again."""
    if found.upload.plan == chosen.plan:
        return found
    if found.upload.plan:
        raise InvalidPartError(
            f"upload {found.upload.id} is being completed with other parts: complete it with those, or give it up"
        )
    upload = msgspec.structs.replace(found.upload, plan=chosen.plan)
    # a part that is sent again meanwhile changes its own row only
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
    """Whether somebody has put the parts together already."""
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
            gone = True  # it was done before, or it has ended
        except OutcomeUnknownError:
            pass  # nobody else writes there: what is there came of it
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
    text = f"the store does not say what became of upload {upload.id}; complete it again with the same parts"
    raise StoreUnavailableError(text, told=text)


async def _land(ctx: Context, repo: Repo, target: Target, chosen: Chosen, test: Test | None) -> Completed:
    """Stage the entry and end the upload, in one batch. Of several tries, by whomever, one lands: it takes the row."""
    lost: OutcomeUnknownError | None = None

    async def attempt() -> Completed | None:
        nonlocal lost
        started = ctx.clock.monotonic()
        try:
            found = await find(ctx, repo, target)
            if found is None:
                return await _remembered(ctx, repo, target, chosen.told)
            entry = _entry(ctx, found.upload, chosen)
            await _stage(ctx, repo, found, entry, chosen.checksum, started, test)
        except PredicateFailed:
            return None
        except OutcomeUnknownError as error:
            lost = error
            return None
        except PreconditionFailedError:
            if await find(ctx, repo, target) is None:
                return None  # another call has completed it, and that is why
            raise
        with suppress(EngineError):  # the second clearing finds what this one leaves
            await clear(ctx, repo, Ended(upload=found.upload, entry=entry))
        return Completed(entry, chosen.checksum, found.upload.checksum)

    try:
        return await retry_on_conflict(f"object {target.path!r} on {target.branch!r}", attempt)
    except EngineError as error:
        if lost is not None:
            raise lost from error  # the object may be there, whatever this error says
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
    entry = new_entry(upload.address, chosen.md5, chosen.size, ctx.now(), upload.content_type, metadata)
    return msgspec.structs.replace(entry, parts=len(chosen.stored))


async def _remembered(ctx: Context, repo: Repo, target: Target, parts: Sequence[SentPart]) -> Completed:
    """What came of an upload that was completed before with the same parts. Raises UploadNotFoundError."""
    row = await ctx.kv.get(repo.partition, ended_key(target.id))
    ended = None if row is None else decode_ended(row.value)
    if ended is None or ended.entry is None or (ended.upload.branch, ended.upload.path) != target[:2]:
        raise no_upload(repo, target)
    if ended.entry.etag != _etag(parts):
        raise no_upload(repo, target)
    return Completed(ended.entry, ended.checksum, ended.upload.checksum)


def _etag(parts: Sequence[SentPart]) -> str:
    """As S3 has it: the MD5 of the parts' MD5s, with their count. Empty for parts that have no such ETags."""
    try:
        raw = b"".join(bytes.fromhex(part.etag) for part in parts)
    except ValueError:
        return ""
    return f"{hashlib.md5(raw, usedforsecurity=False).hexdigest()}-{len(parts)}"
