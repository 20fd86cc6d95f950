"""Registration of what tools wrote below a workspace's prefix: by the tools themselves, or by a scan of the bucket.

A ledger in the KV store, changed in the same batch as the rows, remembers which objects were registered and as what: so
a scan registers only what is new or has changed, and nothing that was reverted, deleted or written anew by other means
comes back.
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
from lakebed_engine.vocabulary.errors import BlobNotFound, InvalidRequestError, PredicateFailed
from lakebed_engine.vocabulary.records import DEFAULT_CONTENT_TYPE, Entry, ScanRefusal, ScanReport, Workspace

PAGE = 1000
"""Objects of a listing that are looked at together, and registered in one batch."""

REFUSALS = 100
"""Of what was refused, so many are named."""


_ASIDE = re.compile(r"~/[0-9a-f]{32}(?:/|\Z)")
"""Keys that servers and clients make up, for what they then register themselves: nothing is shown of the others."""


class Known(msgspec.Struct, frozen=True, array_like=True):
    """What the ledger says of an object: what a scan saw (`scanned`; `mtime` in Unix seconds, `tag` its ETag), or else
    what a client registered: then `tag` is its checksum.
    """

    size: int
    mtime: float
    tag: str
    scanned: bool


Found = BlobStat | Refused
_GONE = b""
"""A ledger row of an object that has vanished."""

_known = msgspec.msgpack.Decoder(Known)


async def register(ctx: Context, repo_name: str, found_id: str, rows: Sequence[Row], *, force: bool = False) -> None:
    """Register objects that are there (or None: a tombstone), all or nothing. Each path once, at most MAX_BATCH.

    An address is below the workspace's prefix, or a full URI outside of the namespace. Raises InvalidRequestError,
    InvalidPathError, WorkspaceClosedError.
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
    """As `register`, for addresses that were looked at: one batch. Raises InvalidRequestError, InvalidPathError."""
    if len(rows) > MAX_BATCH or len({path for path, _ in rows}) != len(rows):
        raise InvalidRequestError(f"at most {MAX_BATCH} objects, each path once: nothing was registered")
    for path, _ in rows:
        validation.check_path(path)
    if rows:
        await stage(ctx, repo, record.name, rows, ledger_notes(record, rows))


def ledger_notes(record: Workspace, rows: Sequence[Row]) -> list[Put]:
    """What keeps a scan from registering what a client has registered."""
    return [
        _note(record, entry.physical_address, Known(entry.size, 0, entry.etag, False))
        for _, entry in rows
        if entry is not None and "://" not in entry.physical_address
    ]


def check_address(repo: Repo, record: Workspace, address: str) -> str:
    """An address that may be registered, as it is stored. Raises InvalidRequestError."""
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
    """Register what lies below the workspace's prefixes and is new or has changed, by size, ETag and mtime.

    Of what an earlier scan registered and is there no more, the path is deleted, while it still shows that object. What
    the store refuses (links, for example) is reported and left. Safe to repeat, to run beside another, and to break
    off: each page of the listing is one batch. Raises WorkspaceClosedError, TooManyAttemptsError.
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
    """Pages of a listing, each with the least key that stands behind it; the last one may be empty."""
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
    """What a page's part of the listing is now."""
    found: list[Found] = []
    async for blob in _list(repo, prefix, start.removesuffix("\0") if start != prefix else ""):
        if blob.key >= end:
            break
        found.append(blob)
    return found


async def _settled(
    ctx: Context, repo: Repo, record: Workspace, prefix: str, page: list[Found], between: tuple[str, str]
) -> ScanReport:
    """One page. Looked at again when others changed what it was compared with."""
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
    """As `_settled`, of what was listed before, or lists it now. Raises PredicateFailed.

    None: by a listing from before the ledger was read something is gone or has changed, which may be what another scan,
    or a client, has registered since.
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
        # of two scans at once the one that has seen less must not have the last word
        checks += [Check(note.partition, note.key, versions.get(note.key, ABSENT)) for note in notes]
        await stage(ctx, repo, record.name, rows, notes, checks)
    return ScanReport(len(entries), len(gone), len(found) - len(entries), len(refused), refused)


async def _tombstones(
    ctx: Context, repo: Repo, record: Workspace, prefix: str, gone: Sequence[str]
) -> tuple[list[Row], list[Check]]:
    """Of the paths that still show an object that has gone; and the checks that they do when they are staged."""
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
    """What the ledger says of a part of a listing, and the versions of all its rows."""
    found: dict[str, Known] = {}
    versions: dict[bytes, int] = {}
    at = start.encode()
    while rows := await ctx.kv.scan(staging(scan_token(record.uid)), at, end.encode(), PAGE):
        found |= {row.key.decode(): _known.decode(row.value) for row in rows if row.value != _GONE}
        versions |= {row.key: row.version for row in rows}
        at = rows[-1].key + b"\0"
    return found, versions


def _is_known(known: Known | None, blob: BlobStat) -> bool:
    """Whether the listing alone says that an object is as the ledger has it."""
    return known is not None and known.scanned and (known.size, known.mtime, known.tag) == _version(blob)


def _version(blob: BlobStat) -> tuple[int, float, str]:
    """What tells one version of an object from another."""
    return blob.size, blob.mtime, blob.etag


def _is_same(known: Known | None, entry: Entry) -> bool:
    """Whether what a client registered is what a look at the object itself found."""
    tags = (entry.checksum, entry.checksum.removeprefix("etag:"))
    return known is not None and not known.scanned and known.size == entry.size and known.tag in tags


async def _entries(ctx: Context, repo: Repo, blobs: Sequence[BlobStat]) -> list[tuple[BlobStat, Entry]]:
    """What to register for objects, but for those that are gone by now."""
    if not blobs:
        return []
    jobs: list[Callable[[], Awaitable[tuple[BlobStat, Entry] | None]]] = [
        lambda blob=blob: _entry(ctx, repo, blob)  # type: ignore[misc]
        for blob in blobs
    ]
    return [one for one in await ctx.runtime.gather(jobs) if one is not None]


async def _entry(ctx: Context, repo: Repo, blob: BlobStat) -> tuple[BlobStat, Entry] | None:
    """A store that tells no ETag has its object read: the checksum says what is the same content."""
    # as with foreign objects: what looks like an MD5 in a listing may be none (parts, keys of one's own)
    checksum, size = version_of(blob) if blob.etag else "", blob.size
    if not checksum:
        digest, size = hashlib.md5(usedforsecurity=False), 0
        try:
            async with repo.store.open(blob.key) as chunks:
                async for chunk in chunks:
                    await ctx.runtime.cpu(digest.update, chunk)
                    size += len(chunk)  # of what was read: it may have been written anew since the listing
        except BlobNotFound:
            return None
        checksum = digest.hexdigest()
    return blob, new_entry(blob.key, checksum, size, int(blob.mtime), DEFAULT_CONTENT_TYPE, {})
