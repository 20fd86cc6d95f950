"""Whether a client runs on this machine: it must prove it, since a proxy or a tunnel ends on this machine as well.

The proof is made from the number that Linux draws for each start of the machine: every process of the machine can read
it, and no other machine knows it. The SDK makes the same (`lakebed._http.loopback`); openapi.yaml describes it.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

HEADER: Final = b"x-lakebed-machine"
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


@cache
def proof() -> bytes:
    """What a client of this machine sends in `HEADER`; empty where the system has no such number."""
    try:
        number = _BOOT_ID.read_bytes().strip()
    except OSError:
        return b""
    return hashlib.sha256(b"lakebed machine " + number).hexdigest().encode()


def proves(sent: bytes | None) -> bool:
    """Whether a header is the proof."""
    return bool(sent) and sent == proof()
