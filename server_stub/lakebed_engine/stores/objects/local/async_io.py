"""Many files synced by one call, so that they share a commit of the file system's journal and a flush of the disk.

One after the other, each fsync is a flush of its own. Linux takes them all at once by its AIO (`io_submit`), which
Python has no door to. Where the system, its processor or a sandbox has none, it is one after the other.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
from collections.abc import Sequence
from typing import Final

_FSYNC: Final = 2
"""IOCB_CMD_FSYNC: data and metadata, as `os.fsync`."""

_MOST: Final = 64
"""Files in one call."""

_NUMBERS: Final = {"x86_64": (206, 209, 208), "aarch64": (0, 2, 4)}
"""Of io_setup, io_submit and io_getevents."""


class _Request(ctypes.Structure):
    """struct iocb of a little-endian machine."""

    _fields_ = [
        ("data", ctypes.c_uint64),
        ("key", ctypes.c_uint32),
        ("rw_flags", ctypes.c_uint32),
        ("opcode", ctypes.c_uint16),
        ("priority", ctypes.c_int16),
        ("fd", ctypes.c_uint32),
        ("rest", ctypes.c_uint64 * 5),
    ]


class _Event(ctypes.Structure):
    """struct io_event."""

    _fields_ = [("data", ctypes.c_uint64), ("request", ctypes.c_uint64), ("result", ctypes.c_int64 * 2)]


class _Queue:
    """One of the kernel's queues, for one thread at a time. Raises OSError where there is none to be had."""

    def __init__(self) -> None:
        numbers = _NUMBERS.get(platform.machine()) if sys.platform == "linux" else None
        if numbers is None:
            raise OSError(errno.ENOSYS, "no asynchronous fsync")
        self._setup, self._submit, self._events = numbers
        self._call = ctypes.CDLL(None, use_errno=True).syscall
        self._call.restype = ctypes.c_long
        self._handle = ctypes.c_ulong(0)
        self.lost = False
        """Not to be used again: answers are missing."""
        self._ask(self._setup, ctypes.c_long(_MOST), ctypes.byref(self._handle))

    def sync(self, fds: Sequence[int]) -> list[int]:
        """The error number of each, 0 for those on disk; fewer than asked for where the kernel took fewer.

        Raises OSError where it took none.
        """
        requests = (_Request * len(fds))()
        pointers = (ctypes.c_void_p * len(fds))()
        for number, fd in enumerate(fds):
            requests[number].data, requests[number].opcode, requests[number].fd = number, _FSYNC, fd
            pointers[number] = ctypes.addressof(requests[number])
        taken = self._ask(self._submit, self._handle, ctypes.c_long(len(fds)), pointers)
        found = [errno.EIO] * taken
        events = (_Event * taken)()
        left = taken
        try:
            while left:
                count = self._ask(self._events, self._handle, ctypes.c_long(left), ctypes.c_long(left), events, None)
                for event in events[:count]:
                    found[event.data] = -event.result[0]
                left -= count
        except OSError:
            self.lost = True  # whoever asks again for those might be told no error: it is told once
        return found

    def _ask(self, *arguments: object) -> int:
        while True:
            found = int(self._call(*arguments))
            if found >= 0:
                return found
            code = ctypes.get_errno()
            if code != errno.EINTR:
                raise OSError(code, os.strerror(code))


_idle: list[_Queue] = []
"""As many as were ever at work at once: making one, and giving it back, takes longer than an fsync."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # the kernel's queues are the parent's


def fsync_all(fds: Sequence[int]) -> list[OSError | None]:
    """fsync every file, and answer what went wrong with each. Blocks without the GIL."""
    queue = _taken()
    done = [] if queue is None else _sync_all(queue, fds)
    if queue is not None and not queue.lost:
        _idle.append(queue)  # also after it took nothing: nobody gives a queue back to the kernel
    return done + [_fsync(fd) for fd in fds[len(done) :]]


def _taken() -> _Queue | None:
    """A queue for the caller alone; None where there is none to be had."""
    try:
        return _idle.pop() if _idle else _Queue()
    except (OSError, IndexError):  # or another thread took the last one just now
        return None


def _sync_all(queue: _Queue, fds: Sequence[int]) -> list[OSError | None]:
    """What became of the first of the files, as many as the kernel took."""
    done: list[OSError | None] = []
    try:
        while len(done) < len(fds) and not queue.lost:
            codes = queue.sync(fds[len(done) : len(done) + _MOST])
            if not codes:
                break
            done += [OSError(code, os.strerror(code)) if code else None for code in codes]
    except OSError:
        pass  # it took none of these
    return done


def _fsync(fd: int) -> OSError | None:
    try:
        os.fsync(fd)
    except OSError as error:
        return error
    return None
