"""`python -m tests.simulation.apart --seeds 2000`: further schedules, for events that `run` meets too seldom:
callers that pause past the grace (`pauses`), and sweeps of orphans (`sweeps`).

Prints how fast, and each seed that fails; exit code 1 when one did. `--only pauses --seed N --trace` replays one. The
mutants of these schedules are in `mutants_apart/`: the first word of a patch's name is its schedule.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tests.simulation.mutants import ROOT
from tests.simulation.pauses import pause_schedule
from tests.simulation.sweeps import sweep_schedule

Schedule = Callable[[int, Callable[[str], None] | None], str]

PATCHES = Path(__file__).with_name("mutants_apart")
BOUND = 1500
"""Seeds within which each mutant must be caught."""


def _swept(seed: int, trace: Callable[[str], None] | None = None) -> str:
    return sweep_schedule(seed, trace)[0]


KINDS: Mapping[str, Schedule] = {"pauses": pause_schedule, "sweeps": _swept}


def kind_of(patch: Path) -> str:
    """Of which schedules a mutant is."""
    return patch.stem.partition("_")[0]


def violations(kind: str, seeds: Iterable[int]) -> list[tuple[int, str]]:
    """The seeds that fail, each with what was violated."""
    return [(seed, found) for seed in seeds if (found := KINDS[kind](seed, None))]


def first(kind: str, start: int, bound: int) -> tuple[int, str] | None:
    """The first seed from `start` on that fails, and what was violated."""
    return next((found for seed in range(start, start + bound) for found in violations(kind, [seed])), None)


def hunt(home: Path, kind: str, start: int, bound: int = BOUND) -> str:
    """`first`, against the engine at `home`: the line that was printed, empty for none."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(home), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "tests.simulation.apart", "--only", kind, "--hunt", f"{start}:{bound}"]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=env).stdout.strip()


def main() -> int:
    options = _options()
    kinds = [options.only] if options.only else list(KINDS)
    if options.hunt:
        start, bound = map(int, options.hunt.split(":"))
        found = first(options.only, start, bound)
        print("" if found is None else f"seed {found[0]}: {found[1]}")
        return 0
    if options.seed is not None:
        said = KINDS[options.only](options.seed, print if options.trace else None)
        print(f"seed {options.seed} ({options.only}): {said or 'no violation'}")
        return 1 if said else 0
    failed = [run(kind, range(options.start, options.start + options.seeds), options.jobs) for kind in kinds]
    return 1 if any(failed) else 0


def run(kind: str, seeds: range, jobs: int) -> int:
    """Run and print; how many failed."""
    started, failed = time.monotonic(), 0
    parts = [seeds[at : at + 20] for at in range(0, len(seeds), 20)]
    # not forked: Arrow has threads
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for found in pool.map(partial(violations, kind), parts):
            for seed, violation in found:
                print(f"seed {seed} ({kind}): {violation}", flush=True)
            failed += len(found)
    seconds = time.monotonic() - started
    print(
        f"{len(seeds)} schedules of {kind} from seed {seeds.start}, {failed} failed, in {seconds:.1f} s: "
        f"{len(seeds) / seconds:.0f} schedules/s from {jobs} processes",
        flush=True,
    )
    return failed


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=list(KINDS), help="only these")
    parser.add_argument("--seeds", type=int, default=2000, help="how many schedules of each")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="only this one; with --only")
    parser.add_argument("--trace", action="store_true", help="with --seed: print every step")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; as many as cores by default")
    parser.add_argument("--hunt", metavar="START:COUNT", help="until the first failure; with --only")
    options = parser.parse_args()
    if (options.seed is not None or options.hunt) and not options.only:
        parser.error("--seed and --hunt need --only")
    return options


if __name__ == "__main__":
    sys.exit(main())
