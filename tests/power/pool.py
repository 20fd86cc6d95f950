"""Many disks in several processes: recordings are made, and each is replayed after every event, or after some."""

from __future__ import annotations

import gc
import itertools
import multiprocessing
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import ParamSpec, TypeVar

from tests.power.record import Record, load
from tests.power.recording.starts import Unrecovered, record
from tests.power.replay import SEEDS, Loss, replay
from tests.power.serving import serve_and_look

P = ParamSpec("P")
T = TypeVar("T")

_CHUNK = 10
MEMORY = Path("/dev/shm")


@dataclass(slots=True)
class Failure:
    """A disk on which something was wrong."""

    seed: int
    wrong: str


@dataclass(slots=True)
class Run:
    """What many disks came to. `acknowledged`: operations that had been, all disks together."""

    recordings: int = 0
    moments: int = 0
    disks: int = 0
    served: int = 0
    acknowledged: int = 0
    lost: int = 0
    seconds: float = 0.0
    ways: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def add(self, losses: Sequence[Loss]) -> None:
        """Count some disks."""
        for one in losses:
            self.disks += 1
            self.acknowledged += one.acknowledged
            self.lost += len(one.lost)
            self.ways[one.way] += 1
            if one.wrong:
                self.failures.append(Failure(one.seed, one.wrong[0]))


def run(
    folder: Path,
    disks: int,
    *,
    start: int = 0,
    recordings: int = 0,
    served: int = 0,
    jobs: int = 1,
    stop: int = 20,
    show: Callable[[Failure], None] = lambda one: None,
) -> Run:
    """Record and replay, until there were `disks`; stop soon after `stop` failures. `folder` keeps the recordings.

    With `recordings` there are as many, with a sample of moments of each; else as many as it takes, with every moment.
    On `served` more disks of each recording a real server is started.
    """
    total, started = Run(), time.monotonic()
    with _pool(jobs) as pool:
        for number in range(recordings) if recordings else itertools.count():
            if total.disks >= disks or len(total.failures) >= stop:
                break
            try:
                moments = pool.submit(_record, start + number, folder / f"{number}.recording").result()
            except Unrecovered as error:
                total.disks += 1
                total.failures.append(Failure(number * SEEDS, str(error)))
                show(total.failures[-1])
                continue
            total.recordings += 1
            total.moments += moments
            first, count = number * SEEDS, -(-disks // recordings) if recordings else moments
            parts = [(seeds, False) for seeds in _chunks(range(first, first + count))]
            parts += [([seed], True) for seed in range(first + count, first + count + served)]
            for losses, was_served in _each(pool, folder / f"{number}.recording", parts, 2 * jobs):
                known = len(total.failures)
                total.add(losses)
                total.served += was_served
                for failure in total.failures[known:]:
                    show(failure)
                if len(total.failures) >= stop:
                    break
    total.failures.sort(key=lambda one: one.seed)
    total.seconds = time.monotonic() - started
    return total


class _Here(Executor):
    """Does everything when it is asked to, in this process: another one takes a second to start."""

    def submit(self, job: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        done = Future[T]()
        try:
            done.set_result(job(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


def _pool(jobs: int) -> Executor:
    if jobs == 1:
        _prepare()
        return _Here()
    # not forked: SQLite and Arrow have threads
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_prepare)


def one_disk(folder: Path, seed: int) -> tuple[Record, Loss]:
    """The disk of one seed of the recordings that a run has left."""
    _prepare()
    found = load(folder / f"{seed // SEEDS}.recording")
    return found, replay(found, seed, _scratch())


def _chunks(seeds: range) -> list[Sequence[int]]:
    return [seeds[at : at + _CHUNK] for at in range(0, len(seeds), _CHUNK)]


def _each(
    pool: Executor, path: Path, parts: Sequence[tuple[Sequence[int], bool]], most: int
) -> Iterator[tuple[list[Loss], bool]]:
    """Do the parts, some at a time, so that a caller who stops leaves none waiting."""
    waiting, running = iter(parts), dict[Future[list[Loss]], bool]()
    try:
        while True:
            while len(running) < most and (part := next(waiting, None)) is not None:
                running[pool.submit(_replay, path, *part)] = part[1]
            if not running:
                return
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                yield done.result(), running.pop(done)
    finally:
        for one in running:
            one.cancel()


def _prepare() -> None:
    gc.set_threshold(100_000, 20, 100)  # disks make garbage in bulk, and little of it has cycles


def _scratch() -> Path:
    return MEMORY if MEMORY.is_dir() else Path(tempfile.gettempdir())


def _record(seed: int, path: Path) -> int:
    top = Path(tempfile.mkdtemp(dir=_scratch()))
    try:
        made = record(seed, top)
    finally:
        shutil.rmtree(top)
    made.save(path)
    return made.moments


_load = cache(load)


def _replay(path: Path, seeds: Sequence[int], served: bool) -> list[Loss]:
    if served:
        return [replay(_load(path), seed, _scratch(), serve_and_look) for seed in seeds]
    return [replay(_load(path), seed, _scratch()) for seed in seeds]
