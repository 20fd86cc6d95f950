"""Writes objects directly into the directory of a `local://` store that this machine shares: the data path `direct`.

A batch of files is written under temporary names, synced, renamed to its final names, and synced again. So a file with
a final name is complete, even after a power failure, and a scan by the server never reads half a file. Lakebed never
replaces a file, because a commit may contain it. The functions block, so they run in threads. They know only the layout
of a namespace (docs/formats.md).
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from lakebed_format import keys

from lakebed._process.local_files import is_full
from lakebed._values.hashed_file import HashedFile
from lakebed.errors import CorruptTransferError, StoreFullError

FEW = 4
"""Up to this number of files are synced one by one. A sync of the whole file system would also wait for the writes of
other processes.
"""

_FEW_FOLDERS = 16
"""The same for folders. Their sync is fast after the sync of their files."""

_TEMP = ".lakebed-tmp"
_LONGEST_PATH = 900
"""Bytes of a path that is also its key. A key has at most 1,024 bytes, with the prefix of the workspace."""

_ASIDE = "~"
"""The folder below a prefix for objects whose path cannot be a file path there, or is taken."""


@dataclass(slots=True)
class Written:
    """One written object: first in `temp`, then at `key` below the prefix."""

    path: str
    checksum: str
    size: int
    temp: str
    key: str = ""


class Writing:
    """A temporary file that is being written. An exception in the `with` block removes it."""

    def __init__(self, path: str, temp: str) -> None:
        self._path = path
        self._temp = temp
        self._digest = hashlib.md5(usedforsecurity=False)
        self._size = 0
        try:
            self._fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
        except OSError as error:
            check_room(error, os.path.dirname(temp), path)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.remove()

    def close(self) -> None:
        """Close the file and keep it. A second call is not an error."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def remove(self) -> None:
        """Close and remove the file."""
        self.close()
        with suppress(OSError):
            os.unlink(self._temp)

    def fileno(self) -> int:
        """Return the file descriptor."""
        return self._fd

    def feed(self, chunk: bytes | memoryview) -> None:
        """Append. Raises OSError, and StoreFullError when there is no room."""
        self._digest.update(chunk)
        view = memoryview(chunk)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            check_room(error, os.path.dirname(self._temp), self._path)
            raise
        self._size += len(chunk)

    def written(self) -> Written:
        """Return path, checksum, size and temporary name of the written file."""
        return Written(self._path, self._digest.hexdigest(), self._size, self._temp)


