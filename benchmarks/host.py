"""How fast the machine is just now. Shared ones drift by half within minutes: figures of two runs compare only so far.

Prints JSON. Nothing of Lakebed runs here.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from statistics import median

_ROUNDS = 9
_SYNCS = 200
_BLOCK = bytes(64 << 10)


def python_ms() -> float:
    """Milliseconds for a million additions, median."""
    taken = []
    for _ in range(_ROUNDS):
        total, start = 0, time.perf_counter()
        for number in range(1_000_000):
            total += number
        taken.append(time.perf_counter() - start)
    return median(taken) * 1000


def sync_ms(folder: str) -> float:
    """Milliseconds until 64 KiB more of a file are on the disk, median."""
    taken = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(_SYNCS):
            os.write(file.fileno(), _BLOCK)
            start = time.perf_counter()
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - start)
    return median(taken) * 1000


if __name__ == "__main__":
    print(json.dumps({"python_ms": python_ms(), "sync_ms": sync_ms(sys.argv[1])}))
