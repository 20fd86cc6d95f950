"""The injected interfaces of the engine: time, ids, and a way to run CPU-heavy work.

Operations use only these, so that a test can run them with a virtual clock and a seeded scheduler.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Clock(Protocol):
    """Two clocks: `now` for people (Unix seconds), `monotonic` for waiting (seconds, never goes back)."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds since some fixed time."""
        ...


class Ids(Protocol):
    """Unique ids: never repeated, in any process."""

    def new(self) -> str:
        """32 lower-case hex characters."""
        ...


class Signal(Protocol):
    """Wakes one task that waits for the signal."""

    def set(self) -> None:
        """Wake the task. If it does not wait, its next wait returns immediately."""
        ...

    async def wait(self, seconds: float) -> None:
        """Wait until the signal is set, at most `seconds`."""
        ...


class Runtime(Protocol):
    """Waits, runs CPU-heavy work, and runs several coroutines at the same time."""

    async def cpu(self, job: Callable[..., T], *args: object, small: bool = False) -> T:
        """Run a pure, CPU-heavy function off the event loop. A `small` one, well below 1 ms, runs directly."""
        ...

    async def gather(self, jobs: Sequence[Callable[[], Awaitable[T]]], limit: int = 8) -> list[T]:
        """Run coroutine functions, at most `limit` at the same time. Results are in order. Raises the first error."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds`."""
        ...

    def signal(self) -> Signal:
        """A new signal."""
        ...

    async def finish(self, job: Callable[[], Awaitable[T]]) -> T:
        """Run a coroutine function to its end, even if the caller is cancelled."""
        ...

    def begin(self, job: Callable[[], Awaitable[T]]) -> asyncio.Future[T] | None:
        """Start work whose result may be needed soon. None when this runtime does not start it in advance."""
        ...


class PolledSignals:
    """`signal` and `finish` for test runtimes, which have virtual time and no cancellation."""

    async def sleep(self, seconds: float) -> None:
        """Subclasses override this."""
        raise NotImplementedError

    def signal(self) -> Signal:
        """A signal whose waiter polls it."""
        return _PolledSignal(self)

    async def finish(self, job: Callable[[], Awaitable[T]]) -> T:
        """Run the job."""
        return await job()

    def begin(self, job: Callable[[], Awaitable[T]]) -> asyncio.Future[T] | None:
        """Always None."""
        return None


class _PolledSignal:
    def __init__(self, runtime: PolledSignals) -> None:
        self._runtime = runtime
        self._on = False

    def set(self) -> None:
        self._on = True

    async def wait(self, seconds: float) -> None:
        waited, pause = 0.0, 0.001
        while not self._on and waited < seconds:
            await self._runtime.sleep(pause)
            waited, pause = waited + pause, min(1.5 * pause, 0.02)
        self._on = False


class _EventSignal:
    def __init__(self) -> None:
        self._event = asyncio.Event()

    def set(self) -> None:
        self._event.set()

    async def wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            pass
        self._event.clear()


class SystemClock:
    """The clock of the machine."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time()  # noqa: TID251 - the one place

    def monotonic(self) -> float:
        """Seconds since the machine started."""
        return time.monotonic()


class RandomIds:
    """128 random bits from the operating system."""

    def new(self) -> str:
        """32 lower-case hex characters."""
        return secrets.token_hex(16)


class AsyncioRuntime:
    """asyncio and a thread pool. Threads are enough, because pyarrow releases the GIL."""

    def __init__(self, executor: Executor | None = None, threads: int = 4) -> None:
        self._executor = executor or ThreadPoolExecutor(threads, thread_name_prefix="lakebed-cpu")
        # asyncio itself keeps no reference to its tasks
        self._left: set[asyncio.Future[Any]] = set()
        self._ahead: set[asyncio.Future[Any]] = set()

    async def cpu(self, job: Callable[..., T], *args: object, small: bool = False) -> T:
        """Run in the thread pool. The handover costs about 0.1 ms, so small jobs run directly."""
        if small:
            return job(*args)
        return await asyncio.get_running_loop().run_in_executor(self._executor, job, *args)

    async def gather(self, jobs: Sequence[Callable[[], Awaitable[T]]], limit: int = 8) -> list[T]:
        """Run as tasks. When one fails, the others are cancelled and awaited before the error is raised."""
        if len(jobs) == 1:
            return [await jobs[0]()]
        gate = asyncio.Semaphore(limit)

        async def one(job: Callable[[], Awaitable[T]]) -> T:
            async with gate:
                return await job()

        tasks = [asyncio.ensure_future(one(job)) for job in jobs]
        try:
            return list(await asyncio.gather(*tasks))
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    async def sleep(self, seconds: float) -> None:
        """Call asyncio.sleep."""
        await asyncio.sleep(seconds)

    def signal(self) -> Signal:
        """A signal based on asyncio.Event."""
        return _EventSignal()

    async def finish(self, job: Callable[[], Awaitable[T]]) -> T:
        """Run in a separate task, which continues after a cancellation of the caller."""
        task = asyncio.ensure_future(job())
        self._left.add(task)
        task.add_done_callback(self._settle)
        return await asyncio.shield(task)

    def begin(self, job: Callable[[], Awaitable[T]]) -> asyncio.Future[T] | None:
        """Run in a separate task, which may be cancelled."""
        task = asyncio.ensure_future(job())
        self._ahead.add(task)
        task.add_done_callback(self._settle)
        return task

    def _settle(self, task: asyncio.Future[Any]) -> None:
        self._left.discard(task)
        self._ahead.discard(task)
        if not task.cancelled():
            task.exception()  # marks the error as retrieved: the caller may not need it any more

    def close(self) -> None:
        """Cancel the work that was begun in advance, and end the threads."""
        for task in list(self._ahead):
            task.cancel()
        if isinstance(self._executor, ThreadPoolExecutor):
            self._executor.shutdown(wait=False)


class HistoryFiles(Protocol):
    """The files of the access history in one namespace."""

    async def write(self, day: str, second: str, data: bytes) -> str:
        """Store one file. `day` is `2026-01-31`, `second` is `235959`. Returns its key."""
        ...

    async def files(self, first: str, last: str) -> list[str]:
        """Return the keys of the files from one day to another, both included, in order."""
        ...

    async def read(self, key: str) -> bytes:
        """Return the content of a file that `files` returned."""
        ...
