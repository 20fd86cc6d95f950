"""Locks that a forked child finds free.

A fork copies a lock as it is at that moment. When another thread of the parent holds it, nobody is left in the child
who would let go of it, and the first who needs it there waits for ever (PyTorch's workers, process pools). What such a
lock guards here is either replaced in the child or whole at every moment, so the child may begin with a new one.
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
        """Be free, whoever held it."""
        self._lock = threading.Lock()


_ALL: WeakSet[ForkLock] = WeakSet()


def _in_child() -> None:
    for lock in list(_ALL):
        lock.renew()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_in_child)
