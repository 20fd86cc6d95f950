"""Over a bucket: what is read and written goes past the server, and `sign` gives addresses that work by themselves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import fsspec
import httpx
import lakebed
import pandas as pd
import pytest

from tests.sdk.live import Proxy
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.s3 import shared

pytestmark = pytest.mark.slow
CONTENT = os.urandom(3 << 20)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    bucket = shared("seaweedfs")
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
def proxy(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    made = Proxy(server.endpoint)
    monkeypatch.setenv("LAKEBED_ENDPOINT", made.endpoint)
    yield made
    made.close()


def test_a_bucket(proxy: Proxy) -> None:
    name = f"r{uuid4().hex[:12]}"
    with lakebed.connect() as lake:
        lake.repository(name).create(shared("seaweedfs").namespace())
    fs: Any = fsspec.filesystem("lakebed")
    path = f"{name}/main/x.bin"
    with fs.transaction:
        fs.pipe(path, CONTENT)
        pd.DataFrame({"n": range(100)}).to_parquet(f"lakebed://{name}/main/x.parquet")
        assert fs.cat(path) == CONTENT
    assert proxy.uploaded < 100_000
    assert fs.cat(path) == CONTENT
    with fs.open(path, cache_type="none") as file:
        file.seek(1 << 20)
        assert file.read(1 << 20) == CONTENT[1 << 20 : 2 << 20]
    assert pd.read_parquet(f"lakebed://{name}/main/x.parquet")["n"].sum() == 4950
    assert proxy.downloaded < 200_000
    assert httpx.get(fs.sign(path)).content == CONTENT
    with pytest.raises(FileNotFoundError):
        fs.sign(f"{name}/main/none")
    through = fsspec.filesystem("lakebed", data_path="proxied")
    assert through.cat(path) == through.open(path).read() == CONTENT
    assert proxy.downloaded > 2 * len(CONTENT)
    with through.transaction:
        through.pipe(f"{name}/main/y.bin", CONTENT)
    assert proxy.uploaded > len(CONTENT)
