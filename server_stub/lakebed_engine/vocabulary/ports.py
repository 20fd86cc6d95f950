"""What the engine is given from outside: time, ids and somewhere to burn CPU.

Operations reach these only through here, so that a test can run them on a virtual clock and a seeded scheduler.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Protocol, TypeVar

T = TypeVar("T")


class Clock(Protocol):
    """Two clocks: `now` for people (Unix seconds), `monotonic` for waiting (seconds, never goes back)."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds since some fixed moment."""
        ...


class Ids(Protocol):
    """Unique ids: never the same twice, in any process."""

    def new(self) -> str:
        """32 lower-case hex characters."""
        ...


class Runtime(Protocol):
    """How the engine waits, runs CPU-heavy work and does several things at once."""

    async def cpu(self, job: Callable[..., T], *args: object) -> T:
        """Run a pure, CPU-heavy function off the event loop."""
        ...

    async def gather(self, jobs: Sequence[Callable[[], Awaitable[T]]], limit: int = 8) -> list[T]:
        """Run coroutine functions, at most `limit` at once; results in order, the first error wins."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time()  # noqa: TID251 - the one place

    def monotonic(self) -> float:
        """Seconds since start-up of the machine."""
        return time.monotonic()


class RandomIds:
    """128 random bits from the operating system."""

    def new(self) -> str:
        """32 lower-case hex characters."""
        return secrets.token_hex(16)


class AsyncioRuntime:
    """asyncio and a thread pool: pyarrow lets go of the GIL, so threads are enough."""

    def __init__(self, executor: Executor | None = None, threads: int = 4) -> None:
        self._executor = executor or ThreadPoolExecutor(threads, thread_name_prefix="lakebed-cpu")

    async def cpu(self, job: Callable[..., T], *args: object) -> T:
        """Run in the thread pool."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, job, *args)

    async def gather(self, jobs: Sequence[Callable[[], Awaitable[T]]], limit: int = 8) -> list[T]:
        """Run as tasks; when one fails the others are cancelled and awaited before the error is raised."""
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
        """asyncio.sleep."""
        await asyncio.sleep(seconds)

    def close(self) -> None:
        """Let the threads end."""
        if isinstance(self._executor, ThreadPoolExecutor):
            self._executor.shutdown(wait=False)
