"""The body of `uploadObjects`: several objects and deletions in one request. Only framing, streamed part by part.

The boundary is random for every batch. A fixed boundary could occur in the data and cut it short.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from lakebed._values.upload_source import Source

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
    """Deletions, then objects. With `commit` (JSON) first, the server commits all of them together."""

    parts: Sequence[Part]
    deletions: Sequence[str] = ()
    commit: bytes = b""
    boundary: str = field(default_factory=_new_boundary)

    @property
    def size(self) -> int | None:
        """The length of the whole body in bytes, if the length of every part is known."""
        total = len(self.opening()) + len(self.end())
        for part in self.parts:
            if part.source.size is None:
                return None
            total += len(self.head(part)) + part.source.size + 2
        return total

    @property
    def replayable(self) -> bool:
        """Whether every part can be read again."""
        return all(part.source.replayable for part in self.parts)

    def opening(self) -> bytes:
        """Everything before the objects: the description of the commit, and one part for each deletion."""
        return b"".join(self._opening())

    def _opening(self) -> Iterator[bytes]:
        disposition = f"--{self.boundary}\r\nContent-Disposition: form-data; name="
        if self.commit:
            yield f'{disposition}"commit"\r\nContent-Type: application/json\r\n\r\n'.encode() + self.commit + b"\r\n"
        for path in self.deletions:
            yield f'{disposition}"delete"\r\n\r\n{quote(path, safe="")}\r\n'.encode()

    def head(self, part: Part) -> bytes:
        """The bytes before the content of an object. A line break follows the content."""
        disposition = f'form-data; name="content"; filename="{quote(part.path, safe="")}"'
        return (
            f"--{self.boundary}\r\nContent-Disposition: {disposition}\r\nContent-Type: {part.content_type}\r\n\r\n"
        ).encode()

    def end(self) -> bytes:
        """The closing boundary."""
        return f"--{self.boundary}--\r\n".encode()
