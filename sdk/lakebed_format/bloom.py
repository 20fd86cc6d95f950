"""Bloom filters over paths. A lookup skips a layer that certainly does not contain a path, without decoding the layer.

Pure. Ten bits a path and seven probes give about 1 % of false hits. A filter of n paths has m bits, the least multiple
of 64 that is at least 10 n. Probe i of a path is (crc32(path) + i * (crc32(path reversed) | 1)) mod m, over the bytes
of its UTF-8. Bit b is bit b mod 8, from the least, of byte b div 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

BITS_A_PATH: Final = 10
PROBES: Final = 7


def make_bloom(paths: Sequence[str] | pa.Array | pa.ChunkedArray) -> bytes:
    """The filter of these paths; a column of them takes half the time."""
    column = paths if isinstance(paths, pa.Array | pa.ChunkedArray) else pa.array(paths, pa.string())
    raw = column.cast(pa.binary())
    bits = max(64, -(-BITS_A_PATH * len(raw) // 64) * 64)
    first = _hashes(raw)
    step = _hashes(pc.binary_reverse(raw)) | np.uint64(1)
    table = np.zeros(bits, dtype=bool)
    for probe in range(PROBES):
        table[(first + np.uint64(probe) * step) % np.uint64(bits)] = True
    return np.packbits(table, bitorder="little").tobytes()


def _hashes(raw: pa.Array | pa.ChunkedArray) -> Any:
    return np.fromiter(map(crc32, raw.to_pylist()), dtype=np.uint64, count=len(raw))


def is_bloom(found: bytes) -> bool:
    """Whether these bytes are a filter: whole words of 64 bits, and at least one."""
    return len(found) > 0 and len(found) % 8 == 0


def may_hold(bloom: bytes, path: str) -> bool:
    """Return False when the path is certainly not in the filter."""
    raw = path.encode()
    bits = 8 * len(bloom)
    first, step = crc32(raw), crc32(raw[::-1]) | 1
    for probe in range(PROBES):
        bit = (first + probe * step) % bits
        if not bloom[bit >> 3] >> (bit & 7) & 1:
            return False
    return True
