"""Staging: upload, delete, copy (`PROTOCOL.md` 3, PUT, DELETE, CONDPUT).

One KV batch writes a row and checks its branch record. So a sealed token is immutable: no row can arrive late.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

import msgspec
from lakebed_format import identity
from lakebed_format.keys import DATA

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.compare_and_swap import swap
from lakebed_engine.operations.branch.resolve import Resolved
from lakebed_engine.operations.branch.view import read_once, steady
from lakebed_engine.operations.context import Context, Repo, Seen, open_repo, read_record
from lakebed_engine.operations.keys import OPERATIONS, STAGED_MARKER, staging
from lakebed_engine.operations.objects.concurrent_writes import Overlapping
from lakebed_engine.operations.objects.read import located
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.kv.base import ABSENT, Batch, Check, Delete, Put, Versioned
from lakebed_engine.tree.rows import decode_row, encode_row
from lakebed_engine.vocabulary.checksums import ObjectChecksum
from lakebed_engine.vocabulary.errors import (
    EngineError,
    InvalidRequestError,
    NothingThereError,
    OutcomeUnknownError,
    PreconditionFailedError,
    PredicateFailed,
    ProtectedBranchError,
    ReadOnlyRepositoryError,
)
from lakebed_engine.vocabulary.records import Entry, Located, ObjectFailure
from lakebed_engine.vocabulary.requests import Deletion, Held, UploadRequest

MAX_BATCH = 10_000
"""Changes in one batch of `upload_many`."""

Row = tuple[str, Entry | None]


def new_entry(
    address: str, checksum: str, size: int, mtime: int, content_type: str, metadata: Mapping[str, str]
) -> Entry:
    """An entry with its identity."""
    meta = dict(metadata)
    return Entry(address, checksum, 0, size, mtime, content_type, meta, identity(size, checksum, content_type, meta))


async def stage(
    ctx: Context,
    repo: Repo,
    branch: str,
    rows: Sequence[Row],
    further: Sequence[Put] = (),
    checks: Sequence[Check] = (),
    *,
    known: Seen | None = None,
) -> None:
    """Put rows (None: a tombstone) into the branch's token, all or nothing, with `further` rows in the same batch.

    `known` is a record that was read before. It is tried first: if it is not the newest, the batch does nothing.

    Repeats the batch when the record has changed, and when the response was lost and the rows were not written. Raises
    OutcomeUnknownError when that cannot be found out. With `checks`, the caller must repeat it: raises PredicateFailed.
    """
    puts = [(path.encode(), encode_row(entry)) for path, entry in rows]
    lost: OutcomeUnknownError | None = None
    tried: Seen | None = None
    started = 0.0

    async def attempt() -> bool | None:
        nonlocal known, lost, tried, started
        try:
            seen, known = known or await read_record(ctx, repo, branch), None
            if lost is not None:
                if not await _fenced(ctx, repo, seen, tried):
                    return None
                assert tried is not None
                if await _was_applied(ctx, tried, started, puts, further, lost):
                    return True
                lost = None  # it was not applied, and never will be
            tried, started = seen, ctx.clock.monotonic()
            await put_rows(ctx, repo, seen, puts, checks, further)
        except PredicateFailed:
            if checks:
                raise
            return None
        except OutcomeUnknownError as error:
            if lost is not None:
                raise
            lost = error
            return None
        return True

    try:
        await retry_on_conflict(f"branch {branch!r} of {repo.name!r}", attempt)
    except (OutcomeUnknownError, PredicateFailed):
        raise
    except EngineError as error:
        if lost is not None:
            raise lost from error  # the rows may be there, and may be in a commit by now
        raise


async def _was_applied(
    ctx: Context,
    tried: Seen,
    started: float,
    puts: Sequence[tuple[bytes, bytes]],
    further: Sequence[Put],
    lost: OutcomeUnknownError,
) -> bool:
    """Whether the rows of a lost response were written. Call it when no late batch can be applied any more.

    `started` is the time of sending. Writing the rows again would undo later writes. If other rows are in their place,
    it is unknown whether these rows were written and then overwritten: raises `lost`. It also raises `lost` after so
    long a time that the cleaner may have removed the rows. Equal rows may be older, so the `further` rows of the batch
    must exist too.
    """
    if not puts:
        return False
    found = await ctx.kv.get_many(staging(tried.record.staging_token), [key for key, _ in puts])
    if all(row is not None and row.value == value for row, (_, value) in zip(found, puts, strict=True)):
        found = [await ctx.kv.get(put.partition, put.key) for put in further]
        if all(row is not None and row.value == put.value for row, put in zip(found, further, strict=True)):
            return True
    if ctx.clock.monotonic() - started < ctx.patience and None in found:
        return False  # a batch is applied as a whole
    raise lost


async def _fenced(ctx: Context, repo: Repo, seen: Seen, tried: Seen | None) -> bool:
    """Make sure that a lost batch that checked the record `tried` cannot be applied any more. False: read the record
    again.

    A batch may be applied long after its response was lost. It would then undo the next batch and later writes of
    others. A record of another version prevents this.
    """
    if tried is None or seen.version != tried.version:
        return True
    await swap(ctx, repo, seen, msgspec.structs.replace(seen.record, gen=seen.record.gen + 1))
    return False


async def put_rows(
    ctx: Context,
    repo: Repo,
    seen: Seen,
    rows: Sequence[tuple[bytes, bytes]],
    checks: Sequence[Check] = (),
    further: Sequence[Put] = (),
    deletes: Sequence[Delete] = (),
) -> None:
    """Write one batch: encoded rows into the record's token, and `further` changes. Raises PredicateFailed."""
    token = seen.record.staging_token
    partition = staging(token)
    puts = [*further, *[Put(partition, key, value) for key, value in rows]]
    marked = ctx.marked.get(token)
    if marked is None:
        puts.append(Put(partition, STAGED_MARKER, b""))
    await ctx.kv.apply(Batch([seen.check(repo), *checks], puts, deletes))
    if marked is None:
        ctx.marked.put(token, True, 1)


