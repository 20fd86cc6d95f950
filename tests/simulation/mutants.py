"""The test of the test: each patch under `mutants/` breaks the protocol, and the simulation must notice.

A patch is applied to a copy of the engine, never to the working tree, and schedules are run until one fails, from
several fresh starting seeds; the same seeds must pass without the patch. `hints` remembers seeds that have caught a
mutant, for `make test`.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.simulation.pool import run

ROOT = Path(__file__).resolve().parents[2]
PATCHES = Path(__file__).with_name("mutants")
BOUND = 5000
"""Seeds within which each mutant must be caught, from any start."""


@dataclass(frozen=True, slots=True)
class Hunt:
    """What became of one seed set: how many seeds it took to see a violation, or None."""

    start: int
    needed: int | None
    violation: str


@dataclass(slots=True)
class Mutant:
    """What became of one mutant: from how many starts it was caught, and after how many seeds."""

    name: str
    sets: int
    caught: int
    median: int
    most: int
    violation: str

    @classmethod
    def of(cls, name: str, found: Sequence[Hunt]) -> Mutant:
        """From its hunts."""
        needed = sorted(one.needed for one in found if one.needed is not None)
        middle, most = (needed[len(needed) // 2], needed[-1]) if needed else (0, 0)
        said = next((one.violation for one in found if one.violation), "")
        return cls(name, len(found), len(needed), middle, most, said)


@dataclass(slots=True)
class Report:
    """The results of all mutants, and of the same seeds without them (`red`: the failed seeds)."""

    sets: int
    bound: int
    mutants: list[Mutant] = field(default_factory=list)
    clean_seeds: int = 0
    red: list[Hunt] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        """Whether each was caught from each start, and nothing failed without them."""
        return bool(self.mutants) and not self.red and all(0 < one.sets == one.caught for one in self.mutants)


def patches() -> list[Path]:
    """Every mutant."""
    return sorted(PATCHES.glob("M*.patch"))


def fresh_starts(count: int) -> list[int]:
    """New, random starting seeds."""
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


def hunt(home: Path, sets: Sequence[tuple[int, int]]) -> list[Hunt]:
    """Run seed sets (start, how many) against an engine, each until its first violation."""
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(home), os.environ.get("PYTHONPATH", "")]),
        "PYTHONFAULTHANDLER": "1",  # an aborted process says where
    }
    wanted = [f"{start}:{count}" for start, count in sets]
    command = [sys.executable, "-m", "tests.simulation.run", "--hunt", *wanted]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT, env=env)
    assert done.returncode == 0, f"a hunt ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    found = []
    for line in done.stdout.splitlines():
        start, needed, violation = line.split("\t")
        found.append(Hunt(int(start), int(needed) if needed else None, violation))
    return found


def hunt_with_hints(patch: Path, hints: Sequence[int], starts: Sequence[int]) -> list[Hunt]:
    """Catch one mutant as often as there are starts: by a seed that has caught it before, else by a hunt from a start.

    A hint saves time and decides nothing: where it catches no more, or there is none, the hunt has its full bound.
    """
    with tempfile.TemporaryDirectory() as folder:
        home = mutated(patch, Path(folder))
        tried = hunt(home, [(seed, 1) for seed in hints[: len(starts)]]) if hints else []
        found = [one for one in tried if one.needed is not None]
        missing = starts[len(found) :]
        return found + (hunt(home, [(start, BOUND) for start in missing]) if missing else [])


def hunt_mutant(patch: Path, starts: Sequence[int], bound: int = BOUND, jobs: int = 1) -> list[Hunt]:
    """Hunt one mutant from several starts, in `jobs` threads."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        home = mutated(patch, Path(folder))
        shares = [[(start, bound) for start in starts[at::jobs]] for at in range(min(jobs, len(starts)))]
        found = [one for share in pool.map(lambda share: hunt(home, share), shares) for one in share]
        return sorted(found, key=lambda one: starts.index(one.start))


def report(sets: int, bound: int = BOUND, jobs: int = 1) -> Report:
    """Hunt every mutant from fresh starts, in `jobs` threads, then run the same seeds without it. Prints a table."""
    starts, started = fresh_starts(sets), time.monotonic()
    print(f"{'mutant':42s} caught   median  most  first violation")
    done = Report(sets, bound)
    most = dict.fromkeys(starts, 0)
    with ThreadPoolExecutor(jobs) as pool:
        for patch, found in zip(
            patches(), pool.map(lambda one: hunt_mutant(one, starts, bound), patches()), strict=True
        ):
            one = Mutant.of(patch.stem, found)
            done.mutants.append(one)
            for at in found:
                most[at.start] = max(most[at.start], at.needed or 0)
            print(
                f"{one.name:42s} {one.caught:3d}/{one.sets:<3d} {one.median:6d} {one.most:6d}  {one.violation[:90]}",
                flush=True,
            )
    for start, count in most.items():
        clean = run(range(start, start + count), jobs)
        done.clean_seeds += clean.schedules
        done.red += [Hunt(start, one.seed - start + 1, one.violation) for one in clean.failures]
    done.seconds = time.monotonic() - started
    for red in done.red:
        print(f"without any mutant, seed {red.start + (red.needed or 0) - 1}: {red.violation}")
    print(f"the same {done.clean_seeds} seeds without a mutant: {len(done.red)} violations")
    return done
