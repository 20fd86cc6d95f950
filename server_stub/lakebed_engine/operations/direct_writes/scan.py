"""Registers objects that tools wrote below a workspace's prefix: by request, or by a scan of the bucket.

A ledger in the KV store records which objects were registered, and which version. It changes in the same batch as the
rows. So a scan registers only new and changed objects. It does not restore an object that was reverted, deleted or
rewritten in another way.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import msgspec

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.view import View, sources_of
from lakebed_engine.operations.context import Context, Repo, open_repo
from lakebed_engine.operations.keys import scan_token, staging
from lakebed_engine.operations.objects.stage import MAX_BATCH, Row, new_entry, stage
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.operations.workspace.lifecycle import find_open, record_of
from lakebed_engine.stores.kv.base import ABSENT, Check, Put
from lakebed_engine.stores.objects.base import BlobStat, Guarded, Refused
from lakebed_engine.stores.objects.external import version_of
from lakebed_engine.tree.rows import prefix_end
from lakebed_engine.tree.trees import EMPTY_TREE
from lakebed_engine.vocabulary.direct_writes import ScanRefusal, ScanReport
from lakebed_engine.vocabulary.errors import BlobNotFound, InvalidRequestError, PredicateFailed
from lakebed_engine.vocabulary.records import DEFAULT_CONTENT_TYPE, Entry, Workspace

PAGE = 1000
"""How many listed objects the scan compares and registers in one batch."""

REFUSALS = 100
"""The largest number of refused objects that a report names."""


_ASIDE = re.compile(r"~/[0-9a-f]{32}(?:/|\Z)")
"""Keys that servers and clients generate and register themselves. A scan skips them."""


class Known(msgspec.Struct, frozen=True, array_like=True):
    """The ledger's record of one object.

    After a scan (`scanned`), `mtime` is in Unix seconds and `tag` is the ETag. After a registration by a client, `tag`
    is the checksum.
    """

    size: int
    mtime: float
    tag: str
    scanned: bool


Found = BlobStat | Refused
_GONE = b""
"""The ledger row of an object that no longer exists."""

_known = msgspec.msgpack.Decoder(Known)


async def register(ctx: Context, repo_name: str, found_id: str, rows: Sequence[Row], *, force: bool = False) -> None:
    """Register existing objects and deletions (None), all or nothing. Each path once, at most MAX_BATCH.

    An address is below the workspace's prefix, or a full URI outside of the namespace.

    Raises InvalidRequestError, InvalidPathError, WorkspaceClosedError.
    """
    repo = await open_repo(ctx, repo_name, write=True, force=force)
    record = record_of(await find_open(ctx, repo, found_id))
    checked: list[Row] = []
    for path, entry in rows:
        if entry is None:
            checked.append((path, None))
            continue
        address = check_address(repo, record, entry.physical_address)
        checked.append((path, msgspec.structs.replace(entry, physical_address=address)))
    await register_proven(ctx, repo, record, checked)


async def register_proven(ctx: Context, repo: Repo, record: Workspace, rows: Sequence[Row]) -> None:
    """Register rows with checked addresses, in one batch. Raises InvalidRequestError, InvalidPathError."""
    if len(rows) > MAX_BATCH or len({path for path, _ in rows}) != len(rows):
        raise InvalidRequestError(f"at most {MAX_BATCH} objects, each path once: nothing was registered")
    for path, _ in rows:
        validation.check_path(path)
    if rows:
        await stage(ctx, repo, record.name, rows, ledger_notes(record, rows))


def ledger_notes(record: Workspace, rows: Sequence[Row]) -> list[Put]:
    """The ledger rows that keep a scan from registering the same objects again."""
    return [
        _note(record, entry.physical_address, Known(entry.size, 0, entry.etag, False))
        for _, entry in rows
        if entry is not None and "://" not in entry.physical_address
    ]


def check_address(repo: Repo, record: Workspace, address: str) -> str:
    """Check that a client may register an address, and return it as stored. Raises InvalidRequestError."""
    validation.check_text("physical address", address)
    inside = address.removeprefix(f"{repo.store.uri}/")
    if "://" in inside or any(inside.startswith(prefix) for prefix in (record.prefix, *record.old_prefixes)):
        return inside
    raise InvalidRequestError(
        f"physical address {address[:200]!r}: must be below {record.prefix!r}, or a full URI outside of the namespace"
    )


def _note(record: Workspace, key: str, known: Known | None) -> Put:
    value = _GONE if known is None else msgspec.msgpack.encode(known)
    return Put(staging(scan_token(record.uid)), key.encode(), value)


async def scan(ctx: Context, repo_name: str, found_id: str, *, force: bool = False) -> ScanReport:
    """Register objects below the workspace's prefixes that are new or changed, by size, ETag and mtime.

    If an object that an earlier scan registered no longer exists, the scan deletes its path, unless the path shows
    another object by now. It reports and skips what the store refuses, for example links. Each page of the listing is
    one batch, so a scan can be repeated, interrupted, and run at the same time as another scan.

    Raises WorkspaceClosedError, TooManyAttemptsError.
    """
    repo = await open_repo(ctx, repo_name, write=True, force=force)
    record = record_of(await find_open(ctx, repo, found_id))
    registered = vanished = unchanged = refused = 0
    refusals: list[ScanRefusal] = []
    for prefix in (*record.old_prefixes, record.prefix):
        start = prefix
        async for page, end in _pages(repo, prefix):
            done = await _settled(ctx, repo, record, prefix, page, (start, end))
            registered += done.registered
            vanished += done.vanished
            unchanged += done.unchanged
            refused += done.refused
            refusals += done.refusals[: REFUSALS - len(refusals)]
            start = end
    return ScanReport(registered, vanished, unchanged, refused, refusals)


def _list(repo: Repo, prefix: str, start_after: str = "") -> AsyncIterator[Found]:
    if isinstance(repo.store, Guarded):
        return repo.store.list_guarded(prefix, start_after)
    return repo.store.list(prefix, start_after)


async def _pages(repo: Repo, prefix: str) -> AsyncIterator[tuple[list[Found], str]]:
    """Pages of a listing, each with the smallest key after it. The last page may be empty."""
    page: list[Found] = []
    async for blob in _list(repo, prefix):
        page.append(blob)
        if len(page) == PAGE:
            yield page, blob.key + "\0"
            page = []
    end = prefix_end(prefix)
    assert end is not None
    yield page, end


async def _between(repo: Repo, prefix: str, start: str, end: str) -> list[Found]:
    """List one page's range of keys again."""
    found: list[Found] = []
    async for blob in _list(repo, prefix, start.removesuffix("\0") if start != prefix else ""):
        if blob.key >= end:
            break
        found.append(blob)
    return found


