"""The versioning engine: an object of services over its stores."""

from __future__ import annotations

from lakebed_engine.maintenance import Maintenance
from lakebed_engine.operations.context import Context
from lakebed_engine.operations.ingest import import_task
from lakebed_engine.operations.recovery import dump_restore
from lakebed_engine.operations.recovery.ref_snapshots import RefChanges, Snapshots
from lakebed_engine.operations.tasks import async_commit
from lakebed_engine.operations.tasks.runner import TaskRunner, Worker
from lakebed_engine.operations.tuning import Tuning
from lakebed_engine.services import Services
from lakebed_engine.stores.kv.base import KVStore
from lakebed_engine.stores.objects.base import ObjectStores
from lakebed_engine.stores.objects.external import Foreign
from lakebed_engine.tree.cache import ByteCache
from lakebed_engine.tree.trees import Trees
from lakebed_engine.vocabulary import tasks
from lakebed_engine.vocabulary.events import Flush
from lakebed_engine.vocabulary.observer import SILENT, Observer
from lakebed_engine.vocabulary.ports import AsyncioRuntime, Clock, Ids, RandomIds, Runtime, SystemClock

_WORKERS = {
    tasks.IMPORT: Worker(import_task.run_import, import_task.tidy),
    tasks.COMMIT: Worker(async_commit.run_commit),
    tasks.MERGE: Worker(async_commit.run_merge),
    tasks.DUMP: Worker(dump_restore.run_dump),
    tasks.RESTORE: Worker(dump_restore.run_restore),
}
"""The worker of each kind of task."""

UPLOAD_LIFETIME = 7 * 24 * 3600
"""Seconds after which a multipart upload that is not completed expires."""


class Engine(Services):
    """The versioning engine over one KV store and any number of object stores.

    `cache_bytes` limits the memory for decoded ranges. `cleanup_grace` is in seconds.

    With `snapshot_always` each operation that changes a ref also writes a ref snapshot before it returns. `tuning`
    has the sizes and wait times that are not settings of a server: only tests change them. `foreign` says which
    objects outside of every namespace may be read: none by default. `address_key` signs physical addresses: all
    servers of a store need the same key. Without a key the engine makes one, and addresses are valid until this
    process ends. `upload_age`: seconds after which a multipart upload that is not completed expires. `trees` is for
    tests: it replaces the engine's own reader and cache of tree files. `flush` says when events move to files.
    `observer` gets reports of commits. The stores report to it only if their owner has created them that way.
    `directory_marks`: commits keep the directory marks of S3 tools.
    """

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
        tuning: Tuning | None = None,
        foreign: Foreign | None = None,
        address_key: bytes = b"",
        upload_age: float = UPLOAD_LIFETIME,
        trees: Trees | None = None,
        flush: Flush | None = None,
        observer: Observer = SILENT,
        directory_marks: bool = False,
    ) -> None:
        tuning = tuning or Tuning()
        self._own_runtime = AsyncioRuntime() if runtime is None else None
        work = runtime or self._own_runtime
        assert work is not None
        ctx = Context(
            kv=kv,
            stores=stores,
            clock=clock or SystemClock(),
            ids=ids or RandomIds(),
            runtime=work,
            trees=trees or Trees(work, ByteCache(cache_bytes), tuning.trees),
            commits=ByteCache(max(cache_bytes // 16, 1 << 20)),
            patience=cleanup_grace / 2,
            foreign=foreign or Foreign(stores.open),
            address_key=address_key or RandomIds().new().encode(),
            upload_lifetime=int(upload_age),
            tuning=tuning,
            observer=observer,
            directory_marks=directory_marks,
        )
        self.context = ctx
        """The stores, the clock and the caches. For tests and benchmarks: the server uses the services."""
        changes = RefChanges(Snapshots(ctx, snapshots_kept), snapshot_always=snapshot_always)
        runner = TaskRunner(ctx, _WORKERS, changes.report)
        super().__init__(ctx, runner, changes)
        self.maintenance = Maintenance(ctx, runner, changes, cleanup_grace, flush or Flush())

    def clear_caches(self) -> None:
        """Drop everything that was read from the stores. For tests: the next read reads the stores again."""
        self.context.trees.clear()
        self.context.commits.clear()

    async def close(self) -> None:
        """Stop background work. The stores stay open: their owner closes them."""
        if self._own_runtime is not None:
            self._own_runtime.close()
