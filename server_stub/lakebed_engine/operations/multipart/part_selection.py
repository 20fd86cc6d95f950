"""Checks the parts of a request to complete an upload against the parts that were sent."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.operations.keys import part_key
from lakebed_engine.operations.multipart import checksums
from lakebed_engine.operations.multipart.records import decode_part
from lakebed_engine.operations.multipart.upload import part_rows
from lakebed_engine.stores.kv.base import Check
from lakebed_engine.stores.objects.multipart import StoredPart
from lakebed_engine.stores.objects.presign import MOST_PARTS
from lakebed_engine.vocabulary.checksums import COMPOSITE, SIZES, WHOLE, ObjectChecksum
from lakebed_engine.vocabulary.direct_writes import SentPart
from lakebed_engine.vocabulary.errors import (
    ChecksumMismatchError,
    InvalidPartError,
    InvalidRequestError,
    PartOrderError,
    PartTooLargeError,
    PartTooSmallError,
)
from lakebed_engine.vocabulary.multipart import Upload, UploadedPart

_SIZES_MOST = 1024

LARGEST_OBJECT = 50 << 40
"""The largest size of an object in bytes: about 10,000 parts of the largest size."""


class Chosen(NamedTuple):
    """The parts of the future object. `plan` is a digest of them. `checksum` is in base64, empty if they have none.
    `kept` is that checksum with those of the parts.

    `checks` fail when a client has sent one of the parts again.
    """

    sent: Sequence[SentPart]
    stored: Sequence[StoredPart]
    size: int
    md5: str
    checksum: str
    kept: ObjectChecksum | None
    plan: str
    checks: Sequence[Check]


async def choose(
    ctx: Context, repo: Repo, upload: Upload, chosen: Sequence[SentPart], checksum: str, size: int | None
) -> Chosen:
    """Find the stored parts for the parts of a request.

    Raises InvalidPartError, PartOrderError, PartTooSmallError, PartTooLargeError, ChecksumMismatchError.
    """
    numbers = [part.number for part in chosen]
    if not chosen:
        raise InvalidRequestError("an upload needs at least one part")
    if numbers != sorted(set(numbers)):
        raise PartOrderError("the parts must be in ascending order of their numbers, each once: nothing was completed")
    rows = {row.key: row for row in await part_rows(ctx, repo, upload.id, 0, MOST_PARTS)}
    sent = {part.number: part for part in (decode_part(row.value) for row in rows.values())}
    parts = [_matching(sent.get(part.number), part) for part in chosen]
    least = ctx.tuning.least_part
    for part in parts[:-1]:
        if part.size < least:
            raise PartTooSmallError(
                f"part {part.number} has {part.size} bytes: every part except the last needs at least {least}; "
                "nothing was completed"
            )
    found = sum(part.size for part in parts)
    if found > LARGEST_OBJECT:
        raise PartTooLargeError(f"the parts have {found} bytes together, at most {LARGEST_OBJECT}")
    if size is not None and size != found:
        raise InvalidRequestError(f"the parts have {found} bytes together, {size} were given: nothing was completed")
    summed = await ctx.runtime.cpu(_checksum, upload, parts, small=len(parts) < 100)
    if checksum and checksum.partition("-")[0] != summed.partition("-")[0]:
        raise ChecksumMismatchError(
            f"the {upload.checksum or 'checksum'} of the parts is {summed or 'not known'}, {checksum[:100]!r} was "
            "given: nothing was completed"
        )
    md5 = hashlib.md5(b"".join(bytes.fromhex(part.md5) for part in parts), usedforsecurity=False).hexdigest()
    stored = [StoredPart(part.number, part.size, part.md5, part.handle) for part in parts]
    plan = hashlib.sha256(repr(stored).encode()).hexdigest()
    keys = [part_key(upload.id, part.number) for part in parts]
    checks = [Check(repo.partition, key, rows[key].version) for key in keys]
    kept = None
    if summed:
        kind = WHOLE if upload.whole else COMPOSITE
        kept = ObjectChecksum(upload.checksum, kind, summed, [part.checksum for part in parts])
    return Chosen(chosen, stored, found, md5, summed, kept, plan, checks)


def _matching(part: UploadedPart | None, sent: SentPart) -> UploadedPart:
    if part is None or part.md5 != sent.etag.lower() or (sent.checksum and sent.checksum != part.checksum):
        what = "was not sent" if part is None else "differs from the given one"
        raise InvalidPartError(f"part {sent.number} {what}: nothing was completed; send it again")
    return part


def _checksum(upload: Upload, parts: Sequence[UploadedPart]) -> str:
    sums = [part.checksum for part in parts]
    if not upload.checksum or not all(sums):
        return ""
    if upload.whole:
        return checksums.of_whole(upload.checksum, sums, [part.size for part in parts])
    return checksums.of_parts(upload.checksum, sums)


def with_sizes(metadata: dict[str, str], sizes: Sequence[int]) -> dict[str, str]:
    """Add the part sizes to the metadata of an entry, for readers that request a part by number.

    Only metadata survives a commit. Example: `7x8388608,1x1000`. A single part, and a text of more than 1,024
    characters, add nothing.
    """
    runs = ",".join(f"{len(list(run))}x{size}" for size, run in groupby(sizes))
    return metadata if len(sizes) < 2 or len(runs) > _SIZES_MOST else metadata | {SIZES: runs}
