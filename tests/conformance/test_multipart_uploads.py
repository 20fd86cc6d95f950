"""Multipart uploads through the engine, on real object stores, also with lost responses."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from lakebed_engine.engine import Engine
from lakebed_engine.operations.multipart.records import target_of
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.objects.multipart import own_assembler
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.direct_writes import SentPart
from lakebed_engine.vocabulary.multipart import Target
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.reports import FsckOptions
from lakebed_engine.vocabulary.requests import UploadRequest

from tests.support.services.azurite import shared_azurite
from tests.support.services.s3 import shared

REPO = "lake"
FIRST, LAST = random.Random(9).randbytes(5 << 20), b"last"


class Lake(NamedTuple):
    """Stores of one namespace, and a KV store."""

    kv: MemoryKV
    stores: Stores
    namespace: str

    def engine(self) -> Engine:
        """As another server would be."""
        return Engine(self.kv, self.stores)


@pytest.fixture(params=["local", "seaweedfs", "moto", "azurite"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lake]:
    if request.param == "local":
        yield Lake(MemoryKV(), Stores(tmp_path), "local://lake")
    elif request.param == "azurite":
        azure = shared_azurite()
        with azure.in_environment():
            yield Lake(MemoryKV(), Stores(None, cloud=azure.options()), azure.namespace())
    else:
        server = shared(request.param)
        yield Lake(MemoryKV(), Stores(None, cloud=server.options()), server.namespace())


async def begun(lake: Lake) -> Engine:
    engine = lake.engine()
    await engine.repositories.create(REPO, lake.namespace)
    return engine


async def once(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def two(engine: Engine, path: str = "big") -> tuple[Target, list[SentPart]]:
    target = target_of(await engine.multipart.create(REPO, "main", UploadRequest(path=path)))
    parts = []
    for number, data in ((1, FIRST), (3, LAST)):
        part = await engine.multipart.put_part(REPO, target, number, len(data), once(data))
        parts.append(SentPart(number, part.md5))
    return target, parts


async def complete(engine: Engine, target: Target, parts: list[SentPart], **options: Any) -> Entry:
    return (await engine.multipart.complete(REPO, target, parts, **options)).entry


async def read(engine: Engine, path: str = "big") -> bytes:
    entry = await engine.objects.stat(REPO, "main", path)
    async with engine.objects.open(REPO, entry) as chunks:
        return b"".join([chunk async for chunk in chunks])


async def test_repeated_complete_by_any_server_returns_one_object(lake: Lake) -> None:
    engine = await begun(lake)
    target, parts = await two(engine)
    others = [lake.engine() for _ in range(3)]
    done = await asyncio.gather(*(complete(one, target, parts, if_none_match=True) for one in others))
    assert done[0] == done[1] == done[2] == await complete(engine, target, parts, if_none_match=True)
    raw = bytes.fromhex(hashlib.md5(FIRST).hexdigest() + hashlib.md5(LAST).hexdigest())
    assert done[0].etag == hashlib.md5(raw).hexdigest() + "-2"
    assert await read(engine) == FIRST + LAST
    assert (await engine.maintenance.fsck(REPO, FsckOptions(data=True))).ok


async def test_a_store_that_never_answers_to_the_end(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store assembled the parts, but its answer was lost. The engine reads the stored object."""
    engine = await begun(lake)
    target, parts = await two(engine)
    store = lake.stores.open(lake.namespace)
    own: Any = own_assembler(store)
    found: Any = store if own is None else own
    name = "concat" if own is None else "assemble"
    done = getattr(found, name)
    lost = 0

    async def silent(*what: Any) -> None:
        nonlocal lost
        lost += 1
        await done(*what)
        raise errors.OutcomeUnknownError("the answer was lost")

    monkeypatch.setattr(found, name, silent)
    await complete(engine, target, parts)
    assert lost == 1
    assert await read(engine) == FIRST + LAST


async def test_an_aborted_upload_leaves_no_parts(lake: Lake) -> None:
    engine = await begun(lake)
    target, parts = await two(engine)
    await engine.multipart.abort(REPO, target)
    with pytest.raises(errors.UploadNotFoundError):
        await complete(engine, target, parts)
    with pytest.raises(errors.UploadNotFoundError):
        await engine.multipart.put_part(REPO, target, 2, 1, once(b"x"))
    store = lake.stores.open(lake.namespace)
    assert [blob.key async for blob in store.list("data/")] == []
    assert [blob.key async for blob in store.list("_lakebed/uploads/")] == []


async def test_a_part_is_copied_from_an_object(lake: Lake) -> None:
    engine = await begun(lake)
    source = await engine.objects.upload(REPO, "main", UploadRequest(path="source"), once(FIRST + LAST))
    target, parts = await two(engine)
    part = await engine.multipart.copy_part(REPO, target, 2, REPO, source.entry, (1, 5 << 20))
    await complete(engine, target, [parts[0], SentPart(2, part.md5), parts[1]])
    assert await read(engine) == FIRST + (FIRST + LAST)[1 : (5 << 20) + 1] + LAST
