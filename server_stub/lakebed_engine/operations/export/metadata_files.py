"""Finds the files of trees, for tools that read the history of a lake without this engine (`docs/formats.md`).

A range or a metarange is immutable and named by its content, so a result never becomes outdated.
"""

from __future__ import annotations

import re
from functools import partial

from lakebed_format.keys import METARANGES, RANGES

from lakebed_engine.operations.context import Context, open_repo
from lakebed_engine.operations.direct_writes.register import signer_of
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.presign import ToRead
from lakebed_engine.vocabulary.errors import BlobNotFound, NotSupportedError, ObjectNotFoundError
from lakebed_engine.vocabulary.records import DEFAULT_CONTENT_TYPE
from lakebed_engine.vocabulary.requests import MetadataFile, MetadataKind

_ID = re.compile(r"[0-9a-f]{64}", re.ASCII)
_FOLDERS: dict[MetadataKind, str] = {"range": RANGES, "meta_range": METARANGES}


async def find(ctx: Context, repo_name: str, kind: MetadataKind, found_id: str, *, seconds: int = 0) -> MetadataFile:
    """The file of a range or a metarange. With `seconds`, also a presigned URL that is valid for that time.

    Raises RepositoryNotFoundError, ObjectNotFoundError, and NotSupportedError when the store cannot sign.
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
    key = f"{_FOLDERS[kind]}{found_id}.parquet"
    url = await _signed(repo.store, key, seconds) if seconds else ""
    return MetadataFile(key, blob.size, int(blob.mtime), partial(repo.store.open, key), url)


async def _signed(store: ObjectStore, key: str, seconds: int) -> str:
    signer = signer_of(store)
    urls = await signer.sign_reads([ToRead(key, DEFAULT_CONTENT_TYPE)], seconds) if signer else [""]
    if not urls[0]:
        raise NotSupportedError(f"the store of {store.uri}/{key} does not presign URLs: read it through the server")
    return urls[0]
