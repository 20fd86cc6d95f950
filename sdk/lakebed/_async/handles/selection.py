"""A part of a workspace's changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from lakebed.model import Commit

if TYPE_CHECKING:
    from lakebed._async.handles.workspace import Workspace


class Selection:
    """A part of a workspace's changes, to be committed alone."""

    __module__ = "lakebed.aio"

    def __init__(self, workspace: Workspace, globs: Sequence[str]) -> None:
        self.workspace = workspace
        self.globs = tuple(globs)

    def __repr__(self) -> str:
        return f"<Selection {' '.join(self.globs)} of {self.workspace.repository.id}/{self.workspace.id}>"

    async def commit(
        self,
        message: str | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        on_conflict: Literal["rebase", "abort", "overwrite"] | None = None,
        date: datetime | int | None = None,
        scan: bool | None = None,
        idempotency_key: str | None = None,
    ) -> Commit:
        """Commit this part as `Workspace.commit` does; the rest stays, on top of the new commit.

        Raises what that raises, and InvalidRequestError for a glob that matches nothing.
        """
        return await self.workspace._commit(
            self.globs, message, metadata, on_conflict, (), False, date, scan, idempotency_key
        )
