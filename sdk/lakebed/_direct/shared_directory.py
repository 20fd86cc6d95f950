"""Reading objects from a directory that this machine shares with the server.

Objects in it are never replaced, and each has a name of its own: a regular file of the right name and size is the
object. Everything else is read through the server, a directory that is not on this machine first of all.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from lakebed._direct.directory import is_plain
from lakebed._values.signed import DIRECT, wanted_path
from lakebed.model import RepositoryInfo

_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, slots=True)
class SharedDirectory:
    """The files of one repository on this machine. `directory` is empty where they are not on it."""

    namespace: str
    """The URI that the addresses of the objects begin with; it ends in `/`."""

    directory: str

    def __bool__(self) -> bool:
        return self.directory != ""

    def path_of(self, address: str) -> str | None:
        """The path that an object of this address has here; None where it cannot have a path. Does no I/O."""
        key = address.removeprefix(self.namespace)
        if not self.directory or key == address or not is_plain(key):
            return None
        return os.path.join(self.directory, key)

    def find(self, address: str, size: int) -> str | None:
        """The path of the file that holds an object, for libraries that open files by themselves. None for no file."""
        path = self.path_of(address)
        try:
            return path if path and _is_object(os.lstat(path), size) and os.access(path, os.R_OK) else None
        except OSError:
            return None

    def open(self, address: str, size: int) -> int | None:
        """A descriptor of the file that holds an object, which the caller closes. None where there is no such file."""
        path = self.path_of(address)
        return None if path is None else open_file(path, size)


def directory_of(info: RepositoryInfo, data_path: str | None = None) -> SharedDirectory:
    """The directory that a repository's description names, unless the user asked for another data path. Blocks.

    Take the description from a handle: handles drop the directory of a server on another machine.
    """
    is_wanted = wanted_path(data_path) in (None, DIRECT) and info.local_path != ""
    directory = info.local_path if is_wanted and os.path.isdir(info.local_path) else ""
    return SharedDirectory(info.storage_namespace.rstrip("/") + "/", directory)


def open_file(path: str, size: int) -> int | None:
    """A descriptor of a regular file of this size, else None. Does not follow a symbolic link."""
    try:
        fd = os.open(path, _FLAGS)
    except OSError:
        return None
    if _is_object(os.fstat(fd), size):
        return fd
    os.close(fd)
    return None


def read_file(fd: int, size: int, name: str) -> bytes:
    """All of an open file, which is closed. Raises OSError when it ends before `size`."""
    with os.fdopen(fd, "rb", buffering=0):
        return read_range(fd, 0, size, name)


def read_range(fd: int, start: int, length: int, name: str) -> bytes:
    """Exactly this range. Raises OSError, which names the file by `name`, when the file ends before."""
    parts = []
    while length > 0:
        part = os.pread(fd, length, start)
        if not part:
            raise _shortened(name)
        parts.append(part)
        start, length = start + len(part), length - len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def read_into(fd: int, start: int, view: memoryview, name: str) -> None:
    """As `read_range`, into memory of the caller."""
    done = 0
    while done < view.nbytes:
        count = os.preadv(fd, [view[done:]], start + done)
        if not count:
            raise _shortened(name)
        done += count


def _shortened(name: str) -> OSError:
    return OSError(f"{name} became shorter while it was read")


def _is_object(found: os.stat_result, size: int) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_size == size
