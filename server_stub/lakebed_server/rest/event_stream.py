"""The live feed of one client, as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Final, NamedTuple

from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.events import Event

from lakebed_server.event_feed import feed
from lakebed_server.event_feed.feed import Feeds, Listener
from lakebed_server.vocabulary import RequestError

COMMENT_SECONDS: Final = 15.0
"""Seconds between two comments. Before each, the permissions of the client are checked again."""
_PAGE: Final = 1000


class Wanted(NamedTuple):
    """What a client wants to follow. `after`: the logical timestamp to continue after. None: from now on.

    `resumes`: the client has seen the event with this timestamp.
    """

    repository: str
    branch: str
    type: str
    after: int | None
    resumes: bool

    def has(self, event: Event) -> bool:
        """Whether an event is of the branch and of the type or group of types."""
        return (not self.branch or event.branch == self.branch) and (
            not self.type or event.type == self.type or event.type.startswith(f"{self.type}.")
        )


@asynccontextmanager
async def followed(
    engine: Engine, feeds: Feeds, wanted: Wanted, check: Callable[[], Awaitable[None]]
) -> AsyncIterator[AsyncIterator[bytes]]:
    """The bytes of the feed, in pieces. It ends when `check` raises RequestError.

    Raises RepositoryNotFoundError.
    """
    async with (
        feeds.listen(engine, wanted.repository) as listener,
        aclosing(_pieces(engine, listener, wanted, check)) as pieces,
    ):
        yield pieces


async def _pieces(
    engine: Engine, listener: Listener, wanted: Wanted, check: Callable[[], Awaitable[None]]
) -> AsyncGenerator[bytes]:
    last = listener.position
    yield feed.beginning(last if wanted.after is None else wanted.after)
    if wanted.after is not None:
        if wanted.resumes and not await engine.events.is_kept(wanted.repository, wanted.after):
            yield feed.RESET
        async with aclosing(_earlier(engine, wanted, wanted.after, last)) as earlier:
            async for piece in earlier:
                yield piece
        last = max(last, wanted.after)
    while not listener.ended:
        found = await listener.take(COMMENT_SECONDS)
        piece = b"".join(
            message.data for message in found if message.event.logical_timestamp > last and wanted.has(message.event)
        )
        if piece:
            yield piece
        elif not found:
            try:
                await check()
            except RequestError:
                return
            yield feed.COMMENT


async def _earlier(engine: Engine, wanted: Wanted, after: int, last: int) -> AsyncGenerator[bytes]:
    """The events after one logical timestamp up to another."""
    while after < last:
        page = await engine.events.page(
            wanted.repository, after=after, branch=wanted.branch, type=wanted.type, amount=_PAGE
        )
        piece = b"".join(feed.frame_of(one) for one in page.items if 0 < one.logical_timestamp <= last)
        if piece:
            yield piece
        if not page.has_more:
            return
        after = page.position
