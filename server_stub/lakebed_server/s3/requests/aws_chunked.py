"""Bodies in Amazon's own chunks (`aws-chunked`): with or without signatures, with or without a trailer.

    400;chunk-signature=<64 hex digits>\\r\\n<1,024 bytes>\\r\\n
    0;chunk-signature=<64 hex digits>\\r\\n
    x-amz-checksum-crc32c:<base64>\\r\\n
    x-amz-trailer-signature:<64 hex digits>\\r\\n\\r\\n

The decoder passes the bytes of a chunk on before it verifies the signature, so that it needs no memory for a whole
chunk. Readers must make nothing visible before the end.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import AsyncIterator
from typing import Final

from lakebed_server.http.body import RequestBody
from lakebed_server.s3.vocabulary import S3Error

_HEAD = re.compile(rb"([0-9a-fA-F]{1,16})(?:;chunk-signature=([0-9a-f]{64}))?", re.ASCII)
_LINE_MOST: Final = 256
_TRAILER_MOST: Final = 16 << 10
_CHUNK_LEAST: Final = 8 << 10
"""The smallest number of bytes in each signed chunk but the last: the limit is S3's."""
_CHUNKS_FREE: Final = 1_000
_CHUNK_MEAN: Final = 1 << 10
"""The number of chunks that any body may have, and the average number of bytes that each further chunk must have. A
chunk takes some microseconds of the event loop, however few bytes it has. SDKs send 64 KiB to 1 MiB."""
_EMPTY: Final = hashlib.sha256(b"").hexdigest().encode()
TRAILER_SIGNATURE: Final = b"x-amz-trailer-signature"


class ChunkSigner:
    """Checks the signatures, each of which covers the one before it. `seed` is the signature of the request."""

    __slots__ = ("_key", "_previous", "_scope")

    def __init__(self, key: bytes, date: bytes, scope: bytes, seed: bytes) -> None:
        self._key = key
        self._scope = date + b"\n" + scope
        self._previous = seed

    def chunk(self, signature: bytes | None, digest: bytes) -> None:
        """Check a chunk's signature over the hex SHA-256 of its bytes. Raises S3Error: SignatureDoesNotMatch."""
        self._check(signature, b"AWS4-HMAC-SHA256-PAYLOAD", _EMPTY + b"\n" + digest)

    def trailer(self, signature: bytes | None, lines: bytes) -> None:
        """Check the trailer's signature. Raises S3Error: SignatureDoesNotMatch."""
        self._check(signature, b"AWS4-HMAC-SHA256-TRAILER", hashlib.sha256(lines).hexdigest().encode())

    def _check(self, signature: bytes | None, algorithm: bytes, rest: bytes) -> None:
        to_sign = b"\n".join((algorithm, self._scope, self._previous, rest))
        expected = hmac.digest(self._key, to_sign, "sha256").hex().encode()
        if signature is None or not hmac.compare_digest(expected, signature):
            raise S3Error(
                "SignatureDoesNotMatch", "The signature of a chunk does not match its bytes; nothing was written."
            )
        self._previous = expected


class ChunkDecoder:
    """Decodes one body of `length` decoded bytes. `trailer` is set when `pieces` has ended."""

    def __init__(self, body: RequestBody, length: int, signer: ChunkSigner | None) -> None:
        self._body = body
        self._length = length
        self._signer = signer
        self._held = b""
        self._at = 0
        self.trailer: dict[bytes, bytes] = {}

    async def pieces(self) -> AsyncIterator[bytes]:
        """The decoded bytes, as they arrive. Raises S3Error: IncompleteBody, SignatureDoesNotMatch."""
        total, last, count = 0, _CHUNK_LEAST, 0
        while True:
            size, signature = await self._head()
            count += 1
            if count > _CHUNKS_FREE + total // _CHUNK_MEAN:
                raise S3Error(
                    "InvalidChunkSizeError", f"The body has {count} chunks of less than {_CHUNK_MEAN} bytes on average."
                )
            if self._signer is not None and last < _CHUNK_LEAST and size:
                raise S3Error("InvalidChunkSizeError", f"Only the last chunk may have less than {_CHUNK_LEAST} bytes.")
            total, last = total + size, size
            if total > self._length:
                raise _incomplete("The chunks contain more bytes than x-amz-decoded-content-length says.")
            sha = None if self._signer is None else hashlib.sha256()
            left = size
            while left:
                piece = await self._take(left)
                left -= len(piece)
                if sha is not None:
                    sha.update(piece)
                yield piece
            if sha is not None and self._signer is not None:
                self._signer.chunk(signature, sha.hexdigest().encode())
            if not size:
                break
            if await self._line() != b"":
                raise _incomplete("A chunk is longer than its stated size.")
        if total < self._length:
            raise _incomplete("The chunks contain fewer bytes than x-amz-decoded-content-length says.")
        self._read_trailer(await self._rest())

    async def _head(self) -> tuple[int, bytes | None]:
        found = _HEAD.fullmatch(await self._line())
        if found is None:
            raise _incomplete("A chunk does not begin with its size in hexadecimal digits.")
        return int(found[1], 16), found[2]

    async def _line(self) -> bytes:
        while (end := self._held.find(b"\r\n", self._at)) < 0:
            if len(self._held) - self._at > _LINE_MOST:
                raise _incomplete("A chunk does not begin, or not end, where the one before says.")
            self._held, self._at = self._held[self._at :] + await self._more(), 0
        line = self._held[self._at : end]
        self._at = end + 2
        return line

    async def _take(self, most: int) -> bytes:
        if self._at == len(self._held):
            self._held, self._at = await self._more(), 0
        start, self._at = self._at, min(self._at + most, len(self._held))
        return self._held if self._at - start == len(self._held) else self._held[start : self._at]

    async def _more(self) -> bytes:
        piece = await self._body.next()
        if piece is None:
            raise _incomplete("The body ends within a chunk.")
        return piece

    async def _rest(self) -> bytes:
        rest = self._held[self._at :]
        while (piece := await self._body.next()) is not None:
            rest += piece
            if len(rest) > _TRAILER_MOST:
                break
        if len(rest) > _TRAILER_MOST:
            raise S3Error("MalformedTrailerError", f"The trailer has more than {_TRAILER_MOST} bytes.")
        return rest

    def _read_trailer(self, rest: bytes) -> None:
        """Lines end in CRLF or, as in Amazon's documentation, in LF and CRLF. Some clients begin with an empty line."""
        signed, signature = b"", None
        for line in filter(None, (one.strip() for one in rest.split(b"\n"))):
            name, colon, value = line.partition(b":")
            name, value = name.strip().lower(), value.strip()
            if not colon or name in self.trailer:
                raise S3Error("MalformedTrailerError", "The request contained trailing data that was not well-formed.")
            if name == TRAILER_SIGNATURE:
                signature = value
                continue
            self.trailer[name] = value
            signed += name + b":" + value + b"\n"
        if self._signer is not None and (signed or signature is not None):
            self._signer.trailer(signature, signed)


def _incomplete(message: str) -> S3Error:
    return S3Error("IncompleteBody", message)
