"""Work in several threads, with a bounded number of items in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_order(jobs: int, items: Iterable[T], work: Callable[[T], R]) -> Iterator[R]:
    """The results of `work`, in the order of the items. At most `2 * jobs` items are begun ahead of the reader.

    Raises what `work` raises. Then no further item is begun.
    """
    with ThreadPoolExecutor(jobs) as pool:
        running: deque[Future[R]] = deque()
        try:
            for item in items:
                running.append(pool.submit(work, item))
                if len(running) >= 2 * jobs:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for one in running:
                one.cancel()
