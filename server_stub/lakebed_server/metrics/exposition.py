"""The text that Prometheus reads, made by `prometheus_client` from the cells."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric as PrometheusMetric
from prometheus_client.registry import Collector

from lakebed_server.metrics.catalogue import Metric
from lakebed_server.metrics.cells import Cells

BUILD_INFO = Metric("lakebed_build_info", "gauge", "Always 1; the label has the version.", {"version": ()})
"""The one metric without a cell."""


def scrape(cells: Cells, version: str, accept: str) -> tuple[bytes, str]:
    """All metrics of all processes, and the content type of the text. `accept`: the header of the request."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(cells, version))
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


class _Collector(Collector):
    def __init__(self, cells: Cells, version: str) -> None:
        self._cells = cells
        self._version = version

    def describe(self) -> Iterable[PrometheusMetric]:
        return ()

    def collect(self) -> Iterable[PrometheusMetric]:
        build = GaugeMetricFamily(BUILD_INFO.name, BUILD_INFO.help, labels=("version",))
        build.add_metric((self._version,), 1.0)
        yield build
        families: dict[str, Any] = {}
        for metric, values, numbers in self._cells.series():
            if metric.name not in families:
                families[metric.name] = _family(metric)
            family = families[metric.name]
            if metric.kind == "histogram":
                family.add_metric(values, buckets=_buckets(metric, numbers), sum_value=numbers[-1])
            else:
                family.add_metric(values, numbers[0])
        yield from families.values()


def _family(metric: Metric) -> Any:
    labels = tuple(metric.labels)
    if metric.kind == "counter":
        return CounterMetricFamily(metric.name, metric.help, labels=labels)
    if metric.kind == "gauge":
        return GaugeMetricFamily(metric.name, metric.help, labels=labels)
    return HistogramMetricFamily(metric.name, metric.help, labels=labels)


def _buckets(metric: Metric, numbers: list[float]) -> list[tuple[str, float]]:
    """Cumulative counts: [2, 1, 0, <sum>] with the bounds 0.1 and 1 -> [("0.1", 2), ("1.0", 3), ("+Inf", 3)]."""
    bounds = [*(str(bound) for bound in metric.buckets), "+Inf"]
    return list(zip(bounds, accumulate(numbers[:-1]), strict=True))
