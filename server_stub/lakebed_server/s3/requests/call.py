"""One request of the S3 API: its address, its user and its verified body. `gateway` creates it. An operation reads it
and returns a Reply.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from typing import Final
from urllib.parse import unquote_to_bytes

from lakebed_engine.engine import Engine

from lakebed_server.bounds.admission import Room
from lakebed_server.http.request import Call
from lakebed_server.s3.config import S3Config
from lakebed_server.s3.requests.addressing import Address, bucket_of_host, parse
from lakebed_server.s3.requests.payload import Content, Payload
from lakebed_server.s3.vocabulary import Pair, S3Error, invalid_argument
from lakebed_server.vocabulary import RequestError, Scope

_EVEN_EMPTY: Final = re.compile(rb"x-amz-(meta|checksum)-.*|content-md5|x-amz-copy-source")
"""Headers whose empty value means something: an empty text in user metadata, otherwise an error, as for Amazon."""


class S3Call:
    """One request. `headers` have lower-case names. `query` is decoded, and has the last of repeated parameters.

    In a form upload, `form` is the file and `form_fields` are the other fields, which replace headers.
    """

    __slots__ = (
        "address", "base", "config", "form", "form_fields", "headers", "in_host", "pairs", "payload", "query",
        "raw_query", "room",
    )  # fmt: skip

    def __init__(self, base: Call, scope: Scope, config: S3Config) -> None:
        self.base = base
        self.config = config
        self.headers = base.headers if len(base.headers) == len(scope["headers"]) else _joined(scope["headers"])
        self.raw_query: bytes = scope["query_string"]
        self.pairs = split_query(self.raw_query)
        self.query: Mapping[str, str] = {}
        self.address = Address("", "", "", "", "")
        self.in_host = False  # whether the Host header names the bucket
        self.payload = Payload()
        self.form: Content | None = None
        self.form_fields: Mapping[str, str] = {}
        self.room: Room | None = None  # the room of an expensive operation

    def read(self) -> None:
        """Parse the address. Raises S3Error: InvalidURI."""
        self.query = query_of(self.pairs)
        bucket = bucket_of_host(self.headers.get(b"host", b""), self.config)
        self.in_host = bool(bucket)
        self.address = parse(self.base.path, bucket, self.config)

    def read_payload(self, *, chunked: bool) -> None:
        """Record what the headers promise about the body, once the signature is checked. Raises S3Error.

        From here on, headers without a value are absent: older clients send some so (`x-amz-acl:`).
        """
        self.headers = _with_values(self.headers)
        if self.method in ("GET", "HEAD"):
            return  # no operation reads their body
        # the checksum of a CompleteMultipartUpload is the object's, not that of its XML
        ours = not (self.method == "POST" and "uploadId" in self.query)
        self.payload.read_headers(self.headers, chunked=chunked, checksums=ours)

    def accept_unsigned(self) -> None:
        """Record that the signature does not cover the body. Raises S3Error if the settings refuse that."""
        if self.config.unsigned_payload == "https" and not self.base.https and not self.base.body.finished:
            raise S3Error(
                "AccessDenied",
                "This server accepts a body that is not signed over HTTPS only (gateway.s3.unsigned_payload): "
                "use HTTPS, or sign the payload.",
            )

    @property
    def engine(self) -> Engine:
        """The engine."""
        return self.base.services.engine

    @property
    def user(self) -> str:
        """The name of the user."""
        return self.base.user

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self.base.method

    @property
    def bucket(self) -> str:
        """The bucket as the client names it."""
        return self.address.bucket

    @property
    def key(self) -> str:
        """The key as the client names it."""
        return self.address.key

    @property
    def repo(self) -> str:
        """The repository."""
        return self.address.repo

    @property
    def ref(self) -> str:
        """The ref. For writes it must be a branch or a workspace."""
        return self.address.ref

    @property
    def path(self) -> str:
        """The object's path in the ref."""
        return self.address.path

    @property
    def resource(self) -> str:
        """The name of the resource in answers: `/bucket/key`."""
        return f"/{self.bucket}/{self.key}" if self.key else f"/{self.bucket}"

    @property
    def length(self) -> int | None:
        """The number of bytes of the content, if the client states it."""
        return self.base.body.length if self.payload.length is None else self.payload.length

    def chunks(self) -> AsyncIterator[bytes]:
        """The content, which can be read once. Raises S3Error at its end when it is not what was signed or promised."""
        return self.payload.chunks(self.base.body, self.form)

    async def whole(self, limit: int) -> bytes:
        """The whole content, for XML. Raises S3Error when it has more than `limit` bytes or is not what was signed."""
        data = bytearray()
        async for chunk in self.chunks():
            data += chunk
            if len(data) > limit:
                raise S3Error("EntityTooLarge", f"The request body is longer than {limit} bytes.")
        return bytes(data)

    def header(self, name: bytes) -> str:
        """A header as text, or an empty text."""
        value = self.headers.get(name)
        return "" if value is None else value.decode("latin-1").strip()

    def number(self, name: str, default: int, most: int = 1 << 31) -> int:
        """A whole number in the query, from 0 to `most`. Raises S3Error: InvalidArgument."""
        text = self.query.get(name)
        if not text:
            return default
        if not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) <= most):
            raise invalid_argument(f"Argument {name} must be an integer between 0 and {most}.")
        return int(text)


def split_query(raw: bytes) -> list[Pair]:
    """The names and values of a query string, decoded as bytes. A plus sign is a space."""
    if not raw:
        return []
    return [
        (_decode(name), _decode(value)) for name, _, value in (part.partition(b"=") for part in raw.split(b"&") if part)
    ]


def query_of(pairs: list[Pair]) -> dict[str, str]:
    """The query as text. Raises S3Error: InvalidURI."""
    try:
        return {name.decode(): value.decode() for name, value in pairs}
    except UnicodeDecodeError:
        raise S3Error("InvalidURI", "Couldn't parse the specified URI: its query is not UTF-8.") from None


def _decode(raw: bytes) -> bytes:
    if b"+" in raw:
        raw = raw.replace(b"+", b" ")
    return unquote_to_bytes(raw) if b"%" in raw else raw


def _with_values(headers: Mapping[bytes, bytes]) -> Mapping[bytes, bytes]:
    """The headers without the empty ones, but for those whose empty value means something."""
    if all(map(bytes.strip, headers.values())):
        return headers
    return {name: value for name, value in headers.items() if value.strip() or _EVEN_EMPTY.fullmatch(name)}


def _joined(headers: list[Pair]) -> dict[bytes, bytes]:
    """Join repeated headers, as HTTP requires. Headers about the length of the body must not be repeated."""
    joined: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in joined and name in (b"content-length", b"host", b"authorization"):
            raise RequestError("invalid_request", f"the header {name.decode()} occurs twice")
        joined[name] = joined[name] + b"," + value if name in joined else value
    return joined
