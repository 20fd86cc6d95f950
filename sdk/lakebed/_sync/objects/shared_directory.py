# Generated from sdk/lakebed/_async/objects/shared_directory.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Whether objects are in a directory that this machine shares with the server: asks the server, and checks.

A server on another machine may name any directory of this machine: a directory counts only when the server is on this
machine, or when the user asks for it.
"""

from __future__ import annotations

import dataclasses
from typing import TypeVar

from lakebed._compat.sync import run_in_thread
from lakebed._direct.shared_directory import SharedDirectory, directory_of
from lakebed._gateway.operations import repositories
from lakebed._sync.http.target import Target
from lakebed._sync.http.transport import Transport
from lakebed._values.signed import DIRECT, wanted_path
from lakebed.errors import LakebedError
from lakebed.model import RepositoryInfo, WorkspaceInfo

Info = TypeVar("Info", RepositoryInfo, WorkspaceInfo)

_NOWHERE = SharedDirectory("", "")


def trusted(transport: Transport, info: Info, asked: str | None = None) -> Info:
    """The server's description, without its directory unless the server is on this machine or the data path `direct`
    was asked for, here or in the environment.
    """
    if info.local_path and wanted_path(asked) != DIRECT and not transport.is_near():
        return dataclasses.replace(info, local_path="")
    return info


def shared_directory(target: Target, asked: str | None = None) -> SharedDirectory:
    """The directory that holds the objects of a repository, if it is on this machine.

    `asked` is a data path, as of `wanted_path`. Asks the server once for each repository handle; raises nothing.
    """
    if wanted_path(asked) not in (None, DIRECT):
        return _NOWHERE
    storage, transport = target.storage, target.transport
    if storage.shared is None:
        try:
            info = trusted(transport, transport.call(repositories.get(target.repository)), asked)
        except LakebedError:  # reading the objects will raise it
            return _NOWHERE
        storage.shared = run_in_thread(directory_of, info, asked)
    return storage.shared
