"""The reports of the engine about its own work: pieces of work, the refs that it resolves, and its state.

The engine has no metrics and no traces: a server gives it an `Observer`. Without one, the stores are not wrapped, and
the rest reports to `SILENT`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Literal, Protocol

import msgspec

Layer = Literal["kv", "store", "commit"]
"""A part of the engine. `commit`: the group commit of a branch."""


class Work(Protocol):
    """A piece of work in progress."""

    def end(self, error: BaseException | None = None) -> None:
        """The work has ended. `error`: the raised error, if any. Called once, in the task of `begin`."""
        ...


class Observer(Protocol):
    """Gets a report of each piece of work. All calls come from the event loop, are quick, and never raise."""

    def begin(self, layer: Layer, call: str, place: str = "") -> Work:
        """A piece of work begins: a call of the KV store, of an object store, or a commit.

        `call`: the kind of work, from a fixed set of words. `place`: the kind of the object store (`local`, `s3`).
        """
        ...

    def committed(self, commits: int) -> None:
        """One swap of a branch made this number of commits."""
        ...

    def branch_changed(self, layers: int) -> None:
        """A branch record was replaced by one with this number of layers."""
        ...


class _Nothing:
    def begin(self, layer: Layer, call: str, place: str = "") -> Work:
        return self

    def end(self, error: BaseException | None = None) -> None:
        return

    def committed(self, commits: int) -> None:
        return

    def branch_changed(self, layers: int) -> None:
        return


SILENT: Observer = _Nothing()
"""Ignores all reports."""

RefObserver = Callable[[str, str], None]

_observer: ContextVar[RefObserver | None] = ContextVar("lakebed_resolved_refs", default=None)


def observe_refs(observer: RefObserver) -> None:
    """Call `observer` with each ref and its commit id that the current asyncio task resolves from now on."""
    _observer.set(observer)


def ref_resolved(ref: str, commit_id: str) -> None:
    """Report that a ref resolves to a commit."""
    observer = _observer.get()
    if observer is not None:
        observer(ref, commit_id)


class CacheUse(msgspec.Struct, frozen=True):
    """Reads of a cache since the start of the process."""

    hits: int
    misses: int


class State(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a process, without calls to stores.

    `caches`: by name. `commits_waiting`: requests in the commit queues. `branches_crowded`: branches whose layers wait
    for a compaction. `events_waiting`: recorded events that no drain has moved yet, the oldest of them `events_age`
    seconds old.
    """

    caches: Mapping[str, CacheUse]
    commits_waiting: int
    branches_crowded: int
    events_waiting: int
    events_age: float


class Answers(msgspec.Struct, frozen=True):
    """Which stores responded in time. `stores` of `stores_asked` object stores did: a sample of those in use."""

    kv: bool
    stores: int
    stores_asked: int
