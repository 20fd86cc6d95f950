"""The commit queue of a branch: one request at a time commits, together with waiting requests.

The queue saves work and is not a lock: a request that has waited for too long commits on its own, and other processes
have their own queues. The compare-and-swap alone keeps the branch right.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.stores.kv.base import Check, Delete, Put
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.events import Actor, current_actor
from lakebed_engine.vocabulary.ports import Signal
from lakebed_engine.vocabulary.records import Commit


@dataclass(frozen=True, slots=True)
class CommitGuard:
    """An additional condition of a commit, and rows that are written or deleted atomically with it.

    `checks`, the rows that `rows` makes of the commit, and `deletes` go into the batch of the swap. `require` raises if
    the condition no longer holds.
    """

    checks: Sequence[Check]
    rows: Callable[[Commit], Sequence[Put]]
    require: Callable[[], Awaitable[None]]
    deletes: Sequence[Delete] = ()


class Cause(NamedTuple):
    """Additional fields of a commit's event. `data` as in an event."""

    type: str
    data: Mapping[str, Any] = {}


COMMITTED = Cause("branch.committed")


@dataclass(eq=False)
class Waiter:
    """A queued commit request. A subclass defines what to commit. Requests of one class are committed together."""

    signal: Signal
    _: KW_ONLY
    guard: CommitGuard | None = None
    cause: Cause = COMMITTED
    actor: Actor = field(default_factory=current_actor)
    """The sender of the request. Another request may make its commit."""
    answer: Commit | EngineError | None = None
    taken: bool = False
    """Another request makes this commit: wait for its result without a time limit."""
    alone: bool = False
    """Hooks check this commit, which may take long, so it is made outside of the queue."""
    gone: bool = False
    """The caller no longer waits for the result."""

    def result(self) -> Commit:
        """The commit. Raises the error of the request."""
        assert self.answer is not None
        if isinstance(self.answer, EngineError):
            raise self.answer
        return self.answer


W = TypeVar("W", bound=Waiter)


class Group(Protocol):
    """The commit of several requests: `GroupCommit`."""

    queued: bool

    async def run(self) -> None:
        """Answer the requests."""
        ...


@dataclass(eq=False)
class Queue:
    """The request that is committing, and the waiting requests in order of arrival."""

    leader: Waiter | None = None
    waiting: list[Waiter] = field(default_factory=list)


async def commit_together(
    ctx: Context, repo: Repo, branch: str, waiter: W, commit: Callable[[Sequence[W]], Group]
) -> Commit:
    """Wait for this request's turn, then commit it together with the waiting requests of its class.

    `commit` makes a group commit, whose `run` sets the answers. If it raises, nothing was committed, and its other
    requests queue again. A request that hooks check is committed outside of the queue, so that others need not wait for
    it.
    """

    def together(waiters: Sequence[W]) -> Awaitable[None]:
        group = commit(waiters)
        group.queued = True
        return group.run()

    async with _queued(ctx, repo, branch, waiter) as queue:
        if await _is_leader(ctx, queue, waiter):
            await ctx.runtime.finish(lambda: _lead(queue, waiter, together, ctx.tuning.commits_together))
    if waiter.alone:
        await ctx.runtime.finish(lambda: commit([waiter]).run())
    return waiter.result()


@asynccontextmanager
async def _queued(ctx: Context, repo: Repo, branch: str, waiter: Waiter) -> AsyncIterator[Queue]:
    key = (repo.record.uid, branch)
    queue: Queue = ctx.queues.setdefault(key, Queue())
    queue.waiting.append(waiter)
    try:
        yield queue
    finally:
        waiter.gone = True
        if waiter in queue.waiting:
            queue.waiting.remove(waiter)
        if queue.leader is waiter:
            queue.leader = None
        if queue.leader is None and queue.waiting:
            queue.waiting[0].signal.set()
        if queue.leader is None and not queue.waiting and ctx.queues.get(key) is queue:
            del ctx.queues[key]


async def _is_leader(ctx: Context, queue: Queue, waiter: Waiter) -> bool:
    """Wait for this request's turn, up to a time limit. False: another request has answered it."""
    started = ctx.clock.monotonic()
    while waiter.answer is None and not waiter.alone:
        left = started + ctx.tuning.commit_wait - ctx.clock.monotonic()
        if not waiter.taken and (left <= 0 or (queue.leader is None and queue.waiting[0] is waiter)):
            queue.waiting.remove(waiter)
            if queue.leader is None:
                queue.leader = waiter
            return True
        await waiter.signal.wait(ctx.tuning.commit_wait if waiter.taken else left)
    return False


async def _lead(queue: Queue, leader: W, commit: Callable[[Sequence[W]], Awaitable[None]], together: int) -> None:
    followers = [one for one in queue.waiting if type(one) is type(leader)][: together - 1]
    for one in followers:
        queue.waiting.remove(one)
        one.taken = True
    try:
        await commit([leader, *followers])
    finally:
        for one in reversed(followers):
            one.taken = False
            if one.answer is None and not one.alone and not one.gone:
                queue.waiting.insert(0, one)
            one.signal.set()
