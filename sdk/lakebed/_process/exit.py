"""At the end of a process, waits for threads of C++ and Rust that still hold objects of the SDK.

Arrow drops a Python file in one of its own threads, possibly after the read has returned. When Python is gone by then,
that thread is ended inside a C++ destructor, and the process aborts with exit code -6 after all work is done. obstore's
threads do the same when they report to an event loop: 3 of 60 scripts that await it abort, none of 60 that pause for a
millisecond. From Python 3.14 on such threads hang instead. `lakebed_format.threads` waits for what Arrow drops itself.
"""

from __future__ import annotations

import atexit
import time
from functools import cache
from io import RawIOBase
from threading import Event
from typing import Any
from weakref import WeakValueDictionary

from lakebed_format.threads import await_threads

PATIENCE = 0.5
"""Seconds that a process waits for open files at most."""

_PAUSE = 0.05
"""Seconds in which obstore's threads end their reports."""

_is_read_by_arrow = Event()
_held: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""Files by identity: those of fsspec are equal when they show the same object."""


def arrow_reads() -> None:
    """Let the end of the process wait until Arrow's threads rest."""
    _is_read_by_arrow.set()


def held_by_arrow(file: Any) -> None:
    """Let the end of the process wait until this file is dropped, or closed."""
    arrow_reads()
    _held[id(file)] = file


@cache
def awaited_of_obstore() -> None:
    """Let the end of the process pause for obstore's threads, which may report to an event loop of it."""
    atexit.register(time.sleep, _PAUSE)


def _is_awaited(file: Any) -> bool:
    """Arrow may drop a file after it has closed it. A program may keep a closed file of fsspec."""
    return isinstance(file, RawIOBase) or not file.closed


@atexit.register
def _wait() -> None:
    until = time.monotonic() + PATIENCE
    while any(_is_awaited(file) for file in list(_held.values())) and time.monotonic() < until:
        time.sleep(0.001)
    if _is_read_by_arrow.is_set():
        await_threads()
