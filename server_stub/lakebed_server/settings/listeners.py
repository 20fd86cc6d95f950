"""Settings of the listeners: addresses, TLS, trusted proxies, and the gateway for S3 clients."""

from __future__ import annotations

from dataclasses import dataclass, field

from lakebed_server.settings.kinds import FLAG, TEXT, choice, integer, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSettings:
    """TLS of the listeners."""

    certificate: str = setting(
        "",
        TEXT,
        "PEM file of the certificate and its chain, also for `gateway.s3.listen`; SIGHUP reloads it; empty: no TLS",
    )
    key: str = setting("", TEXT, "PEM file of the private key; empty: the key is in the certificate file")
    key_password: str = setting("", TEXT, "password of the private key, if it is encrypted", secret=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenSettings:
    """Where the server listens."""

    host: str = setting("127.0.0.1", TEXT, "address to listen on; 0.0.0.0 for all interfaces")
    port: int = setting(8000, integer(0, 65535), "port to listen on; 0 for any free port")
    trusted_proxies: str = setting(
        "",
        TEXT,
        "addresses and networks of proxies, separated by commas; the server trusts their `X-Forwarded-For`, "
        "`X-Forwarded-Proto` and `Forwarded`; empty: no proxy, not even on this machine",
    )
    tls: TlsSettings = field(default_factory=TlsSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class S3GatewaySettings:
    """The S3 gateway for clients that use the S3 API."""

    listen: str = setting(
        "", TEXT, "address and port of a listener for S3 requests only, such as 0.0.0.0:9000; empty: none"
    )
    domain: str = setting(
        "",
        TEXT,
        "host names of the gateway, separated by commas; a label before one is the bucket (sales.s3.example.com)",
    )
    region: str = setting(
        "us-east-1", TEXT, "region that the gateway reports for buckets; it accepts signatures for any region"
    )
    aliases: str = setting("", TEXT, "further buckets, each bound to a ref: bucket=repository/ref, separated by commas")
    namespace: str = setting(
        "",
        TEXT,
        "storage namespace in which CreateBucket creates repositories; empty: CreateBucket and DeleteBucket are "
        "disabled",
    )
    signature_v2: bool = setting(
        True, FLAG, "accept Signature Version 2, which older clients use; it does not sign bodies"
    )
    unsigned_payload: str = setting(
        "always",
        choice("always", "https"),
        "where to accept bodies that the signature does not cover: always, or over https only",
    )
    directory_marks: str = setting(
        "drop",
        choice("drop", "keep"),
        "empty objects `orders/` of type application/x-directory: drop omits them from commits, keep commits them",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySettings:
    """Other interfaces than the REST API."""

    s3: S3GatewaySettings = field(default_factory=S3GatewaySettings)
