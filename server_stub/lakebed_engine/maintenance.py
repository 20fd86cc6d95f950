"""The maintenance service: background work on all repositories, checks and repairs."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from lakebed_engine.operations import health
from lakebed_engine.operations.context import Context, active_records, opened
from lakebed_engine.operations.events.drain import Drainer
from lakebed_engine.operations.fsck import fsck as fsck_check
from lakebed_engine.operations.fsck import scrub as fsck_scrub
from lakebed_engine.operations.gc import purge
from lakebed_engine.operations.gc import sweep as gc_sweep
from lakebed_engine.operations.gc.deferred_deletes import Cleaner
from lakebed_engine.operations.history import log
from lakebed_engine.operations.hooks import runs as hook_runs
from lakebed_engine.operations.layers import compaction
from lakebed_engine.operations.multipart import abort
from lakebed_engine.operations.pulls import auto_merge
from lakebed_engine.operations.recovery import rebuild as recovery_rebuild
from lakebed_engine.operations.recovery.ref_snapshots import RefChanges
from lakebed_engine.operations.retry import Failures
from lakebed_engine.operations.tasks.runner import TaskRunner
from lakebed_engine.operations.workspace import expiry
from lakebed_engine.services import Service, bound
from lakebed_engine.vocabulary.errors import NotFoundError
from lakebed_engine.vocabulary.events import Flush
from lakebed_engine.vocabulary.reports import SnapshotPass


class Maintenance(Service):
    """Background work on all repositories, checks and repairs."""

    def __init__(
        self, ctx: Context, runner: TaskRunner, ref_changes: RefChanges, cleanup_grace: float, flush: Flush
    ) -> None:
        super().__init__(ctx, runner, ref_changes)
        self._cleaner = Cleaner(ctx, cleanup_grace)
        self._drainer = Drainer(ctx, flush)

    fsck = bound(fsck_check.fsck)
    scrub = bound(fsck_scrub.scrub)
    last_scrub = bound(fsck_scrub.last_scrub)
    sweep = bound(gc_sweep.sweep)
    rebuild = bound(recovery_rebuild.rebuild)
    state = bound(health.state)
    sweep_age = bound(health.sweep_age)
    answers = bound(health.answers)

    async def keep_time(self) -> None:
        """Continue the clock of expiries from the time that the last server stored, and store it regularly.

        A server calls it before each `clean`. Raises StoreError.
        """
        await self._ctx.expiry_clock.keep(self._ctx.kv)

    async def clean(self) -> int:
        """Delete data that commits dropped before the grace period, close expired workspaces, resume tasks of dead
        servers, abort expired multipart uploads, and continue purges. Returns how many of these it settled.

        Raises the first StoreError at its end: a store that fails does not stop the work on other repositories.
        """
        settled, failures = 0, Failures()
        for step in (
            self._cleaner.run,
            partial(expiry.tidy, self._ctx),
            self._runner.resume,
            partial(purge.resume, self._ctx),
            partial(abort.tidy, self._ctx),
        ):
            with failures.kept():
                settled += await step()
        failures.raise_first()
        return settled

    async def expire_hooks(self, keep: float) -> int:
        """Delete runs of hooks, their logs and verdicts that are older than `keep` seconds. Returns how many rows."""
        removed = 0
        async for record in active_records(self._ctx):
            removed += await hook_runs.expire(self._ctx, opened(self._ctx, record), keep)
        return removed

    async def compact(self) -> int:
        """Compact the branches that this process saw with many layers, and index the history of the repositories whose
        refs it changed. Returns how many layers it removed.
        """
        for repo in self._ref_changes.take():
            with suppress(NotFoundError):  # deleted in between, or bare
                await log.index(self._ctx, repo)
        return await compaction.maintain(self._ctx)

    async def drain_events(self, *, everything: bool = False) -> int:
        """Move due events from the KV store to files; with `everything`, all events that this process has recorded.

        Returns how many events it moved.
        """
        return await self._drainer.run(everything=everything)

    async def merge_ready(self, may: auto_merge.May) -> int:
        """Merge waiting pull requests that now have their reviews and checks. Returns how many.

        `may`: whether the user who asked for it may still merge.
        """
        merged = await auto_merge.merge_ready(self._ctx, may)
        for repo in merged:
            await self._ref_changes.report(repo)
        return len(merged)

    async def snapshot_refs(self) -> SnapshotPass:
        """Write a ref snapshot for each repository whose refs differ from its newest snapshot."""
        return await self._ref_changes.snapshots.run()
