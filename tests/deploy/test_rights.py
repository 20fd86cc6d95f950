"""A server works with exactly the rights that docs/deployment.md gives it: in PostgreSQL, and in a bucket."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]
import httpx
import lakebed
import pytest
from botocore.client import Config  # type: ignore[import-untyped]
from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from tests.cli.support import Command
from tests.deploy.pages import block, replaced
from tests.support.processes.owned import owned_directory, owned_process
from tests.support.processes.ports import reserved_ports
from tests.support.processes.server import RunningServer, running_server
from tests.support.services.postgres import programs, running_postgres
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow

PAGE = "deployment.md"


def work(server: RunningServer, namespace: str) -> None:
    """What users do, with objects of one and of several parts."""
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key, timeout=PATIENCE) as lake:
        repo = lake.repository("rights").create(namespace)
        main = repo.branch("main")
        main.put("a.txt", b"one")
        main.put("big.bin", bytes(9 << 20))
        first = main.commit("first")
        dev = repo.branch("dev").create(main)
        dev.put("b.txt", b"two")
        dev.commit("second")
        dev.merge_into(main)
        assert main.get("b.txt") == b"two"
        assert len(main.get("big.bin")) == 9 << 20
        main.delete("a.txt")
        main.commit("third")
        assert repo.ref(first.id).get("a.txt") == b"one"


def test_postgres_with_the_rights_of_the_page(tmp_path: Path) -> None:
    with running_postgres() as postgres:
        # the superuser of the tests has the name of the page's role
        page = block(PAGE, "sql", "CREATE ROLE")
        assert "SUPERUSER" not in page
        sql = page.replace("ROLE lakebed", "ROLE lakebed_server").replace("TO lakebed", "TO lakebed_server")
        sql = sql.replace("AUTHORIZATION lakebed", "AUTHORIZATION lakebed_server")
        done = subprocess.run(
            [str(programs() / "psql"), "-X", "-v", "ON_ERROR_STOP=1", postgres.dsn],
            input=sql, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        dsn = postgres.dsn_of("change-me", "lakebed", "lakebed_server")
        environment = {"LAKEBED_KV_TYPE": "postgres", "LAKEBED_KV_POSTGRES_DSN": dsn}
        for _ in range(2):  # the second start finds the tables
            with running_server(tmp_path / "data", environment=environment) as server:
                if not (tmp_path / "data/objects/rights").exists():
                    work(server, "local://rights")
        report = Command(environment)("doctor", "--server", "--data-dir", str(tmp_path / "data"), "--json")
        assert report.json["ok"], report.json
        more = subprocess.run(
            [str(programs() / "psql"), "-X", dsn, "-c", "CREATE TABLE public.x (a int)"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "permission denied" in more.stderr


class Enforcing:
    """moto as a process that enforces IAM policies."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def client(self, service: str, key: str = "root", secret: str = "root") -> Any:
        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=key,
            aws_secret_access_key=secret,
            config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
        )

    def user(self, policy: str, *, deletes: bool = True) -> dict[str, str]:
        """The access key of a new user with this policy. `deletes`: requests that delete several objects are allowed.

        moto checks such a request against the bucket, S3 checks it against each object.
        """
        document = json.loads(policy)
        if deletes:
            bucket = "arn:aws:s3:::lake-bucket"
            document["Statement"].append({"Effect": "Allow", "Action": "s3:DeleteObject", "Resource": bucket})
        iam = self.client("iam")
        iam.create_user(UserName="lakebed")
        iam.put_user_policy(UserName="lakebed", PolicyName="lakebed", PolicyDocument=json.dumps(document))
        key = iam.create_access_key(UserName="lakebed")["AccessKey"]
        return {"key": key["AccessKeyId"], "secret": key["SecretAccessKey"]}

    def enforce(self) -> None:
        httpx.post(f"{self.endpoint}/moto-api/reset-auth", content="0").raise_for_status()


