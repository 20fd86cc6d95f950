"""Signed addresses under faults: parts that fail, addresses that end, stores that break off or cannot be reached."""

from __future__ import annotations

import hashlib
import logging
import os
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import lakebed
import pytest
from lakebed import errors
from lakebed._async.objects import multipart, presigned
from lakebed._async.objects.multipart import Pieces, part_size
from lakebed._gateway.operations import objects
from lakebed._sync.objects import multipart as sync_parts
from lakebed._sync.objects import presigned as sync_signed
from lakebed._values.signed import Addresses, StoreAddress

from tests.sdk.doors import Door
from tests.sdk.live import Proxy
from tests.support.faults.faulty_s3 import BROKEN, DENIED, FaultyS3
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.s3 import S3Server, shared
from tests.support.services.s3_settings import settings_of

pytestmark = pytest.mark.slow

PARTS = r"PUT .*partNumber="
MIB = 1 << 20


@pytest.fixture(scope="module")
def bucket() -> S3Server:
    return shared("seaweedfs")


@pytest.fixture(scope="module")
def store(bucket: S3Server) -> Iterator[FaultyS3]:
    with FaultyS3(bucket.endpoint) as started:
        yield started


@pytest.fixture(scope="module")
def server(bucket: S3Server, store: FaultyS3, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    settings = settings_of(bucket, LAKEBED_OBJECTS_S3_ENDPOINT=store.endpoint, LAKEBED_OBJECTS_RETRY="2")
    with running_server(tmp_path_factory, environment=settings) as running:
        yield running


@pytest.fixture
def live(door: Door, server: RunningServer, bucket: S3Server) -> Any:
    """Run a body with the branch `main` of a fresh repository in the bucket."""

    def run(body: Any, endpoint: str = "") -> str:
        namespace = bucket.namespace()

        async def with_branch(lake: Any) -> None:
            repo = await lake.repository(f"r{uuid.uuid4().hex[:12]}").create(namespace)
            await body(repo.branch("main"))

        where = endpoint or server.endpoint
        door.run(with_branch, endpoint=where, key=server.access_key_id, secret=server.secret_access_key, quick=False)
        return namespace.removeprefix(f"s3://{bucket.bucket}/")

    return run


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects above 5 MiB go in parts of 5 MiB, the least that S3 takes."""
    for module in (multipart, sync_parts):
        monkeypatch.setattr(module, "PART", 5 * MIB)
    for module in (presigned, sync_signed):
        monkeypatch.setattr(module, "LARGE", 5 * MIB)


def test_a_part_that_fails_is_sent_again(live: Any, store: FaultyS3, small_parts: None) -> None:
    content = os.urandom(12 * MIB)

    async def body(main: Any) -> None:
        moved: list[int] = []
        ws = main.workspace(data_path="presigned")
        with store.failing(BROKEN, times=2, only=PARTS):
            stored = await ws.put("large", content, progress=moved.append)
            assert store.hits == 2
            assert len([line for line in store.seen if "partNumber" in line[1]]) == 5
        assert stored.checksum == hashlib.md5(content).hexdigest()
        assert sum(moved) == len(content)
        assert await ws.get("large") == content
        await ws.drop()

    live(body)


def test_expired_address_is_signed_again(live: Any, store: FaultyS3, small_parts: None) -> None:
    content = os.urandom(6 * MIB)

    async def body(main: Any) -> None:
        ws = main.workspace(data_path="presigned")
        with store.failing(DENIED, times=1, only=PARTS):  # as a store answers to an old one
            await ws.put("large", content)
        assert await ws.get("large") == content
        with store.failing(DENIED, only=PARTS), pytest.raises(errors.ServerUnavailableError, match="refused"):
            await ws.put("never", content)
        assert not await ws.exists("never")

    live(body)


def test_failed_signed_upload_is_aborted(live: Any, bucket: S3Server, small_parts: None) -> None:
    def breaking() -> Iterator[bytes]:
        for _ in range(11):
            yield bytes(MIB)
        raise RuntimeError("the source went away")

    async def body(main: Any) -> None:
        ws = main.workspace(data_path="presigned")
        with pytest.raises(RuntimeError, match="went away"):
            await ws.put("large", breaking())
        assert await ws.list().first() is None

    prefix = live(body)
    assert bucket.uploads(prefix) == []


def test_streams_of_unknown_size(live: Any, small_parts: None) -> None:
    """Short ones whole, long ones in parts, whatever their chunks."""
    sizes = [0, 10, 5 * MIB, 5 * MIB + 1, 10 * MIB, 11 * MIB + 7]
    contents = {f"s{size}": os.urandom(size) for size in sizes}

    def chunks(data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), 700_001):
            yield data[start : start + 700_001]

    async def body(main: Any) -> None:
        async with main.workspace("streams", data_path="presigned") as ws:
            await ws.put_many({path: chunks(data) for path, data in contents.items()})
        for path, data in contents.items():
            info = await main.stat(path)
            assert (info.size, info.checksum) == (len(data), hashlib.md5(data).hexdigest())
            assert await main.get(path) == data

    live(body)


async def test_async_streams(server: RunningServer, bucket: S3Server, small_parts: None) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(7):
            yield b"x" * MIB

    async with lakebed.aio.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        repo = await lake.repository(f"r{uuid.uuid4().hex[:12]}").create(bucket.namespace())
        async with repo.branch("main").workspace("async", data_path="presigned") as ws:
            assert (await ws.put("x", chunks())).size == 7 * MIB
        assert await repo.branch("main").get("x") == b"x" * 7 * MIB


def test_a_lost_answer_to_a_completion(live: Any, server: RunningServer, small_parts: None) -> None:
    """The server completed the upload, and its answer was lost: the SDK retries, and gets the same answer."""
    proxy = Proxy(server.endpoint)
    lost: list[str] = []

    def swallow(line: str) -> bool:
        wanted = "part_uploads/complete" in line and not lost
        lost.extend([line] if wanted else [])
        return wanted

    async def body(main: Any) -> None:
        ws = main.workspace(data_path="presigned")
        proxy.swallow = swallow
        await ws.put("large", b"x" * 6 * MIB)
        assert len(lost) == 1
        assert len(await ws.get("large")) == 6 * MIB

    live(body, proxy.endpoint)
    proxy.close()


def test_interrupted_download_resumes_at_the_store(live: Any, store: FaultyS3, tmp_path: Path) -> None:
    content = os.urandom(4 * MIB)

    async def body(main: Any) -> None:
        await main.put("a", content)
        with store.failing("half", times=2, only="GET .*/data/"):
            got = await main.download("a", tmp_path / "a")
            assert store.hits == 2
        assert got.checksum == hashlib.md5(content).hexdigest()
        assert (tmp_path / "a").read_bytes() == content

    live(body)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda url: url.replace("X-Amz-Signature=", "X-Amz-Signature=0"), id="refused"),
        pytest.param(lambda url: "http://127.0.0.1:1/" + url.rpartition("/")[2], id="unreachable"),
        pytest.param(lambda url: url.replace("/data/", "/data/gone-"), id="gone"),
    ],
)
def test_server_sends_the_content_when_the_store_fails(
    live: Any, store: FaultyS3, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[str], str]
) -> None:
    """Every address is spoiled on its way here."""
    spoiled: list[str] = []

    def made(url: str, *rest: Any) -> StoreAddress:
        spoiled.append(spoil(url))
        return StoreAddress(spoiled[-1], *rest)

    monkeypatch.setattr(objects, "StoreAddress", made)

    async def body(main: Any) -> None:
        await main.put("a", b"0123456789")
        assert await main.get("a") == b"0123456789"
        assert await main.get("a", 2, 3) == b"234"
        async with main.open("a") as file:
            assert await file.read() == b"0123456789"
        assert spoiled

    live(body)


def test_address_is_reused_until_it_expires(live: Any, store: FaultyS3, server: RunningServer) -> None:
    content = os.urandom(3 * MIB)
    proxy = Proxy(server.endpoint)
    asked: list[str] = []

    def count(line: str) -> bool:
        if "may_presign" in line:
            asked.append(line)
        return False

    async def body(main: Any) -> None:
        await main.put("a", content)
        proxy.swallow = count
        async with main.open("a") as file:
            for start in (0, 2 * MIB, MIB):
                await file.seek(start)
                assert await file.read(MIB) == content[start : start + MIB]
        assert len(asked) == 1
        await main.put("a", b"another")
        assert await main.get("a") == b"another"

    live(body, proxy.endpoint)
    proxy.close()


@pytest.mark.parametrize("way", ["option", "variable"])
def test_reads_go_through_the_server_on_request(
    live: Any, store: FaultyS3, server: RunningServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, way: str
) -> None:
    proxy = Proxy(server.endpoint)
    content = os.urandom(MIB)

    async def body(main: Any) -> None:
        if way == "variable":
            monkeypatch.setenv("LAKEBED_DATA_PATH", "proxied")
        ws = main.workspace(data_path="proxied" if way == "option" else None)
        await ws.put("d/a", content)
        before = proxy.downloaded
        assert await ws.get("d/a") == content
        assert (await ws.download_tree("d", tmp_path)).files == 1
        assert proxy.downloaded - before > 2 * MIB

    live(body, proxy.endpoint)
    proxy.close()


def test_no_signature_is_logged(live: Any, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    async def body(main: Any) -> None:
        caplog.set_level(logging.DEBUG)
        async with main.workspace("quiet", data_path="presigned") as ws:
            info = await ws.put("a", b"secret ways")
        assert await main.get("a") == b"secret ways"
        await main.download_tree("", tmp_path)
        assert "Signature" not in repr(info)

    live(body)
    ours = ("urllib3", "aiohttp", "asyncio", "lakebed.")
    said = [record.getMessage() for record in caplog.records if record.name.startswith(ours)]
    blocking = [record for record in caplog.records if record.name == "urllib3.connectionpool"]
    assert not blocking or any("X-Amz-Signature=(kept back)" in line for line in said)
    for line in said:
        assert "X-Amz-Signature=" not in line.replace("X-Amz-Signature=(kept back)", "")
        assert "X-Amz-Credential=" not in line.replace("X-Amz-Credential=(kept back)", "")


def test_parts_are_few_enough_and_addresses_are_forgotten() -> None:
    assert part_size(1) == multipart.PART
    assert part_size(5 << 40) * 9_000 >= 5 << 40
    assert part_size(5 << 40) % MIB == 0
    addresses, info = Addresses(), StoreAddress("https://s/x?sig=1", "c", None)  # type: ignore[arg-type]
    for number in range(5000):
        addresses.keep(("r", "main", str(number), "c"), info)
    assert addresses.get(("r", "main", "0", "c")) is None
    assert addresses.get(("r", "main", "4999", "c")) is info
    addresses.keep(("r", "main", "old", "c"), replace(info), expires=0)
    assert addresses.get(("r", "main", "old", "c")) is None
    assert "sig" not in repr(info)


async def test_content_is_cut_into_equal_parts() -> None:
    async def source() -> AsyncIterator[bytes]:
        for size in (3, 10, 1, 6):
            yield b"x" * size

    async def go() -> list[int]:
        pieces, sizes = Pieces(source(), 8), []
        while (piece := await pieces.next()) is not None:
            sizes.append(piece.meter.size)
            piece.file.close()
        assert pieces.whole.size == 20
        return sizes

    assert await go() == [8, 8, 4]
