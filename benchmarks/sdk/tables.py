"""Tables through the SDK's own verbs: the memory of a stream, and the time compared with pyarrow on local files.

    python -m benchmarks.sdk.tables memory FOLDER [GIB]     a stream into a branch and back, in a separate process
    python -m benchmarks.sdk.tables speed FOLDER [FILES]    a data set of 4 MiB files, read and written, in turns

Prints JSON. What lakebed wrote is durable when the clock stops, so the local files are synced as well.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import servers
from benchmarks.sdk.dataframes import ROWS, compare, table

BATCH = 1 << 17
"""Rows of 8 bytes: a batch is 1 MiB, and does not compress."""


def memory(folder: Path, gib: float) -> dict[str, float]:
    """Peak memory of a client that streams, in MiB, all of the process."""
    import lakebed
    import numpy as np
    import pyarrow as pa

    count = int(gib * 1024)
    os.environ["LAKEBED_DATA_PATH"] = "proxied"  # what is read from a directory would take less

    def batches() -> Iterator[Any]:
        random = np.random.default_rng(1)
        for _ in range(count):
            yield pa.record_batch({"x": random.integers(0, 1 << 62, BATCH)})

    def peak() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    with servers.lakebed(folder / "memory") as server:
        main = lakebed.connect(*server.credentials).repository("memory").create("local://memory").branch("main")
        main.write_parquet("warm", pa.table({"x": [1]}))
        idle = main.scan_table("warm").count_rows() and peak()
        start = time.perf_counter()
        main.write_parquet("t", batches())
        written, write_peak = time.perf_counter() - start, peak()
        start = time.perf_counter()
        rows = sum(batch.num_rows for batch in main.scan_table("t"))
        scanned = time.perf_counter() - start
        if rows != count * BATCH:
            raise SystemExit("the stream did not come back whole")
    return {
        "gib": gib,
        "idle_mib": idle,
        "write_mib": write_peak,
        "peak_mib": peak(),
        "write_mib_s": count / written,
        "scan_mib_s": count / scanned,
    }


def speed(folder: Path, files: int) -> dict[str, float]:
    """Seconds of each way."""
    import lakebed
    import pyarrow as pa
    import pyarrow.dataset as pads

    data = pa.concat_tables([table(number) for number in range(files)])

    def local(turn: int) -> None:
        place = folder / f"local-{turn}"
        options = pads.ParquetFileFormat().make_write_options(compression="zstd")
        pads.write_dataset(data, place, format="parquet", file_options=options, max_rows_per_file=ROWS,
                           max_rows_per_group=ROWS)  # fmt: skip
        for path in [*place.iterdir(), place]:
            fd = os.open(path, os.O_RDONLY)
            os.fsync(fd)
            os.close(fd)

    with servers.lakebed(folder / "speed") as server:
        main = lakebed.connect(*server.credentials).repository("speed").create("local://speed").branch("main")

        def into_workspace(turn: int, data_path: Any) -> None:
            with main.workspace("write", data_path=data_path) as workspace:
                workspace.write_parquet(f"{data_path}-{turn}", data, max_rows_per_file=ROWS)

        written = compare(
            {
                "local": local,
                "direct": lambda turn: into_workspace(turn, "direct"),
                "proxied": lambda turn: into_workspace(turn, "proxied"),
                "branch": lambda turn: main.write_parquet(f"branch-{turn}", data, max_rows_per_file=ROWS),
            }
        )

        def through(data_path: str, scans: bool) -> None:
            os.environ["LAKEBED_DATA_PATH"] = data_path
            rows = (
                sum(batch.num_rows for batch in main.scan_table("direct-1"))
                if scans
                else main.read_table("direct-1").num_rows
            )
            if rows != data.num_rows:
                raise SystemExit("the table did not come back whole")

        read = compare(
            {
                "local": lambda _: pads.dataset(folder / "local-1", format="parquet").to_table(),
                "direct": lambda _: through("direct", scans=False),
                "proxied": lambda _: through("proxied", scans=False),
                "scan_direct": lambda _: through("direct", scans=True),
                "scan_proxied": lambda _: through("proxied", scans=True),
            }
        )
    size = sum(one.stat().st_size for one in (folder / "local-1").iterdir()) / (1 << 20)
    return {
        "mib": size,
        "files": float(files),
        **{f"write_{name}_s": seconds for name, seconds in written.items()},
        **{f"read_{name}_s": seconds for name, seconds in read.items()},
    }


def main() -> None:
    kind, folder, *amount = sys.argv[1:]
    if kind == "memory":
        print(json.dumps(memory(Path(folder), float(amount[0]) if amount else 2.0)))
    else:
        print(json.dumps(speed(Path(folder), int(amount[0]) if amount else 50)))


if __name__ == "__main__":
    main()
