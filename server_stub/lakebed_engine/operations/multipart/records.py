"""The KV rows of multipart uploads, in the partition of the repository.

- `upload/`: an open upload.
- `part/`: for each number, the part that was sent last.
- `ended/`: an upload that was completed or aborted. It stays for a day, so that a client whose answer was lost can ask
  again, and so that the janitor can remove a part that arrived late.
- `upload-due/`: when to look at an upload again. Holds the key of its row.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.operations.keys import UPLOAD_DUE, due_key, ended_key, upload_key
from lakebed_engine.stores.kv.base import Check, Delete, Put
from lakebed_engine.stores.objects.multipart import Assembler, own_assembler
from lakebed_engine.stores.objects.multipart_objects import ObjectParts
from lakebed_engine.vocabulary.errors import UploadNotFoundError
from lakebed_engine.vocabulary.multipart import Target, Upload, UploadedPart
from lakebed_engine.vocabulary.records import Entry

REMEMBERED = 24 * 3600
"""Seconds that an upload is remembered after it has ended."""


class Ended(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An upload that has ended: the entry that came of it and its checksum; neither where it was given up.

    It is remembered until then, in Unix seconds.
    """

    upload: Upload
    until: int = 0
    checksum: str = ""
    entry: Entry | None = None


class Found(NamedTuple):
    """An open upload and the version of its row."""

    upload: Upload
    version: int


_upload = msgspec.json.Decoder(Upload)
_part = msgspec.json.Decoder(UploadedPart)
_ended = msgspec.json.Decoder(Ended)


def key_of(target: Target) -> bytes:
    """KV key of an open upload."""
    return upload_key(target.branch, target.path, target.id)


def target_of(upload: Upload) -> Target:
    """What it is told by."""
    return Target(upload.branch, upload.path, upload.id)


def due_put(repo: Repo, upload: Upload, at: int) -> Put:
    """The note that an upload is to be looked at."""
    return Put(repo.partition, due_key(UPLOAD_DUE, at, upload.id), key_of(target_of(upload)))


def decode_upload(value: bytes) -> Upload:
    """A stored upload."""
    return _upload.decode(value)


def decode_part(value: bytes) -> UploadedPart:
    """A stored part."""
    return _part.decode(value)


def decode_ended(value: bytes) -> Ended:
    """A stored upload that has ended."""
    return _ended.decode(value)


async def find(ctx: Context, repo: Repo, target: Target) -> Found | None:
    """The open upload; None when there is none."""
    row = await ctx.kv.get(repo.partition, key_of(target))
    return None if row is None else Found(decode_upload(row.value), row.version)


async def find_open(ctx: Context, repo: Repo, target: Target) -> Found:
    """The upload, which takes parts. Raises UploadNotFoundError."""
    found = await find(ctx, repo, target)
    if found is None or found.upload.plan:
        raise no_upload(repo, target)
    return found


def check_of(repo: Repo, found: Found) -> Check:
    """The check that an upload is as it was found."""
    return Check(repo.partition, key_of(target_of(found.upload)), found.version)


def ending(
    ctx: Context, repo: Repo, upload: Upload, *, entry: Entry | None = None, checksum: str = ""
) -> tuple[list[Put], list[Delete]]:
    """What ends an upload, for one batch with `check_of` it."""
    ended = Ended(upload=upload, until=ctx.expiry_clock.stamp() + REMEMBERED, checksum=checksum, entry=entry)
    puts = [
        Put(repo.partition, ended_key(upload.id), msgspec.json.encode(ended)),
        due_put(repo, upload, ended.until),
    ]
    return puts, [Delete(repo.partition, key_of(target_of(upload)))]


def assembler_of(ctx: Context, repo: Repo, *, begun: Upload | None = None) -> Assembler:
    """What writes and joins the parts: the store's own, or objects; of one that was `begun`, what it was begun with."""
    own = own_assembler(repo.store) if begun is None or begun.store_id else None
    return own or ObjectParts(repo.store, ctx.ids)


def no_upload(repo: Repo, target: Target) -> UploadNotFoundError:
    """The error that says so."""
    return UploadNotFoundError(
        f"there is no upload {target.id[:64]!r} to {target.path[:200]!r} on {target.branch[:100]!r} of {repo.name!r}: "
        "it was completed, given up, has expired, or was never begun; begin another one"
    )
