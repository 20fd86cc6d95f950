"""How a request finds the gateway: by its signature, its Host or its port. On the server of tests, over sockets."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from typing import Any

import boto3  # type: ignore[import-untyped]
import lakebed_testing
import pytest
from botocore.config import Config  # type: ignore[import-untyped]
from botocore.exceptions import ClientError  # type: ignore[import-untyped]
from lakebed_server.network import listeners
from lakebed_server.s3 import config
from lakebed_server.settings.load import load
from lakebed_server.vocabulary import StartError

from tests.support.waiting import PATIENCE


@pytest.fixture(scope="module")
def server() -> Iterator[lakebed_testing.LakebedServer]:
    settings = {
        "gateway.s3.listen": "127.0.0.1:0",
        "gateway.s3.domain": "s3.test, other.test",
        "gateway.s3.aliases": "now=api/main",
        "gateway.s3.namespace": "mem://buckets",
    }
    with lakebed_testing.server(settings) as running:
        with running.connect() as lake:
            lake.repository("api").create(storage_namespace="mem://api")
        client(running).put_object(Bucket="api", Key="main/v1/x", Body=b"over S3")
        yield running


def client(server: lakebed_testing.LakebedServer, port: int | None = None, **more: Any) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=server.endpoint if port is None else f"http://127.0.0.1:{port}",
        aws_access_key_id=server.access_key_id,
        aws_secret_access_key=server.secret_access_key,
        region_name="us-east-1",
        config=Config(retries={"max_attempts": 1}, **more),
    )


def get(server: lakebed_testing.LakebedServer, target: str, *, port: int | None = None, **headers: str) -> Any:
    connection = http.client.HTTPConnection(
        "127.0.0.1", port or int(server.endpoint.rpartition(":")[2]), timeout=PATIENCE
    )
    try:
        connection.request("GET", target, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers["content-type"], answer.read()
    finally:
        connection.close()


def own_port(server: lakebed_testing.LakebedServer) -> int:
    found = listeners.s3_port(server._host._listeners)
    assert found is not None
    return found


def test_rest_and_s3_share_a_port_and_every_object(server: lakebed_testing.LakebedServer) -> None:
    with server.connect() as lake:
        main = lake.repository("api").branch("main")
        assert main.get("v1/x") == b"over S3"
        main.put("v1/y", b"over REST")
    s3 = client(server)
    assert s3.get_object(Bucket="api", Key="main/v1/y")["Body"].read() == b"over REST"
    # a signature says more than a path below /api/v1, and a URL may carry it
    with pytest.raises(ClientError, match="NoSuchKey"):
        s3.get_object(Bucket="api", Key="v1/repositories")
    url = s3.generate_presigned_url("get_object", Params={"Bucket": "now", "Key": "v1/x"})
    assert get(server, url.removeprefix(server.endpoint))[2] == b"over S3"
    assert get(server, "/api/v1/repositories")[0] == 401
    assert get(server, "/_health") == (200, "text/plain; charset=utf-8", b"alive!\n")


def test_a_host_of_the_gateway_speaks_s3_to_strangers_but_still_has_the_api(
    server: lakebed_testing.LakebedServer,
) -> None:
    for host in ("s3.test", "S3.test:80", "api.other.test"):
        status, kind, body = get(server, "/bucket/key", host=host)
        assert (status, kind) == (403, "application/xml")
        assert b"<Code>AccessDenied</Code>" in body
        assert get(server, "/api/v1/repositories", host=host)[1] == "application/json"
    assert get(server, "/bucket/key", host="xs3.test")[0] == 404


def test_on_a_port_of_its_own_all_is_s3(server: lakebed_testing.LakebedServer) -> None:
    port = own_port(server)
    s3 = client(server, port)
    assert s3.get_object(Bucket="api", Key="main/v1/x")["Body"].read() == b"over S3"
    for target in ("/", "/_health", "/api/v1/repositories"):
        status, kind, _ = get(server, target, port=port)
        assert (status, kind) == (403, "application/xml")


@pytest.mark.medium
def test_a_reset_leaves_the_gateway_and_forgets_its_buckets() -> None:
    with lakebed_testing.server({"gateway.s3.namespace": "mem://buckets"}) as running:
        s3 = client(running)
        s3.create_bucket(Bucket="made")
        s3.put_object(Bucket="made", Key="main/x", Body=b"1" * 100_000, ChecksumAlgorithm="CRC64NVME")
        running.reset()
        assert s3.list_buckets()["Buckets"] == []
        with pytest.raises(ClientError, match="NoSuchBucket"):
            s3.get_object(Bucket="made", Key="main/x")
        s3.create_bucket(Bucket="made")


def test_interrupted_upload_stores_nothing_and_refused_upload_is_answered(
    server: lakebed_testing.LakebedServer,
) -> None:
    url = client(server).generate_presigned_url("put_object", Params={"Bucket": "api", "Key": "main/part"})
    connection = http.client.HTTPConnection("127.0.0.1", int(server.endpoint.rpartition(":")[2]), timeout=PATIENCE)
    connection.putrequest("PUT", url.removeprefix(server.endpoint))
    connection.putheader("Content-Length", "1000000")
    connection.endheaders(b"only a part")
    connection.close()
    wrong = url.replace("main/part", "main/other")
    connection = http.client.HTTPConnection("127.0.0.1", int(server.endpoint.rpartition(":")[2]), timeout=PATIENCE)
    connection.request("PUT", wrong.removeprefix(server.endpoint), body=b"x" * 3_000_000)
    answer = connection.getresponse()
    assert (answer.status, b"SignatureDoesNotMatch" in answer.read()) == (403, True)
    connection.close()
    listed = client(server).list_objects_v2(Bucket="api", Prefix="main/")
    assert {row["Key"] for row in listed["Contents"]} <= {"main/v1/x", "main/v1/y"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("listen", "9000"),
        ("listen", "localhost:"),
        ("listen", "localhost:99999"),
        ("listen", "127.0.0.1:8765"),
        ("aliases", "bucket"),
        ("aliases", "bucket=repo"),
        ("aliases", "=repo/main"),
    ],
)
def test_settings_that_make_no_sense(key: str, value: str) -> None:
    settings = load(flags={f"gateway.s3.{key}": value, "listen.port": 8765}, env={}, files=False).settings
    with pytest.raises(StartError, match=f"gateway.s3.{key}"):
        listeners.listen_all(settings, config.read_config(settings.gateway.s3).listen)


def test_settings() -> None:
    assert config.read_listen("[::1]:9000") == ("::1", 9000)
    assert config.read_listen("") is None
    assert config.read_domains(" A.test ,b.test,") == ("a.test", "b.test")
    assert config.read_aliases("a=r/main, b = r/v1.0,") == {"a": ("r", "main"), "b": ("r", "v1.0")}
