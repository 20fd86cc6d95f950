"""Prints where `make test` keeps what its tests write: a directory in memory, or nothing, where there is no room.

    TMPDIR=$(python tools/scratch.py)

Hundreds of servers start over empty directories and sync every write: on a disk that takes minutes of waiting. In
memory the same calls are made, and none waits. The standard library only: it runs before anything is installed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

MEMORY = Path("/dev/shm")
FREE_THERE = 4 << 30
FREE_IN_ALL = 10 << 30
"""Bytes. The files of tests share this memory with the tests themselves, servers and Spark."""


def available(meminfo: str) -> int:
    """Bytes of memory that programs may still take, by the text of /proc/meminfo; 0 where it does not say."""
    for line in meminfo.splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    return 0


def scratch(memory: Path = MEMORY, meminfo: Path = Path("/proc/meminfo")) -> Path | None:
    """A directory of this user's in memory, made if need be; None where there is none, or too little room."""
    if not (memory.is_dir() and os.access(memory, os.W_OK) and meminfo.is_file()):
        return None
    found = os.statvfs(memory)
    if found.f_bavail * found.f_frsize < FREE_THERE or available(meminfo.read_text()) < FREE_IN_ALL:
        return None
    place = memory / f"lakebed-{os.getuid()}"
    place.mkdir(mode=0o711, exist_ok=True)  # PostgreSQL runs as another user, and passes through
    return place if place.stat().st_uid == os.getuid() else None


if __name__ == "__main__":
    sys.stdout.write(str(scratch() or ""))
