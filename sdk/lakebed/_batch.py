"""The form of `uploadObjects`: several objects and deletions in one body. Pure framing, streamed part by part.

Over `_source`. The boundary is random for every batch: a fixed one could stand in the data and cut it short.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from lakebed._source import Source

MAX_PARTS = 10_000
"""The server's limit."""


@dataclass(frozen=True, slots=True)
class Part:
    """One object of a batch."""

    path: str
    source: Source
    content_type: str


def _new_boundary() -> str:
    return f"lakebed-{secrets.token_hex(16)}"


@dataclass(frozen=True, slots=True)
class Batch:
    """Deletions, then objects: a path that is deleted and written is there afterwards."""

    parts: Sequence[Part]
    deletions: Sequence[str] = ()
    boundary: str = field(default_factory=_new_boundary)

    @property
    def size(self) -> int | None:
        """The length of the whole body, when that of every part is known."""
        total = sum(len(piece) for piece in self.deletion_frames()) + len(self.end())
        for part in self.parts:
            if part.source.size is None:
                return None
            total += len(self.head(part)) + part.source.size + 2
        return total

    @property
    def replayable(self) -> bool:
        """Whether every part can be read again."""
        return all(part.source.replayable for part in self.parts)

    def deletion_frames(self) -> Iterator[bytes]:
        """A part for each deletion."""
        for path in self.deletions:
            head = f'--{self.boundary}\r\nContent-Disposition: form-data; name="delete"\r\n\r\n'
            yield f"{head}{quote(path, safe='')}\r\n".encode()

    def head(self, part: Part) -> bytes:
        """What stands before the content of an object; a line end stands behind it."""
        disposition = f'form-data; name="content"; filename="{quote(part.path, safe="")}"'
        return (
            f"--{self.boundary}\r\nContent-Disposition: {disposition}\r\nContent-Type: {part.content_type}\r\n\r\n"
        ).encode()

    def end(self) -> bytes:
        """The closing boundary."""
        return f"--{self.boundary}--\r\n".encode()
