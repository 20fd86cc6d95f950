"""What this process observes of itself: the metrics, the traces, or both.

`Observation.observer` goes to the engine and its stores, `Observation.watch` to the requests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lakebed_engine.vocabulary.health import CacheUse

from lakebed_server.http.request import Call
from lakebed_server.metrics.counting import Counting
from lakebed_server.monitoring.endpoints import MetricsAccess


@dataclass(frozen=True, kw_only=True)
class Observation:
    """`access`: the clients that may read the metrics. `database`: the file of SQLite, `directories` those whose free space counts.
    `disk_cache`: the use of the cache on disk; None without one.
    """

    counting: Counting | None = None
    access: MetricsAccess = field(default_factory=MetricsAccess)
    database: Path | None = None
    directories: Mapping[str, Path] = field(default_factory=dict)
    disk_cache: Callable[[], CacheUse] | None = None


class RequestCounting:
    """Counts requests: a `Watch`."""

    def __init__(self, counting: Counting) -> None:
        self._counting = counting

    def request_begins(self, call: Call) -> None:
        """A request has arrived."""
        self._counting.request_begins()

    def request_ends(self, call: Call, status: int, sent: int, *, is_feed: bool) -> None:
        """A request was answered, with `sent` bytes of content."""
        seconds = None if is_feed else time.perf_counter() - call.started
        self._counting.request_ends(call.operation, status, call.body.received, sent, seconds)
