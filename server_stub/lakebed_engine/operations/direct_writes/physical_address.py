"""Physical addresses for writes to a branch: a client requests an address, puts the object there, and links it.

Workspaces have their own addresses, see `presign`. An address contains a signature over repository, branch, path and
time, so the server stores nothing about it. The server links an object below `data/` only if its address has this
signature. Otherwise a client can only link objects in another store that the server may read (`Foreign`). It cannot
link other objects of this namespace or of another repository.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence

import msgspec
from lakebed_format import identity
from lakebed_format.keys import SIGNED_DATA

from lakebed_engine.operations import validation
from lakebed_engine.operations.branch.view import steady
from lakebed_engine.operations.context import Context, Repo, open_repo, read_record
from lakebed_engine.operations.direct_writes.presign import completed
from lakebed_engine.operations.direct_writes.register import LATEST, checksum_of, prove, prove_content, signer_of
from lakebed_engine.operations.namespaces import refuse_namespaces
from lakebed_engine.operations.objects.read import open_entry, physical_uri, placed, stat
from lakebed_engine.operations.objects.stage import condition, new_address, new_entry, stage, stage_if
from lakebed_engine.operations.retry import retry_on_conflict
from lakebed_engine.stores.objects.external import version_of
from lakebed_engine.stores.objects.multipart import Assembler, Numbering, StoredPart, own_assembler
from lakebed_engine.stores.objects.presign import (
    LARGEST_PUT,
    MOST_PARTS,
    Classing,
    Part,
    PartUploads,
    SignedRequest,
    ToWrite,
)
from lakebed_engine.vocabulary.checksums import kept
from lakebed_engine.vocabulary.direct_writes import LinkRequest, PartUpload, SentPart, SignedUpload
from lakebed_engine.vocabulary.errors import (
    BlobNotFound,
    ChecksumMismatchError,
    InvalidAddressError,
    InvalidRequestError,
    NotSupportedError,
    ObjectGoneError,
    ObjectNotFoundError,
    PreconditionFailedError,
)
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import PartSource, UploadRequest

ADDRESS_SECONDS = 24 * 3600
"""How long a client can link an address after the server returned it. A sweep keeps younger objects of `data/`."""


async def get_address(ctx: Context, repo_name: str, branch: str, path: str, *, seconds: int = 0) -> SignedUpload:
    """A new address for the data of one path. With `seconds`, also a URL for one PUT that is valid for that time.

    Raises BranchNotFoundError, ProtectedBranchError, and InvalidRequestError when the store cannot sign URLs.
    """
    repo = await _writable(ctx, repo_name, branch, path)
    key, expires = _key_of(ctx, repo, branch, path), ctx.now() + seconds
    signed = SignedRequest("", {})
    if seconds:
        signer = signer_of(repo.store)
        if signer is None:
            raise InvalidRequestError(f"the store of {repo.name!r} does not presign URLs: omit presign")
        (signed,) = await signer.sign_writes([ToWrite(key, guarded=False)], seconds)
    return SignedUpload(path, f"{repo.store.uri}/{key}", signed.url, dict(signed.headers), expires)


async def link(ctx: Context, repo_name: str, branch: str, request: LinkRequest) -> Entry:
    """Show the object at an address on the branch, after checking that it exists.

    Raises InvalidAddressError (the address is for another path, has expired, or has no object),
    ChecksumMismatchError, ForeignDeniedError, PreconditionFailedError.
    """
    repo = await _writable(ctx, repo_name, branch, request.path, force=request.force)
    entry = await _entry(ctx, repo, branch, request)
    asked = UploadRequest(
        path=request.path, if_none_match=request.if_none_match, if_match=request.if_match, unlike=request.unlike
    )
    test = condition(asked)
    if test is None:
        await stage(ctx, repo, branch, [(request.path, entry)])
    else:
        await stage_if(ctx, repo, branch, request.path, entry, test)
    return entry


async def set_metadata(
    ctx: Context, repo_name: str, branch: str, path: str, metadata: Mapping[str, str], *, force: bool = False
) -> None:
    """Replace the metadata of an object, except for the keys that describe its bytes. Raises ObjectNotFoundError."""
    validation.check_metadata(metadata)
    repo = await _writable(ctx, repo_name, branch, path, force=force)

    async def attempt() -> bool | None:
        now = await steady(ctx, repo, f"{branch}$", lambda view: view.find(path))
        if now is None:
            raise ObjectNotFoundError(f"object {path!r} not found in {branch!r} of repository {repo_name!r}")
        values = {**metadata, **kept(now.metadata)}
        mark = identity(now.size, now.checksum, now.content_type, values)
        new = msgspec.structs.replace(now, metadata=values, identity=mark)
        try:
            await stage_if(ctx, repo, branch, path, new, _still(path, now))
        except PreconditionFailedError:
            return None  # the object was replaced: try again with the new one
        return True

    await retry_on_conflict(f"object {path!r} on {branch!r}", attempt)


async def storage_class(ctx: Context, repo_name: str, ref: str, path: str) -> str | None:
    """The storage class of an object's data, or None when the store has no classes. Raises ObjectGoneError."""
    entry = await stat(ctx, repo_name, ref, path)
    repo = await open_repo(ctx, repo_name)
    try:
        store, key = await placed(ctx, repo, entry)
        signer: object = signer_of(store)
        if isinstance(signer, Classing):
            return await signer.storage_class(key)
        await store.head(key)
    except BlobNotFound:
        raise ObjectGoneError(f"the data of this object is gone: {physical_uri(repo, entry)}") from None
    return None


