"""Compare the locked packages with the vulnerabilities that the package index knows: `make audit`.

Exit code 1: a locked package has a known vulnerability. Exit code 2: the index answered about no package at all, as a
mirror without that part does; then nothing is known, and the command says so. Needs pip-audit.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

LOCKS = Path(__file__).resolve().parents[1] / "locks"
AUDITED = ("all", "spark", "dev")


def main() -> int:
    """Audit the locks that users and developers install from."""
    known: dict[str, str] = {}
    unknown: set[str] = set()
    harmed: list[str] = []
    for name in AUDITED:
        lock = str(LOCKS / f"{name}.txt")
        command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps", "-f", "json", "-r", lock]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not done.stdout.strip():
            print(done.stderr, file=sys.stderr)
            return 2
        for package in json.loads(done.stdout)["dependencies"]:
            if "skip_reason" in package:
                unknown.add(package["name"])
                continue
            known[package["name"]] = package["version"]
            for one in package["vulns"]:
                fixed = ", ".join(one["fix_versions"]) or "no version"
                harmed.append(f"{name}: {package['name']} {package['version']} has {one['id']}; fixed in {fixed}")
    print(f"{len(known)} packages audited, {len(unknown)} of which the index says nothing")
    print("\n".join(harmed) or "no known vulnerability")
    if harmed:
        return 1
    if not known:
        print("nothing could be audited: this package index has no list of vulnerabilities; use another index")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
