"""The sweep of one repository: a look, a wait, another look, and then the files that nothing named in either.

Above `roots` and `trees`. Why a file that is deleted cannot be needed:

1. Neither look found it named, and the second began a grace period after the first had ended. So nothing names it, and
   no call that was on its way with its name, for less than that time, has put it into a record.
2. It is older than `age` by the store's clock, and its time is looked at again just before it is deleted. Whoever is
   about to name a file has written it within the call, also when one of that name was there: so it is not old, unless
   the call has lasted for longer than `age`.
3. Any error, anything unknown and anything damaged ends the sweep before it deletes.

In cloud stores some milliseconds lie between the last look at a file's time and its deletion, because they have no
deletion that depends on it: a call that writes the very same content again just then, after more than `age`, would lose
it. On `local://` and `mem://` the two are one step.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.operations.repositories import COMMITS, DRAFTS
from lakebed_engine.operations.sweeping.lease import Lease
from lakebed_engine.operations.sweeping.ledger import Found, Ledger
from lakebed_engine.operations.sweeping.roots import read_roots
from lakebed_engine.operations.sweeping.trees import read_trees
from lakebed_engine.stores.objects.object_parts import PARTS
from lakebed_engine.tree.trees import LAYERS, METARANGES, RANGES
from lakebed_engine.vocabulary.reports import Orphan, Progress, Sink, SweepOptions, SweepReport

PROBE = "_lakebed/sweep-clock"
"""Written to read the store's clock from its mtime, and removed."""

_FOLDERS = (
    (COMMITS, ".json"),
    (METARANGES, ".parquet"),
    (RANGES, ".parquet"),
    (LAYERS, ".parquet"),
    (PARTS, ""),
    (DRAFTS, ""),
)
"""What is swept, and in this order: while a file is there, so is what it names, and a rebuild can read it."""

_DATA = ("data/", "workspaces/")


@dataclass
class RepositorySweep:
    """One sweep of one repository. No lease: only a dry run."""

    ctx: Context
    repo: Repo
    options: SweepOptions
    ledger: Ledger
    progress: Progress
    sink: Sink
    lease: Lease | None
    looked_at: float = 0.0
    """When the first look ended, by the monotonic clock."""
    files: int = 0
    recent: int = 0
    found: int = 0
    deleted: int = 0
    deleted_bytes: int = 0
    _before: float = field(default=0.0)

    async def look(self) -> int:
        """The first look: what nothing names. How many files that is."""
        now = await self._store_time()
        self._before = now - self.options.age
        await self._read_names()
        for rank, (folder, suffix) in enumerate(_FOLDERS):
            await self._list(rank, folder, suffix, now)
        for rank, folder in enumerate(_DATA if self.options.data else (), len(_FOLDERS)):
            await self._list(rank, folder, "", now)
        self.looked_at = self.ctx.clock.monotonic()
        return self.found

    async def finish(self) -> None:
        """The second look; then delete what nothing named in either."""
        await self._read_names()
        for page in self.ledger.found():
            await self._keep()
            unnamed = {one.key: one for one in page if not self.ledger.is_named(one.key)}
            # told by the store which were still old: a call on its way may have written one again just now
            doomed = [unnamed[key] for key in await self.repo.store.delete_older(list(unnamed), self._before)]
            for one in doomed:
                self.deleted += 1
                self.deleted_bytes += one.size
                self.sink(Orphan(one.key, one.size, self._before + self.options.age - one.mtime))
            self.progress("deleted", self.deleted)

    def report(self) -> SweepReport:
        """What came out."""
        return SweepReport(
            repository=self.repo.name,
            dry_run=self.options.dry_run,
            files=self.files,
            recent=self.recent,
            found=self.found,
            deleted=self.deleted,
            deleted_bytes=self.deleted_bytes,
        )

    async def _keep(self) -> None:
        if self.lease is not None:
            await self.lease.keep()

    async def _store_time(self) -> float:
        """Unix seconds by the clock that files' times are of. A dry run writes nothing and takes this machine's."""
        if self.options.dry_run:
            return self.ctx.clock.now()
        store = self.repo.store
        await store.put(PROBE, b"")
        try:
            return (await store.head(PROBE)).mtime
        finally:
            await store.delete([PROBE])

    async def _read_names(self) -> None:
        await self._keep()
        await read_roots(self.ctx, self.repo, self.ledger, data=self.options.data)
        await read_trees(self.ctx, self.repo, self.ledger, self._keep, data=self.options.data)

    async def _list(self, rank: int, folder: str, suffix: str, now: float) -> None:
        async for blob in self.repo.store.list(folder):
            self.files += 1
            if self.files % 1000 == 0:
                self.progress("files", self.files)
                await self._keep()
            if not blob.key.endswith(suffix) or not _is_ours(blob.key) or self.ledger.is_named(blob.key):
                continue
            if blob.mtime >= self._before:
                self.recent += 1
                continue
            self.found += 1
            self.ledger.add_found(rank, Found(blob.key, blob.size, blob.mtime))
            if self.options.dry_run:
                self.sink(Orphan(blob.key, blob.size, now - blob.mtime))


def _is_ours(key: str) -> bool:
    """`workspaces/` also holds notes about workspaces, beside their folders: those stay."""
    return not key.startswith("workspaces/") or key.count("/") > 1