async def begin_upload(
    ctx: Context, repo_name: str, branch: str, path: str, *, parts: int = 0, seconds: int = 0
) -> tuple[PartUpload, list[str]]:
    """Begin a multipart upload. Returns it with URLs for its first `parts` parts. Raises NotSupportedError."""
    repo = await _writable(ctx, repo_name, branch, path)
    key = _key_of(ctx, repo, branch, path)
    uploads = _parts(repo)
    upload = await uploads.create(ToWrite(key, guarded=False))
    signed = await uploads.sign(key, upload, range(1, parts + 1), seconds) if parts else []
    return PartUpload(f"{repo.store.uri}/{key}", upload), [one.url for one in signed]


async def sign_part(
    ctx: Context, repo_name: str, branch: str, path: str, upload: PartUpload, number: int, *, seconds: int
) -> str:
    """A URL for one PUT of one part. Raises InvalidAddressError, InvalidRequestError."""
    repo, key = await _given(ctx, repo_name, branch, path, upload.physical_address)
    if not 1 <= number <= MOST_PARTS:
        raise InvalidRequestError(f"part {number}: must be 1 to {MOST_PARTS}")
    try:
        return (await _parts(repo).sign(key, upload.upload, [number], seconds))[0].url
    except BlobNotFound:
        raise _no_upload(upload) from None


async def copy_part(
    ctx: Context, repo_name: str, branch: str, path: str, upload: PartUpload, number: int, source: PartSource
) -> str:
    """Write one part from an object that some ref shows, and return the part's ETag.

    The store copies the data itself if it can. Otherwise the server reads and writes it.

    Raises InvalidAddressError, InvalidRequestError, NotSupportedError, and ObjectGoneError for the source.
    """
    repo, key = await _given(ctx, repo_name, branch, path, upload.physical_address)
    if not 1 <= number <= MOST_PARTS or source.length > LARGEST_PUT:
        raise InvalidRequestError(
            f"part {number} of {source.length} bytes: must be 1 to {MOST_PARTS}, of {LARGEST_PUT} bytes at most"
        )
    _parts(repo)
    assembler = own_assembler(repo.store)
    if not isinstance(assembler, Numbering):
        raise NotSupportedError(f"the store of {repo.name!r} does not copy parts: read the object, and write the part")
    stored = await _copied(assembler, repo, key, upload.upload, number, source)
    if stored is not None:
        return stored.handle
    try:
        async with open_entry(ctx, source.repo, source.entry, source.start, source.length) as chunks:
            return await assembler.put_numbered(key, upload.upload, number, source.length, chunks)
    except BlobNotFound:
        raise _no_upload(upload) from None


async def _copied(
    assembler: Assembler, repo: Repo, key: str, upload: str, number: int, source: PartSource
) -> StoredPart | None:
    place = source.entry.physical_address.removeprefix(f"{repo.store.uri}/")
    if source.repo != repo.name or "://" in place or not source.length:
        return None
    try:
        return await assembler.copy(key, upload, number, place, source.start, source.length)
    except BlobNotFound:
        return None  # the upload or the source is missing: reading and writing the part shows which


async def complete_upload(
    ctx: Context,
    repo_name: str,
    branch: str,
    request: LinkRequest,
    upload: str,
    parts: Sequence[SentPart],
) -> Entry:
    """Combine the parts to one object and link it. `checksum` and `size` come from the store, not from the request.

    Raises InvalidAddressError, InvalidRequestError.
    """
    repo, key = await _given(ctx, repo_name, branch, request.path, request.physical_address)
    numbers = [part.number for part in parts]
    if not numbers or numbers != sorted(set(numbers)) or not (numbers[0] >= 1 and numbers[-1] <= MOST_PARTS):
        raise InvalidRequestError(f"the parts must be numbered 1 to {MOST_PARTS}, in order, each once")
    sent = [Part(part.number, part.etag) for part in parts]
    blob = await completed(ctx, repo, _parts(repo), key, upload, sent)
    linked = msgspec.structs.replace(request, checksum=blob.etag, size=blob.size, mtime=int(blob.mtime))
    return await link(ctx, repo_name, branch, linked)


