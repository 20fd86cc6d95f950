"""Durations as Go writes them: `90s`, `1m`, `1h30m`, `1.5h`, `300ms`."""

from __future__ import annotations

import re
from typing import Final

_UNITS: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{0,12})?|\.[0-9]{1,12})(ns|us|µs|μs|ms|s|m|h)")
_LONGEST: Final = 64


def seconds(text: str) -> float:
    """Return the seconds of a duration. Raises ValueError. `1m30s` -> 90.0."""
    total, place = 0.0, 0
    if len(text) > _LONGEST:
        raise ValueError(f"the duration has {len(text)} characters, at most {_LONGEST}")
    while place < len(text):
        part = _PART.match(text, place)
        if part is None:
            break
        total += float(part[1]) * _UNITS[part[2]]
        place = part.end()
    if not text or place < len(text):
        raise ValueError(f"expected a duration with units, such as 90s, 1m or 1h30m, got {text!r}")
    return total
