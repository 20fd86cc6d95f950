"""Many transfers at once, a bounded number of them: results as they come, and a stop that reaches every worker.

Under `transfers`. Knows nothing of what is moved.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_GRACE = 5.0


class Stopped(Exception):
    """Raised inside a worker when the others have given up."""


class Pool(Generic[T, R]):
    """Runs `work` on items, `workers` at a time. Items are drawn only as they are needed."""

    def __init__(self, work: Callable[[T], R], workers: int) -> None:
        self._work = work
        self._workers = workers
        self._stop = threading.Event()

    def check(self) -> None:
        """For workers, now and then: raises Stopped when the run is being abandoned."""
        if self._stop.is_set():
            raise Stopped

    def run(self, items: Iterable[T]) -> Iterator[tuple[T, R | Exception]]:
        """Each item with its result or error, in the order in which they end.

        When the caller leaves early (an error, Ctrl-C), what has not begun is dropped and what runs is stopped.
        """
        executor = ThreadPoolExecutor(self._workers, thread_name_prefix="lakebed-transfer")
        running: dict[Future[R], T] = {}
        source = iter(items)
        try:
            while True:
                for item in islice(source, 2 * self._workers - len(running)):
                    running[executor.submit(self._work, item)] = item
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    error = future.exception()
                    if error is not None and not isinstance(error, Exception):
                        raise error
                    yield running.pop(future), future.result() if error is None else error
        finally:
            self._stop.set()
            executor.shutdown(wait=False, cancel_futures=True)
            wait(running, timeout=_GRACE)
