"""Standard input as a file that Ctrl-C always interrupts.

Python handles a signal between two bytecodes, or when it interrupts a system call. A signal that comes just before a
read from a pipe does neither: the read waits for the next bytes. So this file waits for the bytes and for signals.
"""

from __future__ import annotations

import io
import os
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

_BLOCK = 1 << 20


class _Interruptible(io.RawIOBase):
    """A file descriptor. `woken` becomes readable at a signal."""

    def __init__(self, fd: int, woken: int) -> None:
        self._fd = fd
        self._woken = woken

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            ready, _, _ = select.select([self._fd, self._woken], [], [])
            if self._woken not in ready:
                return os.readv(self._fd, [buffer])
            os.read(self._woken, 4096)  # the handler of the signal runs before the next line, and may raise


@contextmanager
def standard_input() -> Iterator[IO[bytes]]:
    """Standard input. A regular file is returned as it is: its size is known, and it can be read again."""
    file = sys.stdin.buffer
    is_main = threading.current_thread() is threading.main_thread()
    if sys.platform == "win32" or not is_main or file.seekable() or not _has_descriptor(file):
        yield file
        return
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    before = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    try:
        yield io.BufferedReader(_Interruptible(file.fileno(), woken), _BLOCK)
    finally:
        signal.set_wakeup_fd(before)
        os.close(woken)
        os.close(wake)


def _has_descriptor(file: IO[bytes]) -> bool:
    try:
        return file.fileno() >= 0
    except OSError:
        return False
