"""A real server over a real S3 store: the whole way from create to merge, with the disk cache."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import lakebed
import pytest

from tests.support.processes.server import RunningServer, running_server
from tests.support.services.s3 import S3Server, shared
from tests.support.services.s3_settings import client_of, settings_of

pytestmark = pytest.mark.slow

MIB = 1 << 20


class Lake(NamedTuple):
    """A server, its client and its bucket."""

    server: RunningServer
    client: lakebed.Lake
    bucket: S3Server


@pytest.fixture(scope="module")
def s3_lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    bucket = shared("seaweedfs")
    with (
        running_server(tmp_path_factory, environment=settings_of(bucket)) as server,
        client_of(server) as client,
    ):
        yield Lake(server, client, bucket)


def test_from_create_to_merge(s3_lake: Lake, tmp_path: Path) -> None:
    namespace = s3_lake.bucket.namespace()
    repo = s3_lake.client.repository("on-s3").create(namespace)
    big = random.Random(1).randbytes(20 * MIB)
    (tmp_path / "big").write_bytes(big)
    main = repo.branch("main")
    main.put("small/a.txt", b"one")
    assert main.put("big.bin", tmp_path / "big").size == len(big)
    first = main.commit("two objects")
    dev = repo.branch("dev").create("main")
    dev.put("small/b.txt", b"two")
    dev.delete("small/a.txt")
    dev.commit("one more, one less")
    assert [entry.path for entry in main.list()] == ["big.bin", "small/a.txt"]
    dev.merge_into("main")
    assert [entry.path for entry in main.list()] == ["big.bin", "small/b.txt"]
    assert main.get("big.bin") == big
    assert main.get("big.bin", start=9 * MIB, length=5) == big[9 * MIB : 9 * MIB + 5]
    assert repo.ref(first.id).get("small/a.txt") == b"one"

    listed = s3_lake.bucket.boto().list_objects_v2(Bucket=s3_lake.bucket.bucket, Prefix=namespace.split("/")[3] + "/")
    names = [found["Key"].split("/", 1)[1] for found in listed["Contents"]]
    assert len([name for name in names if name.startswith("data/")]) == 3  # plain keys: other tools can read them
    assert all(name.startswith(("data/", "_lakebed/")) for name in names)


def test_the_disk_cache_outlives_the_server(tmp_path: Path) -> None:
    bucket = shared("seaweedfs")
    settings = settings_of(bucket, LAKEBED_CACHE_DISK_PATH="{data_dir}/cache", LAKEBED_CACHE_MEMORY="0")
    namespace = bucket.namespace()
    data_dir = tmp_path / "data"

    def cached() -> int:
        return sum(path.is_file() for path in (data_dir / "cache").rglob("*"))

    with running_server(data_dir, environment=settings) as server, client_of(server) as client:
        main = client.repository("cached").create(namespace).branch("main")
        main.put("a", b"1")
        main.commit("one")
        assert [entry.path for entry in main.list()] == ["a"]
    assert cached() > 0
    boto = bucket.boto()
    prefix = namespace.split("/")[3] + "/_lakebed/"
    for folder in ("ranges/", "metaranges/", "layers/"):
        for found in boto.list_objects_v2(Bucket=bucket.bucket, Prefix=prefix + folder).get("Contents", []):
            boto.delete_object(Bucket=bucket.bucket, Key=found["Key"])
    with running_server(data_dir, environment=settings) as server, client_of(server) as client:
        main = client.repository("cached").branch("main")
        assert [entry.path for entry in main.list()] == ["a"]  # nowhere but in the cache


def test_config_names_the_schemes(s3_lake: Lake) -> None:
    auth = (s3_lake.server.access_key_id, s3_lake.server.secret_access_key)
    config = httpx.get(f"{s3_lake.server.endpoint}/api/v1/config", auth=auth).json()["storage_config"]
    for uri in ("s3://bucket/x", "gs://bucket", "az://container/x", "local://x"):
        assert re.match(config["blockstore_namespace_ValidityRegex"], uri)
    assert not re.match(config["blockstore_namespace_ValidityRegex"], "ftp://x")


def test_a_bucket_that_does_not_exist(s3_lake: Lake) -> None:
    """The error is the caller's mistake, because the request names the bucket."""
    with pytest.raises(lakebed.errors.InvalidRequestError, match="bucket 'no-such-bucket' does not exist; create it"):
        s3_lake.client.repository("nowhere").create("s3://no-such-bucket/x")
    assert s3_lake.bucket.secret_access_key not in s3_lake.server.log
    with pytest.raises(lakebed.errors.InvalidRequestError, match=r"no `\.\.`"):
        s3_lake.client.repository("nowhere").create("s3://bucket/../x")


def test_http_has_to_be_allowed(tmp_path: Path) -> None:
    settings = {"LAKEBED_OBJECTS_S3_ENDPOINT": "http://127.0.0.1:1"}
    with (
        pytest.raises(AssertionError, match=r"set objects\.s3\.allow_http to true"),
        running_server(tmp_path / "data", environment=settings),
    ):
        pass