async def _settled(
    ctx: Context, repo: Repo, record: Workspace, prefix: str, page: list[Found], between: tuple[str, str]
) -> ScanReport:
    """Register one page. Tries again when another request changed the ledger rows or the workspace."""
    streamed: list[Found] | None = page

    async def attempt() -> ScanReport | None:
        nonlocal streamed
        listed, streamed = streamed, None
        try:
            return await _page(ctx, repo, record, prefix, listed, between)
        except PredicateFailed:
            return None

    return await retry_on_conflict(f"a page of the objects of workspace {record.uid} of {repo.name!r}", attempt)


async def _page(
    ctx: Context,
    repo: Repo,
    record: Workspace,
    prefix: str,
    streamed: list[Found] | None,
    between: tuple[str, str],
) -> ScanReport | None:
    """Register one page, from the streamed listing or (`streamed` is None) from a new listing. Raises PredicateFailed.

    Returns None when the streamed listing shows that an object is gone or has changed. That listing is older than the
    ledger that was read, so another scan or a client may have registered the object in the time between.
    """
    known, versions = await _ledger(ctx, record, *between)
    page = await _between(repo, prefix, *between) if streamed is None else streamed
    shown = [blob for blob in page if blob.key != prefix and not _ASIDE.match(blob.key, len(prefix))]
    found = [blob for blob in shown if isinstance(blob, BlobStat)]
    refused = [ScanRefusal(one.key.removeprefix(prefix), one.reason) for one in shown if isinstance(one, Refused)]
    new = [blob for blob in found if not _is_known(known.get(blob.key), blob)]
    entries = [one for one in await _entries(ctx, repo, new) if not _is_same(known.get(one[0].key), one[1])]
    rows: list[Row] = [(blob.key.removeprefix(prefix), entry) for blob, entry in entries]
    notes = [_note(record, blob.key, Known(blob.size, blob.mtime, blob.etag, True)) for blob, _ in entries]
    listed = {blob.key for blob in page if isinstance(blob, BlobStat) or blob.there}
    gone = [key for key, one in known.items() if one.scanned and key not in listed]
    if streamed is not None and (gone or any(blob.key in known for blob, _ in entries)):
        return None
    tombstones, checks = await _tombstones(ctx, repo, record, prefix, gone) if gone else ([], [])
    rows += tombstones
    notes += [_note(record, key, None) for key in gone]
    if notes:
        # of two concurrent scans, the one with the older listing must not write last
        checks += [Check(note.partition, note.key, versions.get(note.key, ABSENT)) for note in notes]
        await stage(ctx, repo, record.name, rows, notes, checks)
    return ScanReport(len(entries), len(gone), len(found) - len(entries), len(refused), refused)


