"""docs/monitoring.md has a row for each metric, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from lakebed_server.metrics.catalogue import catalogue
from lakebed_server.metrics.exposition import BUILD_INFO

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "monitoring.md").read_text()
ROW = re.compile(r"^\| `(lakebed_\w+)` \| (\w+) \| (.*?) \| (.*) \|$", re.MULTILINE)


def test_every_metric_has_a_true_row() -> None:
    expected = [
        (metric.name, metric.kind, ", ".join(f"`{label}`" for label in metric.labels) or "-", metric.help)
        for metric in (BUILD_INFO, *catalogue(["getObject"]))
    ]
    assert ROW.findall(PAGE) == expected