async def stage_if(
    ctx: Context, repo: Repo, branch: str, path: str, entry: Entry | None, test: Callable[[Entry | None], None]
) -> None:
    """Stage one row (None: a tombstone) if `test` accepts the current content of the path, atomically (CONDPUT).

    Unlike a plain row, it cannot be written again when the response was lost. So it has an operation key.
    """
    key = path.encode()
    operation = OPERATIONS + ctx.ids.new().encode()
    lost: OutcomeUnknownError | None = None
    tried: Seen | None = None

    async def attempt() -> bool | None:
        nonlocal lost, tried
        started = ctx.clock.monotonic()
        try:
            seen = await read_record(ctx, repo, branch)
            if lost is not None:
                if not await _fenced(ctx, repo, seen, tried):
                    return None
                if await ctx.kv.get(repo.partition, operation) is not None:
                    return True
                lost = None  # it was not applied, and never will be
            tried = seen
            live, now = await held(ctx, repo, seen, started, path)
            test(now)
            guard = Check(staging(seen.record.staging_token), key, ABSENT if live is None else live.version)
            operation_row = Put(repo.partition, operation, str(ctx.now()).encode())
            await put_rows(ctx, repo, seen, [(key, encode_row(entry))], [guard], [operation_row])
        except PredicateFailed:
            return None
        except OutcomeUnknownError as error:
            lost = error
            return None
        return True

    try:
        await retry_on_conflict(f"object {path!r} on {branch!r}", attempt)
    except EngineError as error:
        if lost is not None:
            raise lost from error  # the row may be written in spite of this error
        raise


async def held(
    ctx: Context, repo: Repo, seen: Seen, started: float, path: str
) -> tuple[Versioned | None, Entry | None]:
    """The row of the live token at a path, and the content of the path, by a record that was read at `started` or
    later.

    Raises PredicateFailed when the record has changed and the cleaner may have removed its rows: a test must not use
    them.
    """
    live = await ctx.kv.get(staging(seen.record.staging_token), path.encode())
    if live is not None:
        return live, decode_row(live.value)
    found = Resolved(seen.record.commit_id, seen, True)
    return None, await read_once(ctx, repo, found, started, lambda view: view.find(path))


