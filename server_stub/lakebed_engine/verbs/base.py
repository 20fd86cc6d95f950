"""What the verbs work with, and what they tell of the refs that they change."""

from __future__ import annotations

from lakebed_engine.operations.context import Context
from lakebed_engine.operations.recovery.ref_snapshots import Snapshots


class Verbs:
    """A part of the engine: methods over its context."""

    def __init__(self, ctx: Context, snapshots_kept: int, *, snapshot_always: bool) -> None:
        self._ctx = ctx
        self._snapshots = Snapshots(ctx, snapshots_kept)
        self._snapshot_always = snapshot_always
        self._grown: dict[str, None] = {}
        """Repositories whose history this process saw grow since it was last indexed."""

    async def _refs_changed(self, repo: str) -> None:
        self._grown[repo] = None
        if self._snapshot_always:
            await self._snapshots.changed(repo)
