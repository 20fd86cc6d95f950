"""How many files of the access history pandas opens for two days of one user, among 10 million rows.

    python -m benchmarks.server.history_reader [--rows 10000000]

The files have the layout, the columns and the size of the files of a server: 50,000 rows each, 100 days.
"""

from __future__ import annotations

import argparse
import datetime as dt
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from lakebed_format.keys import HISTORY, history_file
from lakebed_server.access_history.recorder import WRITE_AT
from lakebed_server.access_history.rows import SCHEMA

from tests.support.counted_files import CountedFiles

DAYS = 100
FIRST = dt.date(2026, 1, 1)
USERS = 1000
NUMBERS = ("bytes_in", "bytes_out", "status", "took_us")


def rows_of(day: dt.date, count: int, random: np.random.Generator) -> pa.Table:
    """Rows of one file: times of a day, and random values."""
    start = int(dt.datetime.combine(day, dt.time(), dt.UTC).timestamp() * 1e6)
    columns: dict[str, pa.Array] = {"time": pa.array(np.sort(start + random.integers(0, 86_400_000_000, count)))}
    for field in SCHEMA:
        if field.name in NUMBERS:
            columns[field.name] = pa.array(random.integers(0, 10_000, count))
        elif field.name != "time":
            texts = pa.array([f"{field.name}-{number}" for number in range(USERS)])
            columns[field.name] = texts.take(pa.array(random.integers(0, USERS, count)))
    return pa.table([columns[field.name] for field in SCHEMA], names=SCHEMA.names).cast(SCHEMA)


def write(top: Path, rows: int) -> int:
    """Write the files. Returns their number."""
    random = np.random.default_rng(1)
    files = rows // WRITE_AT
    for number in range(files):
        day = FIRST + dt.timedelta(days=number * DAYS // files)
        path = top / history_file(day.isoformat(), f"{number % 86_400:06}", f"{number:032x}")
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows_of(day, WRITE_AT, random), path, compression="zstd")
    return files


def main(rows: int) -> None:
    """Write the files, read two days of one user, and print what was opened."""
    with tempfile.TemporaryDirectory() as directory:
        top = Path(directory)
        files, counted = write(top, rows), CountedFiles()
        wanted = [("date", ">=", "2026-02-01"), ("date", "<", "2026-02-03"), ("user", "==", "user-7")]
        columns = SCHEMA.append(pa.field("date", pa.string()))
        began = time.perf_counter()
        found = pd.read_parquet(f"{top}/{HISTORY}", filesystem=counted, filters=wanted, schema=columns)
        seconds = time.perf_counter() - began
        days = {path.split("date=")[1][:10] for path in counted.opened}
        print(f"{files} files; opened {len(set(counted.opened))} of the days {sorted(days)}; {len(found)} rows")
        print(f"{seconds:.2f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    main(parser.parse_args().rows)
