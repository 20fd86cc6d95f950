"""The numbers behind the metrics: an array of floats for each server process, in memory that all processes share.

The parent makes it before it forks. Each process writes its own part only, so nothing is locked, and any process can
add up all parts for a scrape. A process that replaces a dead one continues the counters of the dead one, so that they
never go back. `prometheus_client` has a mode for several processes that writes a file for each; it takes about ten
times as long for an increment, and keeps the files of dead processes (docs/decisions/0079-metrics.md).
"""

from __future__ import annotations

import itertools
import math
import mmap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from lakebed_server.metrics.catalogue import Metric

LabelValues = tuple[str, ...]
_MERGES: Mapping[str, Callable[[npt.NDArray[np.float64]], np.float64]] = {"sum": np.sum, "max": np.max, "min": np.min}


class Part(Protocol):
    """The cells of a process: a memoryview of floats, which mypy does not know."""

    def __getitem__(self, place: int) -> float:
        """The value of a cell."""
        ...

    def __setitem__(self, place: int, value: float) -> None:
        """Set a cell. Only the process that has the part does it."""
        ...

    def tolist(self) -> list[float]:
        """All values."""
        ...


@dataclass(frozen=True, slots=True)
class Family:
    """The cells of one metric. `places`: the first cell of each series. A series of a histogram has a cell for each
    bucket, one for infinity, and one for the sum.
    """

    metric: Metric
    places: Mapping[LabelValues, int]
    width: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The cells of all metrics of a process."""

    families: Mapping[str, Family]
    size: int

    def family(self, name: str) -> Family:
        """The cells of a metric."""
        return self.families[name]


def layout(metrics: Sequence[Metric]) -> Layout:
    """Give every series its cells."""
    families: dict[str, Family] = {}
    size = 0
    for metric in metrics:
        width = len(metric.buckets) + 2 if metric.kind == "histogram" else 1
        places: dict[LabelValues, int] = {}
        for values in itertools.product(*metric.labels.values()):
            places[values] = size
            size += width
        families[metric.name] = Family(metric, places, width)
    return Layout(families, size)


@dataclass(slots=True)
class Cells:
    """The cells of `processes` server processes. Make it before the fork."""

    layout: Layout
    processes: int
    _memory: mmap.mmap = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._memory = mmap.mmap(-1, max(8 * self.layout.size * self.processes, 8))
        for number in range(self.processes):
            self.part(number, start=True)

    def part(self, number: int, *, start: bool) -> Part:
        """The part of a process. With `start`, its gauges are unknown from now on."""
        size = self.layout.size
        memory: Any = memoryview(self._memory).cast("d")
        part: Part = memory[number * size : (number + 1) * size]
        if start:
            for family in self.layout.families.values():
                if family.metric.kind == "gauge":
                    for place in family.places.values():
                        part[place] = math.nan
        return part

    def table(self) -> npt.NDArray[np.float64]:
        """A copy of all cells: a row for each process."""
        shape = self.processes, self.layout.size
        return np.frombuffer(self._memory, np.float64).reshape(shape).copy()

    def series(self) -> Iterator[tuple[Metric, LabelValues, list[float]]]:
        """The merged cells of each series. Gauges that no process knows, and series of several labels that were never
        counted, are left out.
        """
        table = self.table()
        added = np.nansum(table, axis=0)
        total: list[float] = added.tolist()
        counted: list[int] = [0, *np.cumsum(added != 0).tolist()]
        """How many cells before each one are not 0."""
        for family in self.layout.families.values():
            metric = family.metric
            is_always_shown = len(metric.labels) < 2 and "operation" not in metric.labels
            for values, place in family.places.items():
                if metric.kind == "gauge":
                    known = table[:, place][~np.isnan(table[:, place])]
                    if known.size:
                        yield metric, values, [float(_MERGES[metric.merge](known))]
                    continue
                end = place + family.width
                if is_always_shown or counted[end] > counted[place]:
                    yield metric, values, total[place:end]
