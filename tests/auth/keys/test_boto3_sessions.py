"""boto3 with keys that end: by STS, by a refresh of its own, and on two servers over one PostgreSQL."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]
import httpx
import lakebed
import pytest
from botocore.config import Config  # type: ignore[import-untyped]
from botocore.exceptions import ClientError  # type: ignore[import-untyped]
from botocore.session import Session  # type: ignore[import-untyped]

from tests.support.processes.server import RunningServer, running_server
from tests.support.services.postgres import running_postgres

pytestmark = pytest.mark.slow

CONFIG = Config(retries={"max_attempts": 1}, s3={"addressing_style": "path"})
OBJECT = {"Bucket": "sales", "Key": "main/a"}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, ...]]:
    place = tmp_path_factory.mktemp("servers")
    with running_postgres() as postgres:
        environment = {
            "LAKEBED_KV_TYPE": "postgres",
            "LAKEBED_KV_POSTGRES_DSN": postgres.dsn,
            "LAKEBED_OBJECTS_LOCAL_ROOT": str(place / "objects"),
            "LAKEBED_AUTH_SECRET_KEY": "the secret that both of the servers share",
        }
        with (
            running_server(place / "one", environment=environment) as one,
            running_server(place / "two", environment=environment) as two,
            lakebed.connect(one.endpoint, one.access_key_id, one.secret_access_key) as lake,
        ):
            lake.repository("sales").create("local://sales")
            lake.repository("sales").branch("main").put("a", b"x")
            yield one, two


@pytest.fixture
def lake(servers: tuple[RunningServer, ...]) -> Iterator[lakebed.Lake]:
    one = servers[0]
    with lakebed.connect(one.endpoint, one.access_key_id, one.secret_access_key) as lake:
        yield lake


def client(
    server: RunningServer, id: str, secret: str, token: str | None = None, service: str = "s3", config: Config = CONFIG
) -> Any:
    return boto3.client(
        service,
        endpoint_url=server.endpoint,
        aws_access_key_id=id,
        aws_secret_access_key=secret,
        aws_session_token=token,
        region_name="us-east-1",
        config=config,
    )


def read(s3: Any) -> bytes:
    content: bytes = s3.get_object(**OBJECT)["Body"].read()
    return content


def error_of(s3: Any) -> str:
    """The code of the answer, empty when the client may read."""
    try:
        read(s3)
    except ClientError as refused:
        return str(refused.response["Error"]["Code"])
    return ""


def seconds_until(error: str, clients: list[Any], since: float) -> float:
    """The time from `since` until all clients get this error."""
    for s3 in clients:
        while time.monotonic() < since + 30:
            if error_of(s3) == error:
                break
            time.sleep(0.02)
        else:
            pytest.fail(f"no {error} after 30 s: {error_of(s3)!r}")
    return time.monotonic() - since


def test_sts_gives_keys_that_work_on_every_server(servers: tuple[RunningServer, ...]) -> None:
    one, two = servers
    sts = client(one, one.access_key_id, one.secret_access_key, service="sts")
    given = sts.get_session_token(DurationSeconds=900)["Credentials"]
    assert 880 < given["Expiration"].timestamp() - time.time() <= 900
    triple = (given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])
    for server in servers:
        s3 = client(server, *triple)
        assert read(s3) == b"x"
        s3.put_object(Bucket="sales", Key="main/b", Body=b"y" * 100_000)
        for version in ("s3", "s3v4"):
            signer = client(server, *triple, config=CONFIG.merge(Config(signature_version=version)))
            assert httpx.get(signer.generate_presigned_url("get_object", Params=OBJECT)).content == b"x"
            assert read(signer) == b"x"
    again = client(two, *triple, service="sts")
    with pytest.raises(ClientError) as refused:
        again.get_session_token()
    assert refused.value.response["Error"]["Code"] == "AccessDenied"


@pytest.mark.parametrize(
    ("secret", "call", "code", "status"),
    [
        ("wrong", lambda sts: sts.get_session_token(), "SignatureDoesNotMatch", 403),
        ("", lambda sts: sts.get_session_token(DurationSeconds=900_000), "ValidationError", 400),
        ("", lambda sts: sts.get_caller_identity(), "ValidationError", 400),
        (
            "",
            lambda sts: sts.assume_role_with_web_identity(
                RoleArn="arn:aws:iam::123456789012:role/x", RoleSessionName="xy", WebIdentityToken="x.y.z"
            ),
            "NotImplemented",
            501,
        ),
    ],
)
def test_errors_of_sts_have_its_form(
    servers: tuple[RunningServer, ...], secret: str, call: Callable[[Any], object], code: str, status: int
) -> None:
    one = servers[0]
    sts = client(one, one.access_key_id, secret or one.secret_access_key, service="sts")
    with pytest.raises(ClientError) as refused:
        call(sts)
    answer = refused.value.response
    assert (answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]) == (code, status)
    assert answer["Error"]["Message"]


def test_an_unknown_key_is_refused_by_sts(servers: tuple[RunningServer, ...]) -> None:
    with pytest.raises(ClientError) as refused:
        client(servers[0], "LKBDNOSUCHKEYNOSUCHK", "secret", service="sts").get_session_token()
    assert refused.value.response["Error"]["Code"] == "InvalidClientTokenId"


def test_a_deleted_key_ends_its_temporary_keys_on_both_servers(
    servers: tuple[RunningServer, ...], lake: lakebed.Lake
) -> None:
    key = lake.keys.create()
    with lakebed.connect(servers[0].endpoint, key.id, key.secret) as own:
        made = own.keys.temporary(read="sales")
    clients = [client(server, made.id, made.secret, made.session_token) for server in servers]
    assert [read(s3) for s3 in clients] == [b"x", b"x"]
    with pytest.raises(ClientError, match="the policy of the access key does not allow it"):
        clients[1].put_object(Bucket="sales", Key="main/c", Body=b"")
    lake.keys.drop(key.id)
    assert seconds_until("InvalidToken", clients, time.monotonic()) < 1.5


def test_an_expired_key_ends_on_both_servers(servers: tuple[RunningServer, ...], lake: lakebed.Lake) -> None:
    key = lake.keys.create(expires_in=4)
    assert key.expires is not None
    until = time.monotonic() + key.expires.timestamp() - time.time()
    clients = [client(server, key.id, key.secret) for server in servers]
    assert [read(s3) for s3 in clients] == [b"x", b"x"]
    assert -1.5 < seconds_until("ExpiredToken", clients, until) < 0.5
    for server in servers:
        with (
            lakebed.connect(server.endpoint, key.id, key.secret) as own,
            pytest.raises(lakebed.AuthenticationError, match=r"expired at .* UTC: create another one"),
        ):
            own.repository("sales").branch("main").info()


def test_boto3_gets_new_keys_by_itself(
    servers: tuple[RunningServer, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By `credential_process` with the command of the docs. botocore gets new keys 15 minutes before the end."""
    one = servers[0]
    count = tmp_path / "count"
    script = tmp_path / "temporary"
    command = f"{sys.executable} -m lakebed.cli key temporary --duration 60s"
    script.write_text(f"#!/bin/sh\necho x >> {count}\nexec {command}\n")
    script.chmod(0o755)
    config = tmp_path / "config"
    config.write_text(f"[default]\nregion = us-east-1\ncredential_process = {script}\n")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("LAKEBED_ENDPOINT", one.endpoint)
    monkeypatch.setenv("LAKEBED_ACCESS_KEY_ID", one.access_key_id)
    monkeypatch.setenv("LAKEBED_SECRET_ACCESS_KEY", one.secret_access_key)
    session = Session()
    s3 = session.create_client("s3", endpoint_url=one.endpoint, config=CONFIG)
    first = session.get_credentials().get_frozen_credentials()
    assert first.access_key.startswith("LKBT")
    assert [read(s3) for _ in range(2)] == [b"x", b"x"]
    second = session.get_credentials().get_frozen_credentials()
    assert second.token != first.token
    assert len(count.read_text().split()) >= 2
