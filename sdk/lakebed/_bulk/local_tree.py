"""Local directories and the object paths of their files.

No object path can lead to a file outside of the target directory.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from lakebed.errors import InvalidRequestError

_NAMED = 5
"""The number of names in the warning about skipped files."""

OURS = ".lakebed"
"""The directory with the state of a working directory, at its top. It is not part of the tree."""


@dataclass(frozen=True, slots=True)
class FileStat:
    """The size, time (in nanoseconds) and inode of a file. If they are the same, the content is taken as the same."""

    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, found: os.stat_result) -> FileStat:
        """From a stat."""
        return cls(found.st_size, found.st_mtime_ns, found.st_ino)


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A regular file of a tree. `name` is its path below the top, with `/`."""

    name: str
    file: Path
    stat: FileStat


def refuse_no_directory(top: Path) -> None:
    """Raises InvalidRequestError."""
    if not top.is_dir():
        raise InvalidRequestError(f"{top} is not a directory")


def count_tree(top: Path) -> tuple[int, int]:
    """The number of files that `walk` gives, and their bytes. Reads no file. Raises what `walk` raises."""
    files = size = 0
    for file in walk(top, quiet=True):
        files += 1
        size += file.stat.size
    return files, size


def walk(top: Path, skip: str = "", *, quiet: bool = False) -> Iterator[LocalFile]:
    """Every regular file below `top`, in the order of their names, without the directory `skip` at the top.

    Links to files are followed, links to directories are not: they may form cycles. A warning at the end names
    what is left out: links to directories and to nothing, pipes, sockets, devices. With `quiet` there is none. Raises
    OSError for a directory that cannot be read, and InvalidRequestError for a name that is not UTF-8.
    """
    left_out = _LeftOut(top)
    waiting = [(name, path) for name, path in _entries(os.fspath(top), "") if name != f"{skip}/"]
    while waiting:
        name, path = waiting.pop()
        if name.endswith("/"):
            waiting += _entries(path, name)
            continue
        try:
            found = os.stat(path)
        except FileNotFoundError:
            if os.path.islink(path):
                left_out.add(path)
            continue  # or it was removed since the listing
        if S_ISREG(found.st_mode):
            yield LocalFile(_text(name), Path(path), FileStat.of(found))
        else:
            left_out.add(path)
    if not quiet:
        left_out.warn()


def _entries(directory: str, below: str) -> list[tuple[str, str]]:
    """Names below the top and paths of what is in a directory, last name first. Names of directories end in `/`."""
    with os.scandir(directory) as found:
        named = [
            (f"{below}{entry.name}/" if entry.is_dir(follow_symlinks=False) else f"{below}{entry.name}", entry.path)
            for entry in found
        ]
    return sorted(named, reverse=True)


class _LeftOut:
    """The entries that a walk skips, some of them with their names."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self._count = 0
        self._first: list[str] = []

    def add(self, path: str) -> None:
        self._count += 1
        if self._count <= _NAMED:
            self._first.append(repr(os.path.relpath(path, self._top)))

    def warn(self) -> None:
        if self._count:
            names = ", ".join(self._first) + (" and more" if self._count > _NAMED else "")
            warnings.warn(
                f"{self._count} in {self._top} skipped (links to directories, broken links or special files): {names}",
                stacklevel=2,
            )


def _text(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InvalidRequestError(f"the file name {name!r} is not UTF-8 and cannot be an object's path") from None
    return name


def folder(prefix: str) -> str:
    """A prefix as a folder: `orders` is `orders/`; the empty one stays."""
    return prefix if not prefix or prefix.endswith("/") else prefix + "/"


def inside(directory: Path, name: str) -> Path:
    """The file `name`, a path with `/`, below a directory. Raises InvalidRequestError for a path that leads out."""
    if not is_local(name):
        raise InvalidRequestError(
            f"{name!r} cannot be the name of a local file; download this object alone, and say which file to write"
        )
    return directory.joinpath(*name.split("/"))


def is_local(name: str) -> bool:
    """Whether a path can be the name of a file below a directory: no `..`, no empty part, nothing absolute."""
    forbidden = "\0\\:" if sys.platform == "win32" else "\0"
    return not any(part in ("", ".", "..") or any(char in part for char in forbidden) for part in name.split("/"))
