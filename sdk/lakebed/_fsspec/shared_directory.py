"""Reading objects straight from a directory that this machine shares with the server: the data path `direct`.

What lies there is never replaced, and every object has a name of its own; so a file of the right name and size is the
object. Anything else, a directory that is not here first of all, is read through the server.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from lakebed._direct.directory import is_plain
from lakebed._fsspec.paths import Row
from lakebed._values.signed import DIRECT, PROXIED
from lakebed.errors import LakebedError

if TYPE_CHECKING:
    from lakebed._async.handles.repository import Repository


class SharedFiles:
    """Knows the directories of repositories, asked for once each."""

    def __init__(self, data_path: str | None) -> None:
        self._wanted = data_path in (None, DIRECT)
        self._proxied = data_path == PROXIED
        self._folders: dict[str, tuple[str, str]] = {}

    def known(self, repository: str) -> tuple[str, str] | None:
        """Its namespace and directory, if it was asked for. The directory is empty where none is shared."""
        return self._folders.get(repository)

    def by_server(self, repository: str) -> bool:
        """Whether only the server can give the objects of a repository: a cloud store may give them itself."""
        known = self._folders.get(repository)
        return self._proxied or (known is not None and known[0].startswith(("local://", "mem://")))

    async def has(self, repository: Repository) -> bool:
        """Whether the objects of a repository are likely to be on this machine."""
        return (await self._folder(repository))[1] != ""

    async def find(self, repository: Repository, row: Row) -> str | None:
        """The file that holds an object; None when it is to be read through the server."""
        return place_of(await self._folder(repository), row)

    async def _folder(self, repository: Repository) -> tuple[str, str]:
        if repository.id not in self._folders:
            try:
                info = await repository.info()
            except LakebedError:  # the request for the object raises it
                return "", ""
            there = self._wanted and info.local_path != "" and await asyncio.to_thread(os.path.isdir, info.local_path)
            folder = info.local_path if there else ""
            self._folders[repository.id] = (info.storage_namespace.rstrip("/") + "/", folder)
        return self._folders[repository.id]


def place_of(known: tuple[str, str], row: Row) -> str | None:
    """The file of an object below the directory of its namespace, if it can be there."""
    namespace, folder = known
    address: str = row["physical_address"]
    key = address.removeprefix(namespace)
    if not folder or key == address or not is_plain(key):
        return None
    return os.path.join(folder, key)


def open_file(path: str | None, size: int) -> int | None:
    """A descriptor of a file that has this size, else None."""
    if path is None:
        return None
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return None
    if os.fstat(fd).st_size == size:
        return fd
    os.close(fd)
    return None


def read_file(path: str | None, size: int) -> bytes | None:
    """The content of such a file."""
    fd = open_file(path, size)
    if fd is None:
        return None
    with os.fdopen(fd, "rb", buffering=0) as file:
        return read_at(file.fileno(), 0, size, str(path))


def read_at(fd: int, start: int, length: int, name: str) -> bytes:
    """Exactly this range. Raises OSError when the file ends before."""
    parts = []
    while length > 0:
        part = os.pread(fd, length, start)
        if not part:
            raise OSError(f"{name} became shorter while it was read")
        parts.append(part)
        start, length = start + len(part), length - len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def read_into(fd: int, start: int, view: memoryview, name: str) -> None:
    """The same into memory that is there."""
    done = 0
    while done < view.nbytes:
        count = os.preadv(fd, [view[done:]], start + done)
        if not count:
            raise OSError(f"{name} became shorter while it was read")
        done += count
