"""The lake that `lakebed://` means: `with lake.as_default():` binds it.

It is a context variable. Each thread and each task has its own binding, and a task inherits the binding of the task
that started it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from lakebed._settings.config import Settings

T = TypeVar("T")

_BOUND: ContextVar[Settings | None] = ContextVar("lakebed_default", default=None)


def bound() -> Settings | None:
    """Return the settings that are bound in this thread or task, if any."""
    return _BOUND.get()


@contextmanager
def binding(settings: Settings, value: T) -> Iterator[T]:
    """Bind settings in this thread or task until the block ends. The block gets `value`."""
    token = _BOUND.set(settings)
    try:
        yield value
    finally:
        _BOUND.reset(token)
