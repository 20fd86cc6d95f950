"""The base of a file system instance: its connection, its process and its handles.

An instance survives a fork. The child opens new connections, an event loop and handles, and leaves those of the parent
alone.

It caches listings of commits and nothing else, because only commits never change. The ref must be a complete commit id
that the server has confirmed: a branch could have such a name. The cache is bounded and drops the least recently used
entries.
"""

from __future__ import annotations

import asyncio
import os
import weakref
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fsspec.asyn import AsyncFileSystem, get_loop, reset_lock, sync

from lakebed import aio
from lakebed._fsspec.identity import Connection, Keyed, connection_in_use, using
from lakebed._fsspec.paths import Place
from lakebed._integration.aio import ProxiedRef, reading_after
from lakebed._integration.values import PROXIED
from lakebed.errors import InvalidRequestError

if TYPE_CHECKING:
    from lakebed._fsspec.transaction import LakebedTransaction
import re
import threading
from typing import TYPE_CHECKING

from lakebed.model import ObjectInfo

if TYPE_CHECKING:
    from lakebed.aio import Repository


AT_ONCE = 16
"""Objects of one call that are processed in parallel."""

_KEPT_WORKSPACES = 16
"""Workspace handles that an instance keeps."""

_OF_OTHERS: list[aio.Lake] = []
"""Connections of a parent process. Closing them here would disturb the parent."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=reset_lock)  # fsspec's own lock may have been held by another thread


class Workspaces:
    """Handles to recently used workspaces. They are kept because each one remembers its data path to the store."""

    def __init__(self, data_path: Any) -> None:
        self.data_path = data_path
        self._known: OrderedDict[tuple[str, str], aio.Workspace] = OrderedDict()

    async def get(self, repository: aio.Repository, name: str) -> aio.Workspace:
        """Return the handle to a workspace. Raises NotFoundError when the server has no such workspace."""
        key = (repository.id, name)
        if key not in self._known:
            self._keep(key, await repository.workspace(name, data_path=self.data_path))
        self._known.move_to_end(key)
        return self._known[key]

    async def add(self, workspace: aio.Workspace) -> None:
        """Create a new workspace on the server, and keep its handle."""
        await workspace.create()
        self._keep((workspace.repository.id, workspace.id), workspace)

    def _keep(self, key: tuple[str, str], workspace: aio.Workspace) -> None:
        self._known[key] = workspace
        while len(self._known) > _KEPT_WORKSPACES:
            self._known.popitem(last=False)


class Base(AsyncFileSystem, metaclass=Keyed):  # type: ignore[misc]
    """What all methods of the file system need."""

    protocol = ("lakebed", "lakefs")
    _extra_tokenize_attributes = ("_connection_key",)

    def __init__(self, **options: Any) -> None:
        if getattr(self, "_cached", False):  # fsspec returns a cached instance
            return
        self._pid: int
        self.connection: Connection = connection_in_use()
        ours = {name: options[name] for name in ("asynchronous", "loop") if name in options}
        super().__init__(batch_size=options.get("batch_size") or AT_ONCE, **ours)
        self._begin()

    def _begin(self) -> None:
        self._lake = aio.Lake(self.connection.settings)
        self._repositories: dict[str, aio.Repository] = {}
        self._frozen = Frozen()
        self._workspaces = Workspaces(self.connection.data_path)
        weakref.finalize(self, _let_go, self._lake, self._loop, self._pid).atexit = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.connection.settings.endpoint}>"

    def __reduce__(self) -> tuple[object, ...]:
        if self._intrans:
            raise InvalidRequestError(
                "a file system cannot move to another process during a transaction: let the other process "
                "write into a workspace (lakebed://repository/branch+id/path), and commit that"
            )
        now = replace(self.connection, settings=self._lake.settings)  # with the renewed token
        return _again, (type(self), now, _harmless(self.storage_options))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Base):
            return NotImplemented
        return (type(self), self.connection, self.asynchronous) == (
            type(other),
            other.connection,
            other.asynchronous,
        )

    def __hash__(self) -> int:
        return hash(self.connection.key)

    def __dask_tokenize__(self) -> tuple[str, ...]:
        return ("lakebed", self.connection.key)

    def to_dict(self, *, include_password: bool = True) -> dict[str, Any]:
        """Return fsspec's dict. Without the password, also without the secret key and the token."""
        found: dict[str, Any] = super().to_dict(include_password=include_password)
        if not include_password:
            found.pop("secret_access_key", None)
            found.pop("token", None)
        return found

    @property
    def fsid(self) -> str:
        """The id of the server."""
        return f"lakebed-{self.connection.settings.endpoint}"

    @property
    def loop(self) -> Any:
        """fsspec's event loop in this process."""
        self._here()
        return self._loop

    def _here(self) -> None:
        """After a fork, replace the state of the parent process."""
        process = os.getpid()
        if self._pid == process:
            return
        _OF_OTHERS.append(self._lake)
        self._pid = process
        if not self.asynchronous:
            self._loop = get_loop()
        self._begin()

    def _wait(self, coroutine: Any, *args: Any, **kwargs: Any) -> Any:
        """Run a coroutine function on the loop, from another thread."""
        return sync(self.loop, coroutine, *args, **kwargs)

    def _repository(self, place: Place) -> aio.Repository:
        self._here()
        known = self._repositories.get(place.repository)
        if known is None:
            known = self._repositories[place.repository] = self._lake.repository(place.repository)
        return known

    def _ref(self, place: Place) -> aio.Ref:
        """Return the ref to read: inside a transaction its workspace, if the path is on its branch."""
        kind = ProxiedRef if self.connection.data_path == PROXIED else aio.Ref
        ref = kind(self._repository(place), self._seen(place).ref)
        behind = self._behind()
        return ref if behind is None else reading_after(ref, behind.flush)

    def _seen(self, place: Place) -> Place:
        """Return the place to read from. The workspace of a transaction may need a flush first: see `_behind`."""
        transaction: LakebedTransaction | None = self._transaction if self._intrans else None
        return place if transaction is None else transaction.seen(place)

    def _behind(self) -> LakebedTransaction | None:
        """Return the transaction if its workspace does not show all written files yet."""
        transaction: LakebedTransaction | None = self._transaction if self._intrans else None
        return transaction if transaction is not None and transaction.is_behind else None

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        stripped = super()._strip_protocol(path)
        return stripped if isinstance(stripped, list) else stripped.lstrip("/")


