"""Small puts into `local://`, many at a time.

A put waits in a queue. A thread takes all waiting puts, writes and syncs the files, gives them their names under one
lock, and syncs each directory once for all of them. A put changes threads once.

A put under a fresh key, which no caller knows before the response, writes directly under its name, and one call syncs
its file and its directories. This saves a second commit of the file system's journal and half of the system calls. A
put whose key is a hash of its content does the same when its name is free, because no caller reads this key before the
response either. If another put of the same content has taken the name, the file is synced and then renamed, like all
others.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import secrets
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from lakebed_engine.stores.objects.base import PutResult
from lakebed_engine.stores.objects.local.keys import Places
from lakebed_engine.stores.objects.local.publish import LOCK_SECONDS, Clash, Publisher
from lakebed_engine.stores.objects.local.syscalls import SystemCalls, refuse_without, store_error, write_all
from lakebed_engine.stores.objects.threads import Threads
from lakebed_engine.vocabulary.errors import BlobExists, StoreError
from lakebed_engine.vocabulary.streams import settled

_BATCH = 16
_SMALL = 64 << 10
"""Largest object in bytes that the event loop writes itself."""

_WORKERS = 2
"""Batches of one store at a time: while one waits for the disk, the other fills. The second begins when it is full,
because two small batches would take the disk twice as long as one.
"""


class Put:
    """A running put: `data` to write, or a `temp` file that is already on disk. With `fresh`, `temp` is the file under
    its own name; `fresh` becomes False if that is impossible. `by_content` becomes `fresh` if its name is free.
    """

    __slots__ = (
        "after",
        "by_content",
        "data",
        "done",
        "error",
        "fd",
        "fresh",
        "future",
        "hashed",
        "if_absent",
        "key",
        "md5",
        "raw",
        "target",
        "temp",
    )

    def __init__(
        self,
        key: str,
        raw: bytes,
        *,
        if_absent: bool,
        data: bytes = b"",
        temp: bytes = b"",
        hashed: bool = False,
        fresh: bool = False,
        by_content: bool = False,
    ) -> None:
        self.key = key
        self.raw = raw
        self.if_absent = if_absent
        self.data = data
        self.temp = temp
        self.hashed = hashed
        self.fresh = fresh
        self.by_content = by_content
        self.md5 = ""
        self.target = b""
        self.fd = -1
        self.error: Exception | None = None
        self.future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.after: asyncio.Future[None] | None = None
        self.done = False

    @property
    def open(self) -> bool:
        """Whether it has neither failed nor been cancelled."""
        return self.error is None and not self.future.cancelled()

    def report(self) -> None:
        """Wake the caller, on its event loop: the work on this put has ended."""
        self.done = True
        if self.after is not None:
            self.after.set_result(None)
        if self.future.cancelled():
            return
        if self.error is None:
            self.future.set_result(None)
        else:
            self.future.set_exception(self.error)


class Writer:
    """The queue of one store."""

    def __init__(
        self,
        uri: str,
        places: Places,
        calls: SystemCalls,
        threads: Threads,
        base: bytes | None,
        lock_seconds: float = LOCK_SECONDS,
    ) -> None:
        self.base = base
        self.publisher = Publisher(places, calls, lock_seconds)
        self.uri = uri
        self._places = places
        self.calls = calls
        self._threads = threads
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._queue: deque[Put] = deque()
        self._lock = threading.Lock()
        self._active = 0

    async def put(self, put: Put) -> PutResult:
        """Wait until the put is durable.

        A cancelled put stays invisible, unless the cancellation arrives while its name is written: then it is complete.
        In both cases, all work on it has ended when this raises CancelledError.
        """
        if self._pid != os.getpid():  # a forked child does not have the threads of its parent
            self._begin()
        self._queue.append(put)
        # in the next turn of the loop: puts of this turn go into the same batch
        asyncio.get_running_loop().call_soon(self._start)
        try:
            await put.future
        except asyncio.CancelledError:
            if not put.done:
                put.after = asyncio.get_running_loop().create_future()
                await settled(put.after)
            raise
        return PutResult(len(put.data), put.md5)

    def _start(self) -> None:
        """Start a worker for the queue, unless enough are running."""
        with self._lock:
            start = len(self._queue) > self._active * (_BATCH - 1) and self._active < _WORKERS
            self._active += start
        if start and self._needs_no_thread():
            self._drain()
        elif start:
            self._threads.write(self._drain)

    def _needs_no_thread(self) -> bool:
        """Whether the event loop itself can write the queue: small objects of fresh keys, in a store that does not
        sync.

        A thread takes longer to wake up than such a write: 1,813 puts of 1 KiB a second with it, 3,115 without
        (docs/decisions/0027). Other keys get their names under the store's lock, which another process may hold.
        """
        return not self.calls.syncs and all(put.fresh and len(put.data) <= _SMALL for put in tuple(self._queue))

    def delete(self, keys: Sequence[tuple[str, bytes]], before: float | None = None) -> list[str]:
        """Remove keys durably. Blocks. Returns the removed keys. Raises a StoreError at the first that cannot be
        removed.

        With `before`, it removes only files that were written before this time. No put publishes during the call.
        """
        touched: set[bytes] = set()
        removed: list[str] = []
        key = keys[0][0]
        try:
            with self.publisher.locked(exclusive=before is not None):
                for key, raw in keys:
                    if before is None or self.publisher.is_older(raw, before):
                        self.publisher.remove(raw, touched)
                        removed.append(key)
            for error in self.publisher.sync(touched).values():
                raise error
        except FileNotFoundError:
            refuse_without(self.base, "delete", self.uri, key)
            return []  # without a root, there are no objects
        except OSError as error:
            raise store_error(error, "delete", self.uri, key) from error
        return removed

    def temp_path(self) -> bytes:
        """The path of a new temp file."""
        return self._places.temp + b"/" + secrets.token_hex(16).encode()

    def create_temp(self, path: bytes, key: str) -> int:
        """Open a new temp file. Creates missing directories of the store. Raises OSError, StoreError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            return self.calls.open(path, flags, 0o666)
        except FileNotFoundError:
            refuse_without(self.base, "write", self.uri, key)
            self.publisher.prepare()
            return self.calls.open(path, flags, 0o666)

    def _drain(self) -> None:
        batch: list[Put] = []
        try:
            while self._queue and len(batch) < _BATCH:
                batch.append(self._queue.popleft())
        except IndexError:
            pass  # the other worker took the last one
        try:
            self._work(batch)
        finally:
            with self._lock:
                again = bool(self._queue)
                self._active -= not again
            _report(batch)  # last: a caller that gets the result may fork immediately
            if again:
                self._threads.write(self._drain)  # at the pool's end, so that stores take turns

    def _work(self, batch: Sequence[Put]) -> None:
        try:
            self._name_at_once([put for put in batch if put.by_content and put.open])
            self._each(batch, self._write)
            self._sync_files([put for put in batch if put.fd >= 0 and put.open])
            self._publish([put for put in batch if put.open and not put.fresh])
            self._sync_directories([put for put in batch if put.target and not put.fresh])
        except Exception as error:
            for put in batch:
                put.error = put.error or error
            raise
        finally:
            for put in batch:
                self._clean_up(put)

    def _clean_up(self, put: Put) -> None:
        """Remove the leftovers of a failed or cancelled put."""
        shared = put.by_content and put.fresh
        if put.fd >= 0:
            if shared:
                self.publisher.withdraw(put.fd, put.temp)
            self.calls.close(put.fd)
        if put.temp and not put.target and not shared:  # a closed file is complete, and may be shared: it stays
            self.publisher.discard(put.temp)

    def _name_at_once(self, puts: Sequence[Put]) -> None:
        """Create files under their own names. If a name is taken, the put uses a temp file and finds out later."""
        if not puts:
            return
        try:
            with self.publisher.locked():
                for put in puts:
                    with suppress(OSError, Clash):
                        put.fd, put.temp = self.publisher.create_shared(put.raw)
                        put.fresh = True
        except BlockingIOError as error:  # do not wait for it a second time
            for put in puts:
                put.error = store_error(error, "write", self.uri, put.key)
        except OSError:
            pass

    def _each(self, puts: Sequence[Put], step: Callable[[Put], None]) -> None:
        for put in puts:
            if not put.open:
                continue
            try:
                step(put)
            except FileExistsError:
                put.error = BlobExists(f"{self.uri}/{put.key} exists already; nothing was written")
            except OSError as error:
                put.error = store_error(error, "write", self.uri, put.key)
            except StoreError as error:
                put.error = error

    def _write(self, put: Put) -> None:
        if put.fd < 0:
            if put.temp:
                return
            self._create(put)
        write_all(self.calls, put.fd, put.data)
        if put.hashed:
            put.md5 = hashlib.md5(put.data, usedforsecurity=False).hexdigest()

    def _create(self, put: Put) -> None:
        if put.fresh:
            try:
                put.fd, put.temp = self._create_named(put)
                return
            except Clash:
                put.fresh = False
        path = self.temp_path()
        put.fd = self.create_temp(path, put.key)
        put.temp = path

    def _create_named(self, put: Put) -> tuple[int, bytes]:
        try:
            return self.publisher.create(put.raw)
        except FileNotFoundError:
            refuse_without(self.base, "write", self.uri, put.key)
            self.publisher.prepare()
            return self.publisher.create(put.raw, directories=True)

    def _sync_files(self, written: Sequence[Put]) -> None:
        needed = {put: self.publisher.unsynced(put.temp) for put in written if put.fresh}
        if len(written) == 1 and not needed:
            self._each(written, lambda put: self.calls.fsync(put.fd))
        elif written:
            for put in written:
                if not put.fresh:  # useless for a file whose directory is synced too
                    self.calls.writeback(put.fd)
            errors, failed = self.publisher.sync_with([put.fd for put in written], _once(needed))
            for put, error in zip(written, errors, strict=True):
                if error is not None:
                    put.error = store_error(error, "write", self.uri, put.key)
            self._record_synced(needed, failed)
        self._each(written, self._close)
        for put in needed:
            if put.open:
                put.target = put.temp

    def _close(self, put: Put) -> None:
        fd, put.fd = put.fd, -1
        self.calls.close(fd)

    def _publish(self, batch: Sequence[Put]) -> None:
        if not batch:
            return
        clashed: list[Put] = []

        def shared(put: Put) -> None:
            try:
                put.target = self.publisher.publish_shared(put.temp, put.raw, put.if_absent)
            except Clash:
                clashed.append(put)

        def exclusive(put: Put) -> None:
            try:
                put.target = self.publisher.publish_exclusive(put.temp, put.raw, put.if_absent)
            except Clash:
                raise OSError(errno.ENAMETOOLONG, "file name too long even when encoded") from None

        try:
            with self.publisher.locked():
                self._each(batch, shared)
            if clashed:
                with self.publisher.locked(exclusive=True):
                    self._each(clashed, exclusive)
        except OSError as error:  # the error of the lock itself
            for put in batch:
                if put.open and not put.target:
                    put.error = store_error(error, "write", self.uri, put.key)

    def _sync_directories(self, published: Sequence[Put]) -> None:
        needed = {put: self.publisher.unsynced(put.target) for put in published}
        self._record_synced(needed, self.publisher.sync(_once(needed)))

    def _record_synced(self, needed: Mapping[Put, Sequence[bytes]], failed: Mapping[bytes, OSError]) -> None:
        """Remember the directories that are synced, and set the error of each put whose directory failed."""
        for put, paths in needed.items():
            for path in paths:
                if path in failed and put.error is None:
                    put.error = store_error(failed[path], "sync the directory of", self.uri, put.key)
            if put.error is None:
                self.publisher.remember(paths)


def _once(needed: Mapping[Put, Sequence[bytes]]) -> list[bytes]:
    return list(dict.fromkeys(path for paths in needed.values() for path in paths))


def _report(batch: Sequence[Put]) -> None:
    """Wake each caller's loop once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Put]] = {}
    for put in batch:
        by_loop.setdefault(put.future.get_loop(), []).append(put)
    for loop, puts in by_loop.items():
        try:
            loop.call_soon_threadsafe(_report_here, puts)
        except RuntimeError:
            pass  # the loop is closed: no caller waits


def _report_here(puts: Sequence[Put]) -> None:
    for put in puts:
        put.report()
