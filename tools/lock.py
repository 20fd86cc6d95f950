"""Make the lock files in locks/: every package of an environment, with its version and hashes.

    python tools/lock.py            # new requirements only: locked versions stay where they still fit
    python tools/lock.py --upgrade  # the newest versions
    python tools/lock.py --check    # fail if the requirements changed since the locks were made

There is one lock for each extra of pyproject.toml and one for each environment of the tests (tools/requirements-*.txt).
`test-lowest` has the lowest version of each direct dependency that pyproject.toml allows.
Locks hold for every supported system and for Python 3.11 and later. Needs `uv` on the path; `make lock` brings it.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
LOCKS: Final = ROOT / "locks"
PYTHON: Final = "3.11"
LOWEST: Final = "test-lowest"
TOOLS: Final = {
    "build": ["hatchling>=1.27", "editables>=0.5", "setuptools>=77"],
    "release": ["cyclonedx-bom>=7", "pip-audit>=2.9"],
    "uv": ["uv>=0.9"],
}
"""What installs and releases the rest: build backends (PySpark's is setuptools), SBOM and audit, and uv itself."""


def requirements() -> dict[str, list[str]]:
    """The requirements of each lock, by the lock's name. Extras of Lakebed itself are replaced by what they hold."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    own = list(project["dependencies"])
    found = {"base": own} | {extra: _expanded([*own, f"lakebed[{extra}]"], extras) for extra in extras}
    for file in sorted((ROOT / "tools").glob("requirements-*.txt")):
        lines = (line.partition("#")[0].strip() for line in file.read_text().splitlines())
        needs = [line.replace("-e .[", "lakebed[") for line in lines if line]
        ours = own if any(line.startswith("lakebed[") for line in needs) else []
        found[f"test-{file.stem.removeprefix('requirements-')}"] = _expanded([*ours, *needs], extras)
    return found | TOOLS


def _expanded(needs: Sequence[str], extras: Mapping[str, Sequence[str]]) -> list[str]:
    found: list[str] = []
    for need in needs:
        if need.startswith("lakebed["):
            for extra in need.removeprefix("lakebed[").rstrip("]").split(","):
                found += _expanded(extras[extra], extras)
        else:
            found.append(need)
    return list(dict.fromkeys(found))


def digest(needs: Sequence[str]) -> str:
    """16 hexadecimal digits that change when the requirements do."""
    return hashlib.sha256("\n".join([PYTHON, *needs]).encode()).hexdigest()[:16]


def stale(locks: Path = LOCKS) -> list[str]:
    """The names of the locks that do not fit their requirements, and of files in locks/ that belong to none."""
    wanted = requirements()
    found = [file.stem for file in locks.glob("*.txt") if file.stem not in wanted]
    for name, needs in wanted.items():
        file = locks / f"{name}.txt"
        if not file.exists() or file.read_text().partition("\n")[0] != _title(name, needs):
            found.append(name)
    return sorted(found)


def _title(name: str, needs: Sequence[str]) -> str:
    return f"# {name}, of requirements {digest(needs)}. Made by tools/lock.py: `make lock`."


def compile_lock(
    name: str, needs: Sequence[str], *, pins: Sequence[str] = (), options: Sequence[str] = (), keep: bool = True
) -> str:
    """Resolve requirements, write locks/NAME.txt and return its text. Raises CalledProcessError if they do not fit.

    `keep`: prefer the versions of the lock that is there.
    """
    file = LOCKS / f"{name}.txt"
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "in.txt"), Path(folder, "out.txt")
        given.write_text("\n".join([*needs, *pins]) + "\n")
        if keep and file.exists():
            made.write_text(file.read_text())
        command = ["uv", "pip", "compile", "--universal", "--python-version", PYTHON, "--generate-hashes", "--quiet"]
        command += ["--no-annotate", "--no-header", "--output-file", str(made), *options, str(given)]
        subprocess.run(command, check=True, cwd=folder)
        text = f"{_title(name, needs)}\n{made.read_text()}"
    file.write_text(text)
    return text


def lowest_pins() -> list[str]:
    """`name==version` of each direct dependency of Lakebed: the lowest version that is allowed and fits."""
    wanted = requirements()
    needs = list(dict.fromkeys([*wanted["all"], *wanted["testing"]]))
    text = compile_lock(LOWEST, needs, options=["--resolution", "lowest-direct"], keep=False)
    direct = {_name(need) for need in needs}
    pins = [line.rstrip("\\").strip() for line in text.splitlines() if "==" in line and not line.startswith(("#", " "))]
    return [pin for pin in pins if _name(pin) in direct]


def _name(requirement: str) -> str:
    head = requirement.partition(";")[0]
    for stop in "[<>=!~ ":
        head = head.partition(stop)[0]
    return head.strip().lower().replace("_", "-")


def main() -> int:
    """Make the locks, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 if a lock does not fit")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    given = parser.parse_args()
    if given.check:
        wrong = stale()
        print(f"locks out of date: {', '.join(wrong)}; run `make lock`" if wrong else "locks fit their requirements")
        return 1 if wrong else 0
    LOCKS.mkdir(exist_ok=True)
    wanted = requirements()
    for name, needs in wanted.items():
        pins = lowest_pins() if name == LOWEST else []
        compile_lock(name, needs, pins=pins, keep=not given.upgrade and name != LOWEST)
        print(f"locks/{name}.txt")
    for file in LOCKS.glob("*.txt"):
        if file.stem not in wanted:
            file.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
