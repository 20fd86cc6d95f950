"""The checksums of S3, calculated while the bytes pass.

CRC32C, CRC64NVME and the XXHASH algorithms come from Amazon's own library, which uses the processor's instructions.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from lakebed_engine.vocabulary.checksums import LENGTHS, ObjectChecksum

from lakebed_server.s3.vocabulary import S3Error, not_implemented
from lakebed_server.vocabulary import Header


class Checksum(Protocol):
    """A running checksum."""

    def update(self, data: bytes, /) -> object:
        """Add more bytes."""
        ...

    def digest(self) -> bytes:
        """The checksum so far, big-endian."""
        ...


class _Crc:
    __slots__ = ("_next", "_size", "_value")

    def __init__(self, step: Callable[[bytes, int], int], size: int) -> None:
        self._next = step
        self._size = size
        self._value = 0

    def update(self, data: bytes) -> None:
        self._value = self._next(data, self._value)

    def digest(self) -> bytes:
        return self._value.to_bytes(self._size, "big")


def _crc32c() -> Checksum:
    from awscrt import checksums  # imported at the first use, because the import takes 0.1 s

    return _Crc(checksums.crc32c, 4)


def _crc64nvme() -> Checksum:
    from awscrt import checksums

    return _Crc(checksums.crc64nvme, 8)


class _XXHash:
    __slots__ = ("_hash",)

    def __init__(self, name: str) -> None:
        from awscrt.checksums import XXHash

        self._hash = getattr(XXHash, name)()

    def update(self, data: bytes) -> None:
        self._hash.update(data)

    def digest(self) -> bytes:
        found: bytes = self._hash.finalize()
        return found


ALGORITHMS: Final[Mapping[str, Callable[[], Checksum]]] = {
    "crc32": lambda: _Crc(zlib.crc32, 4),
    "crc32c": _crc32c,
    "crc64nvme": _crc64nvme,
    "sha1": lambda: hashlib.sha1(usedforsecurity=False),
    "sha256": lambda: hashlib.sha256(usedforsecurity=False),
    "sha512": lambda: hashlib.sha512(usedforsecurity=False),
    "md5": lambda: hashlib.md5(usedforsecurity=False),
    "xxhash64": lambda: _XXHash("new_xxhash64"),
    "xxhash3": lambda: _XXHash("new_xxhash3_64"),
    "xxhash128": lambda: _XXHash("new_xxhash3_128"),
}
"""By the suffix of the header's name, for example of `x-amz-checksum-crc32`."""

PREFIX: Final = "x-amz-checksum-"
_OTHER: Final = ("mode", "type", "algorithm")
"""Suffixes of headers with this prefix that contain no checksum."""


def promised(headers: Mapping[bytes, bytes]) -> tuple[str, bytes] | None:
    """The algorithm and value of the checksum header, if there is one.

    Raises S3Error: InvalidRequest; NotImplemented for an algorithm that the server cannot verify.
    """
    found = None
    for name, value in headers.items():
        if name.startswith(b"x-amz-checksum-"):
            algorithm = name[len(PREFIX) :].decode("latin-1")
            if algorithm in _OTHER:
                continue
            require_known(algorithm)
            if found is not None:
                raise S3Error("InvalidRequest", "Expecting a single x-amz-checksum- header.")
            found = algorithm, decoded(algorithm, value)
    return found


def require_known(algorithm: str) -> None:
    """Raises S3Error, which names the header, for an algorithm that the server cannot verify: 501."""
    if algorithm not in ALGORITHMS:
        raise not_implemented(
            f"{PREFIX}{algorithm} is not supported. The server verifies {', '.join(ALGORITHMS)}. Send one of these."
        )


def decoded(algorithm: str, value: bytes) -> bytes:
    """The bytes of a checksum that the client sent in base64. Raises S3Error: InvalidRequest."""
    try:
        raw = base64.b64decode(value.strip(), validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != LENGTHS[algorithm]:
        raise S3Error("InvalidRequest", f"Value for {PREFIX}{algorithm} header is invalid.")
    return raw


def encoded(raw: bytes) -> str:
    """A checksum in base64."""
    return base64.b64encode(raw).decode("ascii")


def as_headers(found: ObjectChecksum, value: str = "") -> tuple[Header, ...]:
    """The headers of an object's checksum, or of that of one of its parts."""
    return (
        ((PREFIX + found.algorithm).encode(), (value or found.value).encode()),
        ((PREFIX + "type").encode(), found.kind.encode()),
    )
