"""The sweep of one repository: check, wait, check again, then delete the files that were unnamed in both checks.

Why no request can need a deleted file:

1. The file was unnamed in both checks, and the second began a grace period after the end of the first. So no record
   names it. A request that held its name for less than that time has not put it into a record either.
2. The file is older than `age` by the store's clock, and the sweep reads its time again just before it deletes it. A
   request writes every file that it will name, even if the file exists. So the file is not old, unless the request
   has lasted longer than `age`.
3. Any error, unknown row or damaged file ends the sweep before it deletes.
4. The key of the file has a form that the engine makes, or is in the folder of a workspace that the engine knows: by
   its row, or by a note in the bucket. Any other key is foreign: the sweep counts it and leaves it in place.

Cloud stores cannot delete depending on the time of a file. There, some milliseconds pass between the last read of the
time and the deletion. If a request that is older than `age` writes the same content again in these milliseconds, it
loses the file. On `local://` and `mem://` the two are one step.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lakebed_format.keys import (
    COMMITS,
    DATA,
    DRAFTS,
    LAYERS,
    METARANGES,
    PARTS,
    PULLS,
    RANGES,
    SWEEP_CLOCK,
    WORKSPACES,
    is_made,
    is_mark,
    workspace_of,
)

from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.operations.gc.lease import Lease
from lakebed_engine.operations.gc.mark_refs import read_roots
from lakebed_engine.operations.gc.mark_trees import read_trees
from lakebed_engine.operations.gc.scratch_db import Found, ScratchDb
from lakebed_engine.operations.workspace.lifecycle import is_marked
from lakebed_engine.stores.objects.base import BlobStat
from lakebed_engine.vocabulary.reports import Orphan, Progress, Sink, SweepOptions, SweepReport

_FOLDERS = (
    COMMITS,
    METARANGES,
    RANGES,
    LAYERS,
    PARTS,
    DRAFTS,
    PULLS,
)
"""The folders to sweep, in this order: a file is deleted before the files that it names, so a rebuild can read it."""

_DATA = (DATA, WORKSPACES)

OLDER_SHARE = 0.1
"""With `hold_older`, a sweep only lists when more than this share of the found files is older than the repository."""


@dataclass
class RepositorySweep:
    """One sweep of one repository. `lease` is None in a dry run."""

    ctx: Context
    repo: Repo
    options: SweepOptions
    scratch: ScratchDb
    progress: Progress
    sink: Sink
    lease: Lease | None
    looked_at: float = 0.0
    """When the first check ended, by the monotonic clock."""
    files: int = 0
    recent: int = 0
    found: int = 0
    older: int = 0
    deleted: int = 0
    deleted_bytes: int = 0
    foreign: int = 0
    foreign_bytes: int = 0
    foreign_example: str = ""
    _now: float = field(default=0.0)
    _before: float = field(default=0.0)
    _workspace: tuple[str, bool] = field(default=("", False))
    """The id of the last workspace that was looked up, and whether it is known."""

    async def look(self) -> int:
        """Make the first check. Returns the number of unnamed files."""
        now = self._now = await self._store_time()
        self._before = self.ctx.expiry_clock.before(now, self.options.age)
        await self._read_names()
        for rank, folder in enumerate((*_FOLDERS, *_DATA) if self.options.data else _FOLDERS):
            await self._list(rank, folder)
        self.older = self.scratch.count_older(self.repo.record.creation_date)
        if self.options.dry_run or self.held:
            self._show(now)
        self.looked_at = self.ctx.clock.monotonic()
        return self.found

    @property
    def held(self) -> bool:
        """Whether the sweep deletes nothing, because too many found files are older than the repository."""
        holds = self.options.hold_older and not self.options.dry_run
        return holds and self.older > self.found * OLDER_SHARE

    async def finish(self) -> None:
        """Make the second check, then delete the files that were unnamed in both."""
        await self._read_names()
        for page in self.scratch.found():
            await self._keep()
            unnamed = {one.key: one for one in page if not self.scratch.is_named(one.key)}
            # the store skips files that are no longer old: a running request may have written one again just now
            doomed = [unnamed[key] for key in await self.repo.store.delete_older(list(unnamed), self._before)]
            for one in doomed:
                self.deleted += 1
                self.deleted_bytes += one.size
                self.sink(Orphan(one.key, one.size, self._now - one.mtime))
            self.progress("deleted", self.deleted)

    def report(self) -> SweepReport:
        """The result of the sweep."""
        return SweepReport(
            repository=self.repo.name,
            dry_run=self.options.dry_run,
            files=self.files,
            recent=self.recent,
            found=self.found,
            deleted=self.deleted,
            deleted_bytes=self.deleted_bytes,
            older=self.older,
            held=self.held,
            foreign=self.foreign,
            foreign_bytes=self.foreign_bytes,
            foreign_example=self.foreign_example,
        )

    async def _keep(self) -> None:
        if self.lease is not None:
            await self.lease.keep()

    async def _store_time(self) -> float:
        """Unix seconds by the store's clock. A dry run writes nothing and uses the clock of this machine."""
        if self.options.dry_run:
            return self.ctx.clock.now()
        store = self.repo.store
        await store.put(SWEEP_CLOCK, b"")
        try:
            return (await store.head(SWEEP_CLOCK)).mtime
        finally:
            await store.delete([SWEEP_CLOCK])

    async def _read_names(self) -> None:
        await self._keep()
        await read_roots(self.ctx, self.repo, self.scratch, data=self.options.data)
        await read_trees(self.ctx, self.repo, self.scratch, self._keep, data=self.options.data)

    async def _list(self, rank: int, folder: str) -> None:
        async for blob in self.repo.store.list(folder):
            self.files += 1
            if self.files % 1000 == 0:
                self.progress("files", self.files)
                await self._keep()
            if self.scratch.is_named(blob.key) or is_mark(blob.key):
                continue
            if not await self._is_ours(blob):
                self.foreign += 1
                self.foreign_bytes += blob.size
                self.foreign_example = self.foreign_example or blob.key
            elif blob.mtime >= self._before:
                self.recent += 1
            else:
                self.found += 1
                self.scratch.add_found(rank, Found(blob.key, blob.size, blob.mtime))

    async def _is_ours(self, blob: BlobStat) -> bool:
        if not blob.key.startswith(WORKSPACES):
            return is_made(blob.key)
        found_id = workspace_of(blob.key)
        if not found_id or blob.mtime >= self._before:  # the workspace may be newer than the names that were read
            return bool(found_id)
        if found_id != self._workspace[0]:
            known = self.scratch.has_workspace(found_id) or await is_marked(self.ctx, self.repo, found_id)
            self._workspace = (found_id, known)
        return self._workspace[1]

    def _show(self, now: float) -> None:
        for page in self.scratch.found():
            for one in page:
                self.sink(Orphan(one.key, one.size, now - one.mtime))
