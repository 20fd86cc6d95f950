"""`make bench`: measures every figure that the project promises. Writes a table and JSON, and fails on a missed target.

    python -m benchmarks.run [--only http,rest,...] [--entries 1000000]

A complete run of a group replaces its figures in benchmarks/results.json and its rows in docs/benchmarks.md. The rows
of the other groups stay.
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
from benchmarks.server import browse, table_rows

GROUPS: dict[str, Callable[[Path, int], Iterator[Figure]]] = {
    "start": client_groups.starting,
    "http": server_groups.http,
    "rest": server_groups.rest,
    "transfer": server_groups.transfers,
    "rows": table_rows.rows,
    "browse": browse.browsing,
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
    """Store a group's figures in benchmarks/results.json, and write the table of docs/benchmarks.md from that file."""
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
    dated = "; ".join(f"{', '.join(names)} ({run})" for run, names in runs.items())
    tables = [table([Figure(**one) for one in groups[name]["figures"]], name).splitlines() for name in groups]
    everything = "\n".join([*tables[0][:2], *(row for lines in tables for row in lines[2:])])
    page = ROOT / "docs" / "benchmarks.md"
    begin, end = "<!-- table: made by make bench -->", "<!-- end of table -->"
    head, _, rest = page.read_text().partition(begin)
    tail = rest.partition(end)[2]
    page.write_text(
        f"{head}{begin}\n\n{machine}; one server process, one client process. The last complete run of each group: "
        f"{dated}.\n\n{everything}\n\n{end}{tail}"
    )


def commit() -> str:
    """The commit that is measured."""
    words = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what the project promises.")
    parser.add_argument("--only", default=",".join(GROUPS), help="groups, comma-separated: the others keep their rows")
    parser.add_argument("--entries", type=int, default=FULL, help="fewer for a quick run, which is not stored")
    options = parser.parse_args()
    missed: list[str] = []
    for name in options.only.split(","):
        figures: list[Figure] = []
        with tempfile.TemporaryDirectory(prefix="lakebed-bench-") as folder:
            apart(Path(folder))
            for one in GROUPS[name](Path(folder), options.entries):
                figures.append(one)
                print(table([one], name).splitlines()[-1], flush=True)
        missed += [one.name for one in figures if not one.met]
        if options.entries == FULL:
            keep(name, figures)
    if missed:
        raise SystemExit(f"missed: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