async def abort_upload(ctx: Context, repo_name: str, branch: str, path: str, address: str, upload: str) -> None:
    """Abort an upload. Does nothing when it does not exist. Raises InvalidAddressError."""
    repo, key = await _given(ctx, repo_name, branch, path, address)
    try:
        await _parts(repo).abort(key, upload)
    except BlobNotFound:
        return


async def _writable(ctx: Context, repo_name: str, branch: str, path: str, *, force: bool = False) -> Repo:
    validation.check_path(path)
    repo = await open_repo(ctx, repo_name, write=True, force=force, branch=branch)
    await read_record(ctx, repo, branch)
    return repo


async def _given(ctx: Context, repo_name: str, branch: str, path: str, address: str) -> tuple[Repo, str]:
    repo = await _writable(ctx, repo_name, branch, path)
    return repo, _own(ctx, repo, branch, path, address)


def _key_of(ctx: Context, repo: Repo, branch: str, path: str) -> str:
    place = new_address(ctx)
    ends = ctx.now() + ADDRESS_SECONDS
    return f"{place},{ends:09x}.{_signature(ctx, repo, branch, path, place, ends)}"


def _own(ctx: Context, repo: Repo, branch: str, path: str, address: str) -> str:
    """The key of an address that `get_address` returned. Raises InvalidAddressError."""
    key = address.removeprefix(f"{repo.store.uri}/")
    found = SIGNED_DATA.fullmatch(key)
    if found is None:
        raise InvalidAddressError(
            f"link address invalid: {address[:200]!r} was not issued by getPhysicalAddress; nothing was changed"
        )
    ends = int(found[2], 16)
    if not hmac.compare_digest(_signature(ctx, repo, branch, path, found[1], ends), found[3]):
        raise InvalidAddressError(
            f"link address invalid: {address[:200]!r} was issued for another path or branch, or never; "
            "nothing was changed: request one with getPhysicalAddress"
        )
    if ends < ctx.now():
        raise InvalidAddressError(
            f"link address expired: {address[:200]!r} had to be linked within {ADDRESS_SECONDS // 3600} hours; "
            "request another one and write the object again"
        )
    return key


def _signature(ctx: Context, repo: Repo, branch: str, path: str, place: str, ends: int) -> str:
    signed = msgspec.json.encode([repo.record.uid, branch, path, place, ends])
    return hmac.new(ctx.address_key, signed, hashlib.sha256).hexdigest()


async def _entry(ctx: Context, repo: Repo, branch: str, request: LinkRequest) -> Entry:
    etag = request.checksum.replace('"', "").replace(" ", "")
    if not etag:
        raise InvalidRequestError("checksum: must not be empty")
    validation.check_texts(checksum=etag, **{"content type": request.content_type})
    validation.check_text("physical address", request.physical_address)
    validation.check_metadata(request.metadata)
    mtime = ctx.now() if request.mtime is None else request.mtime
    if not (0 <= mtime <= LATEST and 0 <= request.size < 2**63):
        raise InvalidRequestError("size or mtime: out of bounds")
    checksum, parts = checksum_of(etag)
    inside = request.physical_address.startswith(f"{repo.store.uri}/") or "://" not in request.physical_address
    address = _own(ctx, repo, branch, request.path, request.physical_address) if inside else request.physical_address
    entry = new_entry(address, checksum, request.size, mtime, request.content_type, request.metadata)
    if parts:
        entry = msgspec.structs.replace(entry, parts=parts)
    if inside:
        await prove(ctx, repo, [(request.path, entry)])
        await prove_content(ctx, repo, request.path, entry)
    else:
        await _prove_elsewhere(ctx, repo, entry)
    return entry


async def _prove_elsewhere(ctx: Context, repo: Repo, entry: Entry) -> None:
    """Raises ForeignDeniedError, InvalidAddressError, ChecksumMismatchError."""
    address = entry.physical_address
    found = ctx.foreign.object(address, repo.record.storage_id)
    await refuse_namespaces(ctx, address)
    try:
        blob = await found.store.head(found.key)
    except BlobNotFound:
        raise InvalidAddressError(f"there is no object at {address[:200]!r}: nothing was changed") from None
    if blob.size != entry.size:
        raise ChecksumMismatchError(
            f"{address[:200]!r}: {entry.size} bytes were stated, but the store has {blob.size} ({version_of(blob)}): "
            "nothing was changed"
        )


def _still(path: str, known: Entry) -> Callable[[Entry | None], None]:
    def test(now: Entry | None) -> None:
        if now != known:
            raise PreconditionFailedError(f"{path!r} changed during the request")

    return test


def _no_upload(upload: PartUpload) -> InvalidAddressError:
    return InvalidAddressError(
        f"there is no upload {upload.upload[:100]!r} to {upload.physical_address[:200]}: start another one"
    )


def _parts(repo: Repo) -> PartUploads:
    signer = signer_of(repo.store)
    if signer is None or signer.parts is None:
        raise NotSupportedError(f"the store of {repo.name!r} does not presign parts: write through the server")
    return signer.parts
