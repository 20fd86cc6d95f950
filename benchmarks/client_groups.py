"""The groups of `make bench` that measure what users start: the SDK, its tables and file system, tests, Spark.

Each takes a folder of its own and a number of entries.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import on_spark, servers
from benchmarks.figures import Figure, measured


def starting(folder: Path, entries: int) -> Iterator[Figure]:
    extra = [_seconds_of("import lakebed") - _seconds_of("pass") for _ in range(9)]
    note = "more than `python -c pass`, median of 9 pairs of processes"
    yield Figure("import lakebed", statistics.median(extra), "s", "at most", 0.25, note)
    ready = []
    for number in range(3):
        with servers.lakebed(folder / f"start-{number}") as server:
            ready.append(server.ready_s)
    yield Figure("server ready after start", statistics.median(ready), "s", "at most", 1.5, "first start, median of 3")


def _seconds_of(code: str) -> float:
    """Seconds of a process of Python, from its start to its end."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - begin


def bulk(folder: Path, entries: int) -> Iterator[Figure]:
    count = min(10_000, entries // 100)
    found = measured("sdk.bulk", "files", folder, count)
    size = f"{count:,} files of 4 KiB"
    if "git_files_s" in found:
        yield Figure(
            f"git add and commit of {size}", found["git_files_s"], "files/s", note="for comparison; not durable"
        )
    note = "a workspace on a local store, fsync on, until the server reports the commit"
    yield Figure(f"upload and commit of {size}, direct", found["direct_files_s"], "files/s", "at least", 3000, note)
    yield Figure("requests to the server for 10,000 files, direct", found["requests_per_10000"], "", "at most", 20)
    yield Figure(f"upload and commit of {size}, through the server", found["proxied_files_s"], "files/s")
    yield Figure(f"download of {size}", found["download_files_s"], "files/s", note="a request for each")
    found = measured("sdk.bulk", "large", folder, 5 if entries >= 1_000_000 else 0.5)
    note = f"{found['mib_s']:,.0f} MiB/s, durable, MD5"
    yield Figure(
        f"memory of a client that uploads {found['gib']:g} GiB", found["peak_mib"], "MiB", "at most", 200, note
    )


def signed(folder: Path, entries: int) -> Iterator[Figure]:
    found = measured("sdk.signed", folder, 512 if entries >= 1_000_000 else 128)
    size = f"{found['mib']:g} MiB into a bucket"
    note = "in parts, a stream of unknown size"
    yield Figure(f"memory of a client that uploads {size}, signed", found["peak_mib"], "MiB", "at most", 200, note)
    name = "bytes through the server for one object, signed, up and down"
    yield Figure(name, found["through_kib"] / 1024, "MiB", "at most", 1)
    for way in ("up", "down"):
        mine, theirs = found[f"presigned_{way}_mib_s"], found[f"proxied_{way}_mib_s"]
        note = f"{mine:,.0f} and {theirs:,.0f} MiB/s; SeaweedFS and the rest on the same machine"
        yield Figure(f"{size}, signed / through the server, {way}", mine / theirs, "ratio", note=note)


def dataframes(folder: Path, entries: int) -> Iterator[Figure]:
    found = measured("sdk.dataframes", folder, 50 if entries >= 1_000_000 else 10)
    size = f"a data set of {found['mib']:,.0f} MiB in {found['files']:g} files"
    local, plain = found["read_local_s"], found["write_plain_s"]
    yield Figure(f"pyarrow reads {size}", local, "s", note="local files, warm page cache: the baseline")
    ratios = {name: found[f"read_{name}_s"] / local for name in ("direct", "proxied", "direct_arrow", "proxied_arrow",
                                                                 "direct_commit", "proxied_commit")}  # fmt: skip
    for way in ("direct", "proxied"):
        name, note = f"the same through lakebed, {way}", "pyarrow.dataset over arrow_filesystem(fs)"
        note += f"; over fs itself {ratios[way]:.2f}, at a commit {ratios[f'{way}_commit']:.2f}"
        if way == "direct":
            yield Figure(name, ratios["direct_arrow"], "ratio", "at most", 1.25, note)
        else:
            yield Figure(name, ratios["proxied_arrow"], "ratio", note=f"{note}; all bytes through the server")
    local = found["write_local_s"]
    yield Figure(f"pyarrow writes {size}", local, "s", note=f"local files, synced; {plain:.2f} s without")
    for way, target in (("direct", 1.3), ("proxied", 1.8)):
        note = "one transaction, durable" if way == "direct" else "onto the branch, durable"
        ratio = found[f"write_{way}_s"] / local
        yield Figure(f"the same through lakebed, {way}", ratio, "ratio", "at most", target, note)
    yield Figure("glob over 10,000 entries", found["glob_s"], "s", "at most", 0.5, "fs.glob, every one matches")
    name = "requests to open a Parquet file and read its footer"
    yield Figure(name, found["footer_requests"], "", "at most", 3, "the worst of direct, proxied, cold and warm")


def tables(folder: Path, entries: int) -> Iterator[Figure]:
    found = measured("sdk.tables", "memory", folder, 2 if entries >= 1_000_000 else 0.5)
    note = (
        f"all of the process, {found['idle_mib']:,.0f} MiB of it pandas and pyarrow; {found['write_mib_s']:,.0f} MiB/s"
    )
    name = f"memory of a client that writes {found['gib']:g} GiB of record batches as a table"
    yield Figure(name, found["write_mib"], "MiB", "at most", 300, note)
    note = f"{found['scan_mib_s']:,.0f} MiB/s"
    yield Figure("the same, and scans it again", found["peak_mib"], "MiB", "at most", 300, note)
    found = measured("sdk.tables", "speed", folder, 50 if entries >= 1_000_000 else 10)
    size = f"a table of {found['mib']:,.0f} MiB in {found['files']:g} files"
    local = found["write_local_s"]
    yield Figure(f"pyarrow writes {size}", local, "s", note="zstd, local files, synced: the baseline")
    for way, target, note in (
        ("direct", 1.3, "a workspace, direct, committed"),
        ("proxied", 1.8, "a workspace, all bytes through the server, committed"),
        ("branch", 1.8, "onto a branch, uncommitted"),
    ):
        yield Figure(f"write_parquet, {way}", found[f"write_{way}_s"] / local, "ratio", "at most", target, note)
    local = found["read_local_s"]
    yield Figure("pyarrow reads it", local, "s", note="local files, warm page cache: the baseline")
    for way in ("direct", "proxied"):
        name, ratio = f"read_table, {way}", found[f"read_{way}_s"] / local
        if way == "direct":
            yield Figure(name, ratio, "ratio", "at most", 1.25, "a shared directory")
        else:
            yield Figure(name, ratio, "ratio", note="all bytes through the server")
        scan = found[f"read_scan_{way}_s"] / local
        yield Figure(f"scan_table, {way}", scan, "ratio", note="batch by batch, in bounded memory")


def testing(folder: Path, entries: int) -> Iterator[Figure]:
    found = measured("sdk.testing")
    yield Figure("test server ready, first of a process", found["cold_s"], "s", "at most", 0.3,
                 f"imports included, pandas and pyarrow loaded before; {found['bare_s']:.2f} s with them")  # fmt: skip
    yield Figure("test server ready, later ones", found["warm_ms"], "ms")
    note = f"a whole test (repository, put, commit, reset): {found['test_ms']:.1f} ms"
    yield Figure("test server, reset", found["reset_ms"], "ms", "at most", 5, note)
    yield Figure(
        "import of the pytest plugin in a run that does not use it",
        found["plugin_ms"],
        "ms",
        note="the time that its import adds to a run",
    )
    for way in ("put", "get"):
        mine, theirs = found[f"ours_{way}_s"], found[f"moto_{way}_s"]
        note = f"1 KiB, one http.client in the server's process: {mine:,.0f}/s and {theirs:,.0f}/s"
        yield Figure(f"test server / moto's S3 server, {way}", mine / theirs, "ratio", "at least", 5, note)
        mine, theirs = found[f"sdk_{way}_s"], found[f"boto3_{way}_s"]
        note = f"{mine:,.0f}/s and {theirs:,.0f}/s"
        yield Figure(f"the same through the SDK / through boto3, {way}", mine / theirs, "ratio", note=note)


def spark(folder: Path, entries: int) -> Iterator[Figure]:
    """In the environment of `make spark`, which has PySpark; local[2], medians of turns."""
    rows = 5 * entries
    found = on_spark.run("tables", folder / "tables", rows, 100_000)
    note = f"{rows:,} rows, 50 files in 10 partitions: {found['read_lake_s']:.2f} s and {found['read_plain_s']:.2f} s"
    yield Figure("Spark reads a table of a branch / plain Spark", found["read_ratio"], "ratio", "at most", 1.1, note)
    yield Figure("the same, one partition of ten", found["read_part_ratio"], "ratio")
    note = f"{found['write_lake_s']:.2f} s, durable, and {found['write_plain_s']:.2f} s"
    yield Figure("Spark writes it and commits / plain Spark", found["write_ratio"], "ratio", "at most", 1.1, note)
    yield Figure("resolving a table of 100,000 files", found["resolve_s"], "s", "at most", 2, "365 partitions")
    found = on_spark.run("history", folder / "history", entries, 20)
    note = f"{entries:,} entries: {found['entries_s']:.2f} s and {found['native_s']:.2f} s"
    what = "Spark reads lakebed.entries / the range files natively"
    yield Figure(what, found["entries_ratio"], "ratio", "at most", 1.5, note)
    note = f"1,000 rows, a commit each; p50 {found['sink_p50_s']:.2f} s"
    yield Figure("streaming sink, slowest micro-batch", found["sink_max_s"], "s", "at most", 0.5, note)
    found = on_spark.run("pipelines", folder / "pipelines", 1, 2, 4)
    note = "a synthetic listing in pages as of a bucket; compared, pushed and committed"
    yield Figure("ingest of 1,000,000 listed objects on Spark", found["ingest_1m_s"], "s", "at most", 60, note)
    slope = max(found["ingest_2m_s"] / 2, found["ingest_4m_s"] / 4) / found["ingest_1m_s"]
    yield Figure(
        "the same, time per object at 2 and 4 million / at 1 million", slope, "ratio", "at most", 1.2, "the worse"
    )
