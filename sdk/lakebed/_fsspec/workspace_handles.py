"""Handles to workspaces, kept while they are in use: each knows its way into the store."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakebed.aio import Repository, Workspace

_KEPT = 16


class Workspaces:
    """The last few that were used."""

    def __init__(self, data_path: Any) -> None:
        self.data_path = data_path
        self._known: OrderedDict[tuple[str, str], Workspace] = OrderedDict()

    async def get(self, repository: Repository, name: str) -> Workspace:
        """A workspace by its name. Raises NotFoundError."""
        key = (repository.id, name)
        if key not in self._known:
            self._keep(key, await repository.workspace(name, data_path=self.data_path))
        self._known.move_to_end(key)
        return self._known[key]

    async def add(self, workspace: Workspace) -> None:
        """Create one that is new."""
        await workspace.create()
        self._keep((workspace.repository.id, workspace.id), workspace)

    def _keep(self, key: tuple[str, str], workspace: Workspace) -> None:
        self._known[key] = workspace
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
