"""`make bench`: every figure that the project promises, measured in one run; a table, JSON, and a failure on a miss.

    python -m benchmarks.run [--only http,rest,transfer,scale,start,bulk,signed,s3,testing,spark] [--entries 1000000]

Each group that is run whole goes into benchmarks/results.json, with the day and the commit, and from there into the
table of docs/benchmarks.md; the rows of the others stay.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import on_spark, servers, transfer
from benchmarks import rest as rest_calls
from benchmarks.apart import apart

ROOT = Path(__file__).resolve().parent.parent
FULL = 1_000_000
"""Entries of a run whose figures are kept."""

OBJECTS = 10_000
SECONDS = 5.0


@dataclass(frozen=True)
class Figure:
    """One line of the table. `bound` is "at least" or "at most" `target`; without a bound it is information."""

    name: str
    value: float
    unit: str
    bound: str = ""
    target: float = 0.0
    note: str = ""

    @property
    def met(self) -> bool:
        if not self.bound:
            return True
        return self.value >= self.target if self.bound == "at least" else self.value <= self.target


def http(folder: Path, entries: int) -> Iterator[Figure]:
    import lakebed

    with servers.lakebed(folder / "http") as server:
        lake = lakebed.connect(*server.credentials)
        main = lake.repository("bench").create("local://bench").branch("main")
        for start in range(0, OBJECTS, 1000):
            main.put_many({f"small/{n:06d}.bin": os.urandom(1024) for n in range(start, start + 1000)})
        main.commit("small objects")
        with servers.baseline(folder) as empty:
            empty.load("empty", 16, 1)
            server.load("stat", 16, 1)
            pairs = [(empty.load("empty", 16, SECONDS)["rate"], server.load("stat", 16, SECONDS)) for _ in range(3)]
        base = statistics.median(pair[0] for pair in pairs)
        stat = statistics.median(pair[1]["rate"] for pair in pairs)
        p99 = statistics.median(pair[1]["p99_ms"] for pair in pairs)
        yield Figure("empty Starlette route (baseline)", base, "requests/s", note="16 connections")
        yield Figure(
            "stat by path over HTTP", stat, "requests/s", "at least", 8000, f"16 connections, p99 {p99:.1f} ms"
        )
        yield Figure("stat / empty route", stat / base, "ratio", "at least", 0.3)
        read = server.load("read", 16, SECONDS)
        yield Figure(
            "read 1 KiB", read["rate"], "requests/s", "at least", 4000, f"16 connections, p99 {read['p99_ms']:.1f} ms"
        )
        put = server.load("upload", 32, SECONDS)
        yield Figure("upload 1 KiB, durable", put["rate"], "requests/s", "at least", 1500,
                     f"32 connections, fsync on, p99 {put['p99_ms']:.1f} ms")  # fmt: skip
        page = server.load("list", 1, SECONDS)
        yield Figure(
            "list page of 1,000 over HTTP",
            page["p50_ms"],
            "ms",
            "at most",
            15,
            f"1 connection, p99 {page['p99_ms']:.1f} ms",
        )


def transfers(folder: Path, entries: int) -> Iterator[Figure]:
    import lakebed

    with servers.lakebed(folder / "transfer") as server:
        lakebed.connect(*server.credentials).repository("bench").create("local://bench")
        with servers.baseline(folder) as plain:
            found = transfer.measure(server, plain, folder)
    for way, what in (("up", "upload"), ("down", "download")):
        ending = ", synced" if way == "up" else ""
        yield Figure(f"plain copy over a loopback socket{ending}", found[f"socket_{way}"], "MiB/s", note="the baseline")
        yield Figure(f"plain copy over HTTP {way}{ending}", found[f"plain_{way}"], "MiB/s", note="no hash, no version")
        yield Figure(f"{what} 256 MiB{', durable, MD5' if way == 'up' else ''}", found[way], "MiB/s")
        yield Figure(f"{what} / plain copy", found[way] / found[f"socket_{way}"], "ratio", "at least", 0.6)


def scale(folder: Path, entries: int) -> Iterator[Figure]:
    found = measured("scale", entries, folder)
    size = f"{entries:,} entries"
    yield Figure(f"commit of {size}", found["commit_all_s"], "s", "at most", 5, "SQLite, local store, fsync on")
    yield Figure("resident memory at its peak", found["commit_all_peak_mib"], "MiB", "at most", 1024)
    yield Figure(
        f"one-entry commit on {size}", found["commit_one_median_s"] * 1000, "ms", "at most", 30, "median of 10"
    )
    yield Figure(f"commit of 1 % of {size}, spread evenly", found["commit_1pct_s"], "s")
    yield Figure(
        f"diff of 1 % of {size}, spread evenly", found["diff_1pct_cold_s"], "s", "at most", 0.5, "caches empty"
    )
    yield Figure("the same diff again", found["diff_1pct_warm_s"], "s")
    yield Figure("list page of 1,000, caches empty", found["list_page_cold_max_s"] * 1000, "ms", "at most", 15,
                 "worst of 20 places, calmest of three processes")  # fmt: skip
    yield Figure("list 250 common prefixes over all of it", found["list_prefixes_page_s"] * 1000, "ms", "at most", 15)


def rest(folder: Path, entries: int) -> Iterator[Figure]:
    count, commits = max(entries // 10, 10_000), max(entries // 100, 1000)
    data = folder / "rest"
    rest_calls.sources(data / "objects" / "feed", count)
    with servers.lakebed(data, LAKEBED_INGEST_ALLOW="local://feed/") as server:
        took = rest_calls.imported(server, "local://feed/", count)
        note = "local folders of five, nothing is copied, until the commit is told"
        yield Figure(f"import of {count:,} objects", count / took, "objects/s", "at least", 20_000, note)
        for kind, what in (("page", "list pages of 1,000"), ("prefixes", "list pages of 1,000 common prefixes")):
            server.load(kind, 2, 1, count)
            found = server.load(kind, 2, SECONDS, count)
            note = f"2 connections, p99 {found['p99_ms']:.0f} ms"
            yield Figure(what, found["rate"], "pages/s", "at least", 120, note)
        found = server.load("delete", 2, 1.5, count)
        note = "2 connections, durable: 1.5 s, most of what it deletes is there"
        yield Figure("deleteObjects of 1,000", found["rate"], "calls/s", "at least", 60, note)
    measured("rest", folder / "logs", commits)
    with servers.lakebed(folder / "logs") as server:
        found = rest_calls.logs(server, commits)
    note = f"the first answer of a server; {found['log_path_again_s'] * 1000:.0f} ms again"
    name = f"log of one path over {commits:,} commits"
    yield Figure(name, found["log_path_first_s"] * 1000, "ms", "at most", 200, note)
    note = f"the first one {found['log_first_s'] * 1000:.0f} ms"
    yield Figure("log of 1,000 commits", found["log_s"] * 1000, "ms", "at most", 50, note)


def starting(folder: Path, entries: int) -> Iterator[Figure]:
    times = []
    for _ in range(5):
        code = "import time; s = time.perf_counter(); import lakebed; print(time.perf_counter() - s)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        times.append(float(done.stdout))
    yield Figure("import lakebed", statistics.median(times), "s", "at most", 0.25, "median of 5")
    ready = []
    for number in range(3):
        with servers.lakebed(folder / f"start-{number}") as server:
            ready.append(server.ready_s)
    yield Figure("server ready after start", statistics.median(ready), "s", "at most", 1.5, "first start, median of 3")


def measured(module: str, *words: object) -> dict[str, float]:
    """What a module of this package prints, run in a process of its own."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    found: dict[str, float] = json.loads(done.stdout)
    return found


