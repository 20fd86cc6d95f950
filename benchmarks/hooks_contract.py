"""Compare a contract that footers answer with pyarrow alone, in paired runs: `python -m benchmarks.hooks_contract`.

1,000 changed Parquet files have the footers of files of 64 MiB: 20 columns of common types in 10 row groups, with
statistics, about 22 KB. Their row groups have few rows, because a footer is as large with few rows as with many.
Nothing reads the rows. The contract has a schema, `not_null`, `range`, `rows`, `forbid_columns`, and bounds of files.

Two pairs of times alternate:

    process: a hook from its start to its outcome, and a new process that imports pyarrow and reads all footers
    warm: `evaluate` over local files, and the same loop of `pq.read_metadata`, in this process

A round is one of each. Ratios are medians of the rounds, with the middle half. The target is 1.3.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from lakebed_hooks import HookEvent
from lakebed_hooks.contracts import parse_contract
from lakebed_hooks.contracts.evaluate import evaluate
from lakebed_hooks.reading import Change, File, Side
from lakebed_hooks.snapshots import FilesSnapshot
from lakebed_hooks.workers.process import run
from lakebed_hooks.workers.wire import Job, Limits

TARGET = 1.3
GROUPS, ROWS = 10, 50
PROPERTIES: dict[str, Any] = {
    "path": "orders/**/*.parquet",
    "schema": {"order_id": "int64", "amount": "decimal(12,2)", "note": {"type": "string"}, "day": "date"},
    "checks": [
        {"not_null": ["order_id", "amount"]},
        {"rows": {"min": 1}},
        {"range": {"amount": [0, 1000000], "day": ["2020-01-01", None]}},
        {"forbid_columns": ["user_*"]},
        {"max_files": 5000, "max_file_size": "1GiB", "formats": ["parquet"]},
    ],
}
ALONE = """
import sys
import pyarrow.parquet as pq
for path in open(sys.argv[1]).read().split("\\n"):
    pq.read_metadata(path)
"""


def write(folder: Path, files: int) -> list[Path]:
    """Write the files. Returns their paths."""
    rows = GROUPS * ROWS
    day = datetime.date(2026, 1, 1)
    columns: dict[str, Any] = {
        "order_id": list(range(rows)),
        "amount": pa.array([Decimal(row).scaleb(-2) for row in range(rows)], pa.decimal128(12, 2)),
        "note": [f"note {row}" for row in range(rows)],
        "day": [day + datetime.timedelta(row % 30) for row in range(rows)],
        "status": pa.array(["new", "paid"] * (rows // 2)).dictionary_encode(),
    }
    columns |= {f"number_{index}": [row * 1.5 + index for row in range(rows)] for index in range(5)}
    columns |= {f"key_{index}": pa.array(range(index, rows + index), pa.int32()) for index in range(5)}
    columns |= {f"text_{index}": [f"text {row % 50}" for row in range(rows)] for index in range(4)}
    columns["moment"] = pa.array(range(rows), pa.timestamp("us", "UTC"))
    first = folder / "0.parquet"
    pq.write_table(pa.table(columns), first, row_group_size=ROWS)
    data = first.read_bytes()
    paths = [folder / f"{number}.parquet" for number in range(files)]
    for path in paths:
        path.write_bytes(data)
    return paths


class Local:
    """Serves the files as changes of an empty destination, each as a local file."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.files = {f"orders/{path.name}": path for path in paths}
        self.sizes = {name: path.stat().st_size for name, path in self.files.items()}
        self.names = sorted(self.files)

    async def list(self, side: Side, prefix: str, after: str) -> Sequence[File]:
        names = self.names if side == "candidate" else []
        return [File(name, self.sizes[name]) for name in names if name > after]

    async def changes(self, after: str) -> Sequence[Change]:
        return [Change(name, "added", self.sizes[name]) for name in self.names if name > after]

    async def expect(self, side: Side, paths: Sequence[str]) -> None:
        return None

    async def read(self, side: Side, path: str, offset: int, length: int) -> bytes:
        with self.files[path].open("rb") as file:
            file.seek(offset)
            return file.read(length)

    async def local(self, side: Side, path: str) -> str | None:
        return str(self.files[path])


