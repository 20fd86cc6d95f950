"""The seeded scheduler: it drives coroutines by hand, one step at a time, on a virtual clock.

A step takes a task from one scheduling point to the next. No event loop, no threads: one seed is one schedule.
"""

from __future__ import annotations

import asyncio
import random
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from typing import Any, Literal, TypeVar

from lakebed_engine.vocabulary.ports import PolledSignals

T = TypeVar("T")
Policy = Literal["random", "sticky", "pct"]

TICK = 0.001
"""Virtual seconds that one step takes."""
EPOCH = 1_700_000_000.0
"""Where the virtual clock begins, in Unix seconds."""
NEVER = float("inf")


class Fatal(Exception):
    """Ends the schedule, from any place."""


class Endless(Fatal):
    """A schedule took more steps than it may."""


class Over(BaseException):
    """Raised at a scheduling point once the schedule is over, so that abandoned coroutines can be closed."""


class Process:
    """What crashes together: one engine and the tasks that use it."""

    __slots__ = ("alive", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive = True


class Task:
    """One coroutine and its state. `op` is the operation to which the caller attributes its steps."""

    __slots__ = (
        "coro",
        "done",
        "error",
        "failure",
        "joined",
        "name",
        "op",
        "priority",
        "process",
        "result",
        "waits_for",
        "wake",
    )

    def __init__(self, name: str, process: Process, coro: Coroutine[Any, Any, Any], priority: float, op: Any) -> None:
        self.name = name
        self.process = process
        self.coro = coro
        self.priority = priority
        self.op = op
        self.wake = 0.0
        self.waits_for: Sequence[Task] = ()
        self.failure: BaseException | None = None  # thrown into it at its next step
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False
        self.joined = False  # another task waits for it, and takes its error


class _Until:
    """What a task awaits to give way until a moment: yields it once. (A generator would take twice the time.)"""

    __slots__ = ("_once",)

    def __init__(self, until: float) -> None:
        self._once = (until,)

    def __await__(self) -> Generator[float, None, None]:
        return iter(self._once)  # type: ignore[return-value]


def park(until: float) -> Awaitable[None]:
    """A scheduling point: go on when the scheduler says so, not before `until`."""
    return _Until(until)


HERE: Awaitable[None] = _Until(0.0)
"""A scheduling point with nothing to wait for."""


@types.coroutine
def _join(tasks: Sequence[Task]) -> Generator[Sequence[Task], None, None]:
    yield tasks


class Scheduler:
    """Tasks, the virtual clock, and the choice of the next task. It is the engine's `Clock`, too."""

    def __init__(self, rng: random.Random, policy: Policy = "random", *, changes: int = 3, horizon: int = 150) -> None:
        """`pct`: priorities, with `changes` random change points in the first `horizon` steps."""
        self.rng = rng
        self.policy = policy
        self.step = 0
        self.time = 0.0
        self.over = False
        self.current: Task | None = None
        self._live: list[Task] = []
        self._all: list[Task] = []
        self._changes = {rng.randrange(1, horizon) for _ in range(changes)} if policy == "pct" else set()

    # the Clock port

    def now(self) -> float:
        """Unix seconds of the virtual clock."""
        return EPOCH + self.time

    def monotonic(self) -> float:
        """Virtual seconds since the beginning."""
        return self.time

    # tasks

    def spawn(self, name: str, process: Process, coro: Coroutine[Any, Any, Any], op: Any = None) -> Task:
        """A new task; it takes its first step when it is picked."""
        task = Task(name, process, coro, self.rng.random(), op)
        self._live.append(task)
        self._all.append(task)
        return task

    def crash(self, process: Process) -> None:
        """Every task of a process stops where it is and never continues: no handler runs."""
        process.alive = False
        self._live = [task for task in self._live if task.process is not process]

    async def gather(self, jobs: Sequence[Callable[[], Awaitable[T]]], limit: int) -> list[T]:
        """As `Runtime.gather`: every job is a task of its own; when one fails the others are cancelled."""
        parent = self.current
        assert parent is not None
        gate = _Gate(limit)
        tasks = [
            self.spawn(f"{parent.name}.{index}", parent.process, gate.run(job), parent.op)
            for index, job in enumerate(jobs)
        ]
        for task in tasks:
            task.joined = True
        await _join(tasks)
        failed = next((task.error for task in tasks if task.error is not None and not _cancelled(task)), None)
        if failed is not None:
            raise failed
        return [task.result for task in tasks]

    def run(self, most: int) -> None:
        """Until every task has ended or crashed. Raises Endless after `most` steps."""
        while self._live:
            if self.step >= most:
                raise Endless(f"still running after {most} steps")
            self._advance(self._pick())

    def close(self) -> None:
        """Let go of what never ended. Handlers that run now can reach no store."""
        self.over = True
        for task in self._all:
            if not task.done:
                try:
                    task.coro.close()
                except BaseException:
                    continue
        self._live, self._all = [], []

    def _pick(self) -> Task:
        ready = [task for task in self._live if task.wake <= self.time and not task.waits_for]
        if not ready:
            self.time = min(task.wake for task in self._live if not task.waits_for)
            return self._pick()
        if len(ready) == 1:
            return ready[0]
        if self.policy == "pct":
            best = max(ready, key=_priority)
            if self.step in self._changes:
                best.priority = -self.step
                best = max(ready, key=_priority)
            return best
        if self.policy == "sticky" and self.current in ready and self.rng.random() < 0.8:
            return self.current
        return ready[int(self.rng.random() * len(ready))]

    def _advance(self, task: Task) -> None:
        self.step += 1
        self.time += TICK
        self.current = task
        try:
            if task.failure is not None:
                failure, task.failure = task.failure, None
                asked: Any = task.coro.throw(failure)
            else:
                asked = task.coro.send(None)
        except StopIteration as stop:
            task.result = stop.value
            self._end(task)
        except Exception as error:
            if isinstance(error, Fatal) or not task.joined:
                raise
            task.error = error
            self._end(task)
        except asyncio.CancelledError as error:
            task.error = error
            self._end(task)
        else:
            if type(asked) is float:
                task.wake = asked
            else:
                task.waits_for = asked

    def _end(self, task: Task) -> None:
        task.done = True
        if task in self._live:
            self._live.remove(task)
        for parent in self._live:
            if task not in parent.waits_for:
                continue
            if task.error is not None and not _cancelled(task):
                for other in parent.waits_for:
                    if not other.done:
                        other.failure, other.wake = asyncio.CancelledError(), 0.0
            if all(other.done for other in parent.waits_for):
                parent.waits_for = ()


class _Gate:
    """At most `limit` concurrent jobs."""

    def __init__(self, limit: int) -> None:
        self._free = limit

    async def run(self, job: Callable[[], Awaitable[T]]) -> T:
        while self._free == 0:
            await HERE
        self._free -= 1
        try:
            return await job()
        finally:
            self._free += 1


def _priority(task: Task) -> float:
    return task.priority


def _cancelled(task: Task) -> bool:
    return isinstance(task.error, asyncio.CancelledError)


class SimRuntime(PolledSignals):
    """The engine's `Runtime` on the scheduler. CPU work runs inline; see `memo.py` for what it remembers."""

    def __init__(self, scheduler: Scheduler, cpu: Callable[..., Any]) -> None:
        self._scheduler = scheduler
        self._cpu = cpu

    async def cpu(self, job: Callable[..., T], *args: object, small: bool = False) -> T:
        """Run a pure function without a wait."""
        result: T = self._cpu(job, args)
        return result

    async def gather(self, jobs: Sequence[Callable[[], Awaitable[T]]], limit: int = 8) -> list[T]:
        """Run as tasks of the scheduler."""
        if len(jobs) == 1:
            return [await jobs[0]()]
        return await self._scheduler.gather(jobs, limit)

    async def sleep(self, seconds: float) -> None:
        """Wait on the virtual clock."""
        await park(self._scheduler.time + seconds)
