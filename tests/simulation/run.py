"""`python -m tests.simulation.run --seeds 20000`: run schedules, print how fast, and every seed that fails.

`--seed N --trace` replays one schedule. Exit code 1 when a property did not hold.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tests.simulation.hints import remember
from tests.simulation.mutants import BOUND, report
from tests.simulation.pool import Run, run
from tests.simulation.simulate import simulate


def main() -> int:
    options = _options()
    if options.hunt is not None:
        return hunts(options.hunt)
    if options.remember:
        missed = remember(options.jobs)
        return 1 if missed else 0
    if options.mutants:
        done = report(options.sets, options.bound, options.jobs)
        _save(options.json, done)
        return 0 if done.good else 1
    if options.seed is not None:
        return replay(options.seed, options.trace)
    result = run(range(options.start, options.start + options.seeds), options.jobs, options.stop, show)
    _save(options.json, result)
    print(
        f"{result.schedules} schedules from seed {result.start}, {result.steps} steps, {len(result.failures)} failed, "
        f"in {result.seconds:.1f} s: {result.schedules / result.seconds:.0f} schedules/s from {result.jobs} processes "
        f"({result.schedules / result.cpu_seconds:.0f} per second of CPU time)"
    )
    return 1 if result.failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20_000, help="how many schedules")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--trace", action="store_true", help="with --seed: print every step")
    parser.add_argument("--stop", type=int, default=20, help="stop after so many failures")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; as many as cores by default")
    parser.add_argument("--mutants", action="store_true", help="hunt the mutants instead")
    parser.add_argument("--remember", action="store_true", help="make the hints of the mutants' seeds anew")
    parser.add_argument("--sets", type=int, default=20, help="from so many fresh starting seeds")
    parser.add_argument("--bound", type=int, default=BOUND, help="seeds within which each must be caught")
    parser.add_argument("--json", type=Path, help="write what was found to this file, too")
    parser.add_argument("--hunt", nargs="*", metavar="START:COUNT", help="seed sets, each until a failure")
    options = parser.parse_args()
    if options.trace and options.seed is None:
        parser.error("--trace needs --seed")
    if min(options.seeds, options.sets, options.jobs) < 1:
        parser.error("--seeds, --sets and --jobs are at least 1")
    return options


def show(seed: int, mix: str, violation: str) -> None:
    """Print a failure as soon as it is known."""
    print(f"seed {seed} ({mix}): {violation}", flush=True)


def replay(seed: int, trace: bool) -> int:
    """One schedule, step by step if wanted."""
    outcome = simulate(seed, print if trace else None)
    if outcome.violation:
        show(seed, outcome.mix, outcome.violation)
    print(
        f"seed {seed} ({outcome.mix}, {outcome.policy}): {outcome.steps} steps, {outcome.violation or 'no violation'}"
    )
    return 1 if outcome.violation else 0


def _save(path: Path | None, found: Run | object) -> None:
    if path is not None:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2))


def hunts(sets: Sequence[str]) -> int:
    """Run each seed set until its first failure: a line with the start, the seeds needed and the violation."""
    gc.set_threshold(100_000, 20, 100)
    for one in sets:
        start, count = map(int, one.split(":"))
        failed = next((found for seed in range(start, start + count) if (found := simulate(seed)).violation), None)
        if failed is None:
            print(start, "", "", sep="\t")
        else:
            print(start, failed.seed - start + 1, failed.violation.replace("\n", " ").replace("\t", " "), sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main())
