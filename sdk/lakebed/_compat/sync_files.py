"""Files of the sync API: plain Python files. `lakebed._compat.aio_files` has the same names."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any, TypeAlias

OpenFile: TypeAlias = IO[Any]


def open_file(make: Callable[[], IO[Any]]) -> OpenFile:
    """Open now."""
    return make()
