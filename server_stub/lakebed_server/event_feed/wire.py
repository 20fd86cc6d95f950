"""Events as the API sends them: in JSON pages and as server-sent events."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

import msgspec
from lakebed_engine.vocabulary.events import Event
from lakebed_wire import models
from msgspec import UNSET

COMMENT: Final = b":\n\n"
"""Keeps a connection open, and shows that the client is still there."""
RESET: Final = b"event: reset\ndata: {}\n\n"
"""Events that the client has not got were deleted: it must read again what it shows."""

_encode = msgspec.json.Encoder().encode


def beginning(position: int) -> bytes:
    """The first piece: the place of the feed, and the milliseconds after which a browser connects again."""
    return b"id: %d\nretry: 3000\n\n" % position if position else b"retry: 3000\n\n"


def event(found: Event) -> models.Event:
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


def message(found: Event) -> bytes:
    """A server-sent event."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (found.logical_timestamp, found.type.encode(), _encode(event(found)))
