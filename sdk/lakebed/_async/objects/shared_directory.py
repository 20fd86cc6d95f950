"""Objects that lie in a directory which this machine shares with the server.

What lies there is never replaced, and every object has a name of its own: a file of the right name and size is the
object. Anything else, a directory that is not here first of all, is read through the server. A server elsewhere may
name any directory of this machine: what it names counts only when the user asks for it.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import TypeVar

from lakebed._async.http.target import Target
from lakebed._async.http.transport import Transport
from lakebed._compat.aio import run_in_thread
from lakebed._direct.directory import is_plain
from lakebed._gateway.operations import repositories
from lakebed._values.signed import DIRECT, wanted_path
from lakebed.errors import LakebedError
from lakebed.model import ObjectInfo, RepositoryInfo, WorkspaceInfo

Nearby = Callable[[ObjectInfo], str | None]
Info = TypeVar("Info", RepositoryInfo, WorkspaceInfo)


async def trusted(transport: Transport, info: Info, asked: str | None = None) -> Info:
    """What the server said, without its directory unless the server is on this machine, or the data path `direct` was
    asked for, here or in the environment.
    """
    if info.local_path and wanted_path(asked) != DIRECT and not await transport.is_near():
        return dataclasses.replace(info, local_path="")
    return info


async def nearby(target: Target) -> Nearby:
    """Gives the file that holds an object, or None. Asks the server once for each session."""
    if wanted_path(None) not in (None, DIRECT):
        return _nowhere
    storage = target.storage
    if storage.namespace is None:
        transport = target.transport
        try:
            info = await trusted(transport, await transport.call(repositories.get(target.repository)))
        except LakebedError:  # reading the objects will raise it
            return _nowhere
        there = bool(info.local_path) and await run_in_thread(os.path.isdir, info.local_path)
        storage.directory = info.local_path if there else ""
        storage.namespace = info.storage_namespace.rstrip("/") + "/"
    namespace, folder = storage.namespace, storage.directory

    def find(row: ObjectInfo) -> str | None:
        key = row.physical_address.removeprefix(namespace)
        if not folder or key == row.physical_address or not is_plain(key):
            return None
        path = os.path.join(folder, key)
        try:
            return path if os.stat(path).st_size == row.size and os.access(path, os.R_OK) else None
        except OSError:
            return None

    return find


def _nowhere(row: ObjectInfo) -> str | None:
    return None