async def _tombstones(
    ctx: Context, repo: Repo, record: Workspace, prefix: str, gone: Sequence[str]
) -> tuple[list[Row], list[Check]]:
    """Tombstones of the paths that still show a vanished object, and checks that they do when they are staged."""
    now = await find_open(ctx, repo, record.uid)
    view = View(ctx, repo, sources_of(now.record), EMPTY_TREE)
    live = staging(now.record.staging_token)
    paths = [key.removeprefix(prefix) for key in gone]
    staged = await ctx.kv.get_many(live, [path.encode() for path in paths])
    rows: list[Row] = []
    checks = [now.check(repo)]
    for key, path, row in zip(gone, paths, staged, strict=True):
        entry = await view.find(path)
        if entry is not None and entry.physical_address == key:
            rows.append((path, None))
            checks.append(Check(live, path.encode(), ABSENT if row is None else row.version))
    return rows, checks


async def _ledger(ctx: Context, record: Workspace, start: str, end: str) -> tuple[dict[str, Known], dict[bytes, int]]:
    """The live ledger entries of a range of keys, and the versions of all its rows."""
    found: dict[str, Known] = {}
    versions: dict[bytes, int] = {}
    at = start.encode()
    while rows := await ctx.kv.scan(staging(scan_token(record.uid)), at, end.encode(), PAGE):
        found |= {row.key.decode(): _known.decode(row.value) for row in rows if row.value != _GONE}
        versions |= {row.key: row.version for row in rows}
        at = rows[-1].key + b"\0"
    return found, versions


def _is_known(known: Known | None, blob: BlobStat) -> bool:
    """Whether the listing alone proves that the object has not changed."""
    return known is not None and known.scanned and (known.size, known.mtime, known.tag) == _version(blob)


def _version(blob: BlobStat) -> tuple[int, float, str]:
    return blob.size, blob.mtime, blob.etag


def _is_same(known: Known | None, entry: Entry) -> bool:
    """Whether a client registered the same version of the object that the scan found."""
    tags = (entry.checksum, entry.checksum.removeprefix("etag:"))
    return known is not None and not known.scanned and known.size == entry.size and known.tag in tags


async def _entries(ctx: Context, repo: Repo, blobs: Sequence[BlobStat]) -> list[tuple[BlobStat, Entry]]:
    """The entries to register. Skips objects that no longer exist."""
    if not blobs:
        return []
    jobs: list[Callable[[], Awaitable[tuple[BlobStat, Entry] | None]]] = [
        lambda blob=blob: _entry(ctx, repo, blob)  # type: ignore[misc]
        for blob in blobs
    ]
    return [one for one in await ctx.runtime.gather(jobs) if one is not None]


async def _entry(ctx: Context, repo: Repo, blob: BlobStat) -> tuple[BlobStat, Entry] | None:
    """The entry of one object. If the store has no ETag, read the object and use its MD5 as checksum."""
    # Keep the `etag:` prefix: an ETag with the form of an MD5 may not be one (multipart, encryption with customer
    # keys).
    checksum, size = version_of(blob) if blob.etag else "", blob.size
    if not checksum:
        digest, size = hashlib.md5(usedforsecurity=False), 0
        try:
            async with repo.store.open(blob.key) as chunks:
                async for chunk in chunks:
                    await ctx.runtime.cpu(digest.update, chunk)
                    size += len(chunk)  # the size that was read: the object may have been rewritten since the listing
        except BlobNotFound:
            return None
        checksum = digest.hexdigest()
    return blob, new_entry(blob.key, checksum, size, int(blob.mtime), DEFAULT_CONTENT_TYPE, {})
