"""The checksum of an object that a client of S3 sent, as its entry stores it. Pure.

It is in reserved keys of the entry's metadata, which the REST API does not show. It is not part of the entry's
identity: the same bytes with another checksum, or without one, are the same content.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from lakebed_format import CHECKSUM_KEYS

LENGTHS: Final = {
    "crc32": 4,
    "crc32c": 4,
    "crc64nvme": 8,
    "sha1": 20,
    "sha256": 32,
    "sha512": 64,
    "md5": 16,
    "xxhash64": 8,
    "xxhash3": 8,
    "xxhash128": 16,
}
"""The length in bytes of a checksum of each algorithm."""

CHECKSUM: Final = CHECKSUM_KEYS
"""The key of the checksum. Example: `crc32 FULL_OBJECT yZRlqg==`."""
PART_CHECKSUMS: Final = f"{CHECKSUM_KEYS}-parts"
"""The key of the checksums of the parts: their bytes, joined, in base64."""
SIZES: Final = "::s3::parts"
"""The key of the sizes of the parts. Example: `7x8388608,1x1000`."""
KEPT: Final = (CHECKSUM, PART_CHECKSUMS, SIZES)
"""The keys that describe the bytes. They stay when a client replaces the metadata."""

MOST_PARTS_TEXT: Final = 16_384
"""The largest number of characters of `PART_CHECKSUMS`: 3,072 parts with CRC32, 192 with SHA512. More are not kept."""

WHOLE, COMPOSITE = "FULL_OBJECT", "COMPOSITE"


class ObjectChecksum(NamedTuple):
    """A checksum in base64. `kind` is FULL_OBJECT, or COMPOSITE: that of the checksums of the parts, as `base64-N`.

    `parts` are the checksums of the parts, empty if they are not kept.
    """

    algorithm: str
    kind: str
    value: str
    parts: Sequence[str] = ()

    def metadata(self) -> dict[str, str]:
        """The reserved metadata of an entry with this checksum."""
        found = {CHECKSUM: f"{self.algorithm} {self.kind} {self.value}"}
        joined = base64.b64encode(b"".join(base64.b64decode(one) for one in self.parts)).decode()
        if self.parts and len(joined) <= MOST_PARTS_TEXT:
            found[PART_CHECKSUMS] = joined
        return found


def checksum_of(metadata: Mapping[str, str]) -> ObjectChecksum | None:
    """The checksum in the metadata of an entry. None without one: any client may have written the metadata."""
    words = metadata.get(CHECKSUM, "").split(" ")
    if len(words) != 3 or words[0] not in LENGTHS or words[1] not in (WHOLE, COMPOSITE):
        return None
    algorithm, kind, value = words
    number = value.partition("-")[2]
    if (kind == COMPOSITE) != (number.isascii() and number.isdigit()):
        return None
    length = LENGTHS[algorithm]
    if len(_bytes(value.partition("-")[0])) != length:
        return None
    raw = _bytes(metadata.get(PART_CHECKSUMS, ""))
    if len(raw) % length:
        raw = b""
    parts = [base64.b64encode(raw[start : start + length]).decode() for start in range(0, len(raw), length)]
    return ObjectChecksum(algorithm, kind, value, parts)


def kept(metadata: Mapping[str, str]) -> dict[str, str]:
    """The metadata that describes the bytes of an object, and that its users do not see."""
    return {key: metadata[key] for key in KEPT if key in metadata}


def shown(metadata: Mapping[str, str]) -> Mapping[str, str]:
    """The metadata without the keys of `kept`."""
    if not any(key in metadata for key in KEPT):
        return metadata
    return {key: value for key, value in metadata.items() if key not in KEPT}


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
