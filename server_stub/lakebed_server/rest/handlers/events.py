"""The event log. One function per operation (`handlers`)."""

from __future__ import annotations

from typing import Final

from lakebed_wire import models
from lakebed_wire import operations as ops

from lakebed_server.event_feed import feed
from lakebed_server.http.authorization import authorize
from lakebed_server.http.request import Call
from lakebed_server.http.responses import UNKNOWN, FeedReply, Reply, json
from lakebed_server.rest import serializers
from lakebed_server.rest.event_stream import Wanted, followed
from lakebed_server.rest.rights.filtered_pages import audited
from lakebed_server.rest.rights.permission_table import PERMISSIONS
from lakebed_server.rest.server_events import Place, server_page
from lakebed_server.vocabulary import Header, bad_request

EVENT_STREAM: Final = b"text/event-stream"
_HEADERS: Final[tuple[Header, ...]] = (
    (b"content-type", EVENT_STREAM),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # for nginx: do not buffer events
)


async def list_events(call: Call, p: ops.ListEventsParams) -> Reply:
    """listEvents: a page, or a live feed for a client that accepts nothing else."""
    if EVENT_STREAM in call.headers.get(b"accept", b""):
        return _feed(call, p)
    page = await call.engine.events.page(
        p.repository,
        after=int(serializers.text(p.after) or "0"),
        branch=serializers.text(p.branch),
        type=serializers.text(p.type),
        amount=serializers.amount(p.amount),
    )
    pagination = models.Pagination(
        has_more=page.has_more,
        next_offset=str(page.position) if page.position else "",
        results=len(page.items),
        max_per_page=serializers.MAX_PER_PAGE,
    )
    return json(200, models.EventList(pagination=pagination, results=[feed.event_body(one) for one in page.items]))


async def list_server_events(call: Call, p: ops.ListServerEventsParams) -> Reply:
    """listServerEvents."""
    place = Place.parse(serializers.text(p.after))
    repositories, rights = await audited(call)
    found = await server_page(
        call.engine, repositories, rights, place, serializers.text(p.type), serializers.amount(p.amount)
    )
    pagination = models.Pagination(
        has_more=found.has_more,
        next_offset=str(found.place),
        results=len(found.items),
        max_per_page=serializers.MAX_PER_PAGE,
    )
    return json(200, models.EventList(pagination=pagination, results=[feed.event_body(one) for one in found.items]))


def _feed(call: Call, p: ops.ListEventsParams) -> Reply:
    resumed = serializers.text(p.last_event_id)
    if resumed and not (resumed.isascii() and resumed.isdigit() and len(resumed) <= 19):
        raise bad_request("Last-Event-ID: must be the id of an event of this feed")
    after = resumed or serializers.text(p.after)
    wanted = Wanted(
        p.repository,
        serializers.text(p.branch),
        serializers.text(p.type),
        int(after) if after else None,
        resumes=bool(resumed),
    )

    async def check() -> None:
        """The client may still follow. Raises RequestError."""
        await call.services.authenticator.authenticate(call.headers, https=call.https, address=call.client_address)
        await authorize(call, PERMISSIONS["listEvents"], p.repository, p, None)

    return FeedReply(200, followed(call.engine, call.services.feeds, wanted, check), UNKNOWN, _HEADERS)
