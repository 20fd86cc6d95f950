"""Registers objects that clients wrote to the store themselves, after checking each in the store.

The server trusts no claim of a client. The address must be below the workspace's own prefixes. The store must have the
object, with the claimed size, and with the claimed checksum if the store keeps one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from lakebed_engine.operations import validation
from lakebed_engine.operations.context import Context, Repo, open_repo
from lakebed_engine.operations.direct_writes.scan import register_proven
from lakebed_engine.operations.objects.stage import MAX_BATCH, Row, new_entry
from lakebed_engine.operations.workspace.lifecycle import find_open, record_of
from lakebed_engine.stores.objects.absent import AbsentStore
from lakebed_engine.stores.objects.base import BlobStat, InDirectory, ObjectStore
from lakebed_engine.stores.objects.presign import Signer, Signing
from lakebed_engine.vocabulary.direct_writes import DataPlace, Written
from lakebed_engine.vocabulary.errors import (
    BlobNotFound,
    ChecksumMismatchError,
    InvalidAddressError,
    InvalidRequestError,
)
from lakebed_engine.vocabulary.records import Entry, Workspace

LATEST = 253402300799
"""The last second of the year 9999."""

_TAG = re.compile(r"([0-9a-f]{32})(?:-([0-9]{1,5}))?", re.ASCII)
_CHECKSUM = re.compile(r"[!#-~]{1,256}", re.ASCII)
_FEW = 16
"""Up to this number of objects, the server requests each one. For more, it lists them."""


async def register_written(
    ctx: Context,
    repo_name: str,
    found_id: str,
    objects: Sequence[Written],
    deletes: Sequence[str] = (),
    *,
    force: bool = False,
) -> None:
    """Register objects and deletions, all or nothing. Each path once, at most MAX_BATCH in total.

    Raises InvalidAddressError, ChecksumMismatchError, InvalidPathError, InvalidRequestError, WorkspaceClosedError.
    """
    repo = await open_repo(ctx, repo_name, write=True, force=force)
    record = record_of(await find_open(ctx, repo, found_id))
    if len(objects) + len(deletes) > MAX_BATCH:
        raise InvalidRequestError(
            f"{len(objects) + len(deletes)} objects and deletions: at most {MAX_BATCH}, nothing was registered"
        )
    rows: list[Row] = [(one.path, entry_of(ctx, repo, record, one)) for one in objects]
    await prove(ctx, repo, rows)
    await register_proven(ctx, repo, record, [*rows, *((path, None) for path in deletes)])


def entry_of(ctx: Context, repo: Repo, record: Workspace, written: Written) -> Entry:
    """The entry of a written object. Raises InvalidAddressError, InvalidPathError, InvalidRequestError."""
    validation.check_path(written.path)
    if not _CHECKSUM.fullmatch(written.checksum):
        raise InvalidRequestError(
            f"checksum of {written.path[:200]!r}: must be 1 to 256 printable ASCII characters without quotes"
        )
    validation.check_text("content type", written.content_type)
    if len(written.content_type) > 255:
        raise InvalidRequestError(f"content type of {written.path[:200]!r}: at most 255 characters")
    validation.check_metadata(written.metadata)
    mtime = ctx.now() if written.mtime is None else written.mtime
    if not (0 <= mtime <= LATEST and 0 <= written.size < 2**63):
        raise InvalidRequestError(f"size or mtime of {written.path[:200]!r}: out of bounds")
    checksum, parts = checksum_of(written.checksum)
    address = own_address(repo, record, written.physical_address)
    entry = new_entry(address, checksum, written.size, mtime, written.content_type, written.metadata)
    return msgspec.structs.replace(entry, parts=parts) if parts else entry


def checksum_of(etag: str) -> tuple[str, int]:
    """Split an MD5 or an ETag into a checksum and the number of uploaded parts, 0 for a single PUT."""
    found = _TAG.fullmatch(etag.lower())
    return (found[1], int(found[2] or 0)) if found else (etag, 0)


def own_address(repo: Repo, record: Workspace, address: str) -> str:
    """Check that an address is below the workspace's prefixes, and return it as stored. Raises InvalidAddressError."""
    validation.check_text("physical address", address)
    inside = address.removeprefix(f"{repo.store.uri}/")
    for prefix in (record.prefix, *record.old_prefixes):
        if inside.startswith(prefix) and len(inside) > len(prefix):
            return inside
    raise InvalidAddressError(
        f"physical address {address[:200]!r}: must be below {repo.store.uri}/{record.prefix}: nothing was registered"
    )


