"""The one door to the engine: every verb of the service, as one object over its stores.

Verbs take names and plain values and return records of `vocabulary.records`; they raise errors of `vocabulary.errors`
and nothing else. Names and paths are checked here. Amounts of pages are 1 to 1,000. `repo` is always a repository's
name. The verbs stand in `verbs`, by what they are about; here they become one, with the upkeep of all repositories.
"""

from __future__ import annotations

from contextlib import suppress

from lakebed_engine.operations.context import Context, open_repo
from lakebed_engine.operations.direct_writes.physical_address import Placing
from lakebed_engine.operations.expiry_clock import ExpiryClock
from lakebed_engine.operations.export.metadata_files import MetadataFiles
from lakebed_engine.operations.fsck import scrub as fsck_scrub
from lakebed_engine.operations.fsck.fsck import fsck, ignore_finding, ignore_progress
from lakebed_engine.operations.gc.deferred_deletes import Cleaner
from lakebed_engine.operations.gc.sweep import sweep
from lakebed_engine.operations.history import log
from lakebed_engine.operations.ingest import import_task
from lakebed_engine.operations.layers import compaction
from lakebed_engine.operations.multipart.service import LIFETIME, Multiparts
from lakebed_engine.operations.recovery import dump_restore
from lakebed_engine.operations.recovery.rebuild import rebuild
from lakebed_engine.operations.tasks import async_commit
from lakebed_engine.operations.tasks.runner import Tasks, Worker
from lakebed_engine.operations.workspace import expiry
from lakebed_engine.stores.kv.base import KVStore
from lakebed_engine.stores.objects.base import ObjectStores
from lakebed_engine.stores.objects.external import Foreign
from lakebed_engine.tree.cache import ByteCache
from lakebed_engine.tree.manifest import LIMITS, Limits
from lakebed_engine.tree.trees import Trees
from lakebed_engine.verbs.branches import BranchVerbs
from lakebed_engine.verbs.commits import CommitVerbs
from lakebed_engine.verbs.objects import ObjectVerbs
from lakebed_engine.verbs.repositories import RepositoryVerbs
from lakebed_engine.verbs.workspaces import WorkspaceVerbs
from lakebed_engine.vocabulary.errors import NotFoundError
from lakebed_engine.vocabulary.ports import AsyncioRuntime, Clock, Ids, RandomIds, Runtime, SystemClock
from lakebed_engine.vocabulary.reports import (
    FsckOptions,
    FsckReport,
    Progress,
    RebuildReport,
    Scrubbed,
    ScrubOptions,
    ScrubPass,
    Sink,
    SnapshotPass,
    SweepOptions,
    SweepPass,
)

_WORK = {
    import_task.IMPORT: Worker(import_task.work, import_task.tidy),
    async_commit.COMMIT: Worker(async_commit.commit),
    async_commit.MERGE: Worker(async_commit.merge),
    dump_restore.DUMP: Worker(dump_restore.dump_work),
    dump_restore.RESTORE: Worker(dump_restore.restore_work),
}
"""What a task of each kind does."""


