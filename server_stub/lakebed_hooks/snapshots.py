"""Snapshots of a folder and of bytes in memory, and files of any snapshot. The tests of users use them."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from lakebed_hooks.reading import READ_MOST, Change, File, Side, Snapshot

_AHEAD: Final = 1 << 20
"""Minimum bytes of a read, because the next read often continues there."""


class FilesSnapshot:
    """Both sides as paths and their bytes."""

    def __init__(self, candidate: Mapping[str, bytes], base: Mapping[str, bytes] | None = None) -> None:
        self._sides: Mapping[Side, Mapping[str, bytes]] = {"candidate": candidate, "base": base or {}}

    def files(self, side: Side, prefix: str) -> Iterator[File]:
        """The files below a prefix, in order."""
        found = self._sides[side]
        return (File(path, len(found[path])) for path in sorted(found) if path.startswith(prefix))

    def changes(self) -> Iterator[Change]:
        """The paths in which the sides differ."""
        return _changes(self)

    def read(self, side: Side, path: str, offset: int, length: int) -> bytes:
        """Bytes of a file. Raises FileNotFoundError."""
        if path not in self._sides[side]:
            raise FileNotFoundError(f"there is no file {path!r} in {side}")
        return bytes(self._sides[side][path][offset : offset + length])

    def expect(self, side: Side, paths: Sequence[str]) -> None:
        """Do nothing."""

    def local(self, side: Side, path: str) -> str | None:
        """None: they are in memory."""
        return None


class FolderSnapshot:
    """Both sides as folders of this machine."""

    def __init__(self, candidate: str | Path, base: str | Path | None = None) -> None:
        self._sides: Mapping[Side, Path | None] = {
            "candidate": Path(candidate).resolve(),
            "base": None if base is None else Path(base).resolve(),
        }

    def files(self, side: Side, prefix: str) -> Iterator[File]:
        """The files below a prefix, in order."""
        root = self._sides[side]
        if root is None:
            return iter(())
        found = ((path.relative_to(root).as_posix(), path) for path in root.rglob("*") if path.is_file())
        return iter(sorted(File(name, path.stat().st_size) for name, path in found if name.startswith(prefix)))

    def changes(self) -> Iterator[Change]:
        """The paths in which the sides differ."""
        return _changes(self)

    def read(self, side: Side, path: str, offset: int, length: int) -> bytes:
        """Bytes of a file. Raises FileNotFoundError."""
        with open(self._path(side, path), "rb") as file:
            return os.pread(file.fileno(), length, offset)

    def expect(self, side: Side, paths: Sequence[str]) -> None:
        """Do nothing."""

    def local(self, side: Side, path: str) -> str | None:
        """The file itself."""
        return str(self._path(side, path))

    def _path(self, side: Side, path: str) -> Path:
        root = self._sides[side]
        if root is None or not (root / path).resolve().is_relative_to(root):
            raise FileNotFoundError(f"there is no file {path!r} in {side}")
        return root / path


class SnapshotFile(io.RawIOBase):
    """A file of a snapshot, to read and seek in."""

    def __init__(self, snapshot: Snapshot, side: Side, file: File) -> None:
        self._snapshot = snapshot
        self._side = side
        self._file = file
        self._at = 0

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def tell(self) -> int:
        """The position."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a position."""
        at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._file.size}[whence]
        if at < 0:
            raise ValueError(f"position {at} is before the beginning of {self._file.path!r}")
        self._at = at
        return at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer as far as the file goes."""
        length = max(0, min(len(buffer), self._file.size - self._at, READ_MOST))
        found = self._snapshot.read(self._side, self._file.path, self._at, length) if length else b""
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)


def opened(snapshot: Snapshot, side: Side, file: File, ahead: int = _AHEAD) -> io.BufferedReader:
    """A file of a snapshot that is read some bytes ahead."""
    return io.BufferedReader(SnapshotFile(snapshot, side, file), ahead)


def _changes(snapshot: Snapshot) -> Iterator[Change]:
    sides = [{file.path: file.size for file in snapshot.files(side, "")} for side in ("candidate", "base")]
    candidate, base = sides
    for path in sorted(candidate.keys() | base.keys()):
        if path not in base:
            yield Change(path, "added", candidate[path])
        elif path not in candidate:
            yield Change(path, "removed", 0)
        elif candidate[path] != base[path] or _differ(snapshot, path, base[path]):
            yield Change(path, "changed", candidate[path])


def _differ(snapshot: Snapshot, path: str, size: int) -> bool:
    parts = range(0, size, READ_MOST)
    return any(
        snapshot.read("candidate", path, at, READ_MOST) != snapshot.read("base", path, at, READ_MOST) for at in parts
    )