async def prove(ctx: Context, repo: Repo, rows: Sequence[Row]) -> None:
    """Check that the store has the data of all entries, with their sizes and checksums.

    Raises InvalidAddressError and ChecksumMismatchError for the first wrong entry.
    """
    found = await _look(ctx, repo, sorted({entry.physical_address for _, entry in rows if entry is not None}))
    for path, entry in rows:
        if entry is None:
            continue
        blob = found.get(entry.physical_address)
        if blob is None:
            raise InvalidAddressError(
                f"object {path[:200]!r}: nothing is at {repo.store.uri}/{entry.physical_address}: write it first; "
                "nothing was registered"
            )
        _compare(path, entry, blob)


async def prove_content(ctx: Context, repo: Repo, path: str, entry: Entry) -> None:
    """Read an object whose store keeps no checksum, and compare its MD5 with the declared one.

    Raises ChecksumMismatchError. A declared checksum that does not have the form of an MD5 is not compared.
    """
    blob = await repo.store.head(entry.physical_address)
    if blob.etag or entry.parts or not _TAG.fullmatch(entry.checksum):
        return
    digest = hashlib.md5(usedforsecurity=False)
    async with repo.store.open(entry.physical_address) as chunks:
        async for chunk in chunks:
            await ctx.runtime.cpu(digest.update, chunk)
    if digest.hexdigest() != entry.checksum:
        raise ChecksumMismatchError(
            f"object {path[:200]!r}: its checksum is not {entry.checksum}, its MD5 is {digest.hexdigest()}: nothing "
            "was changed; write it again, or give the right checksum"
        )


def _compare(path: str, entry: Entry, blob: BlobStat) -> None:
    if blob.size != entry.size:
        raise ChecksumMismatchError(
            f"object {path[:200]!r}: {entry.size} bytes were stated, but the store has {blob.size}: nothing was "
            "registered"
        )
    found = _TAG.fullmatch(blob.etag.strip('"').lower())
    if found is None:
        return  # this store names versions in another way, or not at all
    count = int(found[2] or 0)
    if count and not entry.parts:
        return  # written in parts: such an ETag is not the MD5 of the content
    if (found[1], count) != (entry.checksum, entry.parts):
        raise ChecksumMismatchError(
            f"object {path[:200]!r}: its checksum is not {entry.checksum}, the store has {blob.etag}: nothing was "
            "registered; write it again, or give the store's ETag where that is no MD5"
        )


async def _look(ctx: Context, repo: Repo, keys: Sequence[str]) -> dict[str, BlobStat]:
    """The objects that exist at these sorted keys. For many keys it lists first, then requests each missing one."""
    found: dict[str, BlobStat] = {}
    if len(keys) > _FEW:
        found = await _listed(repo, keys)

    async def head(key: str) -> None:
        try:
            found[key] = await repo.store.head(key)
        except BlobNotFound:
            return

    jobs: list[Callable[[], Awaitable[None]]] = [
        lambda key=key: head(key)  # type: ignore[misc]
        for key in keys
        if key not in found
    ]
    if jobs:
        await ctx.runtime.gather(jobs, 16)
    return found


async def _listed(repo: Repo, keys: Sequence[str]) -> dict[str, BlobStat]:
    """The keys that a listing finds. It starts after the first key and stops when it passes too many other keys."""
    wanted, seen = set(keys), 0
    found: dict[str, BlobStat] = {}
    shared = next(
        (at for at, (one, other) in enumerate(zip(keys[0], keys[-1], strict=False)) if one != other), len(keys[0])
    )
    async for blob in repo.store.list(keys[0][:shared], keys[0]):
        seen += 1
        if blob.key in wanted:
            found[blob.key] = blob
        if blob.key >= keys[-1] or seen > 4 * len(keys) + 1000:
            break
    return found


def signer_of(store: ObjectStore) -> Signer | None:
    """The signer of a store, or None when the store cannot sign."""
    return store.signer if isinstance(store, Signing) else None


async def place_of(ctx: Context, repo_name: str) -> DataPlace:
    """Where the data of a repository is stored. A store that this server does not have signs nothing."""
    store = (await open_repo(ctx, repo_name)).store
    return DataPlace(
        store.uri,
        not isinstance(store, AbsentStore) and signer_of(store) is not None,
        store.directory if isinstance(store, InDirectory) else "",
    )
