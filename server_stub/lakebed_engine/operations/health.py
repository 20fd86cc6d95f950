"""The state of this process, and whether its stores respond."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Final

import msgspec
from lakebed_format.keys import REPOSITORY_MARKER

from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.operations.gc.lease import LeaseRow
from lakebed_engine.operations.keys import EXPIRY_CLOCK, EXPIRY_CLOCK_TIME, SWEEPS, TOKENS_LEASE
from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.vocabulary.errors import BlobNotFound, EngineError
from lakebed_engine.vocabulary.observer import Answers, CacheUse, State

MOST_STORES: Final = 4
"""Maximum number of object stores that one check calls."""


def state(ctx: Context) -> State:
    """The state of this process. Calls no store."""
    waiting = ctx.undrained.repositories.values()
    now = ctx.clock.monotonic()
    caches = {
        "trees": ctx.trees.cache,
        "commits": ctx.commits,
        "repositories": ctx.repos,
        "journals": ctx.journals,
    }
    return State(
        caches={name: CacheUse(cache.hits, cache.misses) for name, cache in caches.items()},
        commits_waiting=sum(len(queue.waiting) for queue in ctx.queues.values()),
        branches_crowded=len(ctx.crowded),
        events_waiting=sum(one.rows for one in waiting),
        events_age=max((now - one.since for one in waiting if one.rows), default=0.0),
    )


async def sweep_age(ctx: Context) -> float | None:
    """Seconds since the last complete sweep of all repositories, by any process. None: there was none.

    Raises StoreError.
    """
    found = await ctx.kv.get(SWEEPS, TOKENS_LEASE)
    row = LeaseRow() if found is None else msgspec.json.decode(found.value, type=LeaseRow)
    return max(0.0, ctx.clock.now() - row.swept) if row.swept else None


async def answers(ctx: Context, seconds: float) -> Answers:
    """Call the KV store and some recently used object stores. Each has this number of seconds to respond."""
    stores = _in_use(ctx)
    kv, *others = await asyncio.gather(
        _is_answered(ctx.kv.get(EXPIRY_CLOCK, EXPIRY_CLOCK_TIME), seconds),
        *(_is_answered(_ask(store), seconds) for store in stores),
    )
    return Answers(kv, sum(others), len(others))


def _in_use(ctx: Context) -> list[ObjectStore]:
    """The stores of the most recently opened repositories, one for each bucket or first directory."""
    found: dict[tuple[str, str], ObjectStore] = {}
    for repo in reversed(ctx.repos.values()):
        assert isinstance(repo, Repo)
        scheme, _, path = repo.store.uri.partition("://")
        place = f"{scheme}://" if scheme in ("local", "mem") else f"{scheme}://{path.partition('/')[0]}"
        found.setdefault((repo.record.storage_id, place), repo.store)
        if len(found) == MOST_STORES:
            break
    return list(found.values())


async def _ask(store: ObjectStore) -> None:
    try:
        await store.head(REPOSITORY_MARKER)
    except BlobNotFound:
        return  # this counts as a response


async def _is_answered(question: Awaitable[object], seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await question
    except (EngineError, TimeoutError, OSError):
        return False
    return True
