"""The async half of the pair: how the async API waits, runs blocking work and runs several jobs at the same time.

`lakebed._compat.sync` has the same names. Translated files import from here and never from asyncio. `gather` takes
callables, never coroutines: that is what lets one source run in both worlds.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Generator, Iterable, Iterator
from typing import Generic, ParamSpec, Protocol, Self, TypeVar

from lakebed._process.forks import ForkLock
from lakebed._values import upload_source
from lakebed.errors import ConfigurationError, InvalidRequestError

Data = upload_source.Data | AsyncIterable[bytes]

CLOSED = "this connection is closed: call connect() again"

T = TypeVar("T")
P = ParamSpec("P")

Owner = tuple[int, asyncio.AbstractEventLoop]
Lock = asyncio.Lock
Job = Callable[[], Awaitable[T]]


class Closable(Protocol):
    async def aclose(self) -> None: ...


C = TypeVar("C", bound=Closable)


class LakeBase:
    """The base of what `connect` returns: `await connect()` is accepted, though connecting waits for nothing."""

    def __await__(self) -> Generator[None, None, Self]:
        yield from ()
        return self


class Clients(Generic[C]):
    """HTTP clients, made where they are first used: one for each process and event loop.

    Sockets cross neither a fork nor a change of event loop.
    """

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._lock = ForkLock()
        self._known: dict[Owner, C] = {}
        self.is_closed = False

    def get(self) -> C:
        """The client of this process and event loop. Raises ConfigurationError after `close`."""
        client = self._known.get((os.getpid(), asyncio.get_running_loop()))
        return client if client is not None else self._new()

    def _new(self) -> C:
        with self._lock:
            if self.is_closed:
                raise ConfigurationError(CLOSED)
            self._forget()
            return self._known.setdefault((os.getpid(), asyncio.get_running_loop()), self._make())

    async def close(self) -> None:
        """Close the client of this process and event loop. `get` raises afterwards."""
        with self._lock:
            self.is_closed = True
            client = self._known.pop((os.getpid(), asyncio.get_running_loop()), None)
            self._forget()
            _OF_OTHERS.extend(self._known.values())
            self._known.clear()
        if client is not None:
            await client.aclose()

    def _forget(self) -> None:
        """Drop clients that nothing can use any more. Python closes the sockets of an event loop that is closed."""
        for owner in list(self._known):
            process, loop = owner
            if process != os.getpid():
                _OF_OTHERS.append(self._known.pop(owner))
            elif loop.is_closed():
                del self._known[owner]


_OF_OTHERS: list[Closable] = []
"""Clients of a parent process, or of another event loop: closing them here would disturb it, so they are kept."""


async def sleep(seconds: float) -> None:
    """Wait."""
    await asyncio.sleep(seconds)


async def run_in_thread(job: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking work off the event loop."""
    return await asyncio.to_thread(job, *args, **kwargs)


async def gather(
    jobs: Iterable[Callable[[], Awaitable[T]]], limit: int = 8, *, stop: Callable[[], None] | None = None
) -> list[T]:
    """Run jobs, at most `limit` at a time; results in order. The first error cancels the others and is raised.

    Threads that they wait for cannot be cancelled: `stop` is called before, to end them.
    """
    gate = asyncio.Semaphore(limit)

    async def one(job: Callable[[], Awaitable[T]]) -> T:
        async with gate:
            return await job()

    tasks = [asyncio.ensure_future(one(job)) for job in jobs]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        if stop is not None:
            stop()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def blocking(job: Callable[P, Awaitable[T]]) -> Callable[P, T]:
    """A coroutine function as a plain one, for code that runs in `run_in_thread` and must call back."""
    loop = asyncio.get_running_loop()

    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return await job(*args, **kwargs)

    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if loop.is_closed():  # a reader that was forgotten; the coroutine would never run
            raise InvalidRequestError("the event loop that this was opened in is closed: open it again")
        return asyncio.run_coroutine_threadsafe(run(*args, **kwargs), loop).result()

    return call


def off_loop(rows: Iterator[T]) -> Iterator[T]:
    """An iterator whose steps call back into this loop, and so must not be taken by the loop's own thread."""
    loop = asyncio.get_running_loop()

    def steps() -> Iterator[T]:
        while True:
            if asyncio._get_running_loop() is loop:
                raise InvalidRequestError(
                    "this reader would wait for its own event loop: read it in another thread "
                    "(`await asyncio.to_thread(reader.read_all)`), or write `async for batch in scan`"
                )
            try:
                row = next(rows)
            except StopIteration:
                return
            yield row

    return steps()


class Background(Generic[T]):
    """A job that runs in the background."""

    def __init__(self, job: Callable[[], Awaitable[T]]) -> None:
        self._task = asyncio.ensure_future(job())

    async def result(self) -> T:
        """Wait for it. Raises what it raises."""
        return await self._task

    async def abandon(self) -> None:
        """Stop it, and wait until it has."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


class Shown:
    """The base of what a notebook shows: the async API cannot ask the server there, so it shows a name."""

    def _repr_html_(self) -> str:
        from lakebed._render import html

        return html.plain(repr(self))


class ByPath:
    """The base of refs: `await ref[path]` is `await ref.get(path)`."""

    __iter__ = None
    """Without it, Python would iterate by asking for the objects 0, 1, 2."""

    async def get(self, path: str) -> bytes:
        """The content of an object."""
        raise NotImplementedError

    def __contains__(self, path: object) -> bool:
        raise TypeError("`in` cannot wait for the server: await ref.exists(path)")

    def __getitem__(self, path: str) -> Awaitable[bytes]:
        if not isinstance(path, str):
            raise TypeError(f"an object is found by its path, not by {path!r}: ref['raw/a.csv'], and ref.list()")
        return self.get(path)


class ByNumber(Generic[T]):
    """The base of listings, which are read by `await`."""

    def __len__(self) -> int:
        raise TypeError("the length of a listing is not known before it is read: len(await listing.all())")

    def __bool__(self) -> bool:
        raise TypeError("a listing is empty or not only when it is read: await listing.first() is not None")

    def __getitem__(self, index: int | slice) -> T | list[T]:
        raise TypeError("[] cannot wait for the server: await listing.first(), or (await listing.all())[0]")


class ArrowStream:
    """The base of Arrow streams. Other libraries cannot read them here, because they would block the event loop."""


async def stream(chunks: Iterator[bytes] | AsyncIterator[bytes], seen: Callable[[bytes], None]) -> AsyncIterator[bytes]:
    """Pass chunks on, showing each to `seen`; reading and hashing happen off the event loop."""
    if isinstance(chunks, AsyncIterator):
        async for chunk in chunks:
            seen(chunk)
            yield chunk
        return
    source = chunks

    def step() -> bytes:
        chunk = next(source, b"")
        seen(chunk)
        return chunk

    while block := await asyncio.to_thread(step):
        yield block


async def collect(rows: AsyncIterator[T]) -> list[T]:
    """All of an iterator, as a list."""
    return [row async for row in rows]
