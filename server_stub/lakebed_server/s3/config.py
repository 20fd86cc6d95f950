"""The configuration of the S3 gateway, read from settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lakebed_server.network.listeners import read_address
from lakebed_server.settings.listeners import S3GatewaySettings
from lakebed_server.vocabulary import SettingError


class Alias(NamedTuple):
    """The ref that a bucket is bound to. The keys of such a bucket are paths."""

    repo: str
    ref: str


@dataclass(frozen=True, slots=True)
class S3Config:
    """`listen`: host and port on which all requests are S3. `port`: the port that was opened. `domains`: the gateway's
    hosts. `aliases`: buckets bound to refs. `namespace`: the storage namespace below which CreateBucket makes
    repositories. If it is empty, CreateBucket is refused. `signature_v2`: whether Signature Version 2 is accepted.
    `unsigned_payload`: whether a body without a signature is accepted: `always`, or only over `https`.
    """

    listen: tuple[str, int] | None = None
    port: int | None = None
    domains: tuple[str, ...] = ()
    region: str = "us-east-1"
    aliases: Mapping[str, Alias] = field(default_factory=dict)
    namespace: str = ""
    signature_v2: bool = True
    unsigned_payload: str = "always"


def read_config(given: S3GatewaySettings, port: int | None = None) -> S3Config:
    """The gateway's settings. `port`: the port of its own listener, if it has one. Raises SettingError."""
    return S3Config(
        domains=read_domains(given.domain),
        region=given.region,
        aliases=read_aliases(given.aliases),
        namespace=given.namespace,
        listen=read_listen(given.listen),
        port=port,
        signature_v2=given.signature_v2,
        unsigned_payload=given.unsigned_payload,
    )


def read_listen(text: str) -> tuple[str, int] | None:
    """Parse host and port, for example `0.0.0.0:9000` or `[::1]:9000`. None for an empty text. Raises SettingError."""
    return read_address("gateway.s3.listen", text)


def read_aliases(text: str) -> dict[str, Alias]:
    """Parse aliases, for example `sales-main=sales/main, old=sales/v1`. Raises SettingError."""
    aliases = {}
    for one in filter(None, (part.strip() for part in text.split(","))):
        bucket, _, target = one.partition("=")
        repo, _, ref = target.strip().partition("/")
        if not (bucket.strip() and repo and ref):
            raise SettingError(f"gateway.s3.aliases: expected bucket=repository/ref, got {one!r}")
        aliases[bucket.strip()] = Alias(repo, ref)
    return aliases


def read_domains(text: str) -> tuple[str, ...]:
    """Parse host names, for example `s3.example.com, localhost`."""
    return tuple(part.strip().lower() for part in text.split(",") if part.strip())
