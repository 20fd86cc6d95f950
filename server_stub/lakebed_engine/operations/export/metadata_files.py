"""The files that trees are made of, for who reads a lake's history without this engine (`docs/formats.md`).

A range or a metarange is immutable and named by what it holds: what is given here never goes stale.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Literal

from lakebed_format.keys import METARANGES, RANGES

from lakebed_engine.operations.context import Context, open_repo
from lakebed_engine.operations.direct_writes.register import signer_of
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.presign import ToRead
from lakebed_engine.vocabulary.errors import BlobNotFound, NotSupportedError, ObjectNotFoundError
from lakebed_engine.vocabulary.records import DEFAULT_CONTENT_TYPE

Kind = Literal["range", "meta_range"]

_ID = re.compile(r"[0-9a-f]{64}", re.ASCII)
_FOLDERS: dict[Kind, str] = {"range": RANGES, "meta_range": METARANGES}


@dataclass(frozen=True, slots=True)
class MetadataFile:
    """A file of ranges or of entries: its key in the namespace, its size in bytes, when it was written."""

    store: ObjectStore
    key: str
    size: int
    mtime: int
    url: str = field(default="", repr=False)
    """Where it can be read by who has no credentials, when that was asked for."""

    @property
    def uri(self) -> str:
        """Its full address."""
        return f"{self.store.uri}/{self.key}"

    def open(self) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Stream its bytes."""
        return self.store.open(self.key)


async def find(ctx: Context, repo_name: str, kind: Kind, found_id: str, *, seconds: int = 0) -> MetadataFile:
    """The file of a range or a metarange; with `seconds`, a signed address that is good for so long.

    Raises RepositoryNotFoundError, ObjectNotFoundError, NotSupportedError where its store signs none.
    """
    repo = await open_repo(ctx, repo_name)
    word = kind.replace("_", "")
    missing = f"there is no {word} {found_id[:80]!r} in repository {repo_name!r}: take the id from a commit"
    if not _ID.fullmatch(found_id):
        raise ObjectNotFoundError(missing)
    try:
        blob = await repo.store.head(f"{_FOLDERS[kind]}{found_id}.parquet")
    except BlobNotFound:
        raise ObjectNotFoundError(missing) from None
    file = MetadataFile(repo.store, f"{_FOLDERS[kind]}{found_id}.parquet", blob.size, int(blob.mtime))
    return file if not seconds else replace(file, url=await _signed(file, seconds))


async def _signed(file: MetadataFile, seconds: int) -> str:
    signer = signer_of(file.store)
    urls = await signer.sign_reads([ToRead(file.key, DEFAULT_CONTENT_TYPE)], seconds) if signer else [""]
    if not urls[0]:
        raise NotSupportedError(f"the store of {file.uri} signs no addresses: read it through the server")
    return urls[0]
