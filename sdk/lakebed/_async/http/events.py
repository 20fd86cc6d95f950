"""The events of a repository: recorded events, and with `follow` new events as they occur."""

from __future__ import annotations

from collections.abc import AsyncIterator

from lakebed._async.http.pagination import Listing
from lakebed._async.http.transport import Transport
from lakebed._compat.aio import sleep
from lakebed._gateway.operations import events
from lakebed._http.retry import Failed
from lakebed.model import Event

_PAUSE = 1.0
"""Seconds before the client connects to the feed again."""


class Events(Listing[Event]):
    """Events, oldest first. With `follow`, iteration does not end."""

    __module__ = "lakebed.aio"

    def __init__(
        self, transport: Transport, repository: str, after: str, branch: str, type: str, limit: int | None, follow: bool
    ) -> None:
        super().__init__(
            transport,
            lambda at, amount: events.list_events(repository, after=at, branch=branch, type=type, amount=amount),
            Event.COLUMNS,
            f"events of {repository}",
            after=after,
            limit=limit,
        )
        self._repository = repository
        self._branch = branch
        self._type = type
        self._follow = follow

    async def __aiter__(self) -> AsyncIterator[Event]:
        if not self._follow:
            async for event in super().__aiter__():
                yield event
            return
        after, resumes, left = self._after, False, self._limit
        while left is None or left > 0:
            call = events.follow(self._repository, after=after, resumes=resumes, branch=self._branch, type=self._type)
            reader = events.FeedReader(self._repository)
            try:
                async with self._transport.stream(call) as (_, pieces):
                    async for piece in pieces:
                        for event in reader.read(piece):
                            yield event
                            left = None if left is None else left - 1
                            if left == 0:
                                return
            except Failed as failed:
                if not failed.again:
                    raise failed.error from None
            if reader.last_id:
                after, resumes = reader.last_id, True
            await sleep(_PAUSE)