@contextmanager
def enforcing() -> Iterator[Enforcing]:
    with owned_directory("moto-") as directory, reserved_ports(1) as (port,):
        command = [sys.executable, "-c", f"{START}\nmain(['-p', '{port}'])"]
        log = directory / "log"
        with owned_process(command, directory, log):
            server = Enforcing(f"http://127.0.0.1:{port}")
            wait_until(lambda: answers(f"{server.endpoint}/moto-api/data.json"), log.read_text, every=0.1)
            yield server


def answers(url: str) -> bool:
    try:
        return httpx.get(url).is_success
    except httpx.HTTPError:
        return False


START = """
import os
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "1000000"
import threading
from moto.s3.responses import S3Response
lock = threading.Lock()
def alone(act):
    def acts(*arguments):
        with lock:
            return act(*arguments)
    return acts
for name in ("put_object", "_key_response_post"):
    setattr(S3Response, name, alone(getattr(S3Response, name)))
from moto.server import main
"""
"""As tests.support.services.s3 starts moto: it checks for a key and then writes it, so one put at a time."""


def environment_of(server: Enforcing, key: dict[str, str]) -> dict[str, str]:
    return {
        "LAKEBED_OBJECTS_S3_ENDPOINT": server.endpoint,
        "LAKEBED_OBJECTS_S3_REGION": "us-east-1",
        "LAKEBED_OBJECTS_S3_ACCESS_KEY_ID": key["key"],
        "LAKEBED_OBJECTS_S3_SECRET_ACCESS_KEY": key["secret"],
        "LAKEBED_OBJECTS_S3_ALLOW_HTTP": "true",
        "LAKEBED_OBJECTS_RETRY": "5s",
        "LAKEBED_OBJECTS_PRESIGN": "false",  # moto takes no signed address while it enforces policies
    }


def test_a_bucket_with_the_policy_of_the_page(tmp_path: Path) -> None:
    policy = block(PAGE, "json", "s3:PutObject")
    assert json.loads(replaced(policy, **{"lake-bucket": "x"}))["Version"] == "2012-10-17"
    with enforcing() as moto:
        for bucket in ("lake-bucket", "other-bucket"):
            moto.client("s3").create_bucket(Bucket=bucket)
        key = moto.user(policy)
        moto.enforce()
        theirs = moto.client("s3", **key)
        with pytest.raises(ClientError, match="AccessDenied"):
            theirs.put_object(Bucket="other-bucket", Key="lake/x", Body=b"")
        with pytest.raises(ClientError, match="AccessDenied"):
            theirs.put_object(Bucket="lake-bucket", Key="elsewhere/x", Body=b"")
        with pytest.raises(ClientError, match="AccessDenied"):
            theirs.delete_bucket(Bucket="lake-bucket")
        environment = environment_of(moto, key)
        namespace = "s3://lake-bucket/lake/rights"
        with running_server(tmp_path / "data", environment=environment) as server:
            work(server, namespace)
        data = ("--data-dir", str(tmp_path / "data"))
        checked = Command(environment)("doctor", "--server", *data, "--json", code=None)
        assert [check for check in checked.json["checks"] if not check["ok"]] == []
        assert f"object store {namespace}" in [check["check"] for check in checked.json["checks"]]
        assert "Nothing is missing or corrupt" in Command(environment)("fsck", "rights", "--data", *data).text


@pytest.mark.parametrize(
    "action",
    [
        "s3:PutObject",
        *(pytest.param(one, marks=pytest.mark.soak) for one in ("s3:GetObject", "s3:DeleteObject", "s3:ListBucket")),
    ],
)
def test_each_action_of_the_policy_is_needed(tmp_path: Path, action: str) -> None:
    policy = replaced(block(PAGE, "json", "s3:PutObject"), **{f'"{action}"': '"s3:GetBucketLocation"'})
    with enforcing() as moto:
        moto.client("s3").create_bucket(Bucket="lake-bucket")
        key = moto.user(policy, deletes=action != "s3:DeleteObject")
        moto.enforce()
        arguments = ("--namespace", "s3://lake-bucket/lake/rights", "--data-dir", str(tmp_path / "data"))
        done = Command(environment_of(moto, key))("doctor", "--server", *arguments, "--json", code=1)
        failed = [check["check"] for check in done.json["checks"] if not check["ok"]]
        assert failed == ["object store s3://lake-bucket/lake/rights"]
