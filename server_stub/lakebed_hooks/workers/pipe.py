"""Both sides of a change, read through the pipe."""

from __future__ import annotations

from collections.abc import Iterator

from lakebed_hooks.reading import READ_MOST, Change, File, Side
from lakebed_hooks.workers.connection import Connection


class PipeSnapshot:
    """What the server serves to this process."""

    def __init__(self, connection: Connection, *, may_open: bool) -> None:
        self._connection = connection
        self._may_open = may_open

    def files(self, side: Side, prefix: str) -> Iterator[File]:
        """The files below a prefix, in order."""
        after = ""
        while page := self._connection.ask("list", side=side, prefix=prefix, after=after):
            yield from (File(*one) for one in page)
            after = page[-1][0]

    def changes(self) -> Iterator[Change]:
        """The paths in which the sides differ."""
        after = ""
        while page := self._connection.ask("changes", after=after):
            yield from (Change(*one) for one in page)
            after = page[-1][0]

    def read(self, side: Side, path: str, offset: int, length: int) -> bytes:
        """Bytes of a file. Raises FileNotFoundError."""
        parts = []
        while length > 0:
            part: bytes = self._connection.ask(
                "read", side=side, path=path, offset=offset, length=min(length, READ_MOST)
            )
            parts.append(part)
            offset += len(part)
            length = length - len(part) if len(part) == min(length, READ_MOST) else 0
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def local(self, side: Side, path: str) -> str | None:
        """A file of this machine with the same content, or None. Only contracts may ask."""
        found: str | None = self._connection.ask("local", side=side, path=path) if self._may_open else None
        return found
