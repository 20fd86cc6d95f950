"""Local directories and the object paths that their files stand for.

Nothing that a lake holds can name a file outside of the directory that it is written to.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lakebed.errors import InvalidRequestError

OURS = ".lakebed"
"""The directory at the top of a working directory that holds what we know of it: no part of the tree."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a file system says of a file without reading it. Times in nanoseconds."""

    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, found: os.stat_result) -> Stamp:
        """From a stat."""
        return cls(found.st_size, found.st_mtime_ns, found.st_ino)


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A regular file of a tree. `name` is its path below the top, with `/`."""

    name: str
    file: Path
    stamp: Stamp


def refuse_no_directory(top: Path) -> None:
    """Raises InvalidRequestError."""
    if not top.is_dir():
        raise InvalidRequestError(f"{top} is not a directory")


def walk(top: Path, skip: str = "") -> Iterator[LocalFile]:
    """Every regular file below `top`, in a stable order, but for what lies in the directory `skip` at the top.

    Links to files are followed, links to directories are not: they may lead in circles. Raises OSError for a directory
    that cannot be read, and InvalidRequestError for a name that is not UTF-8.
    """
    for root, folders, names in os.walk(top, onerror=_complain):
        if skip and Path(root) == top:
            folders[:] = [folder for folder in folders if folder != skip]
        folders.sort()
        base = os.path.relpath(root, top).replace(os.sep, "/")
        for name in sorted(names):
            path = os.path.join(root, name)  # Path objects cost more than the stat
            try:
                found = os.stat(path)
            except FileNotFoundError:
                continue  # removed since the listing, or a link to nothing
            if _is_regular(found):
                yield LocalFile(_text(name if base == "." else f"{base}/{name}"), Path(path), Stamp.of(found))


def _is_regular(found: os.stat_result) -> bool:
    from stat import S_ISREG

    return S_ISREG(found.st_mode)


def _text(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InvalidRequestError(f"the file name {name!r} is not UTF-8 and cannot be an object's path") from None
    return name


def _complain(error: OSError) -> None:
    raise error


def folder(prefix: str) -> str:
    """A prefix as a folder: `orders` is `orders/`; the empty one stays."""
    return prefix if not prefix or prefix.endswith("/") else prefix + "/"


def inside(directory: Path, name: str) -> Path:
    """The file `name`, a path with `/`, below a directory. Raises InvalidRequestError when it would lie elsewhere."""
    if not is_local(name):
        raise InvalidRequestError(
            f"{name!r} cannot be the name of a local file; download this object alone, and say which file to write"
        )
    return directory.joinpath(*name.split("/"))


def is_local(name: str) -> bool:
    """Whether a path can be the name of a file below a directory: no `..`, no empty part, nothing absolute."""
    forbidden = "\0\\:" if sys.platform == "win32" else "\0"
    return not any(part in ("", ".", "..") or any(char in part for char in forbidden) for part in name.split("/"))
