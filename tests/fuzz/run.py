"""Feed a parser changed inputs: each is a value or one of its errors, in bounded time and memory.

python -m tests.fuzz.run ranges --start 7 --cases 100000     # prints JSON; the seed of a bad case is in its message
python -m tests.fuzz.run ranges --start 4711 --cases 1       # that case again
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import resource
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.targets import TARGETS, Target

SECONDS = 2.0
"""Of processor time for one case."""

HANG = 120
"""Seconds after which the process ends with a trace of all threads."""

MEMORY = 512 << 20
"""Bytes of addresses that the process may take beyond what it has when it begins."""

GROWTH = 192 << 20
"""Bytes that it may have in memory at its peak, beyond that."""


class Violation(AssertionError):
    """A case that was neither read nor refused with the right error, or not within the bounds."""


def fuzz(target: Target, start: int, cases: int) -> dict[str, Any]:
    """Cases of the seeds `start`, `start` + 1, ... . Raises Violation naming the seed."""
    seeds = target.seeds()
    for one in seeds[:1]:
        target.parse(one)  # a valid input is read; only the signatures of chunks cannot be right
    counts, reasons, slowest = Counter[str](), Counter[str](), 0.0
    try:
        for seed in range(start, start + cases):
            faulthandler.dump_traceback_later(HANG, exit=True)
            reason, took = _case(target, seeds, seed)
            counts["refused" if reason else "read"] += 1
            reasons.update([reason] if reason else [])
            slowest = max(slowest, took)
    finally:
        faulthandler.cancel_dump_traceback_later()
    return {"cases": cases, **counts, "reasons": len(reasons), "slowest_ms": round(1000 * slowest)}


def _case(target: Target, seeds: Sequence[bytes], seed: int) -> tuple[str, float]:
    """Why the parser refused a changed input (empty: it was read), and the seconds of CPU. Raises Violation."""
    random = Random(seed)
    data = target.mutate(random, random.choice(seeds))
    begun, reason = time.process_time(), ""
    try:
        target.parse(data)
    except target.errors as error:
        reason = str(error)[:40] or type(error).__name__
    except Exception as error:
        raise Violation(f"{target.name}, seed {seed}: {type(error).__name__}: {error}"[:500]) from error
    took = time.process_time() - begun
    if took > SECONDS:
        raise Violation(f"{target.name}, seed {seed}: {took:.1f} s for {len(data):,} bytes")
    return reason, took


def bounded(target: Target, start: int, cases: int) -> dict[str, Any]:
    """As `fuzz`, in a process whose memory is limited. Once: the limit stays."""
    for one in target.seeds():
        try:
            target.parse(one)
        except target.errors:
            pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    found = fuzz(target, start, cases)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) - peak
    if grown > GROWTH:
        raise Violation(f"{target.name}, from seed {start}: the process grew by {grown:,} bytes")
    return {**found, "grown_mib": grown >> 20}


def apart(targets: Sequence[Target], start: int, cases: int) -> bool:
    """As `bounded`, each target in a fork of this process, which has imported the parsers. Prints a line for each.

    Returns whether all are well.
    """
    well = True
    for target in targets:
        child = os.fork()
        if child == 0:
            try:
                print(json.dumps({"target": target.name, **bounded(target, start, cases)}), flush=True)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        well = os.waitpid(child, 0)[1] == 0 and well
    return well


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="+", choices=TARGETS)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--cases", type=int, default=1000)
    options = parser.parse_args()
    if not apart([TARGETS[name] for name in options.target], options.start, options.cases):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
