"""The sizes of the parts that an object was sent in, kept with its entry: who reads it by part number gets those parts.

Pure. In the metadata, because nothing else of an entry survives commits; a run of equal parts is told once:
`7x8388608,1x1000`. What would be longer than MOST characters is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

KEY = "::s3::parts"
"""The gateway reads it."""

MOST = 1024


def with_sizes(metadata: dict[str, str], sizes: Sequence[int]) -> dict[str, str]:
    """The metadata, and the sizes of two or more parts."""
    told = ",".join(f"{len(list(run))}x{size}" for size, run in groupby(sizes))
    return metadata if len(sizes) < 2 or len(told) > MOST else metadata | {KEY: told}
