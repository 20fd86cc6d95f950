"""Trees up into a bucket and down again, through a proxy that counts what passes the server."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lakebed
import pytest

from tests.sdk.live import Proxy
from tests.support.processes.server import RunningServer, running_server
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


@pytest.mark.parametrize("way", ["presigned", "direct"])
def test_tree_is_copied_directly_in_both_directions(
    server: RunningServer, bucket: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Any
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, value in {
        "AWS_ENDPOINT_URL": bucket.endpoint,
        "AWS_ACCESS_KEY_ID": bucket.access_key_id,
        "AWS_SECRET_ACCESS_KEY": bucket.secret_access_key,
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    files = {f"d{number % 3}/{number}.bin": os.urandom(64 << 10) for number in range(40)}
    files["large.bin"] = os.urandom(17 << 20)  # in parts
    for name, data in files.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(data)
    proxy = Proxy(server.endpoint)
    with lakebed.connect(proxy.endpoint, server.access_key_id, server.secret_access_key) as lake:
        repo = lake.repository(f"r{uuid.uuid4().hex[:12]}").create(bucket.namespace())
        main = repo.branch("main")
        with main.workspace("a tree", data_path=way) as workspace:
            assert workspace.upload_tree(tmp_path / "in", "t").files == 41
        assert proxy.uploaded + proxy.downloaded < 128 << 10  # of 19 MiB
        asked: list[str] = []
        proxy.swallow = lambda line: bool(asked.append(line))  # type: ignore[func-returns-value]
        assert main.download_tree("t", tmp_path / "out").files == 41
        paths = [line.split()[1].partition("?")[0].rpartition("/")[2] for line in asked]
        assert paths == ["ls"]  # the addresses come along
        assert proxy.uploaded + proxy.downloaded < 256 << 10  # of 38 MiB both ways
    proxy.close()
    assert {name: (tmp_path / "out" / name).read_bytes() for name in files} == files
