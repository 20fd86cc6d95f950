"""Pages of tables as the web page asks for them: a table of 50 M rows in 200 files, and 100,000 rows that differ."""

from __future__ import annotations

import io
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import servers
from benchmarks.figures import FULL, Figure

_FILES = 200
_LIMIT = 200
_PAGES = 15
_SLOWEST = 300.0
"""Milliseconds that no request may take."""


def rows(folder: Path, entries: int) -> Iterator[Figure]:
    """`entries` scales the rows of each file: the full run has 250,000."""
    import lakebed

    each = 250_000 * entries // FULL
    differing = 100_000 * entries // FULL
    with servers.lakebed(folder / "tables") as server, lakebed.connect(*server.credentials) as lake:
        main = lake.repository("bench").create("local://bench").branch("main")
        data = _parquet(each)
        for number in range(_FILES):
            main.put(f"t/{number:03}.parquet", data)
        main.put("d/a.parquet", _parquet(differing))
        before = main.commit("tables")
        main.put("d/a.parquet", _parquet(differing, seed=2))
        main.commit("other rows")
        main.table_page("t/")  # starts the process and reads the footers
        middle = _FILES // 2 * each
        pages = {
            "page 1": _median(lambda n: main.table_page("t/", limit=_LIMIT, offset=n * _LIMIT)),
            "page 1,000": _median(lambda n: main.table_page("t/", limit=_LIMIT, offset=(999 + n) * _LIMIT)),
            "row groups not yet read": _median(lambda n: main.table_page("t/", limit=_LIMIT, offset=middle + n * each)),
        }
        note = f"{_FILES * each:,} rows in {_FILES} files, {_LIMIT} rows each"
        for name, milliseconds in pages.items():
            yield Figure(f"table: {name}", milliseconds, "ms", "at most", _SLOWEST, note)
        yield Figure("table: page 1,000 / page 1", pages["page 1,000"] / pages["page 1"], "ratio", "at most", 1.5)
        found = main.changes_since(before.id, two_dot=True)
        begin = time.perf_counter()
        found.table_page("d/", key="id", limit=_LIMIT)
        first = (time.perf_counter() - begin) * 1000
        yield Figure("row diff: the first page", first, "ms", "at most", _SLOWEST, f"{differing:,} rows differ")
        page = _median(lambda n: found.table_page("d/", key="id", limit=_LIMIT, offset=n * _LIMIT))
        yield Figure("row diff: a later page", page, "ms", "at most", _SLOWEST, f"{differing:,} rows differ")


def _parquet(count: int, seed: int = 1) -> bytes:
    random = np.random.default_rng(seed)
    names = [f"n{number % 1000}" for number in range(count)]
    table = pa.table({"id": np.arange(count), "value": random.random(count), "name": names})
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def _median(ask: Callable[[int], Any]) -> float:
    """The median of some requests, in milliseconds."""
    times = []
    for number in range(_PAGES):
        begin = time.perf_counter()
        ask(number)
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1000
