"""Reads and writes a Parquet data set of 200 MiB in 50 files through `lakebed://`, compared with pyarrow on local
files.

    python -m benchmarks.sdk.dataframes FOLDER [FILES]

Prints JSON. The ways take turns in each round, and the result is the median of the rounds. `direct` reads and writes in
the directory that the server shares with this machine. `proxied` moves every byte through the server. Everything that
lakebed wrote is durable when the clock stops, so the local files are synced as well. `plain` files are not synced, for
information. All sides read from a warm page cache.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import servers

ROUNDS = 5
READS = 15
"""Rounds of reading: one takes a quarter of a second, which anything else on the machine doubles now and then."""

ROWS = 105_000
"""Rows of a file: about 4 MiB."""

ENTRIES = 10_000
Ways = dict[str, Callable[[int], object]]


def table(number: int) -> Any:
    """Rows as they occur: numbers, amounts, times, categories."""
    import numpy as np
    import pyarrow as pa

    random = np.random.default_rng(number)
    cities = np.array(["Berlin", "Lagos", "Lima", "Oslo", "Quito", "Seoul"])
    return pa.table(
        {
            "id": np.arange(number * ROWS, (number + 1) * ROWS),
            "time": np.datetime64("2026-01-01", "us") + random.integers(0, 10**13, ROWS),
            "amount": random.normal(100, 20, ROWS).round(2),
            "x": random.normal(size=ROWS),
            "y": random.normal(size=ROWS),
            "city": pa.array(cities[random.integers(0, len(cities), ROWS)]),
            "items": random.integers(0, 1000, ROWS).astype("int32"),
        }
    )


def compare(ways: Ways, rounds: int = ROUNDS) -> dict[str, float]:
    """Median seconds of each way; the first round warms up and does not count."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, work in ways.items():
            start = time.perf_counter()
            work(turn)
            if turn:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in times.items()}


def reading(local: Path, remote: str, commit: str, direct: Any, proxied: Any) -> dict[str, float]:
    """Read the whole data set into memory: from a branch, and from a commit, where listings are cached."""
    import pyarrow.dataset as pads
    from lakebed.fsspec import arrow_filesystem

    def read(place: Any, filesystem: Any = None) -> None:
        pads.dataset(place, filesystem=filesystem, format="parquet").to_table()

    return compare(
        {
            "local": lambda _: read(local),
            "direct": lambda _: read(remote, direct),
            "proxied": lambda _: read(remote, proxied),
            "direct_arrow": lambda _: read(remote, arrow_filesystem(direct)),
            "proxied_arrow": lambda _: read(remote, arrow_filesystem(proxied)),
            "direct_commit": lambda _: read(commit, direct),
            "proxied_commit": lambda _: read(commit, proxied),
        },
        READS,
    )


def writing(data: Any, folder: Path, remote: str, direct: Any, proxied: Any) -> dict[str, float]:
    """The whole data set out of memory, as files of the same size."""
    import pyarrow.dataset as pads

    def write(place: str, filesystem: Any = None) -> None:
        pads.write_dataset(
            data, place, filesystem=filesystem, format="parquet", max_rows_per_file=ROWS, max_rows_per_group=ROWS
        )

    def locally(turn: int, *, sync: bool) -> None:
        place = folder / f"written-{turn}-{sync}"
        write(str(place))
        for path in [*place.iterdir(), place] if sync else []:
            fd = os.open(path, os.O_RDONLY)
            os.fsync(fd)
            os.close(fd)

    def as_one(turn: int) -> None:
        with direct.transaction:
            write(f"{remote}/direct-{turn}", direct)

    return compare(
        {
            "local": lambda turn: locally(turn, sync=True),
            "plain": lambda turn: locally(turn, sync=False),
            "direct": as_one,
            "proxied": lambda turn: write(f"{remote}/proxied-{turn}", proxied),
        }
    )


class Sent:
    """Counts the requests to the server."""

    def __init__(self) -> None:
        from lakebed._async.http.transport import Transport as AsyncTransport
        from lakebed._sync.http.transport import Transport

        self.count = 0
        for transport in (AsyncTransport, Transport):
            transport._send = self._counted(transport._send)  # type: ignore[method-assign]

    def _counted(self, send: Any) -> Any:
        def sent(*call: Any, **more: Any) -> Any:
            self.count += 1
            return send(*call, **more)

        return sent


def footers(path: str, filesystems: list[Any]) -> float:
    """The most requests that opening a file and reading its footer takes."""
    import pyarrow.parquet as pq

    sent, most = Sent(), 0
    for filesystem in filesystems:
        before = sent.count
        with filesystem.open(path) as file:
            if pq.ParquetFile(file).metadata.num_rows != ROWS:
                raise SystemExit("this is not the footer that was written")
        most = max(most, sent.count - before)
    return most


def globbing(main: Any, filesystem: Any, top: str) -> float:
    """Seconds for a glob that matches every one of many entries."""
    for start in range(0, ENTRIES, 5000):
        main.put_many({f"many/{n // 100:03d}/{n:06d}.parquet": b"" for n in range(start, start + 5000)})
    main.commit("many")
    pattern = f"{top}/many/*/*.parquet"

    def glob(_: int) -> None:
        if len(filesystem.glob(pattern)) != ENTRIES:
            raise SystemExit("the glob did not match every entry")

    return compare({"glob": glob})["glob"]


def measure(folder: Path, files: int) -> dict[str, float]:
    """Everything, in one run."""
    import fsspec
    import lakebed
    import pyarrow as pa
    import pyarrow.parquet as pq

    local = folder / "local"
    local.mkdir()
    tables = [table(number) for number in range(files)]
    for number, one in enumerate(tables):
        pq.write_table(one, local / f"part-{number:03d}.parquet")
    found = {"mib": sum(one.stat().st_size for one in local.iterdir()) / (1 << 20), "files": float(files)}
    with servers.lakebed(folder / "frames") as server:
        os.environ.update(server.env)
        main = lakebed.connect().repository("frames").create("local://frames").branch("main")
        with main.workspace("the data set") as workspace:
            workspace.upload_tree(local, "t", journal=folder / "journal.db")
        direct, proxied = (fsspec.filesystem("lakebed", data_path=way) for way in ("direct", "proxied"))
        top = "frames/main"
        read = reading(local, f"{top}/t", f"frames/{main.commit_info().id}/t", direct, proxied)
        written = writing(pa.concat_tables(tables), folder, top, direct, proxied)
        found |= {f"read_{name}_s": seconds for name, seconds in read.items()}
        found |= {f"write_{name}_s": seconds for name, seconds in written.items()}
        found["glob_s"] = globbing(main, direct, top)
        fresh = [fsspec.filesystem("lakebed", data_path=way, retries=4) for way in ("direct", "proxied")]
        found["footer_requests"] = footers(f"{top}/t/part-000.parquet", [direct, proxied, *fresh])
    return found


def main() -> None:
    folder, *files = sys.argv[1:]
    print(json.dumps(measure(Path(folder), int(files[0]) if files else 50)))


if __name__ == "__main__":
    main()
