"""The test of the test: each patch in `mutants/` breaks the order of the syncs, and a disk must show it.

A patch is applied to a copy of the server, never to the working tree. Recordings of the copy are replayed until a disk
is wrong, from several starts; the same starts must pass without the patch.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tests.power.replay import SEEDS

ROOT = Path(__file__).resolve().parents[2]
PATCHES = Path(__file__).with_name("mutants")
BOUND = 2000
"""Disks within which each mutant must be caught, from any start."""

_RECORDINGS = 8


class Hunt(msgspec.Struct, frozen=True):
    """What became of one start: how many disks it took to see something wrong, or None."""

    start: int
    needed: int | None
    violation: str


@dataclass(slots=True)
class Mutant:
    """What became of one mutant: from how many starts it was caught, and after how many disks."""

    name: str
    sets: int
    caught: int
    median: int
    most: int
    violation: str


@dataclass(slots=True)
class Report:
    """The results of all mutants, and of the same starts without them (`red`: the failed starts)."""

    sets: int
    bound: int
    mutants: list[Mutant] = field(default_factory=list)
    clean_seeds: int = 0
    red: list[Hunt] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether each was caught from each start, and nothing failed without them."""
        return bool(self.mutants) and not self.red and all(0 < one.sets == one.caught for one in self.mutants)


def patches() -> list[Path]:
    """Every mutant."""
    return sorted(PATCHES.glob("*.patch"))


def mutated(patch: Path, into: Path) -> Path:
    """A copy of the server with a patch applied. Raises CalledProcessError when it does not apply."""
    home = into / "server_stub"
    shutil.copytree(ROOT / "server_stub", home, ignore=shutil.ignore_patterns("__pycache__"))
    command = ["git", "apply", "--unsafe-paths", f"--directory={into}", str(patch)]
    subprocess.run(command, check=True, capture_output=True, text=True, cwd="/")
    return home


def hunt(home: Path, start: int, disks: int = BOUND) -> Hunt:
    """Record and replay the server of a directory, until a disk is wrong."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(home), str(ROOT)])}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        sizes = {"disks": disks, "recordings": _RECORDINGS, "start": start, "stop": 1, "served": 0, "jobs": 1}
        options = [f"--{name}={value}" for name, value in sizes.items()]
        command = [sys.executable, "-m", "tests.power.run", f"--recordings-in={folder}", f"--json={report}", *options]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env, check=False)
        assert report.exists(), done.stderr
        found = msgspec.json.decode(report.read_bytes())
    for failed in found["failures"]:
        earlier = failed["seed"] // SEEDS * -(-disks // _RECORDINGS)
        return Hunt(start, earlier + failed["seed"] % SEEDS + 1, failed["wrong"])
    return Hunt(start, None, "")


def hunt_mutant(patch: Path, starts: Sequence[int], disks: int = BOUND) -> list[Hunt]:
    """Hunt one mutant from several starts."""
    with tempfile.TemporaryDirectory() as folder:
        home = mutated(patch, Path(folder))
        return [hunt(home, start, disks) for start in starts]


def report(sets: int, bound: int = BOUND) -> Report:
    """Hunt every mutant from fresh starts, then run the same starts without it. Prints a table."""
    starts, done = [secrets.randbelow(1 << 40) for _ in range(sets)], Report(sets, bound)
    print(f"{'mutant':42s} caught   median  most  first violation")
    for patch in patches():
        found = hunt_mutant(patch, starts, bound)
        needed = sorted(one.needed for one in found if one.needed is not None)
        middle, most = (needed[len(needed) // 2], needed[-1]) if needed else (0, 0)
        said = next((one.violation for one in found if one.violation), "")
        one = Mutant(patch.stem, len(found), len(needed), middle, most, said)
        done.mutants.append(one)
        print(f"{one.name:42s} {one.caught:3d}/{one.sets:<3d} {one.median:6d} {one.most:6d}  {said[:90]}", flush=True)
    for start in starts:
        clean = hunt(ROOT / "server_stub", start, bound)
        done.clean_seeds += bound
        done.red += [clean] if clean.needed is not None else []
    for red in done.red:
        print(f"without any mutant, start {red.start}: {red.violation}")
    return done
