"""What this process observes of itself: the metrics, the traces, or both.

The server gives `Both` to the engine and its stores, and `Observation.watch` to its requests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lakebed_engine.vocabulary.observer import CacheUse, Layer, Observer, Work

from lakebed_server.http.request import Call
from lakebed_server.http.request_cycle import Watch
from lakebed_server.metrics.counting import Counting
from lakebed_server.monitoring.endpoints import MetricsAccess


@dataclass(frozen=True, kw_only=True)
class Observation:
    """`access`: the clients that may read the metrics. `database`: the file of SQLite, `directories`: those whose
    free space counts. `disk_cache`: the use of the cache on disk; None without one. `watch` gets reports of requests.
    """

    counting: Counting | None = None
    watch: Watch | None = None
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


class Both:
    """Two observers of the engine: metrics and traces."""

    def __init__(self, first: Observer, second: Observer) -> None:
        self._first = first
        self._second = second

    def begin(self, layer: Layer, call: str, place: str = "") -> Work:
        """A piece of work begins."""
        return _BothWorks(self._first.begin(layer, call, place), self._second.begin(layer, call, place))

    def committed(self, commits: int) -> None:
        """A swap made that many commits."""
        self._first.committed(commits)
        self._second.committed(commits)

    def branch_changed(self, layers: int) -> None:
        """A branch now has that many layers."""
        self._first.branch_changed(layers)
        self._second.branch_changed(layers)


class _BothWorks:
    __slots__ = ("_first", "_second")

    def __init__(self, first: Work, second: Work) -> None:
        self._first = first
        self._second = second

    def end(self, error: BaseException | None = None) -> None:
        self._second.end(error)
        self._first.end(error)


class BothWatches:
    """Two watches of requests."""

    def __init__(self, first: Watch, second: Watch) -> None:
        self._first = first
        self._second = second

    def request_begins(self, call: Call) -> None:
        """A request has arrived."""
        self._first.request_begins(call)
        self._second.request_begins(call)

    def request_ends(self, call: Call, status: int, sent: int, *, is_feed: bool) -> None:
        """A request was answered."""
        self._second.request_ends(call, status, sent, is_feed=is_feed)
        self._first.request_ends(call, status, sent, is_feed=is_feed)
