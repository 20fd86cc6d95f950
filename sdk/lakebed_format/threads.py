"""At the end of a process, waits for threads of Arrow that still free Python objects.

A thread of Arrow may drop the bytes of a file after the read has returned. When Python shuts down at that moment, it
ends the thread inside a C++ destructor, and the process aborts with exit code -6 after all work is done
(apache/arrow#34314; 1 to 5 of 100 programs on a busy machine).
"""

from __future__ import annotations

import atexit
import time
from functools import cache
from pathlib import Path
from threading import get_native_id
from typing import Final

PATIENCE: Final = 0.5
"""Seconds that a process waits at most."""

_PAUSE: Final = 0.002
_QUIET: Final = 3
"""Pauses in a row after which no thread runs. In a pause, a thread that needs the interpreter's lock gets it."""

_TASKS = Path("/proc/self/task")


@cache
def await_arrow_at_exit() -> None:
    """Let the end of this process wait until no other thread runs."""
    atexit.register(await_threads)


def await_threads() -> None:
    """Wait until no other thread of this process runs, `PATIENCE` seconds at most. Without /proc, pause for 50 ms."""
    if not _TASKS.is_dir():
        time.sleep(0.05)
        return
    until = time.monotonic() + PATIENCE
    quiet = 0
    while quiet < _QUIET and time.monotonic() < until:
        time.sleep(_PAUSE)
        quiet = 0 if _another_runs() else quiet + 1


def _another_runs() -> bool:
    own = str(get_native_id())
    return any(_state(task) == "R" for task in _TASKS.iterdir() if task.name != own)


def _state(task: Path) -> str:
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):  # the thread has ended
        return ""