def _let_go(lake: aio.Lake, loop: Any, process: int) -> None:
    """Close the connections of an instance that is no longer used, on their event loop."""
    if loop is not None and process == os.getpid() and loop.is_running():
        asyncio.run_coroutine_threadsafe(lake.close(), loop)


def _harmless(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that can be pickled and are not in the connection."""
    return {name: value for name, value in options.items() if name in ("asynchronous", "batch_size")}


def _again(cls: Any, connection: Connection, options: dict[str, Any]) -> Any:
    with using(connection):
        return cls(**options)


MOST = 20_000
_COMMIT = re.compile(r"[0-9a-f]{64}")


class Frozen:
    """Objects of commits. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._commits: set[tuple[str, str]] = set()
        self._known: OrderedDict[Place, ObjectInfo] = OrderedDict()

    async def covers(self, repository: Repository, ref: str) -> bool:
        """Whether a ref is a commit. Raises NotFoundError."""
        if not _COMMIT.fullmatch(ref):
            return False
        key = (repository.id, ref)
        if key not in self._commits:
            if (await repository.commit(ref)).id != ref:
                return False
            self._commits.add(key)
        return True

    def keep(self, place: Place, info: ObjectInfo) -> None:
        """Store an object of a commit."""
        with self._lock:
            self._known[place] = info
            while len(self._known) > MOST:
                self._known.popitem(last=False)

    def get(self, place: Place) -> ObjectInfo | None:
        """Return an object, if it was listed."""
        if len(place.ref) < 64:
            return None
        with self._lock:
            found = self._known.get(place)
            if found is not None:
                self._known.move_to_end(place)
            return found
