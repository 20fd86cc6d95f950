"""Both sides of a change, read through the pipe."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final

from lakebed_hooks.reading import READ_MOST, Change, File, Side
from lakebed_hooks.workers import wire
from lakebed_hooks.workers.connection import Connection

_LOCALS_MOST: Final = 10_000


class PipeSnapshot:
    """The files that the server serves to this process."""

    def __init__(self, connection: Connection, *, may_open: bool) -> None:
        self._connection = connection
        self._may_open = may_open
        self._locals: dict[tuple[Side, str], str | None] = {}

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
        self._connection.progress.note(path)
        if (local := self.local(side, path)) is not None:
            file = os.open(local, os.O_RDONLY | os.O_CLOEXEC)
            try:
                return os.pread(file, length, offset)
            finally:
                os.close(file)
        parts = []
        while length > 0:
            part: bytes = self._connection.ask(
                "read", side=side, path=path, offset=offset, length=min(length, READ_MOST)
            )
            parts.append(part)
            offset += len(part)
            length = length - len(part) if len(part) == min(length, READ_MOST) else 0
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def expect(self, side: Side, paths: Sequence[str]) -> None:
        """Find out which of these files are on this machine, in few requests."""
        if not self._may_open:
            return
        if len(self._locals) > _LOCALS_MOST:
            self._locals.clear()
        for first in range(0, len(paths), wire.PATHS_MOST):
            some = paths[first : first + wire.PATHS_MOST]
            found = self._connection.ask("locals", side=side, paths=some)
            self._locals.update(zip(((side, path) for path in some), found, strict=True))

    def local(self, side: Side, path: str) -> str | None:
        """A file of this machine with the same content, or None. Only contracts may use it."""
        if self._may_open and (side, path) not in self._locals:
            self.expect(side, [path])
        return self._locals.get((side, path))
