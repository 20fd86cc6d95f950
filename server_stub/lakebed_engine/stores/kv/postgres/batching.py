"""Batches calls: calls that wait while others run share the next round trip.

A statement for one row costs nearly as much as one for fifty, especially in this process. A single caller does not
wait. Sixty-four callers share a few statements.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

W = TypeVar("W")
A = TypeVar("A")


@dataclass(frozen=True, slots=True, eq=False)
class Item(Generic[W, A]):
    """The work of one call, and the future of its result."""

    work: W
    future: asyncio.Future[A]


Answers = Sequence[A | Exception]


class Batcher(Generic[W, A]):
    """Answers calls in groups: `choose` takes a group from the queue, `run` answers it.

    At most `concurrency` groups run in parallel.
    """

    def __init__(
        self,
        choose: Callable[[deque[Item[W, A]]], list[Item[W, A]]],
        run: Callable[[list[W]], Awaitable[Answers[A]]],
        concurrency: int,
    ) -> None:
        self._choose = choose
        self._run = run
        self._concurrency = concurrency
        self._queue: deque[Item[W, A]] = deque()
        self._working = 0  # workers that will read the queue once more. A finished task exists a little longer
        self._tasks: set[asyncio.Task[None]] = set()

    def submit(self, work: W) -> asyncio.Future[A]:
        """Add work to the queue. Cancelling the future does not undo the work."""
        loop = asyncio.get_running_loop()
        item: Item[W, A] = Item(work, loop.create_future())
        self._queue.append(item)
        if self._working < self._concurrency:
            self._working += 1
            task = loop.create_task(self._work())  # starts after all calls of this round of the event loop
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return item.future

    async def drain(self) -> None:
        """Wait until all queued calls are answered."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _work(self) -> None:
        try:
            while self._queue:
                await self._answer(self._choose(self._queue))
        finally:
            self._working -= 1

    async def _answer(self, group: Sequence[Item[W, A]]) -> None:
        try:
            answers = await self._run([item.work for item in group])
        except BaseException as error:
            if not isinstance(error, Exception):  # the event loop ends, and all waiting callers with it
                for item in group:
                    item.future.cancel()
                raise
            answers = [error] * len(group)
        for item, answer in zip(group, answers, strict=True):
            if item.future.done():  # the caller was cancelled
                continue
            if isinstance(answer, Exception):
                item.future.set_exception(answer)
            else:
                item.future.set_result(answer)
