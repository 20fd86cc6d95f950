"""The events of many repositories and of the server as one log, in the order of their logical timestamps.

Every log has an end up to which its order is final. The pages go up to the first of these ends, so no event is left out
that comes later. The newest events are behind it: the last page ends with them, and a later page has them again.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from lakebed_engine.engine import Engine
from lakebed_engine.vocabulary.errors import NotFoundError
from lakebed_engine.vocabulary.events import SKEW, Event, EventPage
from lakebed_format.journal import PLACES

from lakebed_server.access.rights_log import RightsLog
from lakebed_server.rest.serializers import MAX_PER_PAGE
from lakebed_server.vocabulary import bad_request

MOST_REPOSITORIES: Final = 1000
"""Repositories whose events one request reads."""
_AT_ONCE: Final = 16
_PLACE: Final = re.compile(r"(\d{1,19})(?:\.(\d{1,6}))?", re.ASCII)


class Place(NamedTuple):
    """After all events up to a logical timestamp, and after the first `taken` ones with the next timestamp."""

    after: int = 0
    taken: int = 0

    @classmethod
    def parse(cls, text: str) -> Place:
        """The place that `str` wrote, or a logical timestamp. Raises RequestError (400)."""
        found = _PLACE.fullmatch(text or "0")
        if found is None:
            raise bad_request("after: must be the next_offset of a page, or a logical timestamp")
        return cls(int(found[1]), int(found[2] or 0))

    def __str__(self) -> str:
        return f"{self.after}.{self.taken}" if self.taken else f"{self.after}"


class ServerPage(NamedTuple):
    """A page of events, and the place after which the next one begins."""

    items: list[Event]
    place: Place
    has_more: bool


class Part(NamedTuple):
    """What one log has for a page. `end`: the log has no other event up to this logical timestamp."""

    items: Sequence[Event]
    end: int
    has_more: bool


async def server_page(
    engine: Engine, repositories: Sequence[str], rights: RightsLog | None, place: Place, type: str, amount: int
) -> ServerPage:
    """The events of these repositories after a place, and with `rights` the changes of rights."""

    def wanted(event: Event) -> bool:
        return not type or event.type == type or event.type.startswith(f"{type}.")

    async def of_repository(name: str) -> Part:
        try:
            end = await engine.events.settled(name)  # first: what is drained from here on is behind it
            return _part(await engine.events.page(name, after=place.after, type=type, amount=wish), end)
        except NotFoundError:  # deleted since the listing
            return Part((), now, has_more=False)

    now = (int(time.time() * 1000) - SKEW) * PLACES
    wish = min(amount + place.taken + 1, MAX_PER_PAGE)
    parts: list[Part] = []
    for first in range(0, len(repositories), _AT_ONCE):
        parts += await asyncio.gather(*map(of_repository, repositories[first : first + _AT_ONCE]))
    if rights is not None:
        parts.append(_part(await rights.page(place.after, wanted, wish), now))
    return _merged(parts, place, amount, min((part.end for part in parts), default=now))


def _part(page: EventPage, end: int) -> Part:
    return Part(page.items, min(end, page.position) if page.has_more else end, page.has_more)


def _merged(parts: Sequence[Part], place: Place, amount: int, end: int) -> ServerPage:
    events = sorted((one for part in parts for one in part.items), key=_order)
    final = [one for one in events if 0 < one.logical_timestamp <= end][place.taken :]
    if len(final) > amount:
        return ServerPage(final[:amount], _behind(final, amount, place), has_more=True)
    reached = place if end <= place.after else Place(end)
    if reached != place and any(part.has_more for part in parts):
        return ServerPage(final, reached, has_more=True)
    newest = [one for one in events if not 0 < one.logical_timestamp <= end]
    return ServerPage([*final, *newest[: amount - len(final)]], reached, has_more=False)


def _behind(final: Sequence[Event], amount: int, place: Place) -> Place:
    """The place after some of the events. Two logs may have an event with the same logical timestamp."""
    last = final[amount - 1].logical_timestamp
    if final[amount].logical_timestamp != last:
        return Place(last)
    taken = sum(one.logical_timestamp == last for one in final[:amount])
    return Place(last - 1, taken + (place.taken if place.after == last - 1 else 0))


def _order(event: Event) -> tuple[int, str, str]:
    """Events without a logical timestamp are the newest ones."""
    return event.logical_timestamp or event.time * PLACES, event.repository, event.id
