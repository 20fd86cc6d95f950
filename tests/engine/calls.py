"""Merges, reverts, multipart uploads and a commit that stops half way, in short calls."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from lakebed_engine.engine import Engine
from lakebed_engine.operations.branch.compare_and_swap import seal
from lakebed_engine.operations.context import open_repo, read_branch
from lakebed_engine.operations.multipart.records import target_of
from lakebed_engine.vocabulary.direct_writes import SentPart
from lakebed_engine.vocabulary.multipart import Target
from lakebed_engine.vocabulary.records import Commit, Entry
from lakebed_engine.vocabulary.requests import PickRequest, UploadRequest

from tests.engine.support import (
    REPO,
    once,
)


async def crash_after_seal(engine: Engine, branch: str = "main") -> None:
    """A commit that died between its seal and its swap."""
    repo = await open_repo(engine.context, REPO)
    found = await seal(engine.context, repo, await read_branch(engine.context, repo, branch))
    assert found is not None
    assert found.record.layers


async def revert(engine: Engine, ref: str, branch: str = "main", **options: Any) -> Commit:
    return await engine.commits.revert(REPO, branch, PickRequest(ref=ref, committer="eve", **options))


async def pick(engine: Engine, ref: str, branch: str = "main", **options: Any) -> Commit:
    return await engine.commits.cherry_pick(REPO, branch, PickRequest(ref=ref, committer="eve", **options))


def md5(data: bytes) -> str:
    return hashlib.md5(data).hexdigest()


async def begin(engine: Engine, path: str = "big", branch: str = "main", **options: Any) -> Target:
    request = UploadRequest(path=path, content_type="text/plain", metadata={"who": "kim"})
    return target_of(await engine.multipart.create(REPO, branch, request, **options))


async def send(engine: Engine, target: Target, number: int, data: bytes, checksum: str = "") -> SentPart:
    part = await engine.multipart.put_part(REPO, target, number, len(data), once(data), lambda: checksum)
    assert (part.number, part.size, part.md5) == (number, len(data), md5(data))
    return SentPart(number, part.md5)


async def complete(engine: Engine, target: Target, parts: Sequence[SentPart], **options: Any) -> Entry:
    return (await engine.multipart.complete(REPO, target, parts, **options)).entry
