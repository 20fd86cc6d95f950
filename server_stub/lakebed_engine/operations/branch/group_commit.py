"""Turns: those who move one branch in one process go one after another, and committers who wait go together.

A courtesy and not a lock: whoever has waited for long goes ahead, other processes know nothing of it, and the
compare-and-swap alone keeps the branch right.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from lakebed_engine.operations.branch.commit_guard import Stamp
from lakebed_engine.operations.context import Context, Repo
from lakebed_engine.vocabulary.errors import EngineError
from lakebed_engine.vocabulary.ports import Signal
from lakebed_engine.vocabulary.records import AdvanceRequest, Commit, CommitRequest

_PATIENCE = 10.0
"""Seconds after which one goes ahead: a commit that takes so long must not hold up the others."""

_TOGETHER = 16
"""Commits that are made in one swap."""


@dataclass(eq=False)
class Ticket:
    """One who waits. `resets` and `mark` are those of a commit: see `commits`. `stamp` lands with it.

    `uid` is the branch's that is committed, or the workspace's.
    """

    signal: Signal
    request: CommitRequest | AdvanceRequest | object
    """What is asked for; those of one type are served together."""
    uid: str
    resets: int = 0
    mark: str | None = None
    stamp: Stamp | None = None
    answer: Commit | EngineError | None = None
    taken: bool = False
    """Another makes this commit: its answer has to be waited for, however long it takes."""
    gone: bool = False
    """Nobody waits for the answer any more."""


@dataclass(eq=False)
class Line:
    """Who is at it, and who waits in order of arrival."""

    holder: Ticket | None = None
    waiting: list[Ticket] = field(default_factory=list)


@asynccontextmanager
async def _in_line(ctx: Context, repo: Repo, branch: str, ticket: Ticket) -> AsyncIterator[Line]:
    key = (repo.record.uid, branch)
    line: Line = ctx.turns.setdefault(key, Line())
    line.waiting.append(ticket)
    try:
        yield line
    finally:
        ticket.gone = True
        if ticket in line.waiting:
            line.waiting.remove(ticket)
        if line.holder is ticket:
            line.holder = None
        if line.holder is None and line.waiting:
            line.waiting[0].signal.set()
        if line.holder is None and not line.waiting and ctx.turns.get(key) is line:
            del ctx.turns[key]


async def _arrive(ctx: Context, line: Line, ticket: Ticket) -> bool:
    """Wait until it is this one's turn, or for long enough. False: another has answered it."""
    started = ctx.clock.monotonic()
    while ticket.answer is None:
        left = started + _PATIENCE - ctx.clock.monotonic()
        if not ticket.taken and (left <= 0 or (line.holder is None and line.waiting[0] is ticket)):
            line.waiting.remove(ticket)
            if line.holder is None:
                line.holder = ticket
            return True
        await ticket.signal.wait(_PATIENCE if ticket.taken else left)
    return False


async def together(
    ctx: Context, repo: Repo, branch: str, ticket: Ticket, work: Callable[[Sequence[Ticket]], Awaitable[None]]
) -> Commit:
    """The commit that answers a ticket. Whoever's turn it is does the work for all of its kind who wait by then.

    `work` sets the answers. When it raises, nothing has landed, and those whom it took along try for themselves.
    """
    async with _in_line(ctx, repo, branch, ticket) as line:
        if await _arrive(ctx, line, ticket):
            await ctx.runtime.finish(lambda: _lead(line, ticket, work))
    assert ticket.answer is not None
    if isinstance(ticket.answer, EngineError):
        raise ticket.answer
    return ticket.answer


async def _lead(line: Line, ticket: Ticket, work: Callable[[Sequence[Ticket]], Awaitable[None]]) -> None:
    kind = type(ticket.request)
    others = [one for one in line.waiting if type(one.request) is kind][: _TOGETHER - 1]
    for one in others:
        line.waiting.remove(one)
        one.taken = True
    try:
        await work([ticket, *others])
    finally:
        for one in reversed(others):
            one.taken = False
            if one.answer is None and not one.gone:
                line.waiting.insert(0, one)
            one.signal.set()
