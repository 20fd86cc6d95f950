"""Workspaces over a real S3 server: bytes go straight to the bucket, signed or with credentials of one's own."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import lakebed
import pytest
from lakebed import errors
from lakebed._async.objects import presigned, sinks
from lakebed._direct.cloud import WHOLE, Bucket

from tests.sdk.doors import Door
from tests.sdk.live import Proxy
from tests.support.faults.faulty_s3 import DENIED, FaultyS3
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.azurite import shared_azurite
from tests.support.services.s3 import S3Server, shared

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bucket() -> S3Server:
    return shared("seaweedfs")


@pytest.fixture(scope="module")
def server(bucket: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    settings = {
        "LAKEBED_OBJECTS_S3_ENDPOINT": bucket.endpoint,
        "LAKEBED_OBJECTS_S3_REGION": "us-east-1",
        "LAKEBED_OBJECTS_S3_ACCESS_KEY_ID": bucket.access_key_id,
        "LAKEBED_OBJECTS_S3_SECRET_ACCESS_KEY": bucket.secret_access_key,
        "LAKEBED_OBJECTS_S3_ALLOW_HTTP": "true",
    }
    with running_server(tmp_path_factory, environment=settings) as running:
        yield running


@pytest.fixture
def proxy(server: RunningServer) -> Iterator[Proxy]:
    made = Proxy(server.endpoint)
    yield made
    made.close()


@pytest.fixture
def live(door: Door, server: RunningServer, bucket: S3Server, proxy: Proxy) -> Any:
    """Run a body with the branch `main` of a fresh repository in the bucket, through a proxy that counts."""

    def run(body: Any) -> None:
        async def with_branch(lake: Any) -> None:
            repo = await lake.repository(f"r{uuid.uuid4().hex[:12]}").create(bucket.namespace())
            await body(repo.branch("main"))

        door.run(
            with_branch,
            endpoint=proxy.endpoint,
            key=server.access_key_id,
            secret=server.secret_access_key,
            quick=False,
        )

    return run


@pytest.fixture
def own_credentials(bucket: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", bucket.endpoint)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", bucket.access_key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", bucket.secret_access_key)


@pytest.mark.parametrize("data_path", ["presigned", "direct"])
def test_no_object_byte_passes_through_the_server(
    live: Any, proxy: Proxy, bucket: S3Server, data_path: str, own_credentials: None, tmp_path: Path
) -> None:
    content = os.urandom(3 * WHOLE + 5)
    local = tmp_path / "file"
    local.write_bytes(content)

    async def body(main: Any) -> None:
        moved: list[int] = []
        async with main.workspace("straight", data_path=data_path) as ws:
            stored = await ws.put("big", local, progress=moved.append)
            await ws.put("small", b"small", content_type="text/plain", metadata={"k": "v"})
            first = await ws.put("again", b"first")
            second = await ws.put("again", b"second")
            assert first.physical_address != second.physical_address
            await ws.put("once", iter([b"a" * 10, b"b" * 10]))
            await ws.put("empty", b"")
            await ws.put("odd//path ?#%.txt", b"odd")
            await ws.put("\u00fc b ?#%25+&=*.txt", b"odd too")
            await ws.put("back\\slash", b"odd as well")
            tagged = await ws.put("d/tagged.csv", b"tagged")
            await ws.put_many({f"n/{number}": b"%d" % number for number in range(60)})
        assert sum(moved) == len(content)
        assert stored.checksum == hashlib.md5(content).hexdigest()
        assert proxy.uploaded + proxy.downloaded < 256 << 10
        place = (await ws.info()).storage_prefix
        assert stored.physical_address.startswith(place + ("~/" if data_path == "presigned" else "big"))
        assert stored.physical_address.endswith("big")
        expected = {f"path.{number}": part for number, part in enumerate(("d", "tagged.csv"))}
        assert bucket.tags(tagged.physical_address) == expected
        assert await main.get("big") == content
        assert await main.get("big", 20 << 20, 100) == content[20 << 20 :][:100]
        async with main.open("big") as file:
            await file.seek(9 << 20)
            assert await file.read(3 << 20) == content[9 << 20 : 12 << 20]
        assert await main.get("again") == b"second"
        assert await main.get("once") == b"a" * 10 + b"b" * 10
        assert await main.get("empty") == b""
        assert await main.get("odd//path ?#%.txt") == b"odd"
        assert await main.get("\u00fc b ?#%25+&=*.txt") == b"odd too"
        assert await main.get("back\\slash") == b"odd as well"
        assert (await main.stat("small")).content_type == "text/plain"
        assert (await main.stat("small")).metadata == {"k": "v"}
        assert await main.get("n/59") == b"59"
        assert proxy.uploaded + proxy.downloaded < 512 << 10  # of 76 MiB both ways

    live(body)


def test_presigned_path_is_chosen_for_a_bucket(live: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(main: Any) -> None:
        ws = main.workspace()
        stored = await ws.put("a", b"1")
        assert stored.physical_address.startswith((await ws.info()).storage_prefix + "~/")
        assert (await ws.path("t/x")).startswith("s3://")
        await ws.commit(scan=False)

    live(body)


def test_other_tools_write_to_the_bucket(live: Any, bucket: S3Server) -> None:
    async def body(main: Any) -> None:
        async with main.workspace("tools") as ws:
            where, _, key = (await ws.path("t/part-1")).removeprefix("s3://").partition("/")
            bucket.boto().put_object(Bucket=where, Key=key, Body=b"from a tool")
        assert await main.get("t/part-1") == b"from a tool"

    live(body)


def test_committed_files_are_never_replaced(live: Any, bucket: S3Server) -> None:
    """Two handles on one workspace: one still knows the prefix that the other has committed from."""

    async def body(main: Any) -> None:
        for data_path in ("presigned", "proxied"):
            ws = main.workspace(data_path=data_path)
            first = await ws.put("x", b"committed")
            await ws.put("y", b"y")
            other = await main.repository.workspace(ws.workspace_id, data_path=data_path)
            await other.put("z", b"z")
            await ws.add("x").commit(data_path)
            await other.put("x", b"later!!!!")
            assert await main.get("x") == b"committed"
            assert await other.get("x") == b"later!!!!"
            assert (await main.stat("x")).physical_address == first.physical_address
            await ws.drop()
            await main.delete("x")
            await main.commit("again")

    live(body)


async def test_expired_addresses_are_signed_again(
    server: RunningServer, bucket: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with lakebed.aio.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        repo = await lake.repository(f"r{uuid.uuid4().hex[:12]}").create(bucket.namespace())
        ws = repo.branch("main").workspace()
        sink = await ws._opened_sink()
        assert isinstance(sink, sinks.SignedSink)
        asked: list[int] = []
        sign = sink._sign
        spoil = "expires"

        async def spoiled(paths: list[str], size: int, content_type: str) -> Any:
            asked.append(len(paths))
            urls = await sign(paths, size, content_type)
            if spoil == "expires" and len(asked) == 1:
                return tuple(replace(url, expires=datetime.now(UTC) + timedelta(seconds=1)) for url in urls)
            if spoil == "always" or (spoil == "refused" and len(asked) == 1):
                return tuple(replace(url, url=url.url.replace("X-Amz-Signature=", "X-Amz-Signature=0")) for url in urls)
            return urls

        monkeypatch.setattr(sink, "_sign", spoiled)
        for spoil in ("expires", "refused"):
            asked.clear()
            await ws.put(spoil, b"1")
            assert asked == [1, 1]
            assert await ws.get(spoil) == b"1"
        spoil = "always"
        with pytest.raises(errors.ServerUnavailableError, match="refused"):
            await ws.put("never", b"1")


def test_own_writes_never_replace_and_are_checked(bucket: S3Server, own_credentials: None) -> None:
    namespace = bucket.namespace()
    own = Bucket(namespace + "/workspaces/x/")
    for content in (b"small", os.urandom(WHOLE + 1)):
        name = f"k{len(content)}"
        first = own.write(name, [content], len(content), {}, lambda _: None)
        second = own.write(name, [content[::-1]], None, {}, lambda _: None)
        assert first == (name, hashlib.md5(content).hexdigest(), len(content))
        assert second[0] != name
        key = f"{namespace.removeprefix(f's3://{bucket.bucket}/')}/workspaces/x/"
        for place, expected in ((name, content), (second[0], content[::-1])):
            found = bucket.boto().get_object(Bucket=bucket.bucket, Key=key + place)["Body"].read()
            assert found == expected


@pytest.mark.parametrize("size", [5, WHOLE + 1])
def test_own_writes_without_the_right_to_tag(
    bucket: S3Server, own_credentials: None, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    namespace = bucket.namespace()
    with FaultyS3(bucket.endpoint) as store:
        monkeypatch.setenv("AWS_ENDPOINT_URL", store.endpoint)
        own = Bucket(namespace + "/workspaces/x/")
        with store.failing(DENIED, times=1, only="PUT"):  # as S3 does without s3:PutObjectTagging
            first = own.write("d/a", [b"x" * size], size, {}, lambda _: None)
            assert store.hits == 1
        second = own.write("d/b", [b"y" * size], size, {}, lambda _: None)
    for key, _, _ in (first, second):
        assert bucket.tags(f"{namespace}/workspaces/x/{key}") == {}


def test_wrong_credentials_error_names_the_next_step(
    live: Any, own_credentials: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")

    async def body(main: Any) -> None:
        with pytest.raises(errors.ServerUnavailableError, match="data_path='presigned'"):
            await main.workspace(data_path="direct").put("a", b"1")

    live(body)


def test_signed_writes_to_azure(door: Door, tmp_path_factory: pytest.TempPathFactory) -> None:
    azure = shared_azurite()
    with running_server(tmp_path_factory, environment=azure.variables) as server:

        async def body(lake: Any) -> None:
            repo = await lake.repository(f"r{uuid.uuid4().hex[:12]}").create(azure.namespace())
            main = repo.branch("main")
            async with main.workspace("azure") as ws:
                first = await ws.put("a/b.txt", b"first", content_type="text/plain")
                second = await ws.put("a/b.txt", b"second", content_type="text/plain")
                assert first.physical_address.startswith((await ws.info()).storage_prefix + "~/")
                assert second.physical_address != first.physical_address
                await ws.put("a b/\u00fc.txt", b"spelled", content_type="text/plain")
                await ws.put("large", b"L" * (presigned.LARGE + 1), content_type="text/plain")  # in blocks
            assert await main.get("a/b.txt") == b"second"
            assert len(await main.get("large")) == presigned.LARGE + 1
            assert await main.get("a b/\u00fc.txt") == b"spelled"

        door.run(body, endpoint=server.endpoint, key=server.access_key_id, secret=server.secret_access_key)
