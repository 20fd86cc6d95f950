# Generated from sdk/lakebed/_async/task.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Handles to work that goes on without its client. Under the branch handle; the flows are in `tasks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lakebed import _checks
from lakebed._compat.sync import sleep
from lakebed._gateway import imports, tasks
from lakebed._sync.tasks import ended, made
from lakebed.model import Commit, TaskStatus

if TYPE_CHECKING:
    from lakebed._sync.repository import Repository

_FIRST_PAUSE, _PAUSE = 0.05, 2.0


class Task:
    """A handle to a commit or a merge that a server does in its own time. It is remembered for two days."""

    __module__ = "lakebed"

    def __init__(self, repository: Repository, id: str, ref: str = "") -> None:
        self.repository = repository
        self.id = _checks.check_name(id, "task id")
        self._ref = ref
        self._transport = repository._transport

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.repository.id}/{self.id}>"

    def status(self) -> TaskStatus:
        """How far it is. Raises NotFoundError for one that is forgotten or never was."""
        return self._transport.call(tasks.get(self.repository.id, self._ref, self.id, wait=0))

    def wait(self) -> Commit:
        """Wait until it is over; gives its commit. Raises what it failed with, and NotFoundError."""
        return made(self.repository.id, self._ref, ended(self._transport, self.repository.id, self._ref, self.id))


class Import(Task):
    """A handle to an import into a branch. It is remembered for two days."""

    __module__ = "lakebed"

    def status(self) -> TaskStatus:
        """How far it is; `objects` counts what it has looked at. Raises NotFoundError."""
        return self._transport.call(imports.status(self.repository.id, self._ref, self.id))

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
                return made(self.repository.id, self._ref, state)
            sleep(pause)
            pause = min(2 * pause, _PAUSE)

    def cancel(self) -> None:
        """Give it up: it commits nothing any more. Raises ConflictError when it is over, OutcomeUnknownError."""
        self._transport.call(imports.cancel(self.repository.id, self._ref, self.id))
