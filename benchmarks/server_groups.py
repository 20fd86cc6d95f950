"""The groups of `make bench` that measure a server, or the engine alone.

Each takes a folder of its own and a number of entries.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks import servers
from benchmarks.figures import SECONDS, Figure, measured
from benchmarks.server import rest as rest_calls
from benchmarks.server import transfer

OBJECTS = 10_000


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
    found = measured("engine.scale", entries, folder)
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
                 "worst of 20 positions, best of three processes")  # fmt: skip
    yield Figure("list 250 common prefixes over all entries", found["list_prefixes_page_s"] * 1000, "ms", "at most", 15)


def rest(folder: Path, entries: int) -> Iterator[Figure]:
    count, commits = max(entries // 10, 10_000), max(entries // 100, 1000)
    data = folder / "rest"
    rest_calls.sources(data / "objects" / "feed", count)
    with servers.lakebed(data, LAKEBED_INGEST_ALLOW="local://feed/") as server:
        took = rest_calls.imported(server, "local://feed/", count)
        note = "five local folders, no copies, until the server reports the commit"
        yield Figure(f"import of {count:,} objects", count / took, "objects/s", "at least", 20_000, note)
        for kind, what in (("page", "list pages of 1,000"), ("prefixes", "list pages of 1,000 common prefixes")):
            server.load(kind, 2, 1, count)
            found = server.load(kind, 2, SECONDS, count)
            note = f"2 connections, p99 {found['p99_ms']:.0f} ms"
            yield Figure(what, found["rate"], "pages/s", "at least", 120, note)
        found = server.load("delete", 2, 1.5, count)
        note = "2 connections, durable: 1.5 s, most of the objects exist"
        yield Figure("deleteObjects of 1,000", found["rate"], "calls/s", "at least", 60, note)
        first, again = rest_calls.ingested(server, "local://feed/", count)
        note = "without Spark, through the SDK: the same folders, compared and committed"
        yield Figure(f"ingest of {count:,} objects", count / first, "objects/s", "at least", 5000, note)
        note = "compared, nothing to commit"
        yield Figure("the same ingest again, unchanged", count / again, "objects/s", "at least", 5000, note)
    measured("server.rest", folder / "logs", commits)
    with servers.lakebed(folder / "logs") as server:
        found = rest_calls.logs(server, commits)
    note = f"the first request to a server; {found['log_path_again_s'] * 1000:.0f} ms again"
    name = f"log of one path over {commits:,} commits"
    yield Figure(name, found["log_path_first_s"] * 1000, "ms", "at most", 200, note)
    note = f"the first one {found['log_first_s'] * 1000:.0f} ms"
    yield Figure("log of 1,000 commits", found["log_s"] * 1000, "ms", "at most", 50, note)


def protocol(folder: Path, entries: int) -> Iterator[Figure]:
    folder.mkdir(parents=True, exist_ok=True)
    before = measured("host", folder)
    found = measured("engine.protocol", "small", entries // 10, folder)
    note = "SQLite, 64 callers, one row per call"
    yield Figure("staging through the engine, durable", found["staging_rows_s"], "rows/s", "at least", 15_000, note)
    what, note = "racing commits of what was staged", f"8 committers, {entries // 10:,} entries, in-memory stores"
    yield Figure(f"{what}, the engine", found["race_memory_commits_s"], "commits/s", note=note)
    note = f"SQLite, local disk, fsync on; {found['race_answers_s']:.0f} answers/s in all: see below"
    yield Figure(f"{what}, made durable", found["race_commits_s"], "commits/s", note=note)
    note = "8 committers, one row in each call; SQLite, local disk, fsync on"
    yield Figure("racing small commits, durable", found["publish_commits_s"], "commits/s", "at least", 400, note)
    note = "8 committers, a workspace of one row each; SQLite, local disk, fsync on"
    yield Figure("racing workspace commits, durable", found["workspace_commits_s"], "commits/s", note=note)
    gave_up = found["race_gave_up_s"] + found["race_memory_gave_up_s"]
    yield Figure(
        "racing commits that gave up", gave_up, "", "at most", 0, "every call succeeds or has nothing to commit"
    )
    found = measured("engine.protocol", "large", entries, folder)
    size = f"{entries:,} entries"
    note = "the changes of each side are adjacent"
    yield Figure(f"merge, 1 % of {size} changed on each side", found["merge_together_s"], "s", "at most", 1, note)
    yield Figure("the same, changes spread over every range", found["merge_spread_s"], "s", "at most", 1)
    yield Figure(f"push of a layer of {entries:,} rows", found["push_s"], "s", "at most", 3)
    found = small_commits(folder, "workspace")
    note = f"8 committers: create, one object of 1 KiB, commit; p99 {found['p99_ms']:.0f} ms"
    yield Figure("workspace commits on one branch over HTTP", found["commits_s"], "commits/s", "at least", 150, note)
    found = small_commits(folder, "publish")
    note = f"8 committers: one object of 1 KiB, one request; p99 {found['p99_ms']:.0f} ms"
    yield Figure("published commits on one branch over HTTP", found["commits_s"], "commits/s", note=note)
    found = measured("engine.protocol", "listing", entries, folder)
    note = f"a cache of 64 MiB, and as much for everything else; {found['list_entries_s']:,.0f} entries/s"
    name = f"memory that a listing of {5 * entries:,} entries takes"
    yield Figure(name, found["list_grown_mib"], "MiB", "at most", 128, note)
    after = measured("host", folder)
    note = f"before all these, and {after['python_ms']:.0f} ms after: no Lakebed, the machine itself"
    yield Figure("a million additions in Python", before["python_ms"], "ms", note=note)
    note = f"before all these, and {after['sync_ms']:.2g} ms after: median"
    yield Figure("64 KiB more of a file, synced", before["sync_ms"], "ms", note=note)


def small_commits(folder: Path, way: str) -> dict[str, float]:
    import lakebed

    with servers.lakebed(folder / way) as server:
        lakebed.connect(*server.credentials).repository("bench").create("local://bench")
        return server.run("sdk.workspaces", 8, SECONDS, way)


def s3(folder: Path, entries: int) -> Iterator[Figure]:
    """Compare the gateway with SeaweedFS's S3 server, when neither syncs and when both sync, and with moto's."""
    found = measured("server.s3", folder / "s3", 1, 3)
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
    """One kind of S3 request: two workers against SeaweedFS, which also uses both cores. One worker is information.

    Puts are compared with the same durability: both unsynced (`process`), and both synced. The durable gateway against
    a SeaweedFS that syncs nothing is information.
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
    note = f"two workers: {two:,.0f}{unit} and {synced:,.0f}{unit}; SeaweedFS syncs volumes, not its directory of names"
    yield Figure(f"S3 {what}, durable / SeaweedFS with -fsync", two / synced, "ratio", "at least", 1, note)
    for name, rate in (("two workers", two), ("one worker", one)):
        note = f"{rate:,.0f}{unit}: Lakebed syncs, SeaweedFS does not"
        yield Figure(f"the same {what}, durable, {name} / SeaweedFS unsynced", rate / theirs, "ratio", note=note)
