"""Calls of the operating system: set limits of a process, and end all processes that it started."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import resource
import signal
import sys
import time
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_SET_NO_NEW_PRIVS: Final = 38
_END_SECONDS: Final = 10.0


def adopt_orphans() -> None:
    """Make this process adopt every process below it whose parent ends. Linux only."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_with_parent() -> None:
    """End this process when its parent ends, and prevent its programs from gaining privileges. Linux only."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def limit(*, memory: int, seconds: float, file_size: int, open_files: int) -> None:
    """Bound the resources of this process and of each process that it starts."""
    cpu = 2 * math.ceil(seconds) + 1  # two threads may compute for the whole time of the call
    wanted = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CPU: cpu,
        resource.RLIMIT_FSIZE: file_size,
        resource.RLIMIT_NOFILE: open_files,
        resource.RLIMIT_CORE: 0,
    }
    for kind, value in wanted.items():
        hard = resource.getrlimit(kind)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (most, most))
    os.nice(5)


def end_descendants(group: int) -> None:
    """End a process group and all processes below this one. It stops them first, so that none starts another.

    On other systems than Linux, it ends only the group.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    until = time.monotonic() + _END_SECONDS
    while time.monotonic() < until:
        found = _descendants()
        stopped: set[int] = set()
        while found - stopped and time.monotonic() < until:
            for process in found - stopped:
                _signal(process, signal.SIGSTOP)
            stopped |= found
            found = _descendants()
        for process in stopped | found:
            _signal(process, signal.SIGKILL)
        if _reap():
            return
        time.sleep(0.001)


def _reap() -> bool:
    """Reap ended children. Returns whether none is left."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return False
    return True


def _signal(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)


def _descendants() -> set[int]:
    """All running processes below this process."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        if name.isdecimal():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
                if state not in (b"Z", b"X"):
                    children.setdefault(int(parent), []).append(int(name))
    found: set[int] = set()
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found.update(below)
        waiting.extend(below)
    return found
