"""The start of one command, as a whole process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.clients.lake import BRANCH, REPOSITORY, Lake
from benchmarks.clients.measure import Client, Row, alternating


def rows(lake: Lake, rounds: int) -> Iterator[Row]:
    """The rows of this group."""

    def python(code: str) -> Client:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    found = alternating(
        {
            "lakebed": lambda: lake.command("branch", "list", REPOSITORY),
            "lakebed fs ls": lambda: lake.command("fs", "ls", f"{REPOSITORY}/{BRANCH}/"),
            "lakebed --help": lambda: lake.command("--help"),
            "import httpx": python("import httpx"),
            "python": python("pass"),
        },
        rounds,
    )
    yield Row("start", "`lakebed branch list`", found, peer="import httpx", at_most=1.3)
    yield Row("start", "`lakebed fs ls`", found, ours="lakebed fs ls", peer="import httpx")
    yield Row("start", "`lakebed --help`", found, ours="lakebed --help", peer="import httpx")
