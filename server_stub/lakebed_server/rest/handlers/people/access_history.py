"""The access history of a repository and of the server. One function per operation (`handlers`)."""

from __future__ import annotations

import time
from typing import Final

from lakebed_wire import operations as ops
from msgspec import UNSET

from lakebed_server.access_history.recorder import Recorder
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
    history = _recorder(call)
    return await _rows(history, p.repository, p)


async def get_server_access_history(call: Call, p: ops.GetServerAccessHistoryParams) -> Reply:
    """getServerAccessHistory."""
    history = _recorder(call)
    if not history.has_server_rows:
        raise not_implemented("this server records no rows about itself: set history.server_namespace")
    return await _rows(history, "", p)


def _recorder(call: Call) -> Recorder:
    if call.services.history is None:
        raise not_implemented("this server records no access history: set history.enabled")
    return call.services.history


async def _rows(
    history: Recorder, repository: str, p: ops.GetAccessHistoryParams | ops.GetServerAccessHistoryParams
) -> Reply:
    until = time.time() if p.until is UNSET else p.until.timestamp()
    wanted = Wanted(
        since=until - WEEK if p.since is UNSET else p.since.timestamp(),
        until=until,
        user=serializers.text(p.user),
        path=serializers.text(p.path),
        operation=serializers.text(p.operation),
        refused=p.refused is True,
    )
    return StreamReply(200, streamed(await history.read(repository, wanted)), UNKNOWN, (ARROW,))
