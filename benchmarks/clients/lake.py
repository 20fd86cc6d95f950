"""One Lakebed server with data, and the clients that reach it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lakebed

from benchmarks import servers

REPOSITORY, BRANCH = "bench", "main"
MIB = 1 << 20


class Lake:
    """A running server, and its clients."""

    def __init__(self, server: servers.Server, s3_endpoint: str) -> None:
        self.credentials = server.credentials
        self.environment = {**os.environ, **server.env}
        self.s3_endpoint = s3_endpoint
        self.lake = lakebed.connect(*self.credentials)
        self.main = self.lake.repository(REPOSITORY).create(f"local://{REPOSITORY}").branch(BRANCH)

    def fill(self) -> None:
        """The objects that the rows read."""
        self.main.put_many({f"small/{number}": os.urandom(4096) for number in range(200)})
        self.main.put_many({f"many/{number % 50:02}/{number}": os.urandom(4096) for number in range(5000)})
        self.main.put("large", os.urandom(256 * MIB))
        self.main.commit("data of the benchmark")

    def lakefs_branch(self) -> Any:
        """The branch by the Python SDK of lakeFS."""
        from lakefs import Branch
        from lakefs.client import Client

        endpoint, key, secret = self.credentials
        make: Any = Client
        client = make(host=endpoint, username=key, password=secret)
        return Branch(REPOSITORY, BRANCH, client=client)

    def boto3(self) -> Any:
        """A client of the S3 gateway."""
        import boto3  # type: ignore[import-untyped]

        _, key, secret = self.credentials
        return boto3.client(
            "s3",
            endpoint_url=self.s3_endpoint,
            aws_access_key_id=key,
            aws_secret_access_key=secret,
            region_name="us-east-1",
        )

    def obstore(self, endpoint: str = "") -> Any:
        """A store of the S3 gateway, whose bucket is the repository."""
        from obstore.store import S3Store

        _, key, secret = self.credentials
        return S3Store(
            REPOSITORY,
            endpoint=endpoint or self.s3_endpoint,
            access_key_id=key,
            secret_access_key=secret,
            region="us-east-1",
            virtual_hosted_style_request=False,
            client_options={"allow_http": True},
        )

    def command(self, *words: str, **variables: str) -> None:
        """Run `lakebed` with these words. Raises CalledProcessError."""
        subprocess.run(
            [sys.executable, "-m", "lakebed.cli", *words],
            check=True,
            capture_output=True,
            env={**self.environment, **variables},
        )

    def s3fs(self, peers: Path, statement: str) -> None:
        """Run a statement with `fs`, a file system of s3fs, as a process of the environment of peers."""
        _, key, secret = self.credentials
        lines = [
            "import s3fs",
            f"fs = s3fs.S3FileSystem(key={key!r}, secret={secret!r}, endpoint_url={self.s3_endpoint!r})",
            "deep = {'recursive': True}",
            statement,
        ]
        subprocess.run([peers / "python", "-c", "\n".join(lines)], check=True, capture_output=True)


@contextmanager
def running(folder: Path) -> Iterator[Lake]:
    """A server on its embedded default, with the S3 gateway on a separate port."""
    port = servers.free_port()
    with servers.lakebed(folder / "data", LAKEBED_GATEWAY_S3_LISTEN=f"127.0.0.1:{port}") as server:
        yield Lake(server, f"http://127.0.0.1:{port}")
