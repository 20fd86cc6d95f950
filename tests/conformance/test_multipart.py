"""The conformance suite of multipart uploads, which every adapter passes, on real servers."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.stores.objects.cloud.store import CloudObjects
from lakebed_engine.stores.objects.disk_cache import DiskCache, DiskCached
from lakebed_engine.stores.objects.local.store import LocalObjects
from lakebed_engine.stores.objects.local.syscalls import SystemCalls
from lakebed_engine.stores.objects.memory import MemoryObjects
from lakebed_engine.stores.objects.multipart import Assembler, StoredPart, own_assembler
from lakebed_engine.stores.objects.multipart_objects import ObjectParts
from lakebed_engine.stores.objects.threads import Threads
from lakebed_engine.vocabulary.errors import BlobNotFound, InvalidRequestError, StoreError, StoreUnavailableError
from lakebed_engine.vocabulary.ports import RandomIds
from lakebed_format.keys import PARTS

from tests.support.services.azurite import shared_azurite
from tests.support.services.s3 import shared

MIB = 1 << 20
LARGE = random.Random(8).randbytes(5 * MIB)


class Place(NamedTuple):
    """A store, and what puts parts together in it."""

    store: ObjectStore
    assembler: Assembler

    def key(self) -> str:
        """A new, unused key."""
        return f"data/2026112207/{os.urandom(16).hex()}"


class Plain:
    """A store that can do no more than every store must, as gs:// is."""

    def __init__(self, inner: ObjectStore) -> None:
        self.uri = inner.uri
        self.put_stream, self.open, self.head = inner.put_stream, inner.open, inner.head
        self.list, self.delete, self.get = inner.list, inner.delete, inner.get


def assembled_by(store: ObjectStore) -> Place:
    return Place(store, own_assembler(store) or ObjectParts(store, RandomIds()))


