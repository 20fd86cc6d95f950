"""`with fs.transaction:` is one workspace: all writes appear together as one commit, or none of them.

The bytes are uploaded while the block runs. The branch shows nothing before the end, but the block itself sees its
writes. When the block fails, the workspace stays, and the error says how to continue with it or drop it.
"""

from __future__ import annotations

import asyncio
import os
import weakref
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from fsspec.transaction import Transaction

from lakebed._fsspec.paths import Place
from lakebed._fsspec.transaction_spool import Spool
from lakebed._integration.values import advise
from lakebed.errors import InvalidRequestError, LakebedError, NothingToCommitError
from lakebed.model import Commit

if TYPE_CHECKING:
    from lakebed.aio import Workspace

MESSAGE = "Write through fsspec"

_LACKS = "The last write is not in the workspace."

_SPOOLING: weakref.WeakSet[LakebedTransaction] = weakref.WeakSet()
"""Transactions whose files wait in this process to be registered."""


class LakebedTransaction(Transaction):  # type: ignore[misc]
    """Changes of one branch that become one commit. Set `message` inside the block. Afterwards `commit` is the new
    commit.
    """

    def __init__(self, fs: Any, **_: Any) -> None:
        super().__init__(fs)
        self.message = MESSAGE
        self.commit: Commit | None = None
        self._branch: Place | None = None
        self._name = ""
        self._making = asyncio.Lock()
        self._spool: Spool | None = None
        self._can_spool = True

    @property
    def workspace_name(self) -> str | None:
        """The ref of the workspace, `branch+id`, or None when nothing was written."""
        return self._name or None

    def seen(self, place: Place) -> Place:
        """Return the place to read a path from: the workspace, if the path is on the branch of the transaction."""
        if self._name and self._branch == Place(place.repository, place.ref):
            return place.below(self._name)
        return place

    async def workspace(self, place: Place) -> Workspace:
        """Return the workspace to write a path into. Raises InvalidRequestError for a second branch."""
        branch = Place(place.repository, place.ref)
        if self._branch is not None and self._branch != branch:
            raise InvalidRequestError(
                f"{place} cannot be written in a transaction of {self._branch}: a transaction is one commit of one "
                "branch; use a second transaction, or a separate file system (skip_instance_cache=True)"
            )
        if "+" in place.ref:
            raise InvalidRequestError(
                f"{place} is in a workspace, which has a separate commit: write it outside of the transaction"
            )
        repository = self.fs._repository(place)
        async with self._making:
            if not self._name:
                workspaces = self.fs._workspaces
                made = repository.branch(place.ref).workspace(self.message, data_path=workspaces.data_path)
                await workspaces.add(made)
                self._branch, self._name = branch, made.id
        if self._branch != branch:
            return await self.workspace(place)  # another thread made one for another branch: refuse
        found: Workspace = await self.fs._workspaces.get(repository, self._name)
        return found

    def spool_now(self, place: Place) -> Spool | None:
        """Return the spool for direct writes to the disk, if it is known already."""
        spool = self._spool
        if spool is None or spool.process != os.getpid() or self._branch != Place(place.repository, place.ref):
            return None
        return spool

    async def spool(self, place: Place) -> Spool | None:
        """Return the spool, and open it if needed. None where the disk is not accessible, or in a forked child. Raises
        the errors of `workspace`.
        """
        workspace = await self.workspace(place)
        async with self._making:
            if self._spool is None and self._can_spool:
                self._spool = await Spool.open(workspace)
                self._can_spool = self._spool is not None
                if self._can_spool:
                    _SPOOLING.add(self)
        return self.spool_now(place)

    @property
    def is_behind(self) -> bool:
        """Whether the workspace does not show all written files yet."""
        spool = self._spool
        return spool is not None and spool.is_behind and spool.process == os.getpid()

    async def flush(self) -> None:
        """Register all closed files, so that the workspace shows them. Raises the error of the registration."""
        if self.is_behind and self._spool is not None:
            await self._spool.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.complete(commit=error is None)
        except Exception as failure:
            if error is None:
                raise
            error.add_note(f"{_LACKS} {failure!r}")
        finally:
            if error is not None:
                self._advise(error)

    def complete(self, commit: bool = True) -> None:
        """Commit, or leave the workspace as it is. Raises the error of the commit, with a note on what is kept."""
        fs, waiting = self.fs, [file for file in self.files if not file.closed]
        self.files.clear()
        try:
            for file in waiting:
                file.discard()
            self._flush_all()  # also without a commit: the workspace keeps all writes
            if not commit:
                return
            if waiting:
                raise InvalidRequestError(
                    f"the transaction ended before {waiting[0]!r} was closed, so nothing was committed; "
                    "close every file inside the block"
                )
            if self._branch is not None:
                self.commit = fs._wait(self._commit, fs)
        except BaseException as error:
            self._advise(error)
            raise
        finally:
            fs._intrans = False
            fs._transaction = None
            if self._spool is not None and self._spool.process == os.getpid():
                self._spool.close()

    def _flush_all(self) -> None:
        try:
            if self.is_behind:
                self.fs._wait(self.flush)
        except Exception as failure:
            failure.add_note(_LACKS)
            raise

    async def _commit(self, fs: Any) -> Commit | None:
        assert self._branch is not None
        workspace = await fs._workspaces.get(fs._repository(self._branch), self._name)
        try:
            made: Commit = await workspace.commit(self.message)
        except NothingToCommitError:
            await workspace.drop()
            return None
        return made

    def _advise(self, error: BaseException) -> None:
        if self._branch is not None and self.commit is None and self._name:
            workspace_id = self._name.rpartition("+")[2]
            advise(error, self._branch.repository, self._name, workspace_id)

    def __enter__(self) -> Self:
        self.start()
        return self


def _flush_before_fork() -> None:
    """Register all closed files before a fork. The child cannot register files in the memory of its parent."""
    for transaction in list(_SPOOLING):
        if not transaction.is_behind or asyncio._get_running_loop() is transaction.fs.loop:
            continue
        with suppress(LakebedError, OSError):  # the commit raises this error again
            transaction.fs._wait(transaction.flush)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_flush_before_fork)