class Remote(Local):
    """Serves the bytes through the pipe, as for an object store."""

    async def local(self, side: Side, path: str) -> str | None:
        return None


class Warm(FilesSnapshot):
    """The same files in this process."""

    def __init__(self, lake: Local) -> None:
        super().__init__({})
        self.lake = lake

    def files(self, side: Side, prefix: str) -> Any:
        return iter(File(name, self.lake.sizes[name]) for name in self.lake.names if side == "candidate")

    def changes(self) -> Any:
        return iter(Change(name, "added", self.lake.sizes[name]) for name in self.lake.names)

    def read(self, side: Side, path: str, offset: int, length: int) -> bytes:
        file = os.open(self.lake.files[path], os.O_RDONLY)
        try:
            return os.pread(file, length, offset)
        finally:
            os.close(file)


def hook(lake: Local) -> None:
    """Run the contract as a hook."""
    event = HookEvent(event_type="pre-merge", event_time=0, action_name="a", hook_id="h", repository_id="r")
    outcome, log = asyncio.run(run(Job(type="contract", event=event, properties=PROPERTIES), lake, Limits(seconds=300)))
    if outcome.state != "passed":
        raise SystemExit(f"{outcome.state}: {outcome.message}\n{log.decode()}")


def warm(lake: Local) -> None:
    """Check the contract in this process."""
    outcome = evaluate(parse_contract(PROPERTIES, "a.yaml", 1), Warm(lake)).outcome()
    if outcome.state != "passed":
        raise SystemExit(outcome.message)


def alone_warm(paths: Sequence[Path]) -> None:
    """Read all footers with pyarrow in this process."""
    for path in paths:
        pq.read_metadata(path)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of one run, and seconds of processor time of this process and its children."""
    begin, cpu = time.perf_counter(), _cpu()
    work()
    return time.perf_counter() - begin, _cpu() - cpu


def _cpu() -> float:
    return sum(
        one.ru_utime + one.ru_stime for one in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def ratio(name: str, ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> float:
    """Print the median ratios, and return that of the times. They take turns in being first."""
    times: list[tuple[tuple[float, float], tuple[float, float]]] = []
    for number in range(rounds + 1):
        order = (ours, theirs) if number % 2 else (theirs, ours)
        took = {work: timed(work) for work in order}
        if number:  # the first round fills caches
            times.append((took[ours], took[theirs]))
    found = []
    for kind, what in enumerate(("time", "processor time")):
        low, middle, high = statistics.quantiles([mine[kind] / other[kind] for mine, other in times], n=4)
        seconds = [statistics.median(pair[side][kind] for pair in times) for side in (0, 1)]
        spread = f"{middle:.2f} ({low:.2f} to {high:.2f})"
        print(f"{name}, {what}: {spread}, {seconds[0]:.2f} s against {seconds[1]:.2f} s")
        found.append(middle)
    return found[0]


def main() -> int:
    """Print the ratios. Returns 1 when the hook misses the target."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=11)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write(folder, arguments.files)
        data = paths[0].read_bytes()
        print(f"{arguments.files} files, footers of {int.from_bytes(data[-8:-4], 'little'):,} bytes")
        names = folder / "names"
        names.write_text("\n".join(map(str, paths)))
        lake, remote = Local(paths), Remote(paths)
        alone = [sys.executable, "-c", ALONE, str(names)]

        def alone_process() -> None:
            subprocess.run(alone, check=True)

        found = ratio("process", lambda: hook(lake), alone_process, arguments.rounds)
        ratio("process, bytes through the pipe", lambda: hook(remote), alone_process, arguments.rounds)
        ratio("warm", lambda: warm(lake), lambda: alone_warm(paths), arguments.rounds)
    return int(found > TARGET)


if __name__ == "__main__":
    sys.exit(main())
