"""Compare this checkout's server with another's: stat, put, get, commit, merge and large transfers, in paired runs.

    python -m benchmarks.paired BEFORE [--rounds 15]

BEFORE is a checkout of an earlier commit with an environment in `.venv`. Both servers run all the time. Each round asks
both for the same work, and they take turns in being first. The table has, for each operation, the median
over the rounds of (time now / time before), and of (server CPU now / server CPU before), with the middle half of the
ratios. A ratio of 1.03 is 3 % slower.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEY, SECRET = "AKIAIOSFODNN7EXAMPLE", "a secret of this benchmark, long enough"
WORK = {
    "stat": 1500,
    "put of 1 KiB": 150,
    "get of 1 KiB": 600,
    "commit of one row": 40,
    "merge of one row": 40,
    "upload of 64 MiB": 1,
    "download of 64 MiB": 2,
}
"""How often a round asks for each."""

LARGE = bytes(64 << 20)
_TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """A running server of one checkout, and one connection to it."""

    def __init__(
        self, checkout: Path, folder: Path, *flags: str, namespace: str = "local://lake", **settings: str
    ) -> None:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("LAKEBED_")},
            "LAKEBED_ADMIN_ACCESS_KEY_ID": KEY,
            "LAKEBED_ADMIN_SECRET_ACCESS_KEY": SECRET,
            **settings,
        }
        command = [
            str(checkout / ".venv/bin/lakebed"),
            "serve",
            "--port",
            "0",
            "--data-dir",
            str(folder / "data"),
            *flags,
        ]
        log = folder / "log"
        with log.open("wb") as out:
            self.process = subprocess.Popen(command, env=environment, stdout=out, stderr=out, cwd=folder)
        while not (ready := re.search(r"ready at http://(\S+)", log.read_text())):
            if self.process.poll() is not None:
                raise SystemExit(f"the server of {checkout} did not start:\n{log.read_text()}")
            time.sleep(0.05)
        self.connection = http.client.HTTPConnection(ready[1], timeout=60)
        self.headers = {"Authorization": "Basic " + b64encode(f"{KEY}:{SECRET}".encode()).decode()}
        self.numbers = iter(range(1 << 40))
        self.branches: list[str] = []
        """Branches with one commit each, to merge."""
        json = {"Content-Type": "application/json"}
        self.ask("POST", "/repositories", f'{{"name":"lake","storage_namespace":"{namespace}"}}'.encode(), json)
        self.ask("POST", "/repositories/lake/branches/main/objects?path=known", b"x" * 1024)
        self.ask("POST", "/repositories/lake/branches/main/commits", b'{"message":"known"}', json)

    def ask(self, method: str, target: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> None:
        """One request, which must succeed."""
        self.connection.request(method, "/api/v1" + target, body, {**self.headers, **(headers or {})})
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"{method} {target}: {answer.status} {content[:300]!r}")

    def cpu(self) -> float:
        """Seconds of CPU time that the server has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def prepare(self, name: str, count: int) -> None:
        """What `count` operations of a kind need, and what is not measured: branches with a commit of one row."""
        json = {"Content-Type": "application/json"}
        for _ in range(count if name.startswith("merge") else 0):
            branch = f"b{next(self.numbers)}"
            self.ask("POST", "/repositories/lake/branches", b'{"name":"%s","source":"main"}' % branch.encode(), json)
            self.ask("POST", f"/repositories/lake/branches/{branch}/objects?path=merged/{branch}", b"x")
            self.ask("POST", f"/repositories/lake/branches/{branch}/commits", b'{"message":"one row"}', json)
            self.branches.append(branch)

    def work(self, name: str) -> None:
        """One operation of a kind."""
        objects = "/repositories/lake/branches/main/objects"
        if name == "stat":
            self.ask("GET", "/repositories/lake/refs/main/objects/stat?path=known")
        elif name.startswith("get"):
            self.ask("GET", "/repositories/lake/refs/main/objects?path=known")
        elif name.startswith("upload"):
            self.ask("POST", f"{objects}?path=large", LARGE)
        elif name.startswith("download"):
            self.ask("GET", "/repositories/lake/refs/main/objects?path=large")
        elif name.startswith("put"):
            self.ask("POST", f"{objects}?path=put/{next(self.numbers):08}", b"x" * 1024)
        elif name.startswith("merge"):
            json = {"Content-Type": "application/json"}
            self.ask("POST", f"/repositories/lake/refs/{self.branches.pop()}/merge/main", b"{}", json)
        else:
            self.ask("POST", f"{objects}?path=row/{next(self.numbers):08}", b"x")
            json = {"Content-Type": "application/json"}
            self.ask("POST", "/repositories/lake/branches/main/commits", b'{"message":"one row"}', json)

    def stop(self) -> None:
        """End the server."""
        self.connection.close()
        self.process.terminate()
        self.process.wait(60)


@contextlib.contextmanager
def running(checkout: Path) -> Iterator[Server]:
    """A server of a checkout, in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="paired-") as name:
        server = Server(checkout, Path(name))
        try:
            yield server
        finally:
            server.stop()


def measured(server: Server, name: str, count: int) -> tuple[float, float]:
    """Elapsed seconds and server CPU seconds of `count` operations."""
    server.prepare(name, count)
    cpu, started = server.cpu(), time.perf_counter()
    for _ in range(count):
        server.work(name)
    return time.perf_counter() - started, server.cpu() - cpu


def compare(before: Server, now: Server, rounds: int, say: Callable[[str], None]) -> None:
    """Run the rounds and print the table."""
    ratios: dict[str, list[tuple[float, float]]] = {name: [] for name in WORK}
    for number in range(rounds + 1):
        for name, count in WORK.items():
            pair = (before, now) if number % 2 else (now, before)
            found = {server: measured(server, name, count) for server in pair}
            if number:  # the first round warms up
                (old, old_cpu), (new, new_cpu) = found[before], found[now]
                ratios[name].append((new / old, new_cpu / max(old_cpu, 1 / _TICKS)))
    say("| operation | time, now / before | server CPU, now / before |")
    say("|---|---|---|")
    for name, pairs in ratios.items():
        elapsed, cpu = ([pair[at] for pair in pairs] for at in (0, 1))
        say(f"| {name} | {_shown(elapsed)} | {_shown(cpu)} |")


def _shown(values: list[float]) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def main() -> int:
    """Compare two checkouts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="a checkout of the earlier commit, with .venv")
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    with running(given.before.resolve()) as before, running(ROOT) as now:
        compare(before, now, given.rounds, print)
    return 0


if __name__ == "__main__":
    sys.exit(main())
