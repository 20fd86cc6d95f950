"""Makes finished files visible in `local://`, durably, and removes them.

It works on temp files that are already on disk. The functions block and run in threads.

**Files and directories of one name.** A key is stored at its plain path if possible. If this path is a directory or
leads through a file, the key is stored in the encoded tree. A reader tries the plain path, then the encoded one. A
symbolic link counts as a directory that is never entered: it is not followed, replaced or removed. No acknowledged
object becomes unreachable or exists twice, because:

1. Nothing here replaces a directory by a file or a file by a directory: `rename` and `link` refuse directories, `mkdir`
   refuses files, and directories are never removed. So the first of two keys keeps the plain path.
2. Plain paths change only under the shared lock, and a plain key's encoded path is created only under the exclusive one
   (`flock` on `.lakebed-lock`: across threads and processes). So "the plain path is taken" stays true until the encoded
   path is written, and "there is no encoded path" stays true until the plain one is. At most one of the two exists.
3. A key keeps its path until it is deleted. So if a reader finds neither path, there was a moment without the key.

**Durability.** The file is synced first, then its name, then every parent directory that this process has not yet
synced. For a fresh key, which no caller knows before the response, one call syncs all of them. Several callers may put
a key that is a hash of its content: the first creates a file at it, the others replace this file, and each has synced
the file that the name may point to. Tools that write by plain path take no lock: only the guarantees of their own calls
apply to them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from lakebed_engine.stores.objects.local.keys import Places
from lakebed_engine.stores.objects.local.paths import UNREACHED, look
from lakebed_engine.stores.objects.local.syscalls import SystemCalls

_CLASH = {errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP}

_KNOWN = 1 << 16
"""Maximum number of remembered durable directories. Forgetting one costs only an unnecessary fsync."""


LOCK_SECONDS = 30.0
"""Seconds to wait for a lock. A deletion in another process may hold it for some seconds."""

_LOCK_POLL = 0.001


class Clash(Exception):
    """The plain path is taken by a directory or a link, leads through one or a file, or is too long."""


class Publisher:
    """Moves temp files to their keys. Safe to use from many threads."""

    def __init__(self, places: Places, calls: SystemCalls, lock_seconds: float = LOCK_SECONDS) -> None:
        self._places = places
        self._lock_seconds = lock_seconds
        self._calls = calls
        self._durable: set[bytes] = set()

    def prepare(self) -> None:
        """Create the root and the temp directory, durably. Called when a write finds them missing."""
        made = self._make_directories(self._places.temp)
        for error in self.sync({_parent(path) for path in made} | {_parent(self._places.root)}).values():
            raise error
        self._durable.add(self._places.root)

    @contextmanager
    def locked(self, exclusive: bool = False) -> Iterator[None]:
        """Hold the store's lock. Each use opens the lock file again, because flock belongs to the open file, not to the
        thread.

        Raises BlockingIOError when another process holds it for too long.
        """
        fd = self._calls.open(self._places.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._take(fd, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
            yield
        finally:
            self._calls.close(fd)

    def _take(self, fd: int, kind: int) -> None:
        end = time.monotonic() + self._lock_seconds
        while True:
            try:
                return fcntl.flock(fd, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= end:
                    held = f"another process has held the store's lock for {self._lock_seconds:g} seconds"
                    raise BlockingIOError(errno.EWOULDBLOCK, held) from None
            time.sleep(_LOCK_POLL)

    def create(self, key: bytes, *, directories: bool = False) -> tuple[int, bytes]:
        """Create an empty file under a fresh key. Returns its descriptor and its path. Needs no lock: the rules above
        apply to keys that several callers may write.

        Raises FileNotFoundError if a directory is missing and `directories` is False, FileExistsError if the key is
        not fresh, and Clash if the key has no plain path here.
        """
        path = self._places.plain_path(key)
        if path is None:
            raise Clash
        try:
            if directories:
                self._make_directories(_parent(path))
            return self._calls.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), path
        except OSError as error:
            if error.errno in _CLASH:
                raise Clash from error
            raise

    def create_shared(self, key: bytes) -> tuple[int, bytes]:
        """Under the shared lock: create an empty file under a key that others may write too. Returns its descriptor and
        its path.

        Raises FileExistsError if the key is taken, and Clash when its path is, or may be, in the encoded tree.
        """
        if self._is_encoded(key):
            raise Clash
        try:
            return self.create(key)
        except FileNotFoundError:
            return self.create(key, directories=True)

    def withdraw(self, fd: int, path: bytes) -> None:
        """Remove a file that `create_shared` made, unless another put of the same key has replaced it."""
        try:
            with self.locked(exclusive=True):  # no other put can rename now: the name cannot change
                found = look(path)
                if found is not None and os.path.samestat(os.fstat(fd), found):
                    self._calls.unlink(path)
        except OSError:
            pass  # the sweep removes it

    def publish_shared(self, temp: bytes, key: bytes, if_absent: bool) -> bytes:
        """Under the shared lock: move the file to its key. Returns the path.

        Raises FileExistsError with `if_absent`, and Clash for `publish_exclusive`.
        """
        plain = self._places.plain_path(key)
        if plain is None:
            return self._move(temp, self._places.encoded_path(key), if_absent)
        if self._is_encoded(key):
            if if_absent:
                raise FileExistsError
            raise Clash
        return self._move(temp, plain, if_absent)

    def publish_exclusive(self, temp: bytes, key: bytes, if_absent: bool) -> bytes:
        """Under the exclusive lock: move the file to the current path of the key, plain or encoded."""
        plain, encoded = self._places.plain_path(key), self._places.encoded_path(key)
        if plain is not None and (_file(plain) or look(encoded) is None):
            try:
                return self._move(temp, plain, if_absent)
            except Clash:
                pass
        return self._move(temp, encoded, if_absent)

    def remove(self, key: bytes, touched: set[bytes]) -> None:
        """Under the shared lock: remove the key's file, and add its directory to those to sync."""
        plain = self._places.plain_path(key)
        # If another tool has created a second file of the key, remove the hidden encoded file first: it must not
        # reappear.
        for path in (self._places.encoded_path(key), plain):
            if path is None or not _file(path):  # unlink would remove a link
                continue
            try:
                self._calls.unlink(path)
            except OSError as error:
                if error.errno not in UNREACHED | _CLASH:
                    raise
            else:
                touched.add(_parent(path))

    def is_older(self, key: bytes, before: float) -> bool:
        """Under the exclusive lock: whether the key has a file that was written before this time (Unix seconds)."""
        for path in (self._places.plain_path(key), self._places.encoded_path(key)):
            found = None if path is None else _file(path)
            if found is not None:
                return found.st_mtime < before
        return False

    def unsynced(self, path: bytes) -> list[bytes]:
        """The directories to sync so that the file's name survives a power cut: its own, and parents not yet known."""
        if not self._calls.syncs:
            return []
        directory = _parent(path)
        needed = [directory]
        while directory not in self._durable and len(directory) > 1:
            directory = _parent(directory)
            needed.append(directory)
        return needed

    def sync(self, directories: Iterable[bytes]) -> dict[bytes, OSError]:
        """fsync each once. Returns the errors."""
        failed: dict[bytes, OSError] = {}
        for directory in directories if self._calls.syncs else ():
            try:
                fd = self._calls.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                try:
                    self._calls.fsync(fd)
                finally:
                    self._calls.close(fd)
            except OSError as error:
                failed[directory] = error
        return failed

    def sync_with(
        self, files: Sequence[int], directories: Sequence[bytes]
    ) -> tuple[Sequence[OSError | None], dict[bytes, OSError]]:
        """fsync open files and directories with one call. Returns the error of each file, and the directories that
        failed.
        """
        opened: dict[bytes, int] = {}
        failed: dict[bytes, OSError] = {}
        try:
            for path in directories:
                try:
                    opened[path] = self._calls.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                except OSError as error:
                    failed[path] = error
            errors = self._calls.fsync_all([*files, *opened.values()])
        finally:
            for fd in opened.values():
                self._calls.close(fd)
        failed |= {path: error for path, error in zip(opened, errors[len(files) :], strict=True) if error is not None}
        return errors[: len(files)], failed

    def remember(self, synced: Sequence[bytes]) -> None:
        """Record that the directories of an `unsynced` result are on disk. Each contains the previous one's name."""
        if len(synced) > 1:
            if len(self._durable) > _KNOWN:
                self._durable = {self._places.root}
            self._durable.update(synced[:-1])

    def discard(self, temp: bytes) -> None:
        """Remove a temp file that will not be published. If that fails, a sweep removes it."""
        try:
            self._calls.unlink(temp)
        except OSError:
            pass

    def _move(self, temp: bytes, target: bytes, if_absent: bool) -> bytes:
        try:
            try:
                self._name(temp, target, if_absent)
            except FileNotFoundError:
                self._make_directories(_parent(target))
                self._name(temp, target, if_absent)
        except FileExistsError as error:
            if not _file(target):
                raise Clash from error
            raise
        except OSError as error:
            if error.errno in _CLASH:
                raise Clash from error
            raise
        return target

    def _name(self, temp: bytes, target: bytes, if_absent: bool) -> None:
        if if_absent:
            self._calls.link(temp, target)  # refuses a taken name atomically, which rename cannot
            self.discard(temp)
            return
        found = look(target)
        if found is not None and not stat.S_ISREG(found.st_mode):
            raise Clash  # rename would replace a link
        self._calls.rename(temp, target)

    def _is_encoded(self, key: bytes) -> bool:
        """Whether the key has a file in the encoded tree. Most stores have no such tree: one stat saves encoding."""
        return look(self._places.encoded.top) is not None and look(self._places.encoded_path(key)) is not None

    def _make_directories(self, path: bytes) -> list[bytes]:
        missing, made = [path], []
        while missing:
            try:
                self._calls.mkdir(missing[-1])
                made.append(missing[-1])
                self._durable.discard(missing[-1])  # known from before it was removed: its new name is not on disk yet
                missing.pop()
            except FileNotFoundError:
                missing.append(_parent(missing[-1]))
            except FileExistsError:
                missing.pop()  # a directory; or a file, and then the next step meets ENOTDIR
        return made


def _file(path: bytes) -> os.stat_result | None:
    found = look(path)
    return found if found is not None and stat.S_ISREG(found.st_mode) else None


def _parent(path: bytes) -> bytes:
    return path.rpartition(b"/")[0] or b"/"