def condition(request: UploadRequest) -> Callable[[Entry | None], None] | None:
    """The test of the content of a path before a write. None: no condition."""
    if not request.if_none_match and request.if_match is None and request.unlike is None:
        return None

    def test(now: Entry | None) -> None:
        if request.if_none_match and now is not None:
            raise PreconditionFailedError(
                f"path {request.path!r} already exists (If-None-Match: *): nothing was written"
            )
        if request.if_match is not None:
            require_etag(request.path, now, request.if_match)
        if request.unlike is not None and now is not None and now.etag == request.unlike:
            raise PreconditionFailedError(
                f"path {request.path!r} has the ETag {now.etag!r} (If-None-Match): nothing was written"
            )

    return test


def require_etag(path: str, now: Entry | None, wanted: str) -> None:
    """Raises PreconditionFailedError when a path does not have the content of this ETag, or any content (`*`)."""
    if now is None and wanted == "*":
        raise PreconditionFailedError(f"{path!r} has no object (If-Match: *): nothing was changed")
    if now is None:
        raise NothingThereError(
            f"{path!r} has no object, expected {wanted!r} (If-Match): nothing was changed; read it again"
        )
    if wanted not in ("*", now.etag):
        raise PreconditionFailedError(
            f"{path!r} has ETag {now.etag!r}, not {wanted!r} (If-Match): nothing was changed; read it again"
        )


def require_held(path: str, now: Entry | None, wanted: Held) -> None:
    """Raises PreconditionFailedError when a path does not have the content that a deletion expects."""
    if now is None and wanted.or_nothing:
        return
    if wanted.etag is not None:
        require_etag(path, now, wanted.etag)
    for name, asked, found in (("bytes", wanted.size, now and now.size), ("as mtime", wanted.mtime, now and now.mtime)):
        if asked is not None and asked != found:
            raise PreconditionFailedError(
                f"{path!r} has {found} {name}, not {asked}: nothing was changed; read it again"
            )


def new_address(ctx: Context) -> str:
    """The address of new data: one folder for each hour, so that writers share folders and a sweep can go by age."""
    hour = time.strftime("%Y%m%d%H", time.gmtime(ctx.clock.now()))
    return f"{DATA}{hour}/{ctx.ids.new()}"


def check_upload(request: UploadRequest) -> None:
    """Raises InvalidPathError, InvalidRequestError."""
    validation.check_path(request.path)
    validation.check_text("content type", request.content_type)
    validation.check_metadata(request.metadata)


async def _write(
    ctx: Context,
    repo: Repo,
    request: UploadRequest,
    chunks: AsyncIterable[bytes],
    described: Callable[[], ObjectChecksum | None] | None = None,
) -> Entry:
    address = new_address(ctx)
    result = await repo.store.put_stream(address, chunks, fresh=True)
    checksum = described() if described is not None else None
    metadata = request.metadata if checksum is None else {**request.metadata, **checksum.metadata()}
    return new_entry(address, result.md5, result.size, ctx.now(), request.content_type, metadata)


async def discard(repo: Repo, entries: Sequence[Entry]) -> None:
    """Remove data that nothing names. Only for a known outcome: after an unknown one, the data must stay."""
    try:
        await repo.store.delete([entry.physical_address for entry in entries])
    except EngineError:
        return  # it is under data/ without an entry: the sweep finds it


@asynccontextmanager
async def discarding(repo: Repo, entries: Sequence[Entry]) -> AsyncIterator[None]:
    """Remove the data of a write that was certainly refused: not when it is cancelled or its response is lost."""
    try:
        yield
    except OutcomeUnknownError:
        raise
    except EngineError:
        await discard(repo, entries)
        raise


