"""Presigned URLs for clients: to write objects of a workspace, whole or in parts, and to read what a ref shows.

Each URL to write has its own key, `<prefix>~/<random>/<path>`. A late or repeated PUT therefore cannot replace a
registered object. A scan skips such keys, so the object appears only when a client registers it. The server stores
nothing about a multipart upload: its key and the store's upload id identify it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress

from lakebed_format.keys import is_plain
from lakebed_format.tags import path_tags

from lakebed_engine.operations import validation
from lakebed_engine.operations.context import Context, Repo, open_repo
from lakebed_engine.operations.direct_writes.register import own_address, signer_of
from lakebed_engine.operations.objects.read import physical_uri, placed
from lakebed_engine.operations.workspace.lifecycle import find, find_open, record_of
from lakebed_engine.stores.objects.base import BlobStat
from lakebed_engine.stores.objects.presign import LARGEST_PUT, MOST_PARTS, Part, PartUploads, Signer, ToRead, ToWrite
from lakebed_engine.vocabulary.direct_writes import (
    CompletedUpload,
    PartUpload,
    SentPart,
    SignedPart,
    SignedRead,
    SignedUpload,
)
from lakebed_engine.vocabulary.errors import (
    BlobNotFound,
    ChecksumMismatchError,
    ForeignDeniedError,
    InvalidAddressError,
    InvalidRequestError,
    NotSupportedError,
    ObjectGoneError,
    OutcomeUnknownError,
    StoreUnavailableError,
)
from lakebed_engine.vocabulary.records import Entry, Workspace

MOST_SIGNED = 1000
"""The largest number of URLs signed in one call."""

SIGNED_SECONDS = 900
"""How long a presigned URL is valid by default."""

_SUFFIX_BYTES = 400
"""How many bytes of the path a key contains. A whole key may have 1,024 bytes, with all prefixes."""

_KEY = re.compile(r"~/[0-9a-f]{32}/.+", re.DOTALL)
_UNSPELLED = re.compile(r"[^A-Za-z0-9._=+@,:~/-]")
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\\\ufffe\uffff]")
_PRINTABLE = re.compile(r"[\x20-\x7e]*")
_LOOKS = 6
"""How often to complete an upload when the response is lost. The pauses between double, 6 s in total."""


async def sign_uploads(
    ctx: Context,
    repo_name: str,
    found_id: str,
    paths: Sequence[str],
    *,
    size: int = 0,
    content_type: str = "",
    seconds: int = SIGNED_SECONDS,
) -> list[SignedUpload]:
    """One presigned PUT URL below the workspace's prefix for each path. `size` is the size of the largest, in bytes.

    Raises WorkspaceClosedError, and NotSupportedError when the store cannot sign or refuses a PUT of that size.
    """
    repo = await open_repo(ctx, repo_name, write=True)
    record = record_of(await find_open(ctx, repo, found_id))
    if not paths or len(paths) > MOST_SIGNED:
        raise InvalidRequestError(f"{len(paths)} paths: must be 1 to {MOST_SIGNED} in one request")
    for path in paths:
        validation.check_path(path)
    signer = _signer(repo)
    if size > LARGEST_PUT:
        raise NotSupportedError(
            f"{size} bytes: a signed address takes at most {LARGEST_PUT}; write it in parts, with credentials of your "
            "own, or through the server"
        )
    targets = await _targets(ctx, record, signer, paths, content_type)
    expires = ctx.now() + seconds
    signed = await signer.sign_writes(targets, seconds)
    return [
        SignedUpload(path, f"{repo.store.uri}/{target.key}", one.url, dict(one.headers), expires)
        for path, target, one in zip(paths, targets, signed, strict=True)
    ]


async def begin_upload(ctx: Context, repo_name: str, found_id: str, path: str, *, content_type: str = "") -> PartUpload:
    """Begin a multipart upload. Raises WorkspaceClosedError, and NotSupportedError when the store cannot do it."""
    repo = await open_repo(ctx, repo_name, write=True)
    record = record_of(await find_open(ctx, repo, found_id))
    validation.check_path(path)
    signer = _signer(repo)
    parts = _parts(repo)
    (target,) = await _targets(ctx, record, signer, [path], content_type)
    return PartUpload(f"{repo.store.uri}/{target.key}", await parts.create(target))


async def sign_parts(
    ctx: Context,
    repo_name: str,
    found_id: str,
    upload: PartUpload,
    numbers: Sequence[int],
    *,
    seconds: int = SIGNED_SECONDS,
) -> list[SignedPart]:
    """One presigned PUT URL for each part. Raises InvalidAddressError, WorkspaceClosedError."""
    repo = await open_repo(ctx, repo_name, write=True)
    key = _own_key(repo, record_of(await find_open(ctx, repo, found_id)), upload)
    if not numbers or len(numbers) > MOST_SIGNED or not all(1 <= number <= MOST_PARTS for number in numbers):
        raise InvalidRequestError(f"{len(numbers)} parts: must be 1 to {MOST_SIGNED}, numbered 1 to {MOST_PARTS}")
    expires = ctx.now() + seconds
    try:
        signed = await _parts(repo).sign(key, upload.upload, numbers, seconds)
    except BlobNotFound:
        raise _no_upload(repo, key, upload.upload) from None
    return [
        SignedPart(number, one.url, dict(one.headers), expires) for number, one in zip(numbers, signed, strict=True)
    ]


async def complete_upload(
    ctx: Context, repo_name: str, found_id: str, upload: PartUpload, parts: Sequence[SentPart], size: int
) -> CompletedUpload:
    """Combine the parts to one object of `size` bytes. A repeated call returns the same result.

    Raises InvalidAddressError when the upload does not exist, InvalidRequestError for parts that the store does not
    have, ChecksumMismatchError for another size, WorkspaceClosedError.
    """
    repo = await open_repo(ctx, repo_name, write=True)
    key = _own_key(repo, record_of(await find_open(ctx, repo, found_id)), upload)
    numbers = [part.number for part in parts]
    if not numbers or numbers != sorted(set(numbers)) or not (numbers[0] >= 1 and numbers[-1] <= MOST_PARTS):
        raise InvalidRequestError(f"the parts must be numbered 1 to {MOST_PARTS}, in order, each once")
    sent = [Part(part.number, part.etag) for part in parts]
    blob = await completed(ctx, repo, _parts(repo), key, upload.upload, sent)
    if blob.size != size:
        raise ChecksumMismatchError(
            f"{upload.physical_address[:300]!r}: {size} bytes were stated, but the store has {blob.size}: write it "
            "again"
        )
    return CompletedUpload(f"{repo.store.uri}/{key}", blob.etag.strip('"'), blob.size)


async def completed(
    ctx: Context, repo: Repo, uploads: PartUploads, key: str, upload: str, parts: Sequence[Part]
) -> BlobStat:
    """Complete an upload and read the object back. After a lost response, the object at the key shows the outcome."""
    for attempt in range(_LOOKS):
        ended = False
        try:
            await uploads.complete(key, upload, parts)
        except BlobNotFound:
            ended = True  # completed earlier, or aborted
        except OutcomeUnknownError:
            pass  # only this upload writes to the key, so an object there is its result
        try:
            return await repo.store.head(key)
        except BlobNotFound:
            if ended:
                raise _no_upload(repo, key, upload) from None
        await ctx.runtime.sleep(0.1 * 2**attempt)
    text = f"the store does not report the outcome of the upload to {repo.store.uri}/{key}; complete it again"
    raise StoreUnavailableError(text, public_message=text)


def _no_upload(repo: Repo, key: str, upload: str) -> InvalidAddressError:
    return InvalidAddressError(
        f"there is no upload {upload[:100]!r} to {repo.store.uri}/{key}: it was aborted, or never started; start "
        "another one"
    )


async def abort_upload(ctx: Context, repo_name: str, found_id: str, upload: PartUpload) -> None:
    """Abort an upload, also in a closed workspace. Does nothing when it does not exist. Raises InvalidAddressError."""
    repo = await open_repo(ctx, repo_name)
    key = _own_key(repo, record_of(await find(ctx, repo, found_id)), upload)
    with suppress(BlobNotFound):
        await _parts(repo).abort(key, upload.upload)


async def sign_reads(
    ctx: Context, repo_name: str, entries: Sequence[Entry], *, seconds: int = SIGNED_SECONDS, check: bool = False
) -> list[SignedRead | None]:
    """One presigned GET URL for each entry, or None when the store of its data cannot sign.

    With `check` the server first checks data outside of the namespace. Raises ForeignDeniedError, and ObjectGoneError
    when the data is not the version that was ingested.
    """
    repo = await open_repo(ctx, repo_name)
    expires = ctx.now() + seconds
    found: list[SignedRead | None] = [None] * len(entries)
    groups: dict[str, tuple[Signer, list[tuple[int, ToRead]]]] = {}
    for index, entry in enumerate(entries):
        try:
            store, key = await placed(ctx, repo, entry, check=check)
        except BlobNotFound:
            raise ObjectGoneError(f"the data of this object is gone: {physical_uri(repo, entry)}") from None
        except ForeignDeniedError:
            if check:
                raise
            continue
        signer = signer_of(store)
        if signer is not None:
            kind = entry.content_type if _PRINTABLE.fullmatch(entry.content_type) else ""
            groups.setdefault(store.uri, (signer, []))[1].append((index, ToRead(key, kind)))
    for signer, wanted in groups.values():
        urls = await signer.sign_reads([one for _, one in wanted], seconds)
        for (index, _), url in zip(wanted, urls, strict=True):
            found[index] = SignedRead(url, expires) if url else None
    return found


def _signer(repo: Repo) -> Signer:
    signer = signer_of(repo.store)
    if signer is None:
        raise NotSupportedError(f"the store of {repo.name!r} does not presign URLs: write through the server")
    return signer


def _parts(repo: Repo) -> PartUploads:
    parts = _signer(repo).parts
    if parts is None:
        raise NotSupportedError(
            f"the store of {repo.name!r} does not presign parts: write at most {LARGEST_PUT} bytes with one "
            "address, or "
            "through the server"
        )
    return parts


def _own_key(repo: Repo, record: Workspace, upload: PartUpload) -> str:
    """The key of an upload that this server signed. Raises InvalidAddressError."""
    key = own_address(repo, record, upload.physical_address)
    prefix = next(one for one in (record.prefix, *record.old_prefixes) if key.startswith(one))
    if not _KEY.fullmatch(key.removeprefix(prefix)):
        raise InvalidAddressError(f"physical address {upload.physical_address[:300]!r}: no upload was started there")
    validation.check_text("upload id", upload.upload)
    return key


async def _targets(
    ctx: Context, record: Workspace, signer: Signer, paths: Sequence[str], content_type: str
) -> list[ToWrite]:
    """Unique keys, one for each path."""
    tagged = await signer.takes_tags()
    return [
        ToWrite(
            f"{record.prefix}~/{ctx.ids.new()}/{suffix_of(path, signer.any_name)}",
            content_type,
            path_tags(path) if tagged else {},
        )
        for path in paths
    ]


def suffix_of(path: str, any_name: bool) -> str:
    """The path as a readable end of a key. Characters that the store does not accept become `_`."""
    if not any_name:
        path = _UNSPELLED.sub("_", path)
    path = _ODD.sub("_", path)
    path = "/".join(part for part in path.split("/") if part not in ("", ".", ".."))
    encoded = path.encode()[-_SUFFIX_BYTES:]
    path = encoded.decode(errors="ignore").lstrip("/")
    return path if path and is_plain(path.encode()) else "object"
