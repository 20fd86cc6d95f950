"""Turns: committers of one branch in one process go one after another, so that they do not fold in vain.

Above `context`. A courtesy and not a lock: whoever has waited for long goes ahead, other processes know nothing of it,
and the compare-and-swap alone keeps the branch right.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from lakebed_engine.operations.context import Context, Repo

_FIRST_LOOK, _LAST_LOOK = 0.001, 0.02
"""Seconds until the first look at the queue, and the most between two: the pause grows with the wait."""

_PATIENCE = 10.0
"""Seconds after which one goes ahead: a commit that takes so long must not hold up the others."""


@asynccontextmanager
async def turn(ctx: Context, repo: Repo, branch: str) -> AsyncIterator[None]:
    """Wait until those who came before are done, or for long enough."""
    key = (repo.record.uid, branch)
    me = object()
    queue = ctx.turns.setdefault(key, [])
    queue.append(me)
    try:
        waited, pause = 0.0, _FIRST_LOOK
        while queue[0] is not me and waited < _PATIENCE:
            await ctx.runtime.sleep(pause)
            waited += pause
            pause = min(1.5 * pause, _LAST_LOOK)
        yield
    finally:
        queue.remove(me)
        if not queue:
            ctx.turns.pop(key, None)
