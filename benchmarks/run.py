"""`make bench`: every figure that the project promises, measured in one run; a table, JSON, and a failure on a miss.

    python -m benchmarks.run [--only http,rest,...] [--entries 1000000]

Each group that is run whole goes into benchmarks/results.json, with the day and the commit, and from there into the
table of docs/benchmarks.md; the rows of the others stay.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from benchmarks import client_groups, server_groups
from benchmarks.apart import apart
from benchmarks.figures import FULL, ROOT, Figure, table

GROUPS: dict[str, Callable[[Path, int], Iterator[Figure]]] = {
    "start": client_groups.starting,
    "http": server_groups.http,
    "rest": server_groups.rest,
    "transfer": server_groups.transfers,
    "scale": server_groups.scale,
    "protocol": server_groups.protocol,
    "bulk": client_groups.bulk,
    "signed": client_groups.signed,
    "dataframes": client_groups.dataframes,
    "tables": client_groups.tables,
    "s3": server_groups.s3,
    "testing": client_groups.testing,
    "spark": client_groups.spark,
}


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
