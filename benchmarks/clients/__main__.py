"""Measure the clients, print the table, and write it to docs/benchmarks.md and benchmarks/clients.json.

python -m benchmarks.clients [--only small,folders,tables,slow,start,directories] [--rounds 5] [--peers DIR]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.apart import apart
from benchmarks.clients import folders, lake, slow_link, small_objects, start, tables, working_directories
from benchmarks.clients.measure import Row, table
from benchmarks.figures import ROOT

BEGIN, END = "<!-- table: made by make bench-clients -->", "<!-- end of the table of clients -->"
STORE = ROOT / "benchmarks" / "clients.json"


def keep(found: dict[str, list[Row]]) -> None:
    """Replace the rows of the groups that ran; the rows of the others stay."""
    stored = json.loads(STORE.read_text()) if STORE.exists() else {}
    stored |= {name: [row.as_json() for row in rows] for name, rows in found.items()}
    STORE.write_text(json.dumps(stored, indent=1) + "\n")
    rows = [
        Row(**{name: value for name, value in row.items() if name != "ratio"})
        for group in stored.values()
        for row in group
    ]
    page = ROOT / "docs" / "benchmarks.md"
    head, _, rest = page.read_text().partition(BEGIN)
    page.write_text(f"{head}{BEGIN}\n\n{table(rows)}\n\n{END}{rest.partition(END)[2]}")


def main() -> None:
    """Run the groups that the command names."""
    parser = argparse.ArgumentParser(description="Compare clients of one Lakebed server.")
    parser.add_argument("--only", default="small,folders,tables,slow,start,directories")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--peers", type=Path, default=ROOT / ".venv-peers" / "bin", help="programs of DVC, Oxen and s3fs"
    )
    parser.add_argument("--dry-run", action="store_true", help="print only, and write no file")
    options = parser.parse_args()
    os.environ.pop("LAKEBED_DATA_PATH", None)
    found: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory(prefix="lakebed-clients-") as name:
        folder = Path(name)
        apart(folder)
        with lake.running(folder) as running:
            running.fill()
            groups: dict[str, Callable[[], Iterator[Row]]] = {
                "small": lambda: small_objects.rows(running, options.rounds),
                "folders": lambda: folders.rows(running, folder, options.rounds, options.peers),
                "tables": lambda: tables.rows(running, folder, options.rounds),
                "slow": lambda: slow_link.rows(running, folder, options.rounds),
                "start": lambda: start.rows(running, options.rounds),
                "directories": lambda: working_directories.rows(running, folder, options.peers),
            }
            for group in options.only.split(","):
                found[group] = []
                for row in groups[group]():
                    found[group].append(row)
                    print(table([row]).splitlines()[-1], flush=True)
    if not options.dry_run:
        keep(found)
    missed = [row.name for rows in found.values() for row in rows if not row.is_met]
    if missed:
        raise SystemExit(f"missed: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
