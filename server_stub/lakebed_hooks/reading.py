"""The reading interface of hooks: the files of both sides of a change, and how the server serves them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, Protocol

Side = Literal["candidate", "base"]
"""`candidate`: what would be published. `base`: the destination before the change."""

SIDES: Final[tuple[Side, ...]] = ("candidate", "base")

LIST_MOST: Final = 10_000
"""Maximum number of files or changes in one page of a list."""

READ_MOST: Final = 8 << 20
"""Maximum bytes of one read."""


class File(NamedTuple):
    """A file of one side."""

    path: str
    size: int


class Change(NamedTuple):
    """A path in which the sides differ. `size`: bytes of the candidate's file, 0 when it is removed."""

    path: str
    kind: Literal["added", "changed", "removed"]
    size: int


class LakeReader(Protocol):
    """Serves the files of one change to one hook. The server implements it. It cannot write.

    Methods run at the same time. They raise FileNotFoundError for a path without a file. Any other error ends the hook.
    """

    async def list(self, side: Side, prefix: str, after: str) -> Sequence[File]:
        """Files below a prefix with paths greater than `after`, in order, at most LIST_MOST. Empty: no more."""

    async def changes(self, after: str) -> Sequence[Change]:
        """Changed paths greater than `after`, in order, at most LIST_MOST. Empty: no more."""

    async def expect(self, side: Side, paths: Sequence[str]) -> None:
        """Prepare for `read` and `local` of these files, which follow soon. A path without a file is accepted."""

    async def read(self, side: Side, path: str, offset: int, length: int) -> bytes:
        """Bytes of a file, at most READ_MOST. Fewer than `length` only at the end of the file."""

    async def local(self, side: Side, path: str) -> str | None:
        """A file of this machine with the same content, or None. Only contracts may open it."""


class Snapshot(Protocol):
    """Both sides of a change, for the code of a hook. Can be read from any thread.

    Methods raise FileNotFoundError for a path without a file.
    """

    def files(self, side: Side, prefix: str) -> Iterator[File]:
        """The files below a prefix, in order of their paths."""

    def changes(self) -> Iterator[Change]:
        """The paths in which the sides differ, in order."""

    def read(self, side: Side, path: str, offset: int, length: int) -> bytes:
        """Bytes of a file. Fewer than `length` only at the end of the file."""

    def expect(self, side: Side, paths: Sequence[str]) -> None:
        """Prepare for reads of these files, which follow soon."""

    def local(self, side: Side, path: str) -> str | None:
        """A file of this machine with the same content, or None."""


def prefix_of(glob: str) -> str:
    """The longest folder that all paths of a glob are below: `orders/2026/` of `orders/2026/**/*.parquet`."""
    if "/" not in glob.rstrip("/"):
        return ""
    literal = glob.removeprefix("/")
    ends = [place for place in map(literal.find, "*?[\\") if place >= 0]
    literal = literal[: min(ends, default=len(literal.rstrip("/")))]
    return literal[: literal.rfind("/") + 1]