class Engine(RepositoryVerbs, BranchVerbs, WorkspaceVerbs, CommitVerbs, ObjectVerbs):
    """The versioning engine over one KV store and any number of object stores."""

    def __init__(
        self,
        kv: KVStore,
        stores: ObjectStores,
        *,
        clock: Clock | None = None,
        ids: Ids | None = None,
        runtime: Runtime | None = None,
        cache_bytes: int = 256 << 20,
        cleanup_grace: float = 300.0,
        snapshot_always: bool = False,
        snapshots_kept: int = 100,
        limits: Limits = LIMITS,
        foreign: Foreign | None = None,
        address_key: bytes = b"",
        upload_age: float = LIFETIME,
    ) -> None:
        """`cache_bytes` bounds the memory for decoded ranges; `cleanup_grace` is in seconds.

        With `snapshot_always` each verb that changes a ref also writes a ref snapshot before it answers. `limits` say
        how trees are cut: only tests change them. `foreign` says which objects outside of every namespace may be
        read: none by default. `address_key` signs addresses that are given out: all servers need the same one.
        `upload_age`: seconds after which an object that arrives in parts and is not completed is given up.
        """
        self._own_runtime = AsyncioRuntime() if runtime is None else None
        work = runtime or self._own_runtime
        assert work is not None
        time = clock or SystemClock()
        ctx = Context(
            kv=kv,
            stores=stores,
            clock=time,
            expiry_clock=ExpiryClock(time),
            ids=ids or RandomIds(),
            runtime=work,
            trees=Trees(work, ByteCache(cache_bytes), limits),
            commits=ByteCache(max(cache_bytes // 16, 1 << 20)),
            patience=cleanup_grace / 2,
            crowded={},
            queues={},
            repos=ByteCache(1_000),
            marked=ByteCache(10_000),
            foreign=foreign or Foreign(stores.open),
        )
        super().__init__(ctx, snapshots_kept, snapshot_always=snapshot_always)
        self.metadata_files = MetadataFiles(ctx)
        self.placing = Placing(ctx, address_key)
        self.multiparts = Multiparts(ctx, upload_age)
        self.tasks = Tasks(ctx, _WORK, self._refs_changed)
        self.importing = import_task.Importing(ctx, self.tasks)
        self.long_work = async_commit.LongWork(ctx, self.tasks)
        self.dumping = dump_restore.Dumping(ctx, self.tasks)
        self._cleaner = Cleaner(ctx, cleanup_grace)

    async def close(self) -> None:
        """Stop background work. The stores stay open: whoever made them closes them."""
        if self._own_runtime is not None:
            self._own_runtime.close()

    async def keep_time(self) -> None:
        """Take over the time by which things expire from the last server, and write it down now and then.

        A server calls it before each pass of the cleaner. Raises StoreError.
        """
        await self._ctx.expiry_clock.keep(self._ctx.kv)

    async def run_cleaner(self) -> int:
        """One pass of the cleaner: delete what swaps dropped longer ago than the grace period; then one of the janitor,
        which closes expired workspaces; then tasks whose server is gone are taken over, and uploads in parts that have
        expired are given up. How much they settled.
        """
        settled = await self._cleaner.run() + await expiry.tidy(self._ctx) + await self.tasks.resume()
        return settled + await self.multiparts.tidy()

    async def maintain(self) -> int:
        """Compact the branches that this process saw with many layers, and index the history of repositories that it
        saw grow. How many layers it took away.
        """
        grown, self._grown = list(self._grown), {}
        for repo in grown:
            with suppress(NotFoundError):  # deleted meanwhile, or bare
                await log.index(self._ctx, repo)
        return await compaction.maintain(self._ctx)

    async def run_snapshots(self) -> SnapshotPass:
        """One pass of ref snapshots: write one for each repository whose refs differ from its newest one."""
        return await self._snapshots.run()

    async def fsck(
        self, repo: str, options: FsckOptions, *, progress: Progress = ignore_progress, sink: Sink = ignore_finding
    ) -> FsckReport:
        """What of a repository is missing, corrupt or named by nothing. Changes nothing."""
        return await fsck(self._ctx, repo, options, progress, sink)

    async def sweep(
        self,
        repo: str = "",
        options: SweepOptions | None = None,
        *,
        progress: Progress = ignore_progress,
        sink: Sink = ignore_finding,
    ) -> SweepPass:
        """Delete what nothing names; without `repo`, of all repositories, and staged rows that no record names.

        `sink` gets each file. Raises RepositoryNotFoundError; the result contains the failures of each repository.
        """
        return await sweep(self._ctx, repo, options or SweepOptions(), progress, sink)

    async def scrub(self, options: ScrubOptions) -> ScrubPass:
        """Check all repositories slowly, if a scrub is due and no other server is at it. Logs what is damaged."""
        return await fsck_scrub.scrub(self._ctx, options)

    async def last_scrub(self, repo: str) -> Scrubbed | None:
        """What the last scrub found in a repository. Raises RepositoryNotFoundError."""
        return await fsck_scrub.last_scrub(self._ctx, await open_repo(self._ctx, repo))

    async def rebuild(
        self,
        namespace: str,
        name: str = "",
        *,
        dry_run: bool = False,
        progress: Progress = ignore_progress,
        sink: Sink = ignore_finding,
    ) -> RebuildReport:
        """Bring a lost repository back from its bucket alone. Raises RepositoryExistsError, NamespaceInUseError."""
        return await rebuild(self._ctx, namespace, name, dry_run=dry_run, progress=progress, sink=sink)
