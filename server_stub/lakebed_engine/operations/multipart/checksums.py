"""Calculates the checksum of an object from those of its parts. Pure functions.

There are two kinds, as clients of S3 send them. A composite checksum is the checksum of the joined raw checksums of
the parts, with their number: `base64-N`. A full-object checksum can be calculated from the parts only for CRCs. A CRC
is linear: that of `a` and `b` together is that of `a`, extended by as many zero bytes as `b` has, xor that of `b`.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

from lakebed_engine.vocabulary.checksums import LENGTHS

WHOLE: Final = {"crc32": 0xEDB88320, "crc32c": 0x82F63B78, "crc64nvme": 0x9A6C9329AC4BC9B5}
"""The reflected polynomials of the CRCs that support full-object checksums."""

_HASHES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "sha1": lambda data: hashlib.sha1(data, usedforsecurity=False).digest(),
    "sha256": lambda data: hashlib.sha256(data).digest(),
    "sha512": lambda data: hashlib.sha512(data).digest(),
    "md5": lambda data: hashlib.md5(data, usedforsecurity=False).digest(),
    "xxhash64": lambda data: bytes(_xxhash().compute_xxhash64(data)),
    "xxhash3": lambda data: bytes(_xxhash().compute_xxhash3_64(data)),
    "xxhash128": lambda data: bytes(_xxhash().compute_xxhash3_128(data)),
}


def _xxhash() -> Any:
    from awscrt.checksums import XXHash  # imported at the first use, because the import takes 0.1 s

    return XXHash


def of_parts(algorithm: str, sums: Sequence[str]) -> str:
    """The composite checksum of the parts, as `base64-N`."""
    data = b"".join(base64.b64decode(one) for one in sums)
    return f"{base64.b64encode(_sum(algorithm, data)).decode()}-{len(sums)}"


def of_whole(algorithm: str, sums: Sequence[str], sizes: Sequence[int]) -> str:
    """The CRC of the content, from the CRCs and sizes in bytes of its parts."""
    bits = LENGTHS[algorithm] * 8
    total = 0
    for one, size in zip(sums, sizes, strict=True):
        total = _carried(total, size, WHOLE[algorithm], bits) ^ int.from_bytes(base64.b64decode(one), "big")
    return base64.b64encode(total.to_bytes(bits // 8, "big")).decode()


def _sum(algorithm: str, data: bytes) -> bytes:
    if algorithm in _HASHES:
        return _HASHES[algorithm](data)
    if algorithm == "crc32":
        return zlib.crc32(data).to_bytes(4, "big")
    length = LENGTHS[algorithm]
    return _crc(data, WHOLE[algorithm], length * 8).to_bytes(length, "big")


def _crc(data: bytes, polynomial: int, bits: int) -> int:
    """Bit by bit: the input is only the checksums of the parts."""
    ones = (1 << bits) - 1
    value = ones
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (polynomial if value & 1 else 0)
    return value ^ ones


def _carried(value: int, zeros: int, polynomial: int, bits: int) -> int:
    """A CRC, extended by this number of zero bytes."""
    return _times(value, _factor(zeros, polynomial, bits), polynomial, bits) if value else 0


@lru_cache(1000)
def _factor(zeros: int, polynomial: int, bits: int) -> int:
    """x^(8 zeros) modulo the polynomial. Cached, because most parts of an object have the same size."""
    factor, step = 1 << (bits - 1), 0  # reflected: x^0
    while zeros:
        if zeros & 1:
            factor = _times(factor, _square(step, polynomial, bits), polynomial, bits)
        zeros, step = zeros >> 1, step + 1
    return factor


@lru_cache(1000)
def _square(step: int, polynomial: int, bits: int) -> int:
    """x^(8 * 2^step) modulo the polynomial."""
    if not step:
        return 1 << (bits - 9)
    root = _square(step - 1, polynomial, bits)
    return _times(root, root, polynomial, bits)


def _times(one: int, other: int, polynomial: int, bits: int) -> int:
    """The product of two polynomials modulo a third, all reflected."""
    product = 0
    for bit in range(bits - 1, -1, -1):
        if other >> bit & 1:
            product ^= one
        one = (one >> 1) ^ (polynomial if one & 1 else 0)
    return product
