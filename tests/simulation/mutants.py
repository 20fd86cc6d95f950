"""The test of the test: each patch under `mutants/` breaks the protocol, and the simulation must notice.

Above `run`, which it starts in subprocesses. A patch is applied to a copy of the engine, never to the working tree, and
schedules are run until one fails, from several fresh starting seeds; the same seeds must pass without the patch.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATCHES = Path(__file__).with_name("mutants")
BOUND = 3000
"""Seeds within which each mutant must be caught, from any start."""


@dataclass(frozen=True, slots=True)
class Hunt:
    """What became of one seed set: how many seeds it took to see a violation, or None."""

    start: int
    needed: int | None
    violation: str


def patches() -> list[Path]:
    """Every mutant."""
    return sorted(PATCHES.glob("M*.patch"))


def fresh_starts(count: int) -> list[int]:
    """Starting seeds that nobody has tried before."""
    return [1_000_000 + secrets.randbelow(1 << 40) for _ in range(count)]


def engine_source() -> Path:
    """The engine that this process imports."""
    import lakebed_engine

    assert lakebed_engine.__file__ is not None
    return Path(lakebed_engine.__file__).parent


def mutated(patch: Path, into: Path) -> Path:
    """A copy of the engine with a patch applied. Raises CalledProcessError when it does not apply."""
    home = into / "server_stub"
    shutil.copytree(engine_source(), home / "lakebed_engine", ignore=shutil.ignore_patterns("__pycache__"))
    command = ["git", "apply", "--unsafe-paths", f"--directory={into}", str(patch)]
    subprocess.run(command, check=True, capture_output=True, text=True, cwd="/")
    return home


def hunt(home: Path | None, sets: Sequence[tuple[int, int]]) -> list[Hunt]:
    """Run seed sets (start, how many) against an engine, each until its first violation."""
    paths = [str(home)] if home is not None else []
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])}
    wanted = [f"{start}:{count}" for start, count in sets]
    command = [sys.executable, "-m", "tests.simulation.run", "--hunt", *wanted]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=env)
    found = []
    for line in done.stdout.splitlines():
        start, needed, violation = line.split("\t")
        found.append(Hunt(int(start), int(needed) if needed else None, violation))
    return found


def hunt_mutant(patch: Path, starts: Sequence[int], bound: int = BOUND) -> list[Hunt]:
    """Hunt one mutant from several starts."""
    with tempfile.TemporaryDirectory() as folder:
        return hunt(mutated(patch, Path(folder)), [(start, bound) for start in starts])


def report(sets: int) -> int:
    """Hunt every mutant from `sets` fresh starts, then run the same seeds without it. Prints a table."""
    starts = fresh_starts(sets)
    print(f"{'mutant':42s} caught   median  most  first violation")
    missed, most = 0, dict.fromkeys(starts, 0)
    for patch in patches():
        found = hunt_mutant(patch, starts)
        needed = sorted(one.needed for one in found if one.needed is not None)
        missed += len(found) - len(needed)
        for one in found:
            most[one.start] = max(most[one.start], one.needed or 0)
        middle, last = (needed[len(needed) // 2], needed[-1]) if needed else (0, 0)
        print(
            f"{patch.stem:42s} {len(needed):3d}/{len(found):<3d} {middle:6d} {last:6d}  {found[0].violation[:90]}",
            flush=True,
        )
    red = [one for one in hunt(None, list(most.items())) if one.needed is not None]
    for one in red:
        print(f"without any mutant, seed {one.start + (one.needed or 0) - 1}: {one.violation}")
    print(f"the same {sum(most.values())} seeds without a mutant: {len(red)} violations")
    return 1 if missed or red else 0
