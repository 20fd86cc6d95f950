"""Which lake `lakebed://` means here: what `with lake.as_default():` binds.

A context variable: each thread and each task has its own binding, and a task inherits that of the one that began it.
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
    """The settings that are bound here, if any are."""
    return _BOUND.get()


@contextmanager
def binding(settings: Settings, value: T) -> Iterator[T]:
    """Bind settings in this thread or task until the block ends; gives `value`."""
    token = _BOUND.set(settings)
    try:
        yield value
    finally:
        _BOUND.reset(token)