async def upload(
    ctx: Context,
    repo_name: str,
    branch: str,
    request: UploadRequest,
    chunks: AsyncIterable[bytes],
    described: Callable[[], ObjectChecksum | None] | None = None,
) -> Located:
    """Write the data, then stage the entry. Repository, branch and path are checked before the first chunk is read.

    `described` returns the checksum to keep. It is called after the last chunk.
    """
    check_upload(request)
    repo = await open_repo(ctx, repo_name, write=True, force=request.force, branch=branch)
    known = await read_record(ctx, repo, branch)
    test = condition(request)
    if test is not None:  # refuse before the body is read; the batch that stages tests again
        test(await steady(ctx, repo, f"{branch}$", lambda view: view.find(request.path)))
    entry = await _write(ctx, repo, request, chunks, described)
    async with discarding(repo, [entry]):
        if test is None:
            await stage(ctx, repo, branch, [(request.path, entry)], known=known)
        else:
            await stage_if(ctx, repo, branch, request.path, entry, test)
    return located(repo, entry)


async def upload_many(
    ctx: Context,
    repo_name: str,
    branch: str,
    changes: AsyncIterable[tuple[UploadRequest, AsyncIterable[bytes]] | Deletion],
    *,
    force: bool = False,
) -> list[tuple[str, Located]]:
    """Write several objects, then stage all of them and the tombstones in one batch: all or nothing."""
    repo = await open_repo(ctx, repo_name, write=True, force=force, branch=branch)
    await read_record(ctx, repo, branch)
    rows, written = await write_objects(ctx, repo, changes)
    if rows:
        async with discarding(repo, [entry for _, entry in written]):
            await stage(ctx, repo, branch, rows)
    return [(path, located(repo, entry)) for path, entry in written]


async def write_objects(
    ctx: Context, repo: Repo, changes: AsyncIterable[tuple[UploadRequest, AsyncIterable[bytes]] | Deletion]
) -> tuple[list[Row], list[tuple[str, Entry]]]:
    """Write the data of a batch: all rows (None: a tombstone), and the objects. If it raises, no data is left."""
    paths: list[str] = []
    rows: dict[str, Entry | None] = {}
    writes = Overlapping(ctx.runtime, lambda request, chunks: _write(ctx, repo, request, chunks))
    try:
        async for change in changes:
            path = change.path if isinstance(change, Deletion) else change[0].path
            if isinstance(change, Deletion):
                validation.check_path(path)
            else:
                check_upload(change[0])
            if path in rows:
                raise InvalidRequestError(f"object {path!r} occurs twice in one batch: nothing was changed")
            rows[path] = None
            if len(rows) > MAX_BATCH:
                raise InvalidRequestError(f"more than {MAX_BATCH} changes in one batch: nothing was changed")
            if not isinstance(change, Deletion):
                paths.append(path)
                await writes.begin(*change)
        written = list(zip(paths, await writes.entries(), strict=True))
    except BaseException:
        await discard(repo, await writes.stop())
        raise
    rows.update(written)
    return list(rows.items()), written


async def delete_object(
    ctx: Context, repo_name: str, branch: str, path: str, *, force: bool = False, expected: Held | None = None
) -> None:
    """Stage a tombstone, whether or not the path exists: a check would race (M14 of `PROTOCOL.md` 6).

    With `expected`, only while the path has exactly this content. Raises PreconditionFailedError.
    """
    validation.check_path(path)
    repo = await open_repo(ctx, repo_name, write=True, force=force, branch=branch)
    if expected is None:
        await stage(ctx, repo, branch, [(path, None)])
    else:
        await stage_if(ctx, repo, branch, path, None, lambda now: require_held(path, now, expected))


async def delete_objects(
    ctx: Context, repo_name: str, branch: str, paths: Sequence[str], *, force: bool = False
) -> list[ObjectFailure]:
    """Stage tombstones in one batch. Reports invalid paths and deletes the others.

    On a branch that refuses changes, every path fails, as existing clients expect.
    """
    try:
        repo = await open_repo(ctx, repo_name, write=True, force=force, branch=branch)
    except (ReadOnlyRepositoryError, ProtectedBranchError) as error:
        return [ObjectFailure(path, error.kind, error.message) for path in paths]
    failures: list[ObjectFailure] = []
    rows: dict[str, Entry | None] = {}
    for path in paths:
        try:
            validation.check_path(path)
            rows[path] = None
        except EngineError as error:
            failures.append(ObjectFailure(path, error.kind, error.message))
    if rows:
        await stage(ctx, repo, branch, list(rows.items()))
    else:
        await read_record(ctx, repo, branch)
    return failures
