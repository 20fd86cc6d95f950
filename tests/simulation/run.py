"""`python -m tests.simulation.run --seeds 20000`: run schedules, print how fast, and every seed that fails.

`--seed N --trace` replays one. Exit code 1 when a property did not hold.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections import Counter
from collections.abc import Sequence

from tests.simulation.mutants import report
from tests.simulation.simulate import simulate


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20_000, help="how many schedules")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--trace", action="store_true", help="print every step")
    parser.add_argument("--stop", type=int, default=20, help="stop after so many failures")
    parser.add_argument("--mutants", action="store_true", help="hunt the mutants instead")
    parser.add_argument("--sets", type=int, default=20, help="from so many fresh starting seeds")
    parser.add_argument(
        "--hunt", nargs="*", metavar="START:COUNT", help="for `mutants`: seed sets, each until a failure"
    )
    options = parser.parse_args()
    gc.set_threshold(100_000, 20, 100)  # schedules make garbage in bulk, and little of it has cycles
    if options.mutants:
        return report(options.sets)
    if options.hunt is not None:
        return hunts(options.hunt)
    seeds = range(options.start, options.start + options.seeds) if options.seed is None else [options.seed]
    failed, mixes, steps, started = 0, Counter[str](), 0, time.process_time()
    done = 0
    for seed in seeds:
        outcome = simulate(seed, print if options.trace else None)
        done += 1
        steps += outcome.steps
        mixes[outcome.mix] += 1
        if outcome.violation:
            failed += 1
            print(f"seed {seed} ({outcome.mix}): {outcome.violation}")
            if failed >= options.stop:
                break
    seconds = time.process_time() - started
    print(f"{done} schedules, {steps} steps, {failed} failed: {done / seconds:.0f} schedules/s of CPU time")
    return 1 if failed else 0


def hunts(sets: Sequence[str]) -> int:
    """Run each seed set until its first failure: a line with the start, the seeds needed and the violation."""
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
