"""Presigned URLs in answers about objects that the user may read: until it expires, a URL gives the same access."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakebed_auth.actions import Fs
from lakebed_engine.vocabulary.direct_writes import SignedRead
from lakebed_engine.vocabulary.errors import StoreError
from lakebed_engine.vocabulary.records import Entry, Listed
from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.http import downloads
from lakebed_server.http.authorization import may_address, note_addresses
from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply
from lakebed_server.vocabulary import bad_request


async def require(call: Call, repository: str) -> None:
    """Raise RequestError (400) unless the server can return presigned URLs of a repository."""
    if not await _possible(call, repository):
        raise bad_request("parameter presign: this server's store cannot sign addresses; leave it out")


async def wanted(call: Call, repository: str, must: object, may: object) -> bool:
    """Whether to return presigned URLs: the client requires them (`must`), or accepts them and they are possible.

    Raises RequestError (400) if the client requires them and they are impossible.
    """
    if must is True:
        await require(call, repository)
        return True
    return may is True and await _possible(call, repository)


async def _possible(call: Call, repository: str) -> bool:
    return call.services.installation.presign and (await call.engine.repositories.data_place(repository)).signs


async def redirect(call: Call, p: ops.GetObjectParams, entry: Entry) -> Reply | None:
    """The answer of getObject that redirects the client to the store. None if this server must send the bytes."""
    strict = p.presign is True
    found = downloads.unchanged_or_nothing(p.ref, p.path, entry, p.range, p.if_none_match, strict=strict)
    if found is not None:
        return found
    (signed,) = await _signed(call, p.repository, {p.path: entry}, strict=strict, check=True)
    return None if signed is None else downloads.elsewhere(entry, signed.url)


async def sign_one(call: Call, repository: str, stats: models.ObjectStats, entry: Entry) -> None:
    """Add a presigned URL to the description of an object."""
    (signed,) = await _signed(call, repository, {stats.path: entry}, strict=True, check=True)
    _put(stats, signed)


async def sign_rows(
    call: Call, repository: str, results: Sequence[models.ObjectStats], rows: Sequence[Listed], must: object
) -> None:
    """Add presigned URLs to the rows of a listing that are objects."""
    allowed = may_address(call, Fs.READ_OBJECT, repository, [row.path for row in rows])
    entries = {
        row.path: row.entry for row, may_read in zip(rows, allowed, strict=True) if row.entry is not None and may_read
    }
    signed = await _signed(call, repository, entries, strict=must is True, check=False)
    of_path = dict(zip(entries, signed, strict=True))
    for stats in results:
        _put(stats, of_path.get(stats.path))


def _put(stats: models.ObjectStats, signed: SignedRead | None) -> None:
    if signed is not None:
        stats.physical_address, stats.physical_address_expiry = signed.url, signed.expires


async def _signed(
    call: Call, repository: str, entries: Mapping[str, Entry], *, strict: bool, check: bool
) -> list[SignedRead | None]:
    """The available presigned URLs of entries by path. With `strict` a failure to sign is an error."""
    seconds = call.services.installation.presign_seconds
    try:
        signed = await call.engine.objects.sign_reads(repository, list(entries.values()), seconds=seconds, check=check)
        note_addresses(call, [path for path, one in zip(entries, signed, strict=True) if one is not None])
        return signed
    except StoreError:
        if strict:
            raise
        return [None] * len(entries)  # for example a public bucket: the server reads it without credentials for signing
