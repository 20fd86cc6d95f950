"""`python -m tests.simulation.run --seeds 20000`: run schedules, print how fast, and every seed that fails.

`--seed N --trace` replays one. Exit code 1 when a property did not hold.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.simulation.simulate import simulate
from tests.simulation.world import tiny_ranges


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20_000, help="how many schedules")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--trace", action="store_true", help="print every step")
    parser.add_argument("--stop", type=int, default=20, help="stop after so many failures")
    options = parser.parse_args()
    seeds = range(options.start, options.start + options.seeds) if options.seed is None else [options.seed]
    failed, mixes, steps, started = 0, Counter[str](), 0, time.perf_counter()
    done = 0
    with tiny_ranges():
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
    seconds = time.perf_counter() - started
    print(f"{done} schedules, {steps} steps in {seconds:.1f} s: {done / seconds:.0f} schedules/s, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
