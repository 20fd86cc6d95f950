"""Engine at 1 M entries: commit, one-entry commit, diff, listing. Prints JSON: seconds, and resident MiB.

Run by benchmarks/run.py in a process of its own, so that resident memory is this work's alone. Entries are staged
through the engine's own staging verb; their data is not written, since none of these operations reads it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import open_repo
from lakebed_engine.operations.objects import stage
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.records import Entry
from lakebed_engine.vocabulary.requests import CommitRequest, LogRequest

BATCH = 10_000


def entry(path: str, version: int = 0) -> Entry:
    word = hashlib.md5(f"{path}:{version}".encode(), usedforsecurity=False).hexdigest()
    return stage.new_entry(f"data/2026010100/{word}", word, len(path), 1_767_225_600, "application/octet-stream", {})


def path_of(number: int) -> str:
    return f"tables/events/day={number // 4000:03d}/part-{number % 4000:05d}-of-04000.parquet"


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def stage_all(engine: Engine, branch: str, rows: list[tuple[str, Entry]], repository: str = "bench") -> None:
    ctx = engine.context
    repo = await open_repo(ctx, repository)
    for start in range(0, len(rows), BATCH):
        await stage.stage(ctx, repo, branch, rows[start : start + BATCH])


async def diff_all(engine: Engine, left: str, right: str) -> int:
    """Every difference, page by page."""
    count, after = 0, ""
    while True:
        page = await engine.commits.diff("bench", left, right, mode="two_dot", after=after, amount=1000, details=False)
        count += len(page.items)
        if not page.has_more:
            return count
        after = page.items[-1].path


async def timed(job: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = await job
    return time.perf_counter() - start, result


async def measure(entries: int, root: Path) -> dict[str, float]:
    kv = SqliteKV(root / "kv.db")
    engine = Engine(kv, Stores(root / "objects"))
    request = CommitRequest(message="m", committer="bench")
    await engine.repositories.create("bench", "local://bench")
    found: dict[str, float] = {}
    for start in range(0, entries, 100_000):
        await stage_all(
            engine, "main", [(path_of(i), entry(path_of(i))) for i in range(start, min(entries, start + 100_000))]
        )
    found["staged_peak_mib"] = peak()
    found["commit_all_s"], _ = await timed(engine.commits.create("bench", "main", request))
    found["commit_all_peak_mib"] = peak()
    os.sync()  # the bulk load's own write-back is not what the next figures are about
    singles = []
    for number in range(11):
        path = path_of((2 * number + 1) * entries // 22)  # one path of every eleventh part of the branch
        await stage_all(engine, "main", [(path, entry(path, 1))])
        seconds, _ = await timed(engine.commits.create("bench", "main", request))
        singles.append(seconds)
    found["commit_one_first_s"] = singles[0]
    found["commit_one_median_s"] = sorted(singles[1:])[5]
    before = (await engine.commits.log("bench", "main", LogRequest(amount=1))).items[0]
    changed = [path_of(i) for i in range(0, entries, 100)]
    await stage_all(engine, "main", [(path, entry(path, 2)) for path in changed])
    found["commit_1pct_s"], after = await timed(engine.commits.create("bench", "main", request))
    os.sync()
    fresh = Engine(kv, Stores(root / "objects"))
    found["diff_1pct_cold_s"], count = await timed(diff_all(fresh, before.id, after.id))
    assert count == len(changed), count
    found["diff_1pct_warm_s"], _ = await timed(diff_all(fresh, before.id, after.id))
    for one in (engine, fresh):
        await one.close()
    await kv.close()
    return found | in_calm(entries, root)


def in_calm(entries: int, root: Path) -> dict[str, float]:
    """Read pages in three new processes, and return the result with the least disturbance by other guests of the host.

    The process that made the commits is not used: for seconds it returns its memory, in pauses of 5 ms.
    """
    command = [sys.executable, "-m", "benchmarks.engine.scale", "pages", str(entries), str(root)]
    runs = [json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout) for _ in range(3)]
    return dict(min(runs, key=lambda run: float(run["list_page_cold_max_s"])))


async def cold_pages(entries: int, root: Path) -> dict[str, float]:
    """Pages of a store that this process has never seen."""
    kv = SqliteKV(root / "kv.db")
    cold = Engine(kv, Stores(root / "objects"))
    found: dict[str, float] = {}
    pages = []
    for step in range(20):
        start_path = path_of(step * entries // 20)
        seconds, page = await timed(cold.objects.list("bench", "main", after=start_path, amount=1000))
        assert len(page.items) == 1000
        pages.append(seconds)
    found["list_page_cold_max_s"] = max(pages)
    pages = []
    for _ in range(20):
        seconds, page = await timed(
            cold.objects.list("bench", "main", prefix="tables/events/", delimiter="/", amount=1000)
        )
        pages.append(seconds)
    found["list_prefixes_page_s"] = sorted(pages)[10]
    found["list_prefixes"] = len(page.items)
    await cold.close()
    await kv.close()
    return found


def main() -> None:
    if sys.argv[1:2] == ["pages"]:
        print(json.dumps(asyncio.run(cold_pages(int(sys.argv[2]), Path(sys.argv[3])))))
        return
    entries = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as root:
        print(json.dumps(asyncio.run(measure(entries, Path(root))), indent=1))


if __name__ == "__main__":
    main()
