# Generated from sdk/lakebed/_async/handles/task.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Handles to work that goes on without its client."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lakebed import _checks
from lakebed._compat.sync import sleep
from lakebed._gateway.operations import imports, metadata, tasks
from lakebed._sync.commits.polling import ended, made
from lakebed._sync.http.target import Target
from lakebed.model import Commit, RefsDump, TaskStatus

if TYPE_CHECKING:
    from lakebed._sync.handles.repository_base import Repository

_FIRST_PAUSE, _PAUSE = 0.05, 2.0


class _Background:
    """What a server does in its own time, by its id."""

    __module__ = "lakebed"

    def __init__(self, repository: Repository, id: str, ref: str = "") -> None:
        self.repository = repository
        self.id = _checks.check_name(id, "task id")
        self._target = Target(repository._transport, repository._storage, repository.id, ref)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.repository.id}/{self.id}>"

    def status(self) -> TaskStatus:
        """How far it is. Raises NotFoundError for one that is forgotten or never was."""
        return self._target.transport.call(tasks.get(self._target.repository, self._target.ref, self.id, wait=0))

    def _ended(self) -> TaskStatus:
        """It when it is over and well. Raises what it failed with."""
        state = ended(self._target, self.id)
        if state.error is not None:
            raise state.error
        return state


class Task(_Background):
    """A handle to a commit or a merge that a server does in its own time. It is remembered for seven days."""

    __module__ = "lakebed"

    def wait(self) -> Commit:
        """Wait until it is over; gives its commit. Raises what it failed with, and NotFoundError."""
        return made(self._target, ended(self._target, self.id))


class Import(Task):
    """A handle to an import into a branch. It is remembered for seven days."""

    __module__ = "lakebed"

    def status(self) -> TaskStatus:
        """How far it is; `objects` counts what it has looked at. Raises NotFoundError."""
        return self._target.transport.call(imports.status(self._target.repository, self._target.ref, self.id))

    def wait(self, progress: Callable[[TaskStatus], None] | None = None) -> Commit:
        """Wait until it is over; gives the commit, or the head where nothing differed. `progress` is told now and then.

        Raises what it failed with, and NotFoundError.
        """
        pause = _FIRST_PAUSE
        while True:
            state = self.status()
            if progress is not None:
                progress(state)
            if state.completed:
                return made(self._target, state)
            sleep(pause)
            pause = min(2 * pause, _PAUSE)

    def cancel(self) -> None:
        """Give it up: it commits nothing any more. Raises ConflictError when it is over, OutcomeUnknownError."""
        self._target.transport.call(imports.cancel(self._target.repository, self._target.ref, self.id))


class Dump(_Background):
    """A handle to a dump of commits, branches and tags. It is remembered for seven days."""

    __module__ = "lakebed"

    def wait(self) -> RefsDump:
        """Wait until it is over; gives what `restore_refs` takes. Raises what it failed with, and NotFoundError."""
        self._ended()
        return self._target.transport.call(metadata.dumped(self.repository.id, self.id))


class Restore(_Background):
    """A handle to a restore from such a dump. It is remembered for seven days."""

    __module__ = "lakebed"

    def wait(self) -> None:
        """Wait until it is over. Raises what it failed with, and NotFoundError."""
        self._ended()
