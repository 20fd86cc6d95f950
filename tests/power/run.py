"""`python -m tests.power.run --disks 20000`: record servers, lose the power at every moment, check every disk.

`--seed N --trace` builds one disk of the last run's recordings again, and prints what it lost. `--mutants` breaks the
order of the syncs instead, and sees to it that disks notice. Exit code 1 when something was wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import msgspec

from tests.power.mutants import BOUND, report
from tests.power.pool import Failure, one_disk, run
from tests.power.record import Answered, Begun, Record, Unlinked

RECORDINGS = Path(".power-loss")
"""Where a run leaves its recordings, for `--seed`."""


def main() -> int:
    options = _options()
    if options.seed is not None:
        return replay_one(options.recordings_in, options.seed, trace=options.trace)
    if options.mutants:
        hunted = report(options.sets, options.bound)
        _save(options.json, hunted)
        return 0 if hunted.good else 1
    options.recordings_in.mkdir(exist_ok=True)
    found = run(
        options.recordings_in,
        options.disks,
        start=options.start,
        recordings=options.recordings,
        served=options.served,
        jobs=options.jobs,
        stop=options.stop,
        show=show,
    )
    _save(options.json, found)
    print(
        f"{found.disks} disks of {found.recordings} recordings with {found.moments} moments, "
        f"{len(found.failures)} wrong, in {found.seconds:.0f} s: {found.disks / found.seconds:.0f} disks/s"
    )
    return 1 if found.failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--disks", type=int, default=20_000, help="at least so many")
    parser.add_argument("--start", type=int, default=0, help="seed of the first recording's work")
    parser.add_argument("--recordings", type=int, default=0, help="so many, at some moments; else at every moment")
    parser.add_argument("--served", type=int, default=5, help="disks of each recording with a real server")
    parser.add_argument("--seed", type=int, help="only this disk, of the recordings that are there")
    parser.add_argument("--trace", action="store_true", help="with --seed: print what the disk lost")
    parser.add_argument("--recordings-in", type=Path, default=RECORDINGS, help="directory of the recordings")
    parser.add_argument("--stop", type=int, default=20, help="stop after so many failures")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; as many as cores by default")
    parser.add_argument("--mutants", action="store_true", help="hunt the mutants instead")
    parser.add_argument("--sets", type=int, default=3, help="from so many fresh starts")
    parser.add_argument("--bound", type=int, default=BOUND, help="disks within which each must be caught")
    parser.add_argument("--json", type=Path, help="write what was found to this file, too")
    options = parser.parse_args()
    if options.trace and options.seed is None:
        parser.error("--trace needs --seed")
    return options


def show(one: Failure) -> None:
    """Print a failure as soon as it is known."""
    print(f"seed {one.seed}: {one.wrong}", flush=True)


def replay_one(folder: Path, seed: int, *, trace: bool) -> int:
    """One disk, with what it lost if wanted."""
    record, loss = one_disk(folder, seed)
    if trace:
        _trace(record, loss.events)
        for one in sorted(loss.lost):
            print(f"lost: event {one.event}, {record.files[one.number] or '.'}: {one.what}")
    wrong = loss.wrong or ["nothing wrong"]
    print(
        f"seed {seed}: the power fails after event {loss.events} ({loss.way}), {loss.acknowledged} operations "
        f"acknowledged, {loss.under_way} under way: {'; '.join(wrong)}"
    )
    return 1 if loss.wrong else 0


def _trace(record: Record, events: int) -> None:
    """The last events before the loss, and what was asked for and answered among them."""
    for index, event in list(enumerate(record.events[:events]))[-40:]:
        match event:
            case Begun(number):
                print(f"{index}: asked: {record.operations[number].what}")
            case Answered(number, done):
                print(f"{index}: answered: {record.operations[number].what}: {'done' if done else 'refused'}")
            case _:
                number = event.directory if isinstance(event, Unlinked) else event.number
                print(f"{index}: {type(event).__name__} {record.files[number] or '.'} {_short(event)}")


def _short(event: object) -> str:
    assert isinstance(event, tuple)
    return " ".join(f"{len(one)} bytes" if isinstance(one, bytes) else str(one) for one in event[1:])


def _save(path: Path | None, found: object) -> None:
    if path is not None:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2))


if __name__ == "__main__":
    sys.exit(main())
