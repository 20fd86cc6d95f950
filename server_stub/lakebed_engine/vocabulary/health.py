"""How the engine of one process is doing: what a server shows in its metrics and its readiness."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class CacheUse(msgspec.Struct, frozen=True):
    """Reads of a cache since the start of the process."""

    hits: int
    misses: int


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What a process knows of itself, without a question to a store.

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
    """Which stores answered in time. `stores` of `stores_asked` object stores did: a sample of those in use."""

    kv: bool
    stores: int
    stores_asked: int
