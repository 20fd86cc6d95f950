"""Locks that are free in a forked child.

A fork copies the state of each lock. When another thread of the parent holds a lock, that thread does not exist in the
child. The lock is never released there, and the first thread that needs it waits without end (PyTorch's workers,
process pools). The data behind such a lock is either replaced in the child or always complete, so the child can start
with a new lock.
"""

from __future__ import annotations

import os
import threading
from types import TracebackType
from weakref import WeakSet


class ForkLock:
    """`threading.Lock` for `with` blocks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _ALL.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Replace the lock with a free one."""
        self._lock = threading.Lock()


_ALL: WeakSet[ForkLock] = WeakSet()


def _in_child() -> None:
    for lock in list(_ALL):
        lock.renew()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_in_child)
