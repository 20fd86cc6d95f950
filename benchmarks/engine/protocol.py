"""The engine's protocol under load: staging, racing commits, merges, pushes, a long listing. Prints JSON.

Run by benchmarks/run.py in a process of its own. SQLite with fsync, local object store; entries without their data.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import open_repo
from lakebed_engine.operations.objects import stage
from lakebed_engine.stores.kv.memory import MemoryKV
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.errors import NoChangesError, TooManyAttemptsError
from lakebed_engine.vocabulary.requests import (
    AdvanceRequest,
    CommitRequest,
    MergeRequest,
    PublishRequest,
    WorkspaceRequest,
)

from benchmarks.engine.scale import entry, path_of, peak, stage_all, timed

REQUEST = CommitRequest(message="m", committer="bench")


async def filled(engine: Engine, entries: int) -> None:
    """Create a repository whose main has `entries` committed entries."""
    await engine.repositories.create("bench", "local://bench")
    for start in range(0, entries, 100_000):
        stop = min(entries, start + 100_000)
        await stage_all(engine, "main", [(path_of(i), entry(path_of(i))) for i in range(start, stop)])
    await engine.commits.create("bench", "main", REQUEST)


async def staging_rate(engine: Engine, callers: int = 64, seconds: float = 4) -> float:
    """Durable rows a second, one row a call."""
    repo = await open_repo(engine.context, "bench")
    deadline = time.perf_counter() + seconds
    done = 0

    async def caller(number: int) -> None:
        nonlocal done
        step = 0
        while time.perf_counter() < deadline:
            path = f"stage/{number}/{step}"
            await stage.stage(engine.context, repo, "main", [(path, entry(path))])
            step, done = step + 1, done + 1

    start = time.perf_counter()
    await asyncio.gather(*map(caller, range(callers)))
    return done / (time.perf_counter() - start)


async def commit_rate(engine: Engine, committers: int = 8, seconds: float = 6) -> dict[str, float]:
    """Racing committers, each staging one row and committing: answers a second by kind."""
    repo = await open_repo(engine.context, "bench")
    deadline = time.perf_counter() + seconds
    made = nothing = gave_up = 0

    async def committer(number: int) -> None:
        nonlocal made, nothing, gave_up
        step = 0
        while time.perf_counter() < deadline:
            path = f"race/{number}/{time.time_ns()}"
            step += 1
            await stage.stage(engine.context, repo, "main", [(path, entry(path))])
            try:
                await engine.commits.create("bench", "main", REQUEST)
                made += 1
            except NoChangesError:
                nothing += 1  # another's commit took the row
            except TooManyAttemptsError:
                gave_up += 1

    start = time.perf_counter()
    await asyncio.gather(*map(committer, range(committers)))
    elapsed = time.perf_counter() - start
    return {"commits": made / elapsed, "answers": (made + nothing + gave_up) / elapsed, "gave_up": gave_up}


async def publish_rate(engine: Engine, committers: int = 8, seconds: float = 4) -> float:
    """Racing committers, each of whose calls commits one row: commits a second, every one with its row."""
    deadline = time.perf_counter() + seconds
    made = 0

    async def committer(number: int) -> None:
        nonlocal made
        while time.perf_counter() < deadline:
            path = f"publish/{number}/{time.time_ns()}"
            await engine.commits.publish(
                "bench", "main", [(path, entry(path))], PublishRequest(message="m", committer="bench")
            )
            made += 1

    start = time.perf_counter()
    await asyncio.gather(*map(committer, range(committers)))
    return made / (time.perf_counter() - start)


async def workspace_rate(engine: Engine, committers: int = 8, seconds: float = 4) -> float:
    """Racing committers with a workspace each, of one row: create, stage, commit. Each makes a commit of its own."""
    repo = await open_repo(engine.context, "bench")
    deadline = time.perf_counter() + seconds
    made = 0

    async def committer(number: int) -> None:
        nonlocal made
        while time.perf_counter() < deadline:
            opened = await engine.workspaces.create("bench", WorkspaceRequest(ref="main", creator="bench"))
            path = f"workspace/{number}/{time.time_ns()}"
            await stage.stage(engine.context, repo, opened.name, [(path, entry(path))])
            await engine.workspaces.commit("bench", opened.uid, AdvanceRequest(message="m", committer="bench"))
            made += 1

    start = time.perf_counter()
    await asyncio.gather(*map(committer, range(committers)))
    return made / (time.perf_counter() - start)


async def merge_time(engine: Engine, entries: int, name: str, *, spread: bool) -> float:
    """Seconds to merge a branch into main when both changed 1 % of all entries, none of them the same."""
    await engine.branches.create("bench", name, "main")
    count = entries // 100
    for branch, shift in ((name, 0), ("main", 1)):
        numbers = (
            range(50 * shift, entries, 100) if spread else range(shift * entries // 2, shift * entries // 2 + count)
        )
        await stage_all(engine, branch, [(path_of(i), entry(path_of(i), 7 + spread)) for i in numbers])
        await engine.commits.create("bench", branch, REQUEST)
    seconds, _ = await timed(engine.commits.merge("bench", name, "main", MergeRequest(committer="bench")))
    return seconds


async def push_time(engine: Engine, rows: int) -> float:
    """Seconds to push one layer."""
    made = [(path, entry(path)) for path in (f"push/{i:08d}" for i in range(rows))]
    seconds, _ = await timed(engine.branches.push("bench", "main", made))
    return seconds


async def small(entries: int, root: Path) -> dict[str, float]:
    kv = SqliteKV(root / "kv.db")
    engine = Engine(kv, Stores(root / "objects"))
    await filled(engine, entries)
    found = {"staging_rows_s": await staging_rate(engine)}
    await engine.commits.create("bench", "main", REQUEST)
    found |= {f"race_{name}_s": value for name, value in (await commit_rate(engine)).items()}
    found["publish_commits_s"] = median([await publish_rate(engine) for _ in range(3)])
    found["workspace_commits_s"] = await workspace_rate(engine)
    await engine.close()
    await kv.close()
    return found | await in_memory(entries)


async def in_memory(entries: int) -> dict[str, float]:
    """The same race on in-memory stores: what the engine itself costs."""
    engine = Engine(MemoryKV(), Stores(None))
    await engine.repositories.create("bench", "mem://bench")
    await stage_all(engine, "main", [(path_of(i), entry(path_of(i))) for i in range(entries)])
    await engine.commits.create("bench", "main", REQUEST)
    found = await commit_rate(engine)
    await engine.close()
    return {f"race_memory_{name}_s": value for name, value in found.items()}


async def large(entries: int, root: Path) -> dict[str, float]:
    kv = SqliteKV(root / "kv.db")
    engine = Engine(kv, Stores(root / "objects"))
    await filled(engine, entries)
    found = {
        "merge_together_s": await merge_time(engine, entries, "together", spread=False),
        "merge_spread_s": await merge_time(engine, entries, "spread", spread=True),
        "push_s": await push_time(engine, entries),
    }
    await engine.close()
    await kv.close()
    return found


CACHE_MIB = 64


async def fill(entries: int, root: Path) -> dict[str, float]:
    """Create a branch of `entries` committed entries, in five pushes."""
    kv = SqliteKV(root / "kv.db")
    engine = Engine(kv, Stores(root / "objects"))
    await engine.repositories.create("bench", "local://bench")
    for start in range(0, entries, entries // 5):
        rows = [(path, entry(path)) for path in (f"p/{i:09d}" for i in range(start, start + entries // 5))]
        await engine.branches.push("bench", "main", rows)
        await engine.commits.create("bench", "main", REQUEST)
    await engine.close()
    await kv.close()
    return {}


async def listing(entries: int, root: Path) -> dict[str, float]:
    """Resident MiB while listing a branch of 5 times as many entries with a cache of 64 MiB."""
    # in a process of its own: the memory that filling takes is not the listing's
    subprocess.run(
        [sys.executable, "-m", "benchmarks.engine.protocol", "fill", str(5 * entries), str(root)], check=True
    )
    kv = SqliteKV(root / "kv.db")
    engine = Engine(kv, Stores(root / "objects"), cache_bytes=CACHE_MIB << 20)
    count, after = 0, ""
    await engine.objects.list("bench", "main@", amount=1000)
    before = peak()
    start_time = time.perf_counter()
    while True:
        page = await engine.objects.list("bench", "main@", after=after, amount=1000)
        count += len(page.items)
        if not page.has_more:
            break
        after = page.items[-1].path
    elapsed = time.perf_counter() - start_time
    await engine.close()
    await kv.close()
    return {"listed": count, "list_entries_s": count / elapsed, "list_grown_mib": peak() - before, "before_mib": before}


PARTS = {"small": small, "large": large, "fill": fill, "listing": listing}


def main() -> None:
    part, entries = sys.argv[1], int(sys.argv[2])
    if part == "fill":
        asyncio.run(fill(entries, Path(sys.argv[3])))
        return
    with tempfile.TemporaryDirectory(dir=sys.argv[3] if len(sys.argv) > 3 else None) as root:
        print(json.dumps(asyncio.run(PARTS[part](entries, Path(root))), indent=1))


if __name__ == "__main__":
    main()
