"""The system calls of writes to `local://`, and the messages of their errors.

The calls are attributes of one object, so that a test can record their order or make one fail. The store makes no other
system calls to write.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from lakebed_engine.stores.objects.local import paths
from lakebed_engine.vocabulary.errors import StoreError, StoreFullError, StoreUnavailableError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG}
"""EFBIG is the limit of the process or the file system for the size of a file: a retry cannot succeed."""


_SYNCS = 16
"""Files that are synced at the same time."""


def _writeback() -> Callable[[int], object]:
    """Linux's sync_file_range, which Python lacks. On other systems it does nothing."""
    try:
        call = ctypes.CDLL(None).sync_file_range
    except (AttributeError, OSError):
        return lambda fd: None
    call.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]
    return lambda fd: call(fd, 0, 0, 2)  # all of it, SYNC_FILE_RANGE_WRITE; fsync reports the errors


def _no_copy(*_: int) -> int:
    raise OSError(errno.ENOSYS, "this system has no copy_file_range")


@cache
def _sync_threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_SYNCS, thread_name_prefix="lakebed-fsync")


os.register_at_fork(after_in_child=_sync_threads.cache_clear)


def fsync_all(fds: Sequence[int]) -> list[OSError | None]:
    """fsync files at the same time, so that they share a commit of the file system's journal.

    Returns the error of each.
    """
    return list(_sync_threads().map(_fsync_error, fds))


def _fsync_error(fd: int) -> OSError | None:
    try:
        os.fsync(fd)
    except OSError as error:
        return error
    return None


class SystemCalls:
    """The real calls. Paths are bytes, because keys are UTF-8 whatever the locale. No call follows a symbolic link."""

    syncs = True
    """Whether a sync waits for the disk. If not, no directory is opened to sync it."""
    open = staticmethod(paths.open_file)
    write = staticmethod(os.write)
    writev = staticmethod(os.writev)
    copy_file_range = staticmethod(getattr(os, "copy_file_range", _no_copy))
    fsync = staticmethod(os.fsync)
    fsync_all = staticmethod(fsync_all)
    fdatasync = staticmethod(getattr(os, "fdatasync", os.fsync))  # macOS has no fdatasync
    writeback = staticmethod(_writeback())
    """Begin to write a file to disk. The first fsync then commits many files in the journal, instead of one file at
    each fsync.
    """
    close = staticmethod(os.close)
    rename = staticmethod(paths.rename)
    link = staticmethod(paths.link)
    unlink = staticmethod(paths.unlink)
    mkdir = staticmethod(paths.mkdir)


def _unsynced(fd: object) -> None:
    pass


def _unsynced_all(fds: Sequence[int]) -> list[OSError | None]:
    return [None] * len(fds)


class UnsyncedCalls(SystemCalls):
    """The same calls without waiting for the disk: written data survives a crash of this process, but not of this
    machine.
    """

    syncs = False
    fsync = staticmethod(_unsynced)
    fsync_all = staticmethod(_unsynced_all)
    fdatasync = staticmethod(_unsynced)
    writeback = staticmethod(_unsynced)


def store_error(error: OSError, verb: str, uri: str, key: str) -> StoreError:
    """The error to raise for a failed call: what failed, on what, why, the next step. No path: clients read it."""
    name = errno.errorcode.get(error.errno or 0, "unknown error")
    what = f"cannot {verb} {uri}/{key}: {error.strerror or type(error).__name__} ({name})"
    if error.errno in _FULL:
        text = f"{what}; no partial file remains: free space, or make it writable, and try again"
        return StoreFullError(text, public_message=text, lasting=True)
    if error.errno == errno.EXDEV:
        text = f"{what}; the store's directory spans two file systems: mount one at the namespace, not below it"
        return StoreUnavailableError(text, public_message=text, lasting=True)
    if error.errno == errno.ELOOP:
        text = (
            f"{what}; the server follows no symbolic links below objects.local.root: mount the directory there instead"
        )
        return StoreUnavailableError(text, public_message=text, lasting=True)
    if error.errno == errno.EWOULDBLOCK:
        text = f"{what}; a sweep or another program may hold the lock: `lslocks` shows it; try again"
        return StoreUnavailableError(text, public_message=text)
    text = f"{what}; check the directory's owner, mode and disk, and try again"
    return StoreUnavailableError(text, public_message=text)


def refuse_without(base: bytes | None, verb: str, uri: str, key: str) -> None:
    """Raise StoreUnavailableError if `base`, the directory of all namespaces, is missing."""
    found = None if base is None else paths.look(base)
    if base is not None and (found is None or not stat.S_ISDIR(found.st_mode)):
        text = f"cannot {verb} {uri}/{key}: the directory of local:// namespaces is gone; mount or restore it"
        raise StoreUnavailableError(text, public_message=text)


def refuse_file(root: bytes, verb: str, uri: str, key: str) -> None:
    """Raise StoreUnavailableError if the path of a namespace, or of a directory above it, is a file.

    Otherwise each of its objects would count as deleted.
    """
    found, path = paths.look(root), root
    while found is None and path:  # the path does not exist, or leads through a file
        path = path.rpartition(b"/")[0]
        found = paths.look(path or b"/")
    if found is not None and stat.S_ISREG(found.st_mode):
        text = (
            f"cannot {verb} {uri}/{key}: a file is in the place of the namespace's directory, or of one above it; "
            "move the file away and restore the directory"
        )
        raise StoreUnavailableError(text, public_message=text)


def write_all(calls: SystemCalls, fd: int, data: bytes) -> None:
    """Write every byte. One call may write fewer, near a limit or after a signal."""
    written = calls.write(fd, data)
    while written < len(data):
        written += calls.write(fd, memoryview(data)[written:])
