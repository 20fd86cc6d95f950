"""The memory of each worker after 20 commits: `python -m benchmarks.server.worker_memory CHECKOUT`.

CHECKOUT has an environment in `.venv`. Its server runs with three workers. Prints the mean of their PSS in MiB, which
counts a shared page in parts. Linux only. To compare two commits, run it for a checkout of each.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from statistics import mean

import psutil

from benchmarks.paired import Server

COMMITS = 20


def pss(process: int) -> float:
    """The memory of a process, in MiB."""
    found = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{process}/smaps_rollup").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(sys.argv[1]).resolve(), Path(folder), "--workers", "3")
        for _ in range(COMMITS):
            server.work("commit of one row")
        workers = [child.pid for child in psutil.Process(server.process.pid).children()]
        print(f"{mean(map(pss, workers)):.1f} MiB")
        server.stop()


if __name__ == "__main__":
    main()
