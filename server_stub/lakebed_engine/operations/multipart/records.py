"""The KV rows of multipart uploads, in the partition of the repository.

- `upload/`: an open upload.
- `part/`: for each number, the part that was sent last.
- `ended/`: an upload that was completed or aborted. It stays for a day, so that a client whose answer was lost can ask
  again, and so that the janitor can remove a part that arrived late.
- `upload-due/`: when to process an upload again. Holds the key of its row.
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
"""How long an ended upload is remembered, in seconds."""


class Ended(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An ended upload. After a completion it has the entry and its checksum, after an abort neither.

    The server remembers it until `until`, in Unix seconds.
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
    """The KV key of an open upload."""
    return upload_key(target.branch, target.path, target.id)


def target_of(upload: Upload) -> Target:
    """The target that names an upload."""
    return Target(upload.branch, upload.path, upload.id)


def due_put(repo: Repo, upload: Upload, at: int) -> Put:
    """The row that makes the janitor process an upload at `at`, in Unix seconds."""
    return Put(repo.partition, due_key(UPLOAD_DUE, at, upload.id), key_of(target_of(upload)))


def decode_upload(value: bytes) -> Upload:
    """Decode a stored upload."""
    return _upload.decode(value)


def decode_part(value: bytes) -> UploadedPart:
    """Decode a stored part."""
    return _part.decode(value)


def decode_ended(value: bytes) -> Ended:
    """Decode a stored ended upload."""
    return _ended.decode(value)


async def find(ctx: Context, repo: Repo, target: Target) -> Found | None:
    """The open upload, or None."""
    row = await ctx.kv.get(repo.partition, key_of(target))
    return None if row is None else Found(decode_upload(row.value), row.version)


async def find_open(ctx: Context, repo: Repo, target: Target) -> Found:
    """The upload that takes parts. Raises UploadNotFoundError."""
    found = await find(ctx, repo, target)
    if found is None or found.upload.plan:
        raise no_upload(repo, target)
    return found


def check_of(repo: Repo, found: Found) -> Check:
    """The check that an upload has not changed."""
    return Check(repo.partition, key_of(target_of(found.upload)), found.version)


def ending(
    ctx: Context, repo: Repo, upload: Upload, *, entry: Entry | None = None, checksum: str = ""
) -> tuple[list[Put], list[Delete]]:
    """The rows that end an upload, for one batch with `check_of` it."""
    ended = Ended(upload=upload, until=ctx.expiry_clock.latest() + REMEMBERED, checksum=checksum, entry=entry)
    puts = [
        Put(repo.partition, ended_key(upload.id), msgspec.json.encode(ended)),
        due_put(repo, upload, ended.until),
    ]
    return puts, [Delete(repo.partition, key_of(target_of(upload)))]


def assembler_of(ctx: Context, repo: Repo, *, begun: Upload | None = None) -> Assembler:
    """The assembler of the parts: the store's own, or objects. For an upload that was `begun`, the same as then."""
    own = own_assembler(repo.store) if begun is None or begun.store_id else None
    return own or ObjectParts(repo.store, ctx.ids)


def no_upload(repo: Repo, target: Target) -> UploadNotFoundError:
    """The error for an upload that does not exist."""
    return UploadNotFoundError(
        f"there is no upload {target.id[:64]!r} to {target.path[:200]!r} on {target.branch[:100]!r} of {repo.name!r}: "
        "it was completed or aborted, has expired, or was never started; start another one"
    )
