"""Aborts and expires multipart uploads, and removes their leftovers.

An upload ends in one batch that checks its row, so it is either aborted or completed. Only then are its parts removed.
They are removed once more a day later, because a late part may have arrived after the first time.
"""

from __future__ import annotations

from contextlib import suppress

from lakebed_engine.operations.context import Context, Repo, active_records, open_repo, opened
from lakebed_engine.operations.keys import UPLOAD_DUE, due_key, due_name, ended_key, parts_prefix, under
from lakebed_engine.operations.multipart.records import (
    Ended,
    Found,
    assembler_of,
    check_of,
    decode_ended,
    decode_upload,
    ending,
    find,
    no_upload,
)
from lakebed_engine.stores.kv.base import Batch, Delete, scan_pages
from lakebed_engine.vocabulary.errors import EngineError, PredicateFailed
from lakebed_engine.vocabulary.multipart import Target, Upload

_PAGE = 1000


async def abort(ctx: Context, repo_name: str, target: Target) -> None:
    """Abort an upload. Raises UploadNotFoundError when it does not exist or is completed during the request."""
    repo = await open_repo(ctx, repo_name, write=True)
    found = await find(ctx, repo, target)
    while found is not None:
        if await _give_up(ctx, repo, found):
            with suppress(EngineError):
                await clear(ctx, repo, Ended(upload=found.upload))
            return
        found = await find(ctx, repo, target)
    ended = await ctx.kv.get(repo.partition, ended_key(target.id))
    if ended is None or decode_ended(ended.value).entry is not None:
        raise no_upload(repo, target)


async def _give_up(ctx: Context, repo: Repo, found: Found) -> bool:
    puts, deletes = ending(ctx, repo, found.upload)
    try:
        await ctx.kv.apply(Batch(checks=[check_of(repo, found)], puts=puts, deletes=deletes))
    except PredicateFailed:
        return False
    return True


async def clear(ctx: Context, repo: Repo, ended: Ended) -> None:
    """Remove the parts of an ended upload. If it was aborted, also remove the object that they were assembled to."""
    upload = ended.upload
    await assembler_of(ctx, repo, begun=upload).clear(upload.address, upload.store_id)
    if ended.entry is None:
        await repo.store.delete([upload.address])
    async for rows in scan_pages(ctx.kv, repo.partition, *under(parts_prefix(upload.id)), size=_PAGE):
        await ctx.kv.apply(Batch(deletes=[Delete(repo.partition, row.key) for row in rows]))


async def tidy(ctx: Context) -> int:
    """Make one pass over all repositories: abort expired uploads, and forget old ended uploads.

    Returns the number of uploads. Leftovers that cannot be removed stay for the next pass, and the first error is
    raised at the end.
    """
    done = 0
    errors: list[EngineError] = []
    async for record in active_records(ctx):
        done += await _tidy(ctx, opened(ctx, record), errors)
    if errors:
        raise errors[0]
    return done


async def _tidy(ctx: Context, repo: Repo, errors: list[EngineError]) -> int:
    done = 0
    start, end = UPLOAD_DUE, due_key(UPLOAD_DUE, ctx.expiry_clock.due() + 1)
    async for rows in scan_pages(ctx.kv, repo.partition, start, end, size=_PAGE):
        for row in rows:
            try:
                done += await _settle(ctx, repo, due_name(row.key), row.value)
                await ctx.kv.apply(Batch(deletes=[Delete(repo.partition, row.key)]))
            except EngineError as error:
                errors.append(error)
    return done


async def _settle(ctx: Context, repo: Repo, upload_id: str, key: bytes) -> int:
    """Process a due upload: the first time it expires, the second time the server forgets it."""
    while (row := await ctx.kv.get(repo.partition, key)) is not None:
        upload: Upload = decode_upload(row.value)
        if await _give_up(ctx, repo, Found(upload, row.version)):
            await clear(ctx, repo, Ended(upload=upload))
            return 1
    row = await ctx.kv.get(repo.partition, ended_key(upload_id))
    if row is None:
        return 0
    ended = decode_ended(row.value)
    await clear(ctx, repo, ended)
    if ended.until <= ctx.expiry_clock.due():
        await ctx.kv.apply(Batch(deletes=[Delete(repo.partition, ended_key(upload_id))]))
    return 1
