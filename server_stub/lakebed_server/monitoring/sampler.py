"""Samples what is not counted while it happens: queues, lags, caches, disks and the process itself.

Each process samples into its own cells, every few seconds and before a scrape that it answers. So a scrape shows the
other processes as they were a few seconds ago.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.observer import CacheUse

from lakebed_server.access_history.recorder import Recorder
from lakebed_server.bounds.admission import Admission, Stopping
from lakebed_server.event_feed.feed import Feeds
from lakebed_server.hooks.gate import Hooks
from lakebed_server.metrics.counting import Counting
from lakebed_server.monitoring.readiness import ReadinessCheck

log = logging.getLogger("lakebed.server")

INTERVAL: Final = 2.0
"""Seconds between two samples."""
STORES_INTERVAL: Final = 10.0
"""Seconds between two questions to the stores."""


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """What is sampled. `directories`: by their name in the metrics. `disk_cache`: None without one."""

    engine: Engine
    admission: Admission
    stopping: Stopping
    feeds: Feeds
    history: Recorder | None = None
    hooks: Hooks | None = None
    database: Path | None = None
    directories: Mapping[str, Path] = field(default_factory=dict)
    disk_cache: Callable[[], CacheUse] | None = None


class Sampler:
    """Writes samples to the cells of this process."""

    def __init__(self, counting: Counting, sampled: Sampled, readiness: ReadinessCheck) -> None:
        self._counting = counting
        self._sampled = sampled
        self._readiness = readiness
        self._lag = 0.0
        counting.set("lakebed_workers", to=1.0)
        counting.set("lakebed_process_start_time_seconds", to=time.time())

    async def run(self) -> None:
        """Sample until it is cancelled."""
        asked = float("-inf")
        while True:
            try:
                self.sample()
                await asyncio.to_thread(self._sample_disks)
                if time.monotonic() - asked >= STORES_INTERVAL:
                    asked = time.monotonic()
                    await self._ask_stores()
            except Exception:
                log.exception("a sample of the metrics failed; the next sample is in %g s", INTERVAL)
            await self._pause()

    async def _pause(self) -> None:
        """Wait for the next sample, and note how late the event loop is."""
        lag = 0.0
        for _ in range(int(INTERVAL / 0.25)):
            began = time.monotonic()
            await asyncio.sleep(0.25)
            lag = max(lag, time.monotonic() - began - 0.25)
        self._lag = lag

    def sample(self) -> None:
        """Sample everything that needs no wait."""
        counting, sampled = self._counting, self._sampled
        state = sampled.engine.maintenance.state()
        counting.set("lakebed_commits_waiting", to=state.commits_waiting)
        counting.set("lakebed_branches_crowded", to=state.branches_crowded)
        counting.set("lakebed_journal_waiting_events", to=state.events_waiting)
        counting.set("lakebed_journal_lag_seconds", to=state.events_age)
        caches = dict(state.caches)
        if sampled.disk_cache is not None:
            caches["disk"] = sampled.disk_cache()
        for name, use in caches.items():
            counting.set_count("lakebed_cache_reads_total", name, "hit", since_start=use.hits)
            counting.set_count("lakebed_cache_reads_total", name, "miss", since_start=use.misses)
        for limit, refused in sampled.admission.refused.items():
            counting.set_count("lakebed_refusals_total", limit, since_start=refused)
        if sampled.hooks is not None:
            for result, attempts in sampled.hooks.deliveries.items():
                counting.set_count("lakebed_hook_deliveries_total", result, since_start=attempts)
        counting.set("lakebed_feed_listeners", to=sampled.feeds.listeners)
        counting.set("lakebed_feed_lag_seconds", to=sampled.feeds.lag)
        if sampled.history is not None:
            counting.set("lakebed_history_waiting_rows", to=sampled.history.waiting)
            counting.set("lakebed_history_lag_seconds", to=sampled.history.age)
            counting.set_count("lakebed_history_dropped_rows_total", since_start=sampled.history.dropped)
        counting.set("lakebed_stopping", to=float(sampled.stopping.drains))
        self._sample_process()

    def _sample_process(self) -> None:
        counting, used = self._counting, os.times()
        counting.set("lakebed_event_loop_lag_seconds", to=self._lag)
        counting.set_count("lakebed_process_cpu_seconds_total", since_start=used.user + used.system)
        counting.set("lakebed_process_resident_bytes", to=_resident_bytes())

    def _sample_disks(self) -> None:
        """Sample the file systems. Blocks: a network file system may take long."""
        counting = self._counting
        for name, directory in self._sampled.directories.items():
            try:
                disk = shutil.disk_usage(directory)
            except OSError:
                continue
            counting.set("lakebed_disk_free_bytes", name, to=disk.free)
            counting.set("lakebed_disk_size_bytes", name, to=disk.total)
        if self._sampled.database is not None:
            try:
                size = os.stat(f"{self._sampled.database}-wal").st_size
            except OSError:
                size = 0
            counting.set("lakebed_wal_bytes", to=size)

    async def _ask_stores(self) -> None:
        counting = self._counting
        found = await self._readiness.answer()
        counting.set("lakebed_kv_up", to=float(found.kv))
        counting.set("lakebed_stores_failing", to=found.object_stores.asked - found.object_stores.answering)
        try:
            counting.set("lakebed_sweep_age_seconds", to=await self._sampled.engine.maintenance.sweep_age())
        except EngineError:
            return  # the KV store does not answer, and another metric says so


def _resident_bytes() -> float | None:
    """The memory of this process. None where the system does not say."""
    if sys.platform != "linux":
        return None
    with open("/proc/self/statm", "rb") as file:
        return float(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
