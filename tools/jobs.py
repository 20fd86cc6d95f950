"""Run targets of the Makefile at the same time, all of them even if some fail, and report times and failures.

    python tools/jobs.py [--at-once 4] [--alone lighthouse] "what the tier is for" lint types pytest-engine ...

Prints what it runs, the output of each job when the job ends, the wall and CPU time of each job, the slowest tests of
all jobs, and the list of failed jobs. Exit code 1 if a job failed. The standard library only: it runs before anything
is installed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

SHOWN = 15
_DURATION = re.compile(r"^\s*(\d+\.\d+)s (call|setup|teardown)\s+(\S.*)$", re.MULTILINE)


class Ended(NamedTuple):
    """A job that ended: its exit code, seconds by the clock, seconds of the processors, and what it printed."""

    name: str
    code: int
    seconds: float
    cpu: float
    output: str


def run(command: Sequence[str], name: str) -> Ended:
    """Run one job, and return what it printed and took."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as output:  # no pipe: a process that outlives its job would hold it open
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    return Ended(name, process.returncode, time.monotonic() - started, usage.ru_utime + usage.ru_stime, text)


def run_all(names: Sequence[str], at_once: int, command: Callable[[str], Sequence[str]]) -> list[Ended]:
    """Run every job, the first ones first, and print the output of each when it ends."""
    printing = threading.Lock()

    def one(name: str) -> Ended:
        ended = run(command(name), name)
        with printing:
            state = "passed" if ended.code == 0 else f"FAILED with exit code {ended.code}"
            print(f"\n=== {name}: {state} in {ended.seconds:.0f} s\n{ended.output.rstrip()}", flush=True)
        return ended

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(one, names))


def slowest(jobs: Iterable[Ended]) -> list[tuple[float, str]]:
    """Seconds and name of the slowest phases of tests, by what pytest printed with `--durations`."""
    found = [
        (float(seconds), f"{job.name}: {test} ({phase})")
        for job in jobs
        for seconds, phase, test in _DURATION.findall(job.output)
    ]
    return sorted(found, reverse=True)[:SHOWN]


def report(jobs: Sequence[Ended], seconds: float) -> str:
    """Times of all jobs, the slowest tests, and the jobs that failed."""
    lines = ["", "=== the slowest tests"]
    lines += [f"{taken:8.1f} s  {name}" for taken, name in slowest(jobs)] or ["none took a second"]
    lines += ["", "=== jobs: seconds by the clock, seconds of the processors"]
    lines += [
        f"{job.seconds:8.0f} s {job.cpu:8.0f} s  {job.name}" for job in sorted(jobs, key=lambda job: -job.seconds)
    ]
    lines.append(f"{seconds:8.0f} s {sum(job.cpu for job in jobs):8.0f} s  all")
    failed = [job.name for job in jobs if job.code]
    lines += ["", f"FAILED: {', '.join(failed)}" if failed else f"all {len(jobs)} jobs passed"]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the jobs that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intent", help="what is run, for the first line")
    parser.add_argument("jobs", nargs="+", help="targets of the Makefile, the longest first")
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument(
        "--alone", action="append", default=[], help="a target that measures time: runs after the others"
    )
    options = parser.parse_args(arguments)
    print(f"{options.intent}; {options.at_once} jobs at a time: {' '.join(options.jobs)}", flush=True)
    started = time.monotonic()
    make = os.environ.get("MAKE", "make")

    def command(name: str) -> list[str]:
        return [make, "--no-print-directory", name]

    jobs = run_all(options.jobs, options.at_once, command) + run_all(options.alone, 1, command)
    print(report(jobs, time.monotonic() - started))
    return 1 if any(job.code for job in jobs) else 0


if __name__ == "__main__":
    sys.exit(main())
