"""The checksums that S3 knows, calculated here as a reference."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Callable

from awscrt import checksums
from awscrt.checksums import XXHash

SUMS: dict[str, Callable[[bytes], bytes]] = {
    "CRC32": lambda data: zlib.crc32(data).to_bytes(4, "big"),
    "CRC32C": lambda data: checksums.crc32c(data).to_bytes(4, "big"),
    "CRC64NVME": lambda data: checksums.crc64nvme(data).to_bytes(8, "big"),
    "SHA1": lambda data: hashlib.sha1(data).digest(),
    "SHA256": lambda data: hashlib.sha256(data).digest(),
    "SHA512": lambda data: hashlib.sha512(data).digest(),
    "MD5": lambda data: hashlib.md5(data).digest(),
    "XXHASH64": XXHash.compute_xxhash64,
    "XXHASH3": XXHash.compute_xxhash3_64,
    "XXHASH128": XXHash.compute_xxhash3_128,
}

OF_BOTO3 = [name for name in SUMS if name != "MD5"]
"""boto3 calculates all but MD5. A program may send that one itself."""


def text(algorithm: str, data: bytes) -> str:
    """A checksum in base64."""
    return base64.b64encode(SUMS[algorithm](data)).decode()
