# Generated from sdk/lakebed/_async/handles/task.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Handles to tasks: work that the server continues without the client."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lakebed import _checks
from lakebed._compat.sync import sleep
from lakebed._gateway.operations import imports, metadata, tasks
from lakebed._sync.commits.recover import ended, made
from lakebed._sync.http.target import Target
from lakebed.model import Commit, RefsDump, TaskStatus

if TYPE_CHECKING:
    from lakebed._sync.handles.repository_base import Repository

_FIRST_PAUSE, _PAUSE = 0.05, 2.0


class _Background:
    """A task of the server, by its id."""

    __module__ = "lakebed"

    def __init__(self, repository: Repository, id: str, ref: str = "") -> None:
        self.repository = repository
        self.id = _checks.check_name(id, "task id")
        self._target = Target(repository._transport, repository._storage, repository.id, ref)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.repository.id}/{self.id}>"

    def status(self) -> TaskStatus:
        """Return the progress of the task. Raises NotFoundError when the server does not know the id (any more)."""
        return self._target.transport.call(tasks.get(self._target.repository, self._target.ref, self.id, wait=0))

    def _ended(self) -> TaskStatus:
        """Wait for the end, and return the status. Raises the error of a failed task."""
        state = ended(self._target, self.id)
        if state.error is not None:
            raise state.error
        return state


class Task(_Background):
    """A handle to a commit or a merge that runs as a task. The server remembers it for seven days."""

    __module__ = "lakebed"

    def wait(self) -> Commit:
        """Wait for the end, and return the commit. Raises the error of a failed task, and NotFoundError.

        Example:

            commit = main.start_commit("a large commit").wait()
        """
        return made(self._target, ended(self._target, self.id))


class Import(Task):
    """A handle to an import into a branch. The server remembers it for seven days."""

    __module__ = "lakebed"

    def status(self) -> TaskStatus:
        """Return the progress. `objects` counts the objects that the import has examined. Raises NotFoundError."""
        return self._target.transport.call(imports.status(self._target.repository, self._target.ref, self.id))

    def wait(self, progress: Callable[[TaskStatus], None] | None = None) -> Commit:
        """Wait for the end. Returns the commit, or the head of the branch when nothing differed.

        The SDK calls `progress` with the status after each request: at first every 0.05 seconds, later every 2 seconds.

        Raises the error of a failed import, and NotFoundError.

            commit = main.start_import({"s3://events/kafka/": "events/"}, "import").wait()
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
        """Cancel the import. It commits nothing. Raises ConflictError if it has ended, and OutcomeUnknownError."""
        self._target.transport.call(imports.cancel(self._target.repository, self._target.ref, self.id))


class Dump(_Background):
    """A handle to a dump of commits, branches and tags. The server remembers it for seven days."""

    __module__ = "lakebed"

    def wait(self) -> RefsDump:
        """Wait for the end. Returns what `restore_refs` takes. Raises the error of a failed dump, and NotFoundError."""
        self._ended()
        return self._target.transport.call(metadata.dumped(self.repository.id, self.id))


class Restore(_Background):
    """A handle to a restore from a dump. The server remembers it for seven days."""

    __module__ = "lakebed"

    def wait(self) -> None:
        """Wait for the end. Raises the error of a failed restore, and NotFoundError."""
        self._ended()
