"""Parses the address of a request: bucket and key from host and path, and what they mean. Pure functions.

A bucket is a repository, and a key is `<ref>/<path>`. Aliases and `<repository>.<ref>` are buckets that are bound to a
ref, and their keys are paths.
"""

from __future__ import annotations

from typing import Literal, NamedTuple
from urllib.parse import unquote_to_bytes

from lakebed_server.s3.config import S3Config
from lakebed_server.s3.vocabulary import S3Error

Level = Literal["service", "bucket", "object"]


class Address(NamedTuple):
    """`ref` and `path` are empty if the key has none. `start` is the part of a key before its path."""

    bucket: str
    key: str
    repo: str
    ref: str
    path: str
    bound: bool = False

    @property
    def level(self) -> Level:
        """The level of a request: service, bucket or object."""
        if not self.bucket:
            return "service"
        return "object" if self.key else "bucket"

    @property
    def start(self) -> str:
        """The part before the path in each key of this ref."""
        return "" if self.bound else f"{self.ref}/"


def bucket_of_host(host: bytes, config: S3Config) -> str:
    """The bucket that a Host header names before one of the domains. Empty when the bucket is in the path."""
    if not config.domains:
        return ""
    name = host_name(host)
    for domain in config.domains:
        if name.endswith("." + domain):
            return name[: -len(domain) - 1]
    return ""


def is_domain(host: bytes, config: S3Config) -> bool:
    """Whether a Host header is one of the domains, or below one."""
    name = host_name(host)
    return any(name == domain or name.endswith("." + domain) for domain in config.domains)


def host_name(host: bytes) -> str:
    """A Host header without its port, in lower case."""
    name = host.decode("latin-1").lower()
    if name.startswith("["):
        return name
    return name.partition(":")[0]


def parse(raw_path: bytes, host_bucket: str, config: S3Config) -> Address:
    """Parse a raw path. Raises S3Error: InvalidURI for a path that is not UTF-8."""
    if host_bucket:
        return locate(host_bucket, unescape(raw_path[1:]), config)
    bucket, _, key = raw_path[1:].partition(b"/")
    return locate(unescape(bucket), unescape(key), config)


def locate(bucket: str, key: str, config: S3Config) -> Address:
    """The address of a bucket and a key."""
    alias = config.aliases.get(bucket)
    if alias is not None:
        return Address(bucket, key, alias.repo, alias.ref, key, bound=True)
    repo, dot, bound = bucket.partition(".")
    if dot:
        return Address(bucket, key, repo, bound, key, bound=True)
    ref, _, path = key.partition("/")
    return Address(bucket, key, repo, ref, path)


def unescape(raw: bytes) -> str:
    """Percent-decode once, as UTF-8. A plus sign stays a plus sign."""
    try:
        return (unquote_to_bytes(raw) if b"%" in raw else raw).decode()
    except UnicodeDecodeError:
        raise S3Error("InvalidURI", "Couldn't parse the specified URI: it is not UTF-8.") from None