@pytest.fixture(params=["memory", "local", "plain", "seaweedfs", "cached", "moto", "azurite"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "memory":
        yield assembled_by(MemoryObjects("mem://t"))
    elif request.param == "plain":
        store: Any = Plain(MemoryObjects("mem://t"))
        yield assembled_by(store)
    elif request.param == "azurite":
        azure = shared_azurite()
        with azure.in_environment():
            cloud = CloudObjects(f"{azure.namespace()}/t", azure.options())
            assert own_assembler(cloud) is not None
            yield assembled_by(cloud)
            cloud.close()
    elif request.param == "local":
        local = LocalObjects(tmp_path / "root", "local://t")
        yield assembled_by(local)
        local.close()
    else:
        server = shared("moto" if request.param == "moto" else "seaweedfs")
        cloud = CloudObjects(f"{server.namespace()}/t", server.options())
        found = assembled_by(cloud)
        if request.param == "cached":
            found = assembled_by(DiskCached(cloud, DiskCache(tmp_path / "cache", MIB), Threads()))
        assert own_assembler(found.store) is not None
        yield found
        cloud.close()


async def chunked(data: bytes, size: int = 1 << 16) -> AsyncIterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


async def put(place: Place, key: str, upload: str, number: int, data: bytes) -> StoredPart:
    part = await place.assembler.put(key, upload, number, len(data), chunked(data))
    assert (part.number, part.size, part.md5) == (number, len(data), hashlib.md5(data).hexdigest())
    return part


async def read(store: ObjectStore, key: str) -> bytes:
    async with store.open(key) as chunks:
        return b"".join([chunk async for chunk in chunks])


async def listed(store: ObjectStore, prefix: str) -> list[str]:
    return [blob.key async for blob in store.list(prefix)]


async def test_parts_in_any_order_become_one_object(place: Place) -> None:
    key = place.key()
    upload = await place.assembler.begin(key, "text/plain")
    tail = await put(place, key, upload, 10_000, b"tail")
    first, second = await put(place, key, upload, 2, LARGE), await put(place, key, upload, 7, LARGE[::-1])
    with pytest.raises(BlobNotFound):
        await place.store.head(key)
    assert await listed(place.store, "data/") == []
    await place.assembler.assemble(key, upload, [first, second, tail])
    assert await read(place.store, key) == LARGE + LARGE[::-1] + b"tail"
    await place.assembler.clear(key, upload)
    await place.assembler.clear(key, upload)
    assert await listed(place.store, "") == [key]


async def test_assembling_twice_makes_one_object(place: Place) -> None:
    key = place.key()
    upload = await place.assembler.begin(key, "")
    parts = [await put(place, key, upload, 1, LARGE), await put(place, key, upload, 2, b"x")]
    await place.assembler.assemble(key, upload, parts)
    try:
        await place.assembler.assemble(key, upload, parts)
    except BlobNotFound:
        pass  # the upload is gone: a caller then reads the key
    assert await read(place.store, key) == LARGE + b"x"


async def test_concurrent_assembles_of_one_upload_store_one_object(place: Place) -> None:
    key = place.key()
    upload = await place.assembler.begin(key, "")
    parts = [await put(place, key, upload, 1, LARGE), await put(place, key, upload, 2, b"x")]
    racing = (place.assembler.assemble(key, upload, parts) for _ in range(4))
    found = await asyncio.gather(*racing, return_exceptions=True)
    assert all(one is None or isinstance(one, BlobNotFound | StoreError) for one in found), found
    assert await read(place.store, key) == LARGE + b"x"


@pytest.mark.parametrize("data", [b"", b"one"])
async def test_single_part_upload(place: Place, data: bytes) -> None:
    key = place.key()
    upload = await place.assembler.begin(key, "")
    await place.assembler.assemble(key, upload, [await put(place, key, upload, 3, data)])
    assert await read(place.store, key) == data


async def test_a_part_that_fails_at_its_end_leaves_the_one_before(place: Place) -> None:
    """The checksums of a part are known only at its end. Until then, the store must not accept the part."""
    key = place.key()
    upload = await place.assembler.begin(key, "")
    kept = await put(place, key, upload, 1, LARGE)

    async def torn(data: bytes) -> AsyncIterator[bytes]:
        async for chunk in chunked(data):
            yield chunk
        await asyncio.sleep(0.1)  # time for a store to take a part of which it has got everything
        raise ConnectionError("the sum is wrong")

    for data in (b"short", LARGE[::-1]):
        with pytest.raises(ConnectionError):
            await place.assembler.put(key, upload, 1, len(data), torn(data))
    for size in (2, 4, 3 * MIB):
        with pytest.raises(InvalidRequestError):
            await place.assembler.put(key, upload, 1, size, chunked(b"one"))
    await place.assembler.assemble(key, upload, [kept])
    assert await read(place.store, key) == LARGE


async def test_a_replaced_part_is_never_used_as_the_new_one(place: Place) -> None:
    key = place.key()
    upload = await place.assembler.begin(key, "")
    old = await put(place, key, upload, 1, b"old")
    new = await put(place, key, upload, 1, b"new")
    try:
        await place.assembler.assemble(key, upload, [old])
    except InvalidRequestError:
        await place.assembler.assemble(key, upload, [new])
        assert await read(place.store, key) == b"new"
    else:
        assert await read(place.store, key) == b"old"


@pytest.mark.parametrize("place", ["memory", "local", "plain", "seaweedfs"], indirect=True)
async def test_parts_that_are_not_there(place: Place) -> None:
    """Azure keeps blocks for a week, even after an abort."""
    key = place.key()
    upload = await place.assembler.begin(key, "")
    part = await put(place, key, upload, 1, b"x")
    await place.assembler.clear(key, upload)
    with pytest.raises((BlobNotFound, InvalidRequestError)):
        await place.assembler.assemble(key, upload, [part])
    with pytest.raises(BlobNotFound):
        await place.store.head(key)
    assert await listed(place.store, "") == []


async def test_a_cancelled_part_is_not_there(place: Place) -> None:
    key = place.key()
    upload = await place.assembler.begin(key, "")
    begun = asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        yield LARGE
        begun.set()
        await asyncio.sleep(60)
        yield b"never"

    task = asyncio.ensure_future(place.assembler.put(key, upload, 1, len(LARGE) + 5, slow()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await listed(place.store, PARTS) == []


@pytest.mark.parametrize("place", ["local", "seaweedfs", "azurite"], indirect=True)  # others are in this process
async def test_parts_go_through_in_bounded_memory(place: Place) -> None:
    key = place.key()
    upload = await place.assembler.begin(key, "")
    piece = os.urandom(MIB)

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(64):
            yield bytes(bytearray(piece))  # a copy that counts

    tracemalloc.start()
    try:
        part = await place.assembler.put(key, upload, 1, 64 * MIB, pieces())
        await place.assembler.assemble(key, upload, [part])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 24 * MIB
    assert (await place.store.head(key)).size == 64 * MIB


@pytest.mark.parametrize("name", ["seaweedfs", "moto"])
async def test_s3_copies_a_part_inside_the_store(name: str) -> None:
    server = shared(name)
    store = CloudObjects(server.namespace(), server.options())
    place = assembled_by(store)
    key, source = place.key(), place.key()
    await store.put(source, LARGE + b"0123456789")
    upload = await place.assembler.begin(key, "")
    part = await place.assembler.copy(key, upload, 1, source, 5 * MIB + 2, 3)
    assert part is not None
    assert part.size == 3
    if name == "moto":  # the ETags that SeaweedFS has for copied parts are no MD5s of theirs
        assert part.md5 == hashlib.md5(b"234").hexdigest()
    await place.assembler.assemble(key, upload, [part])
    assert await read(store, key) == b"234"
    store.close()


@pytest.mark.slow
async def test_s3_has_an_upload_until_it_ends() -> None:
    server = shared("seaweedfs")
    store = CloudObjects(server.namespace(), server.options())
    place, prefix = assembled_by(store), store.uri.removeprefix(f"s3://{server.bucket}/")
    key = place.key()
    upload = await place.assembler.begin(key, "text/plain")
    await put(place, key, upload, 1, b"x")
    assert server.uploads(prefix) == [f"{prefix}/{key}"]
    await place.assembler.clear(key, upload)
    assert server.uploads(prefix) == []
    with pytest.raises(BlobNotFound):
        await put(place, key, upload, 1, b"x")
    store.close()


@pytest.mark.slow
async def test_a_server_that_is_not_there_is_unavailable() -> None:
    server = shared("seaweedfs")
    nowhere = CloudObjects(server.namespace(), server.options(endpoint="http://127.0.0.1:9", retry_seconds=0.1))
    place = assembled_by(nowhere)
    with pytest.raises(StoreUnavailableError, match="cannot be reached"):
        await place.assembler.put(place.key(), "upload", 1, 1, chunked(b"x"))
    nowhere.close()


class _Counting(SystemCalls):
    """Counts the bytes that come through this process, and may have no copy_file_range."""

    def __init__(self, copies: bool) -> None:
        self.written = 0
        if not copies:
            self.copy_file_range = _no_copy

        def write(fd: int, data: bytes) -> int:
            self.written += len(data)
            return os.write(fd, data)

        self.write = write  # type: ignore[assignment]


def _no_copy(*_: int) -> int:
    raise OSError(18, "Invalid cross-device link")


@pytest.mark.parametrize("copies", [True, False])
async def test_local_parts_are_joined_by_the_kernel_where_it_can(tmp_path: Path, copies: bool) -> None:
    calls = _Counting(copies)
    store = LocalObjects(tmp_path, "local://t", calls=calls)
    place = assembled_by(store)
    key = place.key()
    parts = [await put(place, key, "", number, LARGE) for number in (1, 2)]
    calls.written = 0
    await place.assembler.assemble(key, "", parts)
    assert calls.written == (0 if copies else 10 * MIB)
    assert (tmp_path / key).read_bytes() == LARGE + LARGE
    store.close()


async def test_a_local_part_that_became_shorter_is_an_error_and_nothing_is_visible(tmp_path: Path) -> None:
    store = LocalObjects(tmp_path, "local://t")
    place = assembled_by(store)
    key = place.key()
    parts = [await put(place, key, "", number, LARGE) for number in (1, 2)]
    (tmp_path / parts[1].handle).unlink()
    with pytest.raises(BlobNotFound):
        await place.assembler.assemble(key, "", parts)
    assert not (tmp_path / key).exists()
    assert [blob async for blob in store.list_partial()] == []
    store.close()
