"""The live feeds of one process.

For each repository with listeners, one task asks the KV store for new events and reads them from the bucket. It
gives each event to all listeners, so a listener costs memory only. It also drains the repository, because events come
to listeners from files: only these have their final order.

Events go out in JSON pages and as server-sent events.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final, NamedTuple

import msgspec
from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.errors import EngineError, NotFoundError
from lakebed_engine.vocabulary.events import Event
from lakebed_wire import models
from msgspec import UNSET

SHORTEST_PAUSE: Final = 0.25
LONGEST_PAUSE: Final = 2.0
"""Seconds between two questions to the KV store: soon after an event, and when there is none for long."""
DRAIN_PAUSE: Final = 1.0
"""Shortest number of seconds between two files of a repository with listeners."""
MOST_BYTES: Final = 1 << 20
"""Bytes of events that wait for a slow listener. Beyond that its feed ends, and it connects again."""
_PAGE: Final = 1000

log = logging.getLogger("lakebed.server")


class Message(NamedTuple):
    """An event for all listeners, encoded once."""

    event: Event
    data: bytes


class Listener:
    """The events that one client has not taken yet. `position`: it gets the events after this logical timestamp."""

    __slots__ = ("_bytes", "_messages", "_wake", "ended", "position")

    def __init__(self, position: int) -> None:
        self.position = position
        self.ended = False
        self._messages: deque[Message] = deque()
        self._bytes = 0
        self._wake = asyncio.Event()

    def give(self, message: Message) -> None:
        """Add an event. Ends the feed of a client that is too slow."""
        self._messages.append(message)
        self._bytes += len(message.data)
        if self._bytes > MOST_BYTES:
            self.end()
        self._wake.set()

    def end(self) -> None:
        """End the feed."""
        self.ended = True
        self._messages.clear()
        self._wake.set()

    async def take(self, seconds: float) -> list[Message]:
        """The events that wait, or else the ones of the next `seconds`. Empty: there are none, or the feed ended."""
        if not self._messages and not self.ended:
            try:
                async with asyncio.timeout(seconds):
                    await self._wake.wait()
            except TimeoutError:
                return []
        self._wake.clear()
        found = list(self._messages)
        self._messages.clear()
        self._bytes = 0
        return found


class _Feed:
    """The feed of one repository, from its first listener to its last."""

    def __init__(self, engine: Engine, repository: str) -> None:
        self.listeners: set[Listener] = set()
        self.position = 0
        """The logical timestamp up to which the listeners got events."""
        self.lag = 0.0
        """The age of the newest event, in seconds, when the listeners got it. 0 while there are no newer events."""
        self._engine = engine
        self._repository = repository
        self._drained = float("-inf")
        self._start = asyncio.ensure_future(engine.events.position(repository))
        self._task = asyncio.create_task(self._run(), name=f"the feed of {repository}")

    async def started(self) -> None:
        """Wait until the position is known. Raises RepositoryNotFoundError."""
        self.position = max(self.position, await asyncio.shield(self._start))

    def end(self) -> None:
        """End the feed for all listeners."""
        self._task.cancel()
        self._start.cancel()
        for listener in self.listeners:
            listener.end()

    async def _run(self) -> None:
        pause = SHORTEST_PAUSE
        try:
            await self.started()
            while True:
                await asyncio.sleep(pause)
                try:
                    news = await self._look()
                except NotFoundError:
                    return
                except EngineError as error:
                    log.warning("the feed of %s is delayed: %s", self._repository, error.message)
                    news = False
                pause = SHORTEST_PAUSE if news else min(1.2 * pause, LONGEST_PAUSE)
        except EngineError:
            return  # the listeners get the same error
        finally:
            for listener in self.listeners:
                listener.end()

    async def _look(self) -> bool:
        """Give new events to the listeners. Returns whether there were any."""
        events, now = self._engine.events, asyncio.get_running_loop().time()
        if now - self._drained >= DRAIN_PAUSE and await events.drain(self._repository):
            self._drained = now
        newest = await events.position(self._repository)
        if newest <= self.position:
            self.lag = 0.0
            return False
        page = await events.page(self._repository, after=self.position, amount=_PAGE)
        for event in page.items:
            if event.logical_timestamp:
                message = Message(event, frame_of(event))
                for listener in list(self.listeners):
                    listener.give(message)
        if page.items:
            self.lag = max(0.0, time.time() - page.items[-1].time / 1000)
        self.position = page.position if page.has_more else max(page.position, newest)
        return True


class Feeds:
    """The feeds of this process, by repository."""

    def __init__(self) -> None:
        self._feeds: dict[str, _Feed] = {}
        self._closed = False

    @asynccontextmanager
    async def listen(self, engine: Engine, repository: str) -> AsyncIterator[Listener]:
        """A listener for the events of a repository from now on. Raises RepositoryNotFoundError."""
        feed = self._feeds.get(repository)
        if feed is None:
            feed = self._feeds[repository] = _Feed(engine, repository)
        listener = Listener(0)
        feed.listeners.add(listener)
        try:
            await feed.started()
            listener.position = feed.position
            if self._closed:
                listener.end()
            yield listener
        finally:
            feed.listeners.discard(listener)
            if not feed.listeners:
                feed.end()
                if self._feeds.get(repository) is feed:
                    del self._feeds[repository]

    @property
    def listeners(self) -> int:
        """How many clients listen."""
        return sum(len(feed.listeners) for feed in self._feeds.values())

    @property
    def lag(self) -> float:
        """The largest age of a newest event, in seconds, when its listeners got it."""
        return max((feed.lag for feed in self._feeds.values()), default=0.0)

    def close(self) -> None:
        """End all feeds, because the server stops."""
        self._closed = True
        for feed in self._feeds.values():
            feed.end()


COMMENT: Final = b":\n\n"
"""Keeps a connection open, and shows that the client is still there."""
RESET: Final = b"event: reset\ndata: {}\n\n"
"""Events that the client has not got were deleted: it must read again what it shows."""

_encode = msgspec.json.Encoder().encode


def beginning(position: int) -> bytes:
    """The first piece: the place of the feed, and the milliseconds after which a browser connects again."""
    return b"id: %d\nretry: 3000\n\n" % position if position else b"retry: 3000\n\n"


def event_body(found: Event) -> models.Event:
    """An event of the API. Empty texts are left out."""
    return models.Event(
        id=found.id,
        logical_timestamp=str(found.logical_timestamp) if found.logical_timestamp else UNSET,
        type=found.type,
        time=datetime.fromtimestamp(found.time / 1000, UTC),
        repository=found.repository,
        repository_uid=found.repository_uid,
        branch=found.branch or UNSET,
        gen=found.gen or UNSET,
        user=found.user or UNSET,
        request_id=found.request_id or UNSET,
        commit_id=found.commit_id or UNSET,
        before=found.before or UNSET,
        after=found.after or UNSET,
        data=found.data,
    )


def frame_of(found: Event) -> bytes:
    """A server-sent event."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (
        found.logical_timestamp,
        found.type.encode(),
        _encode(event_body(found)),
    )
