"""The target of these tests' clients: an endpoint, a key pair, a bucket, and the prefix of each path in a key.

    target.boto().put_object(Bucket=target.bucket, Key=target.key("orders/a.csv"), Body=b"1")

The same tests hold for a bucket that is a repository (keys begin with `main/`) and for a bucket that is
bound to a branch.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, replace
from typing import Any

import boto3  # type: ignore[import-untyped]
from botocore.config import Config  # type: ignore[import-untyped]

REGION = "us-east-1"
PATIENCE = 120


@dataclass(frozen=True)
class Target:
    """`prefix` is empty, or ends in a slash."""

    endpoint: str
    access_key_id: str
    secret_access_key: str
    bucket: str
    prefix: str

    @property
    def address(self) -> str:
        """The endpoint without its scheme."""
        return self.endpoint.removeprefix("http://")

    def key(self, path: str) -> str:
        """The key of a path."""
        return self.prefix + path

    def url(self, path: str = "") -> str:
        """The address of a path as most tools write it."""
        return f"s3://{self.bucket}/{self.prefix}{path}"

    def at(self, ref: str) -> Target:
        """The same bucket at another ref."""
        return replace(self, prefix=f"{ref}/")

    def boto(self, *, service: str = "s3", **config: Any) -> Any:
        """A client of boto3 that tries once."""
        options: dict[str, Any] = {"s3": {"addressing_style": "path"}, "retries": {"max_attempts": 1}, **config}
        return boto3.client(
            service,
            endpoint_url=self.endpoint,
            aws_access_key_id=self.access_key_id,
            aws_secret_access_key=self.secret_access_key,
            region_name=REGION,
            config=Config(**options),
        )

    @property
    def environment(self) -> dict[str, str]:
        """What a tool that reads AWS's variables needs, and none of this machine's own."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "LAKEBED_", "PYTHON"))}
        return {
            **kept,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.access_key_id,
            "AWS_SECRET_ACCESS_KEY": self.secret_access_key,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_PAGER": "",
        }

    def run(self, *command: object, code: int = 0, typed: str = "", variables: dict[str, str] | None = None) -> str:
        """What a command prints; `typed` is its input. Fails with what it said when it ends with another code."""
        words = [str(word) for word in command]
        environment = {**self.environment, **(variables or {})}
        done = subprocess.run(
            words, env=environment, input=typed, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == code, f"{words} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done.stdout if code == 0 else done.stdout + done.stderr
