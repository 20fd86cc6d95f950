"""Every metric: its name, kind, labels and meaning. docs/monitoring.md has the same table, and a test compares them.

Each label has a fixed set of values, so the number of series is known before the first request. No label has a path, a
user, a repository or a branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

MetricKind = Literal["counter", "gauge", "histogram"]
Merge = Literal["sum", "max", "min"]

OTHER: Final = "other"
"""The value of a label for everything without a value of its own."""

STATUSES: Final = (
    *("200", "201", "202", "204", "206", "302", "304", "307"),
    *("400", "401", "403", "404", "405", "406", "408", "409", "410", "411", "412", "413", "415", "416", "420", "422"),
    *("429", "499", "500", "501", "502", "503", "504", "507", OTHER),
)
"""499: the client left before the answer."""

KV_CALLS: Final = ("get", "get_many", "scan", "apply", "drop_partition", "partitions")
STORE_CALLS: Final = (
    *("put", "put_stream", "get", "get_range", "open", "head", "list", "delete", "delete_older", "copy"),
)
STORES: Final = ("local", "mem", "s3", "gs", "az")
LIMITS: Final = ("requests", "compute", "bulk", "commit", "tables")
CACHES: Final = ("trees", "commits", "repositories", "journals", "disk")
DELIVERY_RESULTS: Final = ("delivered", "retried", "failed")
DIRECTORIES: Final = ("data", "objects", "temporary")

_REQUEST_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_STORE_SECONDS: Final = (
    0.0001,
    0.00025,
    0.0005,
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    5.0,
    30.0,
)
_LAYERS: Final = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)


@dataclass(frozen=True, slots=True)
class Metric:
    """`labels`: the values of each label. `buckets`: the upper bounds of a histogram, without infinity.

    `merge`: how the gauges of several processes become one. Counters and histograms are added.
    """

    name: str
    kind: MetricKind
    help: str
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    buckets: Sequence[float] = ()
    merge: Merge = "sum"


def _counter(name: str, help: str, **labels: Sequence[str]) -> Metric:
    return Metric(name, "counter", help, labels)


def _gauge(name: str, help: str, merge: Merge = "sum", **labels: Sequence[str]) -> Metric:
    return Metric(name, "gauge", help, labels, merge=merge)


def _histogram(name: str, help: str, buckets: Sequence[float], **labels: Sequence[str]) -> Metric:
    return Metric(name, "histogram", help, labels, buckets)


def catalogue(operations: Iterable[str]) -> tuple[Metric, ...]:
    """All metrics. `operations`: the ids of the operations of the REST API and the S3 gateway."""
    known = (*sorted(set(operations)), OTHER)
    return (*_of_requests(known), *_OF_ENGINE, *_OF_BACKGROUND, *_OF_PROCESS)


def _of_requests(operations: Sequence[str]) -> tuple[Metric, ...]:
    return (
        _counter("lakebed_requests_total", "Requests with a response.", operation=operations, status=STATUSES),
        _histogram(
            "lakebed_request_seconds",
            "Time from the head of a request to the end of its response, without live feeds.",
            _REQUEST_SECONDS,
            operation=operations,
        ),
        _gauge("lakebed_requests_in_flight", "Requests in progress, including live feeds."),
        _counter("lakebed_received_bytes_total", "Bytes of request bodies."),
        _counter("lakebed_sent_bytes_total", "Bytes of response bodies."),
        _counter("lakebed_refusals_total", "Requests that a limit refused with 503.", limit=LIMITS),
    )


_OF_ENGINE: Final = (
    _counter(
        "lakebed_kv_calls_total",
        "Calls of the KV store; lost_race: another writer was first, and the engine retries.",
        call=KV_CALLS,
        result=("ok", "lost_race", "error"),
    ),
    _histogram(
        "lakebed_kv_seconds",
        "Time of calls of the KV store, including the wait in its queue.",
        _STORE_SECONDS,
        call=KV_CALLS,
    ),
    _gauge("lakebed_kv_writes_waiting", "Writes in the queue of the KV store."),
    _histogram(
        "lakebed_commit_seconds", "Time of group commits, from the read of the branch to the swap.", _REQUEST_SECONDS
    ),
    _counter("lakebed_commit_groups_total", "Group commits.", result=("ok", "error")),
    _counter("lakebed_commits_total", "Commits that group commits created."),
    _gauge("lakebed_commits_waiting", "Requests in the commit queues of branches."),
    _histogram("lakebed_branch_layers", "Layers of a branch, whenever its record changes.", _LAYERS),
    _gauge("lakebed_branches_crowded", "Branches whose layers wait for a compaction."),
    _counter(
        "lakebed_store_calls_total", "Calls of object stores.", store=STORES, call=STORE_CALLS, result=("ok", "error")
    ),
    _histogram(
        "lakebed_store_seconds",
        "Time of calls of object stores; open: until the first bytes can be read.",
        _STORE_SECONDS,
        store=STORES,
        call=STORE_CALLS,
    ),
    _counter("lakebed_cache_reads_total", "Reads of caches.", cache=CACHES, result=("hit", "miss")),
)

_OF_BACKGROUND: Final = (
    _counter("lakebed_hook_deliveries_total", "Attempts to deliver an event to a hook.", result=DELIVERY_RESULTS),
    _gauge("lakebed_journal_waiting_events", "Events in the KV store that no drain has moved to a file yet."),
    _gauge("lakebed_journal_lag_seconds", "Age of the oldest of these events.", "max"),
    _gauge("lakebed_feed_listeners", "Clients of live feeds."),
    _gauge(
        "lakebed_feed_lag_seconds", "Age of the newest event when the live feed sent it; 0 without new events.", "max"
    ),
    _gauge("lakebed_history_waiting_rows", "Rows of the access history that wait to be written."),
    _gauge("lakebed_history_lag_seconds", "Age of the oldest of these rows.", "max"),
    _counter("lakebed_history_dropped_rows_total", "Rows of the access history that were dropped."),
    _gauge("lakebed_sweep_age_seconds", "Time since the last complete sweep; absent before the first one.", "min"),
)

_OF_PROCESS: Final = (
    _gauge("lakebed_kv_up", "1: the KV store responds in time; 0: it does not.", "min"),
    _gauge("lakebed_stores_failing", "Object stores, of a sample of those in use, that do not respond in time.", "max"),
    _gauge("lakebed_stopping", "1: a process of this server stops.", "max"),
    _gauge("lakebed_wal_bytes", "Size of the write-ahead log of SQLite.", "max"),
    _gauge("lakebed_disk_free_bytes", "Free space of the file systems of the server.", "min", directory=DIRECTORIES),
    _gauge("lakebed_disk_size_bytes", "Size of these file systems.", "min", directory=DIRECTORIES),
    _gauge("lakebed_event_loop_lag_seconds", "Longest delay of the event loop in the last seconds.", "max"),
    _counter("lakebed_process_cpu_seconds_total", "CPU time of the processes of this server."),
    _gauge("lakebed_process_resident_bytes", "Memory of the processes of this server."),
    _gauge("lakebed_process_start_time_seconds", "Start of the oldest process, in Unix seconds.", "min"),
    _gauge("lakebed_workers", "Processes of this server."),
)
