"""Identity of an entry: what decides whether two entries are the same content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

CHECKSUM_KEYS = "::s3::checksum"
"""The beginning of the keys of metadata with the checksums that clients of S3 sent. They do not count."""


def identity(size: int, checksum: str, content_type: str, metadata: Mapping[str, str]) -> bytes:
    """The 32-byte SHA-256 over size, checksum, content type and user metadata.

    Address and mtime do not count, nor metadata whose keys begin with `::s3::checksum`: uploading the same bytes again
    is not a change. Text fields are length-prefixed
    (8 bytes, little-endian), so no two entries share an encoding; metadata goes in sorted by key.
    """
    digest = hashlib.sha256(b"lakebed/identity/1")
    digest.update(size.to_bytes(8, "little"))
    fields = [checksum, content_type]
    for key in sorted(metadata):
        if not key.startswith(CHECKSUM_KEYS):
            fields += (key, metadata[key])
    for text in fields:
        raw = text.encode()
        digest.update(len(raw).to_bytes(8, "little") + raw)
    return digest.digest()
