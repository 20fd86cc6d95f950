"""pyarrow opens a file in two steps, `isfile` and `open`: what the first one found is what the second one opens.

Nothing of a branch is remembered between two calls of anybody; but those two are one call of `FSSpecHandler`, and
asking the server twice for each file of a data set takes longer than reading it. So the thread's stack is asked: only
the very call that asked `isfile` gets the answer for its `open`.
"""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Generic, TypeVar

T = TypeVar("T")

_STEPS = ("open_input_file", "open_input_stream")


class OneLook(threading.local, Generic[T]):
    """The last answer to such a call, in each thread."""

    _held: tuple[FrameType, str, T] | None = None

    def keep(self, path: str, asker: FrameType, found: T) -> None:
        """Keep an answer for the rest of the call that asked."""
        self._held = (asker, path, found)

    def taken(self, path: str, asker: FrameType | None) -> T | None:
        """The answer that the same call has had for the same path; once."""
        held, self._held = self._held, None
        return held[2] if held is not None and held[0] is asker and held[1] == path else None


def caller() -> FrameType | None:
    """Who called the function that asks this. None for a caller that is no Python, as DuckDB's threads are."""
    return sys._getframe(1).f_back


def is_opening(asker: FrameType | None) -> bool:
    """Whether a caller of `isfile` is pyarrow about to open what it asks for."""
    handler = getattr(sys.modules.get("pyarrow.fs"), "FSSpecHandler", None)
    if handler is None or asker is None:
        return False
    return any(getattr(getattr(handler, name, None), "__code__", None) is asker.f_code for name in _STEPS)
