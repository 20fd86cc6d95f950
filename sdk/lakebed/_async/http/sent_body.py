"""A request body while it is sent: its length is checked, and an error of its source is remembered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from lakebed._http import retry
from lakebed._values.wire import Call


class LengthChanged(Exception):
    """The source has more or fewer bytes than it said before the request."""


class SentBody:
    """The pieces of one body. HTTP libraries hide the error of a source behind their own: `error` keeps it."""

    def __init__(self, source: AsyncIterator[bytes], size: int | None) -> None:
        self._source = source
        self._size = size
        self.error: Exception | None = None

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body. Raises LengthChanged before the server gets a byte too many, or after a byte too few."""
        sent = 0
        try:
            async for piece in self._source:
                sent += len(piece)
                if self._size is not None and sent > self._size:
                    raise LengthChanged
                yield piece
            if self._size is not None and sent < self._size:
                raise LengthChanged
        except Exception as error:
            self.error = error
            raise


def source_error(call: Call[Any], error: Exception) -> Exception:
    """The error to raise when the source of a body fails: of this call if the length is wrong, else its own."""
    return retry.length_changed(call) if isinstance(error, LengthChanged) else error
