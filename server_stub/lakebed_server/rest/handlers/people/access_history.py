"""The access history of a repository. One function per operation (`handlers`)."""

from __future__ import annotations

import time
from typing import Final

from lakebed_wire import operations as ops
from msgspec import UNSET

from lakebed_server.access_history.rows import Wanted
from lakebed_server.http.request import Call
from lakebed_server.http.responses import UNKNOWN, Reply, StreamReply
from lakebed_server.rest import serializers
from lakebed_server.rest.history_stream import streamed
from lakebed_server.vocabulary import Header, not_implemented

WEEK: Final = 7 * 24 * 3600
ARROW: Final[Header] = (b"content-type", b"application/octet-stream")


async def get_access_history(call: Call, p: ops.GetAccessHistoryParams) -> Reply:
    """getAccessHistory."""
    history = call.services.history
    if history is None:
        raise not_implemented("this server records no access history: set history.enabled")
    await call.engine.repositories.get(p.repository)
    until = time.time() if p.until is UNSET else p.until.timestamp()
    wanted = Wanted(
        since=until - WEEK if p.since is UNSET else p.since.timestamp(),
        until=until,
        user=serializers.text(p.user),
        path=serializers.text(p.path),
        operation=serializers.text(p.operation),
        refused=p.refused is True,
    )
    return StreamReply(200, streamed(history.read(p.repository, wanted)), UNKNOWN, (ARROW,))