def small_commits(folder: Path, way: str) -> dict[str, float]:
    import lakebed

    with servers.lakebed(folder / way) as server:
        lakebed.connect(*server.credentials).repository("bench").create("local://bench")
        return server.run("workspaces", 8, SECONDS, way)


def protocol(folder: Path, entries: int) -> Iterator[Figure]:
    found = measured("protocol", "small", entries // 10, folder)
    note = "SQLite, 64 callers, one row a call"
    yield Figure("staging through the engine, durable", found["staging_rows_s"], "rows/s", "at least", 15_000, note)
    what, note = "racing commits of what was staged", f"8 committers, {entries // 10:,} entries, stores of memory"
    yield Figure(f"{what}, the engine", found["race_memory_commits_s"], "commits/s", note=note)
    note = f"SQLite, local disk, fsync on; {found['race_answers_s']:.0f} answers/s in all: see below"
    yield Figure(f"{what}, made durable", found["race_commits_s"], "commits/s", note=note)
    note = "8 committers, one row in each call; SQLite, local disk, fsync on"
    yield Figure("racing small commits, made durable", found["publish_commits_s"], "commits/s", "at least", 400, note)
    note = "8 committers, a workspace of one row each; SQLite, local disk, fsync on"
    yield Figure("racing workspace commits, made durable", found["workspace_commits_s"], "commits/s", note=note)
    gave_up = found["race_gave_up_s"] + found["race_memory_gave_up_s"]
    yield Figure("racers that gave up", gave_up, "", "at most", 0, "every one succeeds, or has nothing to commit")
    found = measured("protocol", "large", entries, folder)
    size = f"{entries:,} entries"
    note = "each side's changes lie together"
    yield Figure(f"merge, 1 % of {size} changed on each side", found["merge_together_s"], "s", "at most", 1, note)
    yield Figure("the same, changes spread over every range", found["merge_spread_s"], "s", "at most", 1)
    yield Figure(f"push of a layer of {entries:,} rows", found["push_s"], "s", "at most", 3)
    found = small_commits(folder, "workspace")
    note = f"8 committers: create, one object of 1 KiB, commit; p99 {found['p99_ms']:.0f} ms"
    yield Figure("workspace commits on one branch over HTTP", found["commits_s"], "commits/s", "at least", 150, note)
    found = small_commits(folder, "publish")
    note = f"8 committers: one object of 1 KiB, one request; p99 {found['p99_ms']:.0f} ms"
    yield Figure("published commits on one branch over HTTP", found["commits_s"], "commits/s", note=note)
    found = measured("protocol", "listing", entries, folder)
    note = f"a cache of 64 MiB, and as much again for all else; {found['list_entries_s']:,.0f} entries/s"
    name = f"memory that a listing of {5 * entries:,} entries takes"
    yield Figure(name, found["list_grown_mib"], "MiB", "at most", 128, note)


def bulk(folder: Path, entries: int) -> Iterator[Figure]:
    count = min(10_000, entries // 100)
    found = measured("bulk", "files", folder, count)
    size = f"{count:,} files of 4 KiB"
    if "git_files_s" in found:
        yield Figure(
            f"git add and commit of {size}", found["git_files_s"], "files/s", note="for comparison; not durable"
        )
    note = "a workspace on a local store, fsync on, until the commit is answered"
    yield Figure(f"upload and commit of {size}, direct", found["direct_files_s"], "files/s", "at least", 3000, note)
    yield Figure("requests to the server for 10,000 files, direct", found["requests_per_10000"], "", "at most", 20)
    yield Figure(f"upload and commit of {size}, through the server", found["proxied_files_s"], "files/s")
    yield Figure(f"download of {size}", found["download_files_s"], "files/s", note="a request for each")
    found = measured("bulk", "large", folder, 5 if entries >= 1_000_000 else 0.5)
    note = f"{found['mib_s']:,.0f} MiB/s, durable, MD5"
    yield Figure(
        f"memory of a client that uploads {found['gib']:g} GiB", found["peak_mib"], "MiB", "at most", 200, note
    )


def testing(folder: Path, entries: int) -> Iterator[Figure]:
    found = measured("testing")
    yield Figure("test server ready, first of a process", found["cold_s"], "s", "at most", 0.3,
                 f"imports included, pandas and pyarrow loaded before; {found['bare_s']:.2f} s with them")  # fmt: skip
    yield Figure("test server ready, later ones", found["warm_ms"], "ms")
    note = f"a whole test (repository, put, commit, reset): {found['test_ms']:.1f} ms"
    yield Figure("test server, reset", found["reset_ms"], "ms", "at most", 5, note)
    yield Figure("pytest plugin where it is not used", found["plugin_ms"], "ms", note="what its import adds to a run")
    for way in ("put", "get"):
        mine, theirs = found[f"ours_{way}_s"], found[f"moto_{way}_s"]
        note = f"1 KiB, one http.client in the server's process: {mine:,.0f}/s and {theirs:,.0f}/s"
        yield Figure(f"test server / moto's S3 server, {way}", mine / theirs, "ratio", "at least", 5, note)
        mine, theirs = found[f"sdk_{way}_s"], found[f"boto3_{way}_s"]
        note = f"{mine:,.0f}/s and {theirs:,.0f}/s"
        yield Figure(f"the same through the SDK / through boto3, {way}", mine / theirs, "ratio", note=note)


def dataframes(folder: Path, entries: int) -> Iterator[Figure]:
    found = measured("dataframes", folder, 50 if entries >= 1_000_000 else 10)
    size = f"a data set of {found['mib']:,.0f} MiB in {found['files']:g} files"
    local, plain = found["read_local_s"], found["write_plain_s"]
    yield Figure(f"pyarrow reads {size}", local, "s", note="local files, warm page cache: the baseline")
    for way, target in (("direct", 1.25), ("proxied", 1.6)):
        note = "pyarrow.dataset over lakebed://, a shared directory" if way == "direct" else "every byte by the server"
        note += f"; at a commit {found[f'read_{way}_commit_s'] / local:.2f}"
        ratio = found[f"read_{way}_s"] / local
        yield Figure(f"the same through lakebed, {way}", ratio, "ratio", "at most", target, note)
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
    found = measured("tables", "memory", folder, 2 if entries >= 1_000_000 else 0.5)
    note = (
        f"all of the process, {found['idle_mib']:,.0f} MiB of it pandas and pyarrow; {found['write_mib_s']:,.0f} MiB/s"
    )
    name = f"memory of a client that writes {found['gib']:g} GiB of record batches as a table"
    yield Figure(name, found["write_mib"], "MiB", "at most", 300, note)
    note = f"{found['scan_mib_s']:,.0f} MiB/s"
    yield Figure("the same, and scans it again", found["peak_mib"], "MiB", "at most", 300, note)
    found = measured("tables", "speed", folder, 50 if entries >= 1_000_000 else 10)
    size = f"a table of {found['mib']:,.0f} MiB in {found['files']:g} files"
    local = found["write_local_s"]
    yield Figure(f"pyarrow writes {size}", local, "s", note="zstd, local files, synced: the baseline")
    for way, target, note in (
        ("direct", 1.3, "a workspace, direct, committed"),
        ("proxied", 1.8, "a workspace, every byte by the server, committed"),
        ("branch", 1.8, "onto a branch, uncommitted"),
    ):
        yield Figure(f"write_parquet, {way}", found[f"write_{way}_s"] / local, "ratio", "at most", target, note)
    local = found["read_local_s"]
    yield Figure("pyarrow reads it", local, "s", note="local files, warm page cache: the baseline")
    for way, target, note in (("direct", 1.25, "a shared directory"), ("proxied", 1.6, "every byte by the server")):
        yield Figure(f"read_table, {way}", found[f"read_{way}_s"] / local, "ratio", "at most", target, note)
        scan = found[f"read_scan_{way}_s"] / local
        yield Figure(f"scan_table, {way}", scan, "ratio", note="batch by batch, in bounded memory")


def signed(folder: Path, entries: int) -> Iterator[Figure]:
    found = measured("signed", folder, 512 if entries >= 1_000_000 else 128)
    size = f"{found['mib']:g} MiB into a bucket"
    note = "in parts, a stream of unknown size"
    yield Figure(f"memory of a client that uploads {size}, signed", found["peak_mib"], "MiB", "at most", 200, note)
    name = "bytes through the server for one object, signed, up and down"
    yield Figure(name, found["through_kib"] / 1024, "MiB", "at most", 1)
    for way in ("up", "down"):
        mine, theirs = found[f"presigned_{way}_mib_s"], found[f"proxied_{way}_mib_s"]
        note = f"{mine:,.0f} and {theirs:,.0f} MiB/s; SeaweedFS and all on this machine"
        yield Figure(f"{size}, signed / through the server, {way}", mine / theirs, "ratio", note=note)


def spark(folder: Path, entries: int) -> Iterator[Figure]:
    """In the environment of `make spark`, which has PySpark; local[2], medians of turns."""
    rows = 5 * entries
    found = on_spark.run("spark", folder / "tables", rows, 100_000)
    note = f"{rows:,} rows, 50 files in 10 partitions: {found['read_lake_s']:.2f} s and {found['read_plain_s']:.2f} s"
    yield Figure("Spark reads a table of a branch / plain Spark", found["read_ratio"], "ratio", "at most", 1.1, note)
    yield Figure("the same, one partition of ten", found["read_part_ratio"], "ratio")
    note = f"{found['write_lake_s']:.2f} s, durable, and {found['write_plain_s']:.2f} s"
    yield Figure("Spark writes it and commits / plain Spark", found["write_ratio"], "ratio", "at most", 1.1, note)
    yield Figure("resolving a table of 100,000 files", found["resolve_s"], "s", "at most", 2, "365 partitions")
    found = on_spark.run("spark_history", folder / "history", entries, 20)
    note = f"{entries:,} entries: {found['entries_s']:.2f} s and {found['native_s']:.2f} s"
    what = "Spark reads lakebed.entries / the range files natively"
    yield Figure(what, found["entries_ratio"], "ratio", "at most", 1.5, note)
    note = f"1,000 rows, a commit each; p50 {found['sink_p50_s']:.2f} s"
    yield Figure("streaming sink, slowest micro-batch", found["sink_max_s"], "s", "at most", 0.5, note)
    found = on_spark.run("spark_pipelines", folder / "pipelines", 1, 2, 4)
    note = "a made-up listing in a bucket's pages; compared, pushed and committed for real"
    yield Figure("ingest of 1,000,000 listed objects on Spark", found["ingest_1m_s"], "s", "at most", 60, note)
    slope = max(found["ingest_2m_s"] / 2, found["ingest_4m_s"] / 4) / found["ingest_1m_s"]
    yield Figure("the same, time for an object at 2 and 4 M / at 1 M", slope, "ratio", "at most", 1.2, "the worse")


def s3(folder: Path, entries: int) -> Iterator[Figure]:
    """The gateway beside SeaweedFS's S3 server, like with like: neither syncs, or both do; and moto's."""
    found = measured("s3", folder / "s3", 1, 3)
    small = "1 KiB, 8 connections"
    for kind, what, unit in (
        ("put", f"put {small}", "/s"),
        ("get", f"get {small}", "/s"),
        ("list", "list, keys in pages of 1,000", "/s"),
        ("big_put", "put 64 MiB", " MiB/s"),
        ("big_get", "get 64 MiB", " MiB/s"),
    ):
        for client, name in ((kind, "a light client"), (f"boto_{kind}", "boto3")):
            rates = {server: found[f"{server}_{client}"] for server in ("lakebed", "workers", "seaweedfs", "moto")}
            if kind.endswith("put"):
                rates |= {server: found[f"{server}_{client}"] for server in ("process", "synced")}
            yield from beside(f"{what}, by {name}", unit, rates)


def beside(what: str, unit: str, rates: Mapping[str, float]) -> Iterator[Figure]:
    """One kind of S3 request: two workers against SeaweedFS, which uses both cores as well; one for information.

    Puts are compared at the same promise: both unsynced (`process`), and both synced. The durable gateway beside a
    SeaweedFS that syncs nothing is information.
    """
    one, two, theirs = rates["lakebed"], rates["workers"], rates["seaweedfs"]
    moto = f"; moto {rates['moto']:,.0f}{unit}"
    if "synced" not in rates:
        note = f"two workers: {two:,.0f}{unit} and {theirs:,.0f}{unit}{moto}"
        yield Figure(f"S3 {what} / SeaweedFS", two / theirs, "ratio", "at least", 1, note)
        yield Figure(f"the same {what}, one worker", one / theirs, "ratio", note=f"{one:,.0f}{unit}")
        return
    process, synced = rates["process"], rates["synced"]
    note = f"two workers, neither syncs (`durability: process`): {process:,.0f}{unit} and {theirs:,.0f}{unit}{moto}"
    yield Figure(f"S3 {what} / SeaweedFS", process / theirs, "ratio", "at least", 1, note)
    note = f"two workers: {two:,.0f}{unit} and {synced:,.0f}{unit}; its volumes sync, its directory of names does not"
    yield Figure(f"S3 {what}, durable / SeaweedFS with -fsync", two / synced, "ratio", "at least", 1, note)
    for name, rate in (("two workers", two), ("one worker", one)):
        note = f"{rate:,.0f}{unit}: Lakebed syncs, SeaweedFS does not"
        yield Figure(f"the same {what}, durable, {name} / SeaweedFS unsynced", rate / theirs, "ratio", note=note)


GROUPS: dict[str, Callable[[Path, int], Iterator[Figure]]] = {
    "start": starting,
    "http": http,
    "rest": rest,
    "transfer": transfers,
    "scale": scale,
    "protocol": protocol,
    "bulk": bulk,
    "signed": signed,
    "dataframes": dataframes,
    "tables": tables,
    "s3": s3,
    "testing": testing,
    "spark": spark,
}


def table(figures: list[Figure]) -> str:
    """Markdown."""
    lines = ["| what | measured | target | |", "|---|---:|---:|---|"]
    for one in figures:
        target = f"{one.bound} {one.target:g} {one.unit if one.unit != 'ratio' else ''}".strip() if one.bound else ""
        mark = ("" if one.met else "**MISSED** ") + one.note
        value = f"{one.value:,.0f}" if one.value >= 100 else f"{one.value:.3g}"
        lines.append(f"| {one.name} | {value} {one.unit if one.unit != 'ratio' else ''} | {target} | {mark} |")
    return "\n".join(lines)


def keep(group: str, figures: list[Figure]) -> None:
    """Put a group's figures into benchmarks/results.json, and all that is there into docs/benchmarks.md."""
    path = ROOT / "benchmarks" / "results.json"
    groups = json.loads(path.read_text()).get("groups", {}) if path.exists() else {}
    groups[group] = {
        "when": f"{datetime.date.today()}",
        "commit": commit(),
        "figures": [asdict(one) for one in figures],
    }
    groups = {name: groups[name] for name in GROUPS if name in groups}
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    path.write_text(json.dumps({"machine": machine, "groups": groups}, indent=1) + "\n")
    runs: dict[str, list[str]] = {}
    for name, one in groups.items():
        runs.setdefault(f"{one['when']}, {one['commit']}", []).append(name)
    told = "; ".join(f"{', '.join(names)} ({run})" for run, names in runs.items())
    everything = table([Figure(**one) for name in groups for one in groups[name]["figures"]])
    page = ROOT / "docs" / "benchmarks.md"
    begin, end = "<!-- table: made by make bench -->", "<!-- end of table -->"
    head, _, rest = page.read_text().partition(begin)
    tail = rest.partition(end)[2]
    page.write_text(
        f"{head}{begin}\n\n{machine}; one server process, one client process. Groups, in the order of the table, with "
        f"the day and commit of each one's last whole run: {told}.\n\n{everything}\n\n{end}{tail}"
    )


def commit() -> str:
    """What is measured."""
    words = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what the project promises.")
    parser.add_argument("--only", default=",".join(GROUPS), help="groups, comma-separated: the others keep their rows")
    parser.add_argument("--entries", type=int, default=FULL, help="fewer for a quick look, which is not kept")
    options = parser.parse_args()
    missed: list[str] = []
    for name in options.only.split(","):
        figures: list[Figure] = []
        with tempfile.TemporaryDirectory(prefix="lakebed-bench-") as folder:
            apart(Path(folder))
            for one in GROUPS[name](Path(folder), options.entries):
                figures.append(one)
                print(table([one]).splitlines()[-1], flush=True)
        missed += [one.name for one in figures if not one.met]
        if options.entries == FULL:
            keep(name, figures)
    if missed:
        raise SystemExit(f"missed: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
