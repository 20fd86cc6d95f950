"""The time of a merge into a branch that has not changed since the base: `... unmoved_merge OBJECTS CHANGES`.

SQLite with fsync, local object store, entries without their data. Prints the median of 15 merges in ms. To compare two
commits, run it in a checkout of each, in turns.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from lakebed_engine.engine import Engine
from lakebed_engine.operations.context import open_repo
from lakebed_engine.operations.objects import stage
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.stores.objects.registry import Stores
from lakebed_engine.vocabulary.requests import MergeRequest

from benchmarks.engine.protocol import REQUEST, filled
from benchmarks.engine.scale import entry

MERGES = 15


async def measure(objects: int, changes: int, root: Path) -> float:
    """The median time of a merge, in ms."""
    kv = SqliteKV(root / "kv.db")
    engine = Engine(kv, Stores(root / "objects"))
    await filled(engine, objects)
    repo = await open_repo(engine.context, "bench")
    times: list[float] = []
    for number in range(MERGES):
        branch = f"b{number}"
        await engine.branches.create("bench", branch, "main")
        paths = [f"new/{number:03}/{change:06}" for change in range(changes)]
        await stage.stage(engine.context, repo, branch, [(path, entry(path)) for path in paths])
        await engine.commits.create("bench", branch, REQUEST)
        start = time.perf_counter()
        await engine.commits.merge("bench", branch, "main", MergeRequest(message="m", committer="bench"))
        times.append((time.perf_counter() - start) * 1e3)
    await engine.close()
    await kv.close()
    return median(times)


def main() -> None:
    with tempfile.TemporaryDirectory() as root:
        print(f"{asyncio.run(measure(int(sys.argv[1]), int(sys.argv[2]), Path(root))):.2f} ms")


if __name__ == "__main__":
    main()