class Directory:
    """The directory of one workspace's prefix. Safe to use from many threads."""

    def __init__(self, prefix: Path) -> None:
        self._prefix = os.fspath(prefix)
        self._temp = self._choose_temp(prefix)
        self._fd = os.open(self._temp, os.O_RDONLY)  # a sync by it reports disk errors from now on
        self._made: set[str] = set()

    @staticmethod
    def _choose_temp(prefix: Path) -> str:
        """Return the store's folder for temporary files, which the server cleans, else a folder below the prefix."""
        prefix.mkdir(parents=True, exist_ok=True)
        shared = prefix.parent.parent / _TEMP
        if shared.is_dir() and os.access(shared, os.W_OK | os.X_OK):
            return os.fspath(shared)
        own = prefix / _TEMP
        own.mkdir(exist_ok=True)
        return os.fspath(own)

    def close(self) -> None:
        """Close the directory."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def begin(self, path: str) -> Writing:
        """Start to write one object under a temporary name. It is not visible and not durable before `publish`."""
        return Writing(path, f"{self._temp}/{secrets.token_hex(16)}")

    def write(self, path: str, chunks: Iterable[bytes], seen: Callable[[int], None]) -> Written:
        """Write one whole object under a temporary name, as `begin` does."""
        with self.begin(path) as writing:
            for chunk in chunks:
                writing.feed(chunk)
                seen(len(chunk))
        return writing.written()

    def adopt(self, path: str, file: HashedFile, seen: Callable[[int], None]) -> Written | None:
        """Take an existing file without a copy, by a second name (a hard link). Returns None on another file system.

        The caller must not write to the file any more. Raises OSError.
        """
        temp = f"{self._temp}/{secrets.token_hex(16)}"
        try:
            os.link(file, temp)
        except OSError:
            return None
        try:
            size = os.stat(temp).st_size
            seen(size)
        except BaseException:
            os.unlink(temp)
            raise
        return Written(path, file.checksum, size, temp)

    def publish(self, batch: list[Written]) -> None:
        """Make a batch durable and give the files their final names, in `key`. Raises OSError."""
        self.sync(batch)
        self.reveal(batch)

    def sync(self, batch: Iterable[Written]) -> None:
        """The first half of `publish`: make the contents durable. Raises OSError."""
        paths = [one.temp for one in batch]
        if len(paths) <= FEW or not _sync_file_system(self._fd):
            _sync_each(paths)

    def reveal(self, batch: Iterable[Written]) -> None:
        """The second half of `publish`, after `sync`: give the files their names, durably. A file that has a `key`
        keeps it. Raises OSError.
        """
        keys = []
        for one in batch:
            one.key = one.key or self._name(one)
            keys.append(one.key)
        folders = sorted(set(_folders(self._prefix, keys)))
        if len(folders) <= _FEW_FOLDERS or not _sync_file_system(self._fd):
            _sync_each(folders)

    def discard(self, batch: Iterable[Written]) -> None:
        """Remove files that were not published."""
        for one in batch:
            with suppress(OSError):
                os.unlink(one.temp)

    def _name(self, one: Written) -> str:
        for key in (one.path, f"{_ASIDE}/{secrets.token_hex(16)}"):
            if key == one.path and not is_plain(key):
                continue
            with suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
                self._link(one.temp, f"{self._prefix}/{key}")
                return key
        raise CorruptTransferError(f"there is no free name for {one.path!r} below {self._prefix}")

    def _link(self, temp: str, final: str) -> None:
        folder = os.path.dirname(final)
        if folder not in self._made:
            os.makedirs(folder, exist_ok=True)
            self._made.add(folder)
        try:
            os.link(temp, final)  # like a rename, but it refuses to replace
        except PermissionError:
            _claim(temp, final)  # a file system without links
            return
        os.unlink(temp)


def check_room(error: OSError, folder: str, path: str | None = None) -> None:
    """Raise StoreFullError when the error says that the disk is full, with the place and the object."""
    if is_full(error):
        what = "objects" if path is None else repr(path)
        raise StoreFullError(
            f"cannot write {what} into {folder}, which is shared with the server: {error.strerror}; nothing was "
            "written partially: free space there, and try again",
            operation="write",
            path=path,
        ) from error


def is_plain(path: str) -> bool:
    """Whether the store keeps an object of this path in a file of the same path, below a prefix."""
    raw = path.encode()
    return len(raw) <= _LONGEST_PATH and keys.is_plain(raw)


def _folders(prefix: str, keys: Iterable[str]) -> Iterator[str]:
    """Yield every folder above the keys, the prefix, and the parent of the prefix."""
    yield os.path.dirname(prefix.rstrip("/"))
    yield prefix
    for key in keys:
        parts = key.split("/")[:-1]
        for count in range(1, len(parts) + 1):
            yield "/".join([prefix, *parts[:count]])


def _sync_each(paths: Iterable[str]) -> None:
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _claim(temp: str, final: str) -> None:
    if os.path.lexists(final):
        raise FileExistsError(final)
    os.rename(temp, final)


def _sync_file_system(fd: int) -> bool:
    """Flush the file system of `fd`. Returns False where `syncfs` is missing or does not report errors."""
    if _LIBC is None:
        return False
    if _LIBC.syncfs(fd) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return True


def _syncfs_reports_errors() -> bool:
    """Linux reports write-back errors from `syncfs` since 5.8. Elsewhere files are synced one by one."""
    if sys.platform != "linux":
        return False
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return found is not None and (int(found[1]), int(found[2])) >= (5, 8)


_LIBC = ctypes.CDLL(None, use_errno=True) if _syncfs_reports_errors() else None
