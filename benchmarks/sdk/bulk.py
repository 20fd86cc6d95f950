"""Uploads many files and one large file through a workspace into a local store, compared with git on the same files.

    python -m benchmarks.sdk.bulk files FOLDER [COUNT]     files/s, and requests to the server for each 10,000 of them
    python -m benchmarks.sdk.bulk large FOLDER [GIB]       memory of a client that uploads a stream

Prints JSON. The time of an upload begins with the creation of the workspace and ends with the answer to the commit.
Everything is durable then (fsync on), while git's files are not. Each round has a tree of its own, because files that
were read before would come from memory.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import servers

SIZE = 4096
ROUNDS = 3
BLOCK = 1 << 20


def plant(top: Path, count: int) -> None:
    """`count` files of random bytes, a hundred in each directory."""
    for number in range(count):
        folder = top / f"d{number // 100:04d}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        (folder / f"{number:06d}.bin").write_bytes(os.urandom(SIZE))


class Sent:
    """Counts what goes out to the server."""

    def __init__(self) -> None:
        from lakebed._sync.http.transport import Transport

        self.count = 0
        send = Transport._send

        def counted(transport: Transport, *call: Any, **more: Any) -> Any:
            self.count += 1
            return send(transport, *call, **more)

        Transport._send = counted  # type: ignore[method-assign, assignment]


def upload(branch: Any, tree: Path, prefix: str, data_path: str) -> float:
    """Seconds to upload a tree and commit it."""
    start = time.perf_counter()
    with branch.workspace(prefix, data_path=data_path) as workspace:
        workspace.upload_tree(tree, prefix, journal=tree.with_suffix(".db"))
    return time.perf_counter() - start


def git(tree: Path) -> float:
    """Seconds for `git add` and `git commit` of the same files."""
    place = [f"--git-dir={tree.with_suffix('.git')}", f"--work-tree={tree}"]
    quiet = ["user.name=bench", "user.email=bench@example.org", "gc.auto=0", "maintenance.auto=false"]
    base = ["git", *place, *(word for one in quiet for word in ("-c", one))]
    subprocess.run([*base, "init", "-q"], check=True)
    start = time.perf_counter()
    subprocess.run([*base, "add", "."], check=True)
    subprocess.run([*base, "commit", "-q", "-m", "all"], check=True)
    return time.perf_counter() - start


def files(folder: Path, count: int) -> dict[str, float]:
    """Medians of ROUNDS, alternating with git so that noise hits both."""
    import lakebed

    os.environ["XDG_CACHE_HOME"] = str(folder)
    sent = Sent()
    times: dict[str, list[float]] = {"direct": [], "proxied": [], "git": [], "download": []}
    requests = 0
    with servers.lakebed(folder / "bulk") as server:
        lake = lakebed.connect(*server.credentials)
        main = lake.repository("bulk").create("local://bulk").branch("main")
        plant(folder / "warm", 200)
        upload(main, folder / "warm", "warm", "direct")
        for n in range(ROUNDS):
            tree = folder / f"tree-{n}"
            plant(tree, count)
            if shutil.which("git"):
                times["git"].append(git(tree))
            before = sent.count
            times["direct"].append(upload(main, tree, f"direct-{n}", "direct"))
            requests = max(requests, sent.count - before)
            times["proxied"].append(upload(main, tree, f"proxied-{n}", "proxied"))
            start = time.perf_counter()
            main.download_tree(f"direct-{n}", folder / f"out-{n}")
            times["download"].append(time.perf_counter() - start)
    found = {f"{name}_files_s": count / statistics.median(took) for name, took in times.items() if took}
    return {**found, "requests_per_10000": requests * 10_000 / count}


def large(folder: Path, gib: float) -> dict[str, float]:
    """Peak resident memory of this process in MiB, which uploads a stream that it makes; MiB/s on the way."""
    import lakebed

    os.environ["XDG_CACHE_HOME"] = str(folder)
    blocks = max(1, int(gib * (1 << 30) / BLOCK))
    block = os.urandom(BLOCK)

    def stream() -> Iterator[bytes]:
        for number in range(blocks):
            yield number.to_bytes(8) + block[8:]

    with servers.lakebed(folder / "large") as server:
        lake = lakebed.connect(*server.credentials)
        main = lake.repository("large").create("local://large").branch("main")
        start = time.perf_counter()
        with main.workspace("large", data_path="direct") as workspace:
            stored = workspace.put("large.bin", stream())
        seconds = time.perf_counter() - start
        if stored.size != blocks * BLOCK:
            raise SystemExit(f"{stored.size} bytes were stored, not {blocks * BLOCK}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"peak_mib": peak, "mib_s": blocks / seconds, "gib": blocks * BLOCK / (1 << 30)}


def main() -> None:
    kind, folder, *amount = sys.argv[1:]
    if kind == "files":
        found = files(Path(folder), int(amount[0]) if amount else 10_000)
    else:
        found = large(Path(folder), float(amount[0]) if amount else 5)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
