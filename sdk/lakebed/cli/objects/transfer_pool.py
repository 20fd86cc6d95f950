"""Parallel transfers, a bounded number of them: results as they come, and a stop that reaches every worker.

Knows nothing of what is moved.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Generic, Self, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_GRACE = 5.0


class Stopped(Exception):
    """Raised inside a worker when the others have given up."""


class Pool(Generic[T, R]):
    """Runs `work` on items, `workers` at a time. A context manager: leaving it early (an error, Ctrl-C) drops what has
    not begun, and waits a moment for what runs to stop and clean up.
    """

    def __init__(self, work: Callable[[T], R], workers: int) -> None:
        self._work = work
        self._workers = workers
        self._stop = threading.Event()
        self._idle = threading.Condition()
        self._working = 0
        self._executor = ThreadPoolExecutor(workers, thread_name_prefix="lakebed-transfer")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._executor.shutdown(wait=False, cancel_futures=True)
        with self._idle:  # not by futures: Ctrl-C may have come while one was being submitted
            self._idle.wait_for(lambda: not self._working, timeout=_GRACE)

    def check(self) -> None:
        """For workers, now and then: raises Stopped when the run is being abandoned."""
        if self._stop.is_set():
            raise Stopped

    def run(self, items: Iterable[T]) -> Iterator[tuple[T, R | Exception]]:
        """Each item with its result or error, in the order in which they end. Items are drawn as they are needed."""
        source = iter(items)
        running: dict[Future[R], T] = {}
        while True:
            for item in islice(source, 2 * self._workers - len(running)):
                running[self._executor.submit(self._work_on, item)] = item
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                error = future.exception()
                if error is not None and not isinstance(error, Exception):
                    raise error
                yield running.pop(future), future.result() if error is None else error

    def _work_on(self, item: T) -> R:
        with self._idle:
            self._working += 1
        try:
            self.check()
            return self._work(item)
        finally:
            with self._idle:
                self._working -= 1
                self._idle.notify_all()
