"""Reports the commits to which an operation resolves refs, to a caller that records them."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

Observer = Callable[[str, str], None]

_observer: ContextVar[Observer | None] = ContextVar("lakebed_resolved_refs", default=None)


def observe_refs(observer: Observer) -> None:
    """Call `observer` with each ref and its commit id that the current asyncio task resolves from now on."""
    _observer.set(observer)


def ref_resolved(ref: str, commit_id: str) -> None:
    """Report that a ref resolves to a commit."""
    observer = _observer.get()
    if observer is not None:
        observer(ref, commit_id)
