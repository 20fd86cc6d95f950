"""Contracts over files in memory, for tests."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from lakebed_hooks.contracts import parse_contract
from lakebed_hooks.contracts.evaluate import evaluate
from lakebed_hooks.contracts.report import Report
from lakebed_hooks.snapshots import FilesSnapshot


def parquet(table: Mapping[str, Any] | pa.Table, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), file, **options)
    return file.getvalue()


def checked(
    files: Mapping[str, bytes], *checks: Mapping[str, Any], base: Mapping[str, bytes] | None = None, **properties: Any
) -> Report:
    said = {"path": "t/**", **properties, **({"checks": list(checks)} if checks else {})}
    return evaluate(parse_contract(said, "a.yaml", 1), FilesSnapshot(files, base))


def refusals(report: Report) -> list[str]:
    return [one.sentence() for one in report.refused]
