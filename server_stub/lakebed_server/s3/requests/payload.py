"""The body of a request, and the promises about it. Nothing of it may be kept before they are checked.

`signatures` records how the body is signed. The headers contain the other promises.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from lakebed_server.http.body import RequestBody
from lakebed_server.s3.requests.aws_chunked import ChunkDecoder, ChunkSigner
from lakebed_server.s3.requests.checksums import ALGORITHMS, PREFIX, Checksum, decoded, encoded, promised, require_known
from lakebed_server.s3.vocabulary import S3Error

_MD5_BYTES = 16


class Content(Protocol):
    """The content, or that of `form`. Raises S3Error at its end when it does not match signature or promises."""

    def pieces(self) -> AsyncIterator[bytes]:
        """The content, which can be read once."""
        ...


class Payload:
    """The promises about a body. After it is read, `checksums` has the verified checksums, in base64."""

    __slots__ = ("_algorithm", "_checksum", "_chunked", "_length", "_md5", "_trailers", "checksums", "sha256", "signer")

    def __init__(self) -> None:
        self.sha256: bytes | None = None
        self.signer: ChunkSigner | None = None
        self.checksums: dict[str, str] = {}
        self._chunked = False
        self._length: int | None = None
        self._md5: bytes | None = None
        self._algorithm = ""
        self._checksum: bytes | None = None
        self._trailers: list[bytes] = []

    def read_headers(self, headers: Mapping[bytes, bytes], *, chunked: bool, checksums: bool) -> None:
        """Record the promises in the headers. `chunked`: the signature says so. Raises S3Error.

        Without `checksums`, the checksum headers are about something else.
        """
        self._chunked = chunked or b"aws-chunked" in headers.get(b"content-encoding", b"").lower()
        if self._chunked:
            self._length = _decoded_length(headers)
        if b"content-md5" in headers:
            self._md5 = _md5_of(headers[b"content-md5"])
        if not checksums:
            return
        found = promised(headers)
        if found is not None:
            self._algorithm, self._checksum = found
        trailers = headers.get(b"x-amz-trailer")
        if trailers is not None:
            self._trailers = [name.strip().lower() for name in trailers.split(b",")]
            self._read_trailers()
        elif found is None and b"x-amz-sdk-checksum-algorithm" in headers and b"content-md5" not in headers:
            raise S3Error(
                "InvalidRequest",
                "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer "
                "headers were found.",
            )

    def promises(self, algorithm: str) -> bool:
        """Whether the request has a checksum of this algorithm."""
        return self._algorithm == algorithm

    @property
    def length(self) -> int | None:
        """The number of bytes of the content, without the chunk framing."""
        return self._length

    async def chunks(self, body: RequestBody, form: Content | None = None) -> AsyncIterator[bytes]:
        """The content, or that of `form`. Raises S3Error at its end when it does not match signature or promises."""
        decoder = ChunkDecoder(body, self._length or 0, self.signer) if self._chunked else None
        sha256 = None if self.sha256 is None else hashlib.sha256()
        md5 = None if self._md5 is None else hashlib.md5(usedforsecurity=False)
        checksum: Checksum | None = ALGORITHMS[self._algorithm]() if self._algorithm else None
        hashes = [one for one in (sha256, md5, checksum) if one is not None]
        async for piece in (decoder or form or body).pieces():
            for one in hashes:
                one.update(piece)
            yield piece
        if sha256 is not None and self.sha256 is not None:
            _require_sha256(self.sha256, sha256.hexdigest().encode())
        if md5 is not None and md5.digest() != self._md5:
            raise S3Error("BadDigest", "The Content-MD5 you specified did not match what we received.")
        if decoder is not None and self._trailers:
            self._take_trailer(decoder.trailer)
        if checksum is not None:
            self._require_checksum(checksum)

    def _read_trailers(self) -> None:
        for name in self._trailers:
            text = name.decode("latin-1")
            if text.startswith(PREFIX):
                algorithm = text.removeprefix(PREFIX)
                require_known(algorithm)
                if self._algorithm:
                    raise S3Error("InvalidRequest", "Expecting a single x-amz-checksum- header.")
                self._algorithm = algorithm
        if not self._chunked:
            raise S3Error("InvalidRequest", "x-amz-trailer needs a body in chunks (aws-chunked).")

    def _take_trailer(self, trailer: Mapping[bytes, bytes]) -> None:
        if set(trailer) != set(self._trailers):
            raise S3Error("MalformedTrailerError", "The trailer does not match x-amz-trailer.")
        name = (PREFIX + self._algorithm).encode()
        if self._algorithm and name in trailer:
            self._checksum = decoded(self._algorithm, trailer[name])

    def _require_checksum(self, checksum: Checksum) -> None:
        raw = checksum.digest()
        if raw != self._checksum:
            raise S3Error(
                "BadDigest", f"The {self._algorithm.upper()} you specified did not match the calculated checksum."
            )
        self.checksums[self._algorithm] = encoded(raw)


def _require_sha256(promised_hex: bytes, found: bytes) -> None:
    if not hmac.compare_digest(promised_hex.lower(), found):
        raise S3Error(
            "XAmzContentSHA256Mismatch",
            "The provided 'x-amz-content-sha256' header does not match what was computed.",
            details=(
                ("ClientComputedContentSHA256", promised_hex.decode("latin-1")),
                ("S3ComputedContentSHA256", found.decode()),
            ),
        )


def _decoded_length(headers: Mapping[bytes, bytes]) -> int:
    text = headers.get(b"x-amz-decoded-content-length")
    if text is None:
        raise S3Error("MissingContentLength", "You must provide the x-amz-decoded-content-length header.")
    if not (text.isdigit() and len(text) < 20):
        raise S3Error("InvalidArgument", "x-amz-decoded-content-length must be a number of bytes.")
    return int(text)


def _md5_of(value: bytes) -> bytes:
    try:
        raw = base64.b64decode(value.strip(), validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != _MD5_BYTES:
        raise S3Error("InvalidDigest", "The Content-MD5 you specified was invalid.")
    return raw
