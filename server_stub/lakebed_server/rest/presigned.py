"""Signed addresses in answers about objects: given where they must be or may be, and where there are any.

The handler has checked that the user may read: an address is as good as the object, for as long as it lasts.
"""

from __future__ import annotations

from collections.abc import Sequence

from lakebed_engine.vocabulary.errors import StoreError
from lakebed_engine.vocabulary.records import Entry, Listed, SignedRead
from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.http import downloads
from lakebed_server.http.request import Call
from lakebed_server.http.responses import Reply
from lakebed_server.vocabulary import bad_request


async def wanted(call: Call, repository: str, must: object, may: object = False) -> bool:
    """Whether to give signed addresses. Raises RequestError where they must be given, and there are none."""
    if must is not True and may is not True:
        return False
    signs = call.services.installation.presign and (await call.engine.repositories.data_place(repository)).signs
    if must is True and not signs:
        raise bad_request("parameter presign: this server's store cannot sign addresses; leave it out")
    return signs


async def redirect(call: Call, p: ops.GetObjectParams, entry: Entry) -> Reply | None:
    """The answer of getObject that sends the client to the store; None where the bytes must come from here."""
    strict = p.presign is True
    found = downloads.unchanged_or_nothing(p.ref, entry, p.range, p.if_none_match, strict=strict)
    if found is not None:
        return found
    (signed,) = await _signed(call, p.repository, [entry], strict=strict, check=True)
    return None if signed is None else downloads.elsewhere(entry, signed.url)


async def sign_one(call: Call, repository: str, stats: models.ObjectStats, entry: Entry) -> None:
    """Put a signed address into the description of an object."""
    (signed,) = await _signed(call, repository, [entry], strict=True, check=True)
    _put(stats, signed)


async def sign_rows(
    call: Call, repository: str, results: Sequence[models.ObjectStats], rows: Sequence[Listed], must: object
) -> None:
    """Put signed addresses into the rows of a listing that are objects."""
    pairs = [(stats, row.entry) for stats, row in zip(results, rows, strict=True) if row.entry is not None]
    signed = await _signed(call, repository, [entry for _, entry in pairs], strict=must is True, check=False)
    for (stats, _), one in zip(pairs, signed, strict=True):
        _put(stats, one)


def _put(stats: models.ObjectStats, signed: SignedRead | None) -> None:
    if signed is not None:
        stats.physical_address, stats.physical_address_expiry = signed.url, signed.expires


async def _signed(
    call: Call, repository: str, entries: Sequence[Entry], *, strict: bool, check: bool
) -> list[SignedRead | None]:
    """Addresses to read at, as far as there are any; only with `strict` a failure to sign is one."""
    seconds = call.services.installation.presign_seconds
    try:
        return await call.engine.objects.sign_reads(repository, entries, seconds=seconds, check=check)
    except StoreError:
        if strict:
            raise
        return [None] * len(entries)  # a public bucket, say: this server can read it, and has nothing to sign with
