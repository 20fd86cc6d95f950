"""The sync half of the pair: threads and plain calls under the names of `lakebed._compat.aio`."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, CancelledError, ThreadPoolExecutor, wait
from itertools import islice
from typing import TYPE_CHECKING, Generic, ParamSpec, Protocol, TypeVar, overload

from lakebed._process.forks import ForkLock
from lakebed._values import upload_source
from lakebed.errors import ConfigurationError, InvalidRequestError, LakebedError

if TYPE_CHECKING:
    import pyarrow as pa

Data = upload_source.Data

_GRACE = 5.0
CLOSED = "this connection is closed: call connect() again"

T = TypeVar("T")
P = ParamSpec("P")

Lock = threading.Lock
Job = Callable[[], T]


class Closable(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=Closable)


class LakeBase:
    """The base of what `connect` returns: nothing to add here."""


class Clients(Generic[C]):
    """HTTP clients, made where they are first used: one for each process, since sockets must not cross a fork."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._lock = ForkLock()
        self._known: dict[int, C] = {}
        self.is_closed = False
        weakref.finalize(self, _close_own, self._known)

    def get(self) -> C:
        """The client of this process. Raises ConfigurationError after `close`."""
        client = self._known.get(os.getpid())
        return client if client is not None else self._new()

    def _new(self) -> C:
        with self._lock:
            if self.is_closed:
                raise ConfigurationError(CLOSED)
            self._inherited()
            return self._known.setdefault(os.getpid(), self._make())

    def close(self) -> None:
        """Close this process's client. `get` raises afterwards."""
        with self._lock:
            self.is_closed = True
            client = self._known.pop(os.getpid(), None)
            self._inherited()
        if client is not None:
            client.close()

    def _inherited(self) -> None:
        """Keep the clients of a parent process alive and unused: closing them here would disturb the parent."""
        _INHERITED.extend(self._known.pop(process) for process in list(self._known) if process != os.getpid())


_INHERITED: list[Closable] = []


def _close_own(known: dict[int, C]) -> None:
    client = known.get(os.getpid())
    if client is not None:
        client.close()


def sleep(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)


def run_in_thread(job: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking work: here, simply run it."""
    return job(*args, **kwargs)


def gather(jobs: Iterable[Callable[[], T]], limit: int = 8, *, stop: Callable[[], None] | None = None) -> list[T]:
    """Run jobs in threads, at most `limit` at a time; results in order. The first error drops those not yet begun.

    A thread cannot be cancelled: `stop` is called then, to end the running jobs, and they are waited for; after Ctrl-C
    for five seconds.
    """
    waiting = list(jobs)
    if len(waiting) <= 1:
        return [job() for job in waiting]
    running = _Running()
    pool = ThreadPoolExecutor(min(limit, len(waiting)), thread_name_prefix="lakebed")
    try:
        futures = [pool.submit(running.run, job) for job in waiting]
        for future in wait(futures, return_when=FIRST_EXCEPTION).done:
            future.result()  # raises the first error
        return [future.result() for future in futures]
    except BaseException as error:
        if stop is not None:
            stop()
        pool.shutdown(wait=False, cancel_futures=True)
        running.end(None if isinstance(error, Exception) else _GRACE)
        raise
    finally:
        pool.shutdown(wait=False)


class _Running:
    """Counts running jobs. The threads of a pool do not do: Ctrl-C may come while the pool is starting one."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0
        self._ended = False

    def run(self, job: Callable[[], T]) -> T:
        """Run one."""
        with self._changed:
            if self._ended:
                raise CancelledError
            self._count += 1
        try:
            return job()
        finally:
            with self._changed:
                self._count -= 1
                self._changed.notify_all()

    def end(self, seconds: float | None) -> None:
        """Begin no more, and wait for the running ones."""
        with self._changed:
            self._ended = True
            self._changed.wait_for(lambda: not self._count, seconds)


def blocking(job: Callable[P, T]) -> Callable[P, T]:
    """A function that may be called from other threads: here, it already is."""
    return job


def off_loop(rows: Iterator[T]) -> Iterator[T]:
    """An iterator that any thread may step through: here, it already is."""
    return rows


class Background(Generic[T]):
    """A job that runs in the background."""

    def __init__(self, job: Callable[[], T]) -> None:
        pool = ThreadPoolExecutor(1, thread_name_prefix="lakebed")
        self._future = pool.submit(job)
        pool.shutdown(wait=False)

    def result(self) -> T:
        """Wait for it. Raises what it raises."""
        return self._future.result()

    def abandon(self) -> None:
        """Wait until it has ended: a thread cannot be stopped."""
        self._future.exception()


class Shown:
    """The base of what a notebook shows: `_look` asks the server, and failures are shown, not raised."""

    def _look(self) -> str:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        from lakebed._render import html

        try:
            return self._look()
        except LakebedError as error:
            return html.plain(repr(self), f"{type(error).__name__}: {error.message}")


class ByPath:
    """The base of refs: `path in ref` and `ref[path]`."""

    __iter__ = None
    """Without it, Python would iterate by asking for the objects 0, 1, 2."""

    def exists(self, path: str) -> bool:
        """Whether there is an object at this path."""
        raise NotImplementedError

    def get(self, path: str) -> bytes:
        """The content of an object."""
        raise NotImplementedError

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self.exists(path)

    def __getitem__(self, path: str) -> bytes:
        if not isinstance(path, str):
            raise TypeError(f"an object is found by its path, not by {path!r}: ref['raw/a.csv'], and ref.list()")
        return self.get(path)


class ByNumber(Generic[T]):
    """The base of listings: `listing[0]` and `listing[:10]` fetch only what they need."""

    def __len__(self) -> int:
        raise TypeError("the length of a listing is not known before it is read: len(listing.all())")

    def __bool__(self) -> bool:
        raise TypeError("a listing is empty or not only when it is read: listing.first() is not None")

    def _limited(self, amount: int) -> Iterable[T]:
        """The same listing with at most this number of rows."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> list[T]: ...

    def __getitem__(self, index: int | slice) -> T | list[T]:
        ends = (index.start, index.stop) if isinstance(index, slice) else (index,)
        if not all(one is None or (isinstance(one, int) and one >= 0) for one in ends):
            raise TypeError(f"a listing is read from its beginning, so {index!r} needs listing.all() first")
        if isinstance(index, slice):
            if index.stop is None:
                raise TypeError("a slice of a listing needs an end, as in listing[:10]; listing.all() has all rows")
            return list(islice(self._limited(index.stop), index.start, None, index.step))
        for row in islice(self._limited(index + 1), index, None):
            return row
        raise IndexError(f"the listing has no row {index}")


class ArrowStream:
    """The base of what other libraries (Polars, DuckDB, pyarrow) read as an Arrow stream."""

    def to_reader(self) -> pa.RecordBatchReader:
        """A reader of all batches."""
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_reader().__arrow_c_stream__(requested_schema)


def stream(chunks: Iterator[bytes] | AsyncIterator[bytes], seen: Callable[[bytes], None]) -> Iterator[bytes]:
    """Pass chunks on, showing each to `seen`."""
    if isinstance(chunks, AsyncIterator):
        raise InvalidRequestError("an async iterator can be uploaded through lakebed.aio only")
    for chunk in chunks:
        seen(chunk)
        yield chunk


def collect(rows: Iterator[T]) -> list[T]:
    """All of an iterator, as a list."""
    return list(rows)
