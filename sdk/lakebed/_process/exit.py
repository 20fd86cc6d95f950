"""At the end of a process, waits for threads of C++ and Rust that still hold objects of the SDK.

Arrow drops a Python file in one of its own threads, possibly after the read has returned. When Python is gone by then,
that thread is ended inside a C++ destructor, and the process aborts with exit code -6 after all work is done. obstore's
threads do the same when they report to an event loop: 3 of 60 scripts that await it abort, none of 60 that pause for a
millisecond. From Python 3.14 on such threads hang instead.
"""

from __future__ import annotations

import atexit
import time
from functools import cache
from typing import Any
from weakref import WeakValueDictionary

PATIENCE = 0.5
"""Seconds that a process waits for open files at most."""

_PAUSE = 0.05
"""Seconds in which obstore's threads end their reports."""

_held: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""Files by identity: those of fsspec are equal when they show the same object."""


def held_by_arrow(file: Any) -> None:
    """Let the end of the process wait until this file is dropped, or closed."""
    _held[id(file)] = file


@cache
def awaited_of_obstore() -> None:
    """Let the end of the process pause for obstore's threads, which may report to an event loop of it."""
    atexit.register(time.sleep, _PAUSE)


@atexit.register
def _wait() -> None:
    until = time.monotonic() + PATIENCE
    while any(not file.closed for file in list(_held.values())) and time.monotonic() < until:
        time.sleep(0.001)
