"""Calls about the event log, and its live feed as values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from lakebed._gateway import calls, convert
from lakebed._gateway.calls import call, clean, segment
from lakebed._values.wire import Call, Subject
from lakebed.errors import ProtocolError
from lakebed.model import Event, Page

RESET = "reset"


def list_events(repository: str, *, after: str, branch: str, type: str, amount: int) -> Call[Page[Event]]:
    """One page of events. With a filter, a page may be empty although more follow."""
    from lakebed_api.api.repositories import list_events

    def parse(body: Mapping[str, Any]) -> Page[Event]:
        return Page(tuple(map(event, body["results"])), convert.following(body["pagination"], after))

    kwargs = list_events._get_kwargs(repository, **clean(after=after, branch=branch, type_=type, amount=amount))
    return call("listEvents", kwargs, calls.parser(parse), Subject(repository))


def list_server_events(*, after: str, type: str, amount: int) -> Call[Page[Event]]:
    """One page of the events of all repositories, and of changes of rights."""
    from lakebed_api.api.repositories import list_server_events

    def parse(body: Mapping[str, Any]) -> Page[Event]:
        return Page(tuple(map(event, body["results"])), convert.following(body["pagination"], after))

    kwargs = list_server_events._get_kwargs(**clean(after=after, type_=type, amount=amount))
    return call("listServerEvents", kwargs, calls.parser(parse), Subject())


def follow(repository: str, *, after: str, resumes: bool, branch: str, type: str) -> Call[None]:
    """The live feed. `resumes`: the client has the event with the logical timestamp `after`."""
    kwargs = {
        "method": "get",
        "url": f"/repositories/{segment(repository)}/events",
        "params": clean(after="" if resumes else after, branch=branch, type=type),
        "headers": {"Accept": "text/event-stream", **clean(**{"Last-Event-ID": after if resumes else ""})},
    }
    return call("listEvents", kwargs, lambda _: None, Subject(repository))


def event(row: Mapping[str, Any]) -> Event:
    """An event, from JSON."""
    stamp = row.get("logical_timestamp")
    return Event(
        id=convert.text(row["id"]),
        type=convert.text(row["type"]),
        time=datetime.fromisoformat(convert.text(row["time"])).astimezone(UTC),
        repository=convert.text(row["repository"]),
        logical_timestamp=None if stamp is None else int(stamp),
        gen=convert.number(row.get("gen"), 0),
        data=dict(row["data"]),
        **{name: convert.text(row.get(name), "") for name in _TEXTS},
    )


_TEXTS = ("repository_uid", "branch", "user", "request_id", "commit_id", "before", "after")


class FeedReader:
    """Reads server-sent events from the pieces of a response."""

    def __init__(self, repository: str) -> None:
        self._repository = repository
        self.last_id = ""
        """Where to resume the feed."""
        self._rest = b""

    def read(self, piece: bytes) -> Iterator[Event]:
        """The events that this piece completes. Raises ProtocolError."""
        *whole, self._rest = (self._rest + piece).split(b"\n\n")
        for block in whole:
            fields = dict(line.split(b": ", 1) for line in block.split(b"\n") if b": " in line)
            self.last_id = fields.get(b"id", self.last_id.encode()).decode()
            if fields.get(b"event") == RESET.encode():
                yield Event("", RESET, datetime.now(UTC), self._repository)
            elif b"data" in fields:
                yield self._event(fields[b"data"])

    def _event(self, data: bytes) -> Event:
        try:
            return event(json.loads(data))
        except (ValueError, KeyError, TypeError) as error:
            raise ProtocolError(f"the feed of {self._repository} has an unreadable event: {error}") from error
