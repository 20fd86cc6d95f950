"""At the end of a process, waits for threads of C++ and Rust that still hold Python objects.

A thread of Arrow drops a file, or bytes that it has read, possibly after the read has returned. When Python shuts down
at that moment, it ends the thread inside a C++ destructor, and the process aborts with exit code -6 after all work is
done (apache/arrow#34314). On a busy machine, 5 of 275 programs that read a table aborted without this wait, none of
135 with it. The wait takes 12 to 16 ms. obstore's threads do the same when they report to an event loop: 3 of 60
scripts that await it abort, none of 60 that pause for a millisecond. From Python 3.14 on such threads hang instead.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import get_native_id
from typing import Any, Final
from weakref import WeakValueDictionary

PATIENCE: Final = 0.5
"""Seconds that a process waits at most, for open files and again for running threads."""

_PAUSE_OF_OBSTORE = 0.05
"""Seconds in which obstore's threads end their reports."""

_POLL = 0.002
_RESTS: Final = 3
"""Polls in a row that find no running thread. Between polls, threads that wait for the interpreter's lock get it."""

_TASKS = Path("/proc/self/task")
_held: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""Files by identity: those of fsspec are equal when they show the same object."""


@cache
def arrow_reads() -> None:
    """Let the end of the process wait for Arrow's threads."""
    atexit.register(_await_arrow)


def held_by_arrow(file: Any) -> None:
    """Let the end of the process wait until this file is dropped, or closed."""
    arrow_reads()
    _held[id(file)] = file


@cache
def awaited_of_obstore() -> None:
    """Let the end of the process pause for obstore's threads, which may report to an event loop of it."""
    atexit.register(time.sleep, _PAUSE_OF_OBSTORE)


def _await_arrow() -> None:
    _poll(lambda: any(not file.closed for file in list(_held.values())), rests=1)
    if _TASKS.is_dir():
        _poll(_another_thread_runs, rests=_RESTS)
    else:
        time.sleep(_POLL * _RESTS)


def _poll(is_busy: Callable[[], bool], *, rests: int) -> None:
    """Wait until `rests` polls in a row find nothing busy, PATIENCE at most."""
    until = time.monotonic() + PATIENCE
    found = 0
    while time.monotonic() < until:
        found = 0 if is_busy() else found + 1
        if found == rests:
            return
        time.sleep(_POLL)


def _another_thread_runs() -> bool:
    own = str(get_native_id())
    return any(_state(task) == "R" for task in _TASKS.iterdir() if task.name != own)


def _state(task: Path) -> str:
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):  # the thread has ended
        return ""
