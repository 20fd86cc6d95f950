"""A process that ends while threads of C++ and Rust still hold Python objects waits a moment for them.

Arrow lets go of a Python file in whichever of its threads comes last, and that may be after the result of a reading
was handed out. When Python is gone by then, the thread is ended within a C++ destructor, and that aborts the process:
"terminate called without an active exception", exit code -6, after all work was done. Any Python file system under
pyarrow has that; a busy machine has it in one of a hundred short scripts. obstore's threads do the same without a word,
in one of five short scripts that await it. From 3.14 on Python lets such threads hang instead.

The command `lakebed` needs none of this: it leaves without taking Python down (`cli.main`).
"""

from __future__ import annotations

import atexit
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

PATIENCE = 0.5
"""Seconds that a process waits at its end, at most."""

_LOOK = 0.001
_FRAMES = 8
_TASKS = Path("/proc/self/task")

_held: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""Files that nothing but Arrow holds, by identity: fsspec's are equal when they show the same object."""

_seen = threading.Event()
"""Whether such threads have had anything of ours, as Arrow by a file of its own or of someone else's."""


def held_by_arrow(file: Any) -> None:
    """Remember a file that was made for Arrow, which alone holds it."""
    read_by_arrow()
    _held[id(file)] = file


def read_by_arrow() -> None:
    """Remember that Arrow's threads have had a file, whoever else holds it."""
    _seen.set()


def awaited_of_obstore() -> None:
    """Remember that obstore's threads may answer an event loop of this process."""
    _seen.set()


def opened_by_arrow() -> bool:
    """Whether it is pyarrow that is opening a file now, by a file system that it was given."""
    frame = sys._getframe(1)
    for _ in range(_FRAMES):
        if frame.f_globals.get("__name__") == "pyarrow.fs":
            return True
        if frame.f_back is None:
            return False
        frame = frame.f_back
    return False


@atexit.register
def _wait() -> None:
    until = time.monotonic() + PATIENCE
    while len(_held) and time.monotonic() < until:
        time.sleep(_LOOK)
    quiet = 0 if _seen.is_set() else 2
    while quiet < 2 and time.monotonic() < until:
        time.sleep(_LOOK)  # lets them have the interpreter, which is what they wait for
        quiet = 0 if _others_run() else quiet + 1


def _others_run() -> bool:
    """Whether a thread that Python did not begin is running or wants to. Known on Linux only, else never."""
    ours = {thread.native_id for thread in threading.enumerate() if not isinstance(thread, threading._DummyThread)}
    with suppress(OSError):
        for task in _TASKS.iterdir():
            if int(task.name) not in ours:
                with suppress(OSError):  # it has ended
                    state = (task / "stat").read_text().rpartition(")")[2].split()[0]
                    if state in "RD":
                        return True
    return False
