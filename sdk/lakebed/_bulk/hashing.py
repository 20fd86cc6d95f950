"""The checksum of local files."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

_MD5 = re.compile(r"[0-9a-f]{32}")


def is_md5(checksum: str) -> bool:
    """Whether a checksum of the lake is the MD5 of the content. That of an object in several parts is not."""
    return _MD5.fullmatch(checksum) is not None


def md5_of(file: Path) -> str:
    """The hex MD5 of a file's content. Raises OSError."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
