"""Counts in the cells of this process: requests, and what the engine reports. All calls come from the event loop."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from time import perf_counter

from lakebed_engine.vocabulary.errors import PredicateFailed
from lakebed_engine.vocabulary.observer import Layer, Work

from lakebed_server.metrics.catalogue import OTHER, STATUSES
from lakebed_server.metrics.cells import Cells, Part


class Counting:
    """The metrics of one server process. It is an `Observer` of the engine."""

    def __init__(self, cells: Cells, number: int = 0) -> None:
        """`number`: the part of the cells, from 0. Only one process uses a part at a time."""
        self.cells = cells
        self._part = part = cells.part(number, start=True)
        self._layout = cells.layout
        self._places = {name: family.places for name, family in cells.layout.families.items()}
        self._base = part.tolist()
        """The counters of the process whose place this one took."""
        self._requests = self._places["lakebed_requests_total"]
        self._operations = {values[0] for values in self._places["lakebed_request_seconds"]}
        self._statuses = set(STATUSES)
        self._in_flight = self._place("lakebed_requests_in_flight")
        self._received = self._place("lakebed_received_bytes_total")
        self._sent = self._place("lakebed_sent_bytes_total")
        self._request_seconds = _Histograms(self, "lakebed_request_seconds")
        self._kv = _Calls(self, "lakebed_kv_calls_total", "lakebed_kv_seconds")
        self._stores = _Calls(self, "lakebed_store_calls_total", "lakebed_store_seconds")
        self._commits = _Calls(self, "lakebed_commit_groups_total", "lakebed_commit_seconds")
        self._writes_waiting = self._place("lakebed_kv_writes_waiting")
        self._made = self._place("lakebed_commits_total")
        self._layers = _Histograms(self, "lakebed_branch_layers")
        part[self._in_flight] = part[self._writes_waiting] = 0.0

    def request_begins(self) -> None:
        """A request has arrived."""
        self._part[self._in_flight] += 1.0

    def request_ends(self, operation: str, status: int, received: int, sent: int, seconds: float | None) -> None:
        """A request was answered. `seconds`: None for a live feed, whose end says nothing of the server."""
        part = self._part
        part[self._in_flight] -= 1.0
        name = operation if operation in self._operations else OTHER
        shown = str(status)
        part[self._requests[name, shown if shown in self._statuses else OTHER]] += 1.0
        part[self._received] += received
        part[self._sent] += sent
        if seconds is not None:
            self._request_seconds.add((name,), seconds)

    def begin(self, layer: Layer, call: str, place: str = "") -> Work:
        """A piece of work of the engine begins."""
        if layer == "kv":
            if call == "apply":
                self._part[self._writes_waiting] += 1.0
                return _Write(self, self._kv, (call,))
            return _Timed(self._kv, (call,))
        if layer == "store":
            return _Timed(self._stores, (place, call))
        return _Timed(self._commits, ())

    def write_ends(self) -> None:
        """The KV store has answered a write."""
        self._part[self._writes_waiting] -= 1.0

    def committed(self, commits: int) -> None:
        """One swap made that many commits."""
        self._part[self._made] += commits

    def branch_changed(self, layers: int) -> None:
        """A branch record now has that many layers."""
        self._layers.add((), float(layers))

    def add(self, name: str, *values: str, amount: float = 1.0) -> None:
        """Add to a counter. `values`: of its labels."""
        self._part[self._places[name][values]] += amount

    def set(self, name: str, *values: str, to: float | None) -> None:
        """Set a gauge. None: unknown."""
        self._part[self._places[name][values]] = math.nan if to is None else to

    def set_count(self, name: str, *values: str, since_start: float) -> None:
        """Set a counter that another part of this process counts from its start."""
        place = self._places[name][values]
        self._part[place] = self._base[place] + since_start

    def _place(self, name: str) -> int:
        return self._places[name][()]

    @property
    def part(self) -> Part:
        """The cells of this process."""
        return self._part


class _Histograms:
    """The series of a histogram."""

    def __init__(self, counting: Counting, name: str) -> None:
        family = counting.cells.layout.family(name)
        self._part = counting.part
        self._places = family.places
        self._bounds: Sequence[float] = family.metric.buckets
        self._sum = family.width - 1

    def add(self, values: tuple[str, ...], value: float) -> None:
        place = self._places[values]
        self._part[place + bisect_left(self._bounds, value)] += 1.0
        self._part[place + self._sum] += value


class _Calls:
    """Counts calls by result, and their times."""

    def __init__(self, counting: Counting, counter: str, histogram: str) -> None:
        self._part = counting.part
        self._places = counting.cells.layout.family(counter).places
        self._seconds = _Histograms(counting, histogram)

    def add(self, values: tuple[str, ...], seconds: float, error: BaseException | None) -> None:
        result = "ok" if error is None else "lost_race" if isinstance(error, PredicateFailed) else "error"
        place = self._places.get((*values, result))
        if place is None:
            return  # a call of a later adapter, which the catalogue does not have yet: a request must not fail for it
        self._part[place] += 1.0
        self._seconds.add(values, seconds)


class _Timed:
    __slots__ = ("_began", "_calls", "_values")

    def __init__(self, calls: _Calls, values: tuple[str, ...]) -> None:
        self._calls = calls
        self._values = values
        self._began = perf_counter()

    def end(self, error: BaseException | None = None) -> None:
        self._calls.add(self._values, perf_counter() - self._began, error)


class _Write(_Timed):
    __slots__ = ("_counting",)

    def __init__(self, counting: Counting, calls: _Calls, values: tuple[str, ...]) -> None:
        super().__init__(calls, values)
        self._counting = counting

    def end(self, error: BaseException | None = None) -> None:
        self._counting.write_ends()
        super().end(error)
