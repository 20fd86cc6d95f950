"""A self-test of an object store: what a server needs of it, done once with a small object that is deleted at the end.

Of two puts of one key at the same time exactly one may win. That is what commits of several servers rely on.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Final, NamedTuple

from lakebed_engine.stores.objects.base import ObjectStore
from lakebed_engine.vocabulary.errors import BlobExists, BlobNotFound, EngineError

FOLDER: Final = "_doctor/"
"""Where the object is, below the namespace. Lakebed has no file of its own there."""
_SECOND: Final = 1.0
"""S3 states times in whole seconds."""


class SelfTest(NamedTuple):
    """`failure`: what did not work, empty when everything did. `skew`: seconds by which the store's clock is ahead of
    this machine's; 0 when they agree within the accuracy of the store. `seconds`: of the whole test.
    """

    failure: str
    skew: float
    seconds: float


async def self_test(store: ObjectStore, name: str) -> SelfTest:
    """Test conditional put, read, time of an object, list, copy and delete. `name` is unique to this test."""
    began = time.monotonic()
    key = f"{FOLDER}{name}/once"
    copy = f"{FOLDER}{name}/copy"
    skew, failure = 0.0, ""
    try:
        failure, skew = await _steps(store, key, copy)
    except EngineError as error:
        failure = error.message
    with suppress(EngineError):
        await store.delete([key, copy])
    return SelfTest(failure, skew, time.monotonic() - began)


async def _steps(store: ObjectStore, key: str, copy: str) -> tuple[str, float]:
    before = time.time()
    bodies = (b"first", b"second")
    outcomes = await asyncio.gather(*(store.put(key, body, if_absent=True) for body in bodies), return_exceptions=True)
    won = [body for body, outcome in zip(bodies, outcomes, strict=True) if outcome is None]
    for outcome in outcomes:
        if outcome is not None and not isinstance(outcome, BlobExists):
            raise outcome
    if len(won) != 1:
        return (
            f"{len(won)} of two puts of one key at the same time won; commits of several servers need exactly one",
            0.0,
        )
    with suppress(BlobExists):
        await store.put(key, b"third", if_absent=True)
        return "a put with if-absent replaced an object that was there", 0.0
    if await store.get(key) != won[0]:
        return "a read returned other bytes than the put that won had written", 0.0
    if await store.get_range(key, 1, 2) != won[0][1:3]:
        return "a read of a part of an object returned other bytes", 0.0
    after = time.time()
    skew = _skew((await store.head(key)).mtime, before, after)
    listed = [found.key async for found in store.list(key)]
    if listed != [key]:
        return f"a listing shows {listed} instead of the object that was just written", skew
    await store.copy(key, copy)
    if await store.get(copy) != won[0]:
        return "a copy has other bytes", skew
    await store.delete([key, copy])
    with suppress(BlobNotFound):
        await store.head(key)
        return "an object is still there after its delete", skew
    return "", skew


def _skew(mtime: float, before: float, after: float) -> float:
    """How far a time of the store is outside of the time in which the object was written."""
    if mtime > after + _SECOND:
        return mtime - after
    return min(mtime + _SECOND - before, 0.0)
