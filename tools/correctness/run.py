"""Run the proofs, and write docs/correctness.md from what was seen: `make correctness`.

    python -m tools.correctness.run [--seeds 20000] [--sets 20] [--kills 50] [--workspaces 200] [--examples 20]
                                    [--disks 20000] [--history 600] [--inputs 20000] [--only kills,races] [--dry]

Every figure is read from the run's own report. What `--only` leaves out keeps its last result. Exit code 1 when a proof
failed, which the page then says.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from tools.correctness.page import PAGE, RESULTS, Proof, Seen, render
from tools.correctness.proofs import PROOFS, ROOT, Job
from tools.correctness.reports import Report


def run(job: Job, sizes: Mapping[str, int], folder: Path) -> Seen:
    """Run one proof and read its report. A run that fails, or leaves no report, is a proof that failed."""
    report, started = folder / f"{job.proof.key}.report", time.monotonic()
    arguments, environment = job.run(sizes)
    command = [sys.executable, *arguments, *job.silent, f"{job.report}{report}"]
    with (folder / f"{job.proof.key}.log").open("w+b") as log:
        environment = {**os.environ, **environment}
        code = subprocess.run(command, cwd=ROOT, env=environment, stdout=log, stderr=log, check=False).returncode
        seconds = time.monotonic() - started
        figures, wrong, details = judge(code, report.read_bytes() if report.exists() else b"", job.read)
        if wrong:
            log.seek(0)
            print(log.read().decode(errors="replace")[-5000:])
    return Seen(
        key=job.proof.key,
        command=job.command(sizes),
        figures=figures,
        wrong=wrong,
        seconds=round(seconds, 1),
        date=f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
        commit=_commit(),
        machine=f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}",
        details=details,
    )


def judge(code: int, report: bytes, read: Callable[[bytes], Report]) -> Report:
    """What a report says, and what its program's exit code says: either can fail a proof."""
    if not report:
        return {}, [f"it left no report, and ended with exit code {code}"], []
    try:
        figures, wrong, details = read(report)
    except Exception as error:
        return {}, [f"its report cannot be read: {error!r}"], []
    if code and not wrong:
        wrong = [f"it ended with exit code {code}"]
    if not any(figures.values()) and not wrong:
        wrong = ["nothing was run"]
    return figures, wrong, details


def _commit() -> str:
    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--", ".", f":!{PAGE}", f":!{RESULTS}")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + (" and changes" if changed else "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for, write the page after each proof, and say what failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20_000, help="simulated schedules")
    parser.add_argument("--sets", type=int, default=20, help="fresh starting seeds for each mutant")
    parser.add_argument("--kills", type=int, default=50, help="kills under load, on each KV store")
    parser.add_argument("--workspaces", type=int, default=200, help="that each of eight processes commits")
    parser.add_argument("--history", type=int, default=600, help="seconds of the histories of real servers")
    parser.add_argument("--disks", type=int, default=20_000, help="that power losses leave")
    parser.add_argument("--inputs", type=int, default=20_000, help="changed inputs for each parser")
    parser.add_argument("--examples", type=int, default=20, help="of schemathesis, for each operation")
    parser.add_argument("--only", help="keys of proofs, comma-separated; the others keep their last result")
    parser.add_argument("--dry", action="store_true", help="run, and write nothing")
    options = parser.parse_args(arguments)
    known = [job.proof.key for job in PROOFS]
    chosen = options.only.split(",") if options.only else known
    if unknown := [key for key in chosen if key not in known]:
        parser.error(f"no such proof: {', '.join(unknown)}; there are {', '.join(known)}")
    numbers = ("seeds", "sets", "kills", "workspaces", "disks", "history", "inputs", "examples")
    sizes = {name: getattr(options, name) for name in numbers}
    sizes["start"] = secrets.randbelow(1 << 40)
    seen = load(ROOT / RESULTS)
    with tempfile.TemporaryDirectory(prefix="lakebed-correctness-") as folder:
        for job in [job for job in PROOFS if job.proof.key in chosen]:
            print(f"{job.proof.title}: {job.command(sizes)}", flush=True)
            seen[job.proof.key] = one = run(job, sizes, Path(folder))
            said = "passed" if one.passed else f"FAILED: {'; '.join(one.wrong)}"
            print(f"  {one.seconds} s, {one.figures}: {said}", flush=True)
            if not options.dry:
                write(ROOT, [job.proof for job in PROOFS], seen)
    failed = [key for key in chosen if not seen[key].passed]
    print(f"failed: {', '.join(failed)}" if failed else "every proof passed")
    return 1 if failed else 0


def load(path: Path) -> dict[str, Seen]:
    """The last results, by key."""
    return msgspec.json.decode(path.read_bytes(), type=dict[str, Seen]) if path.exists() else {}


def write(root: Path, proofs: Sequence[Proof], seen: Mapping[str, Seen]) -> None:
    """The page and its figures. Results of proofs that are no more are left out."""
    kept = {proof.key: seen[proof.key] for proof in proofs if proof.key in seen}
    (root / RESULTS).write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
    (root / PAGE).write_text(render(proofs, kept), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
