"""The access history of a repository and of the server. One function per operation (`handlers`)."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Final

import pyarrow as pa
from lakebed_engine.vocabulary.streams import CHUNK
from lakebed_wire import operations as ops
from msgspec import UNSET

from lakebed_server.access_history.recorder import Recorder
from lakebed_server.access_history.rows import SCHEMA, Wanted
from lakebed_server.http.request import Call
from lakebed_server.http.responses import UNKNOWN, Reply, StreamReply
from lakebed_server.rest import serializers
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


@asynccontextmanager
async def streamed(tables: AsyncGenerator[pa.Table]) -> AsyncIterator[AsyncIterator[bytes]]:
    """The bytes of the stream, in pieces."""
    async with aclosing(_pieces(tables)) as pieces:
        yield pieces


async def _pieces(tables: AsyncGenerator[pa.Table]) -> AsyncGenerator[bytes]:
    sink = _Sink()
    async with aclosing(tables):
        with pa.ipc.new_stream(sink, SCHEMA) as writer:
            async for table in tables:
                writer.write_table(table, max_chunksize=10_000)
                if len(sink.written) >= CHUNK:
                    yield sink.take()
    yield sink.take()


class _Sink:
    """A file that keeps what was written until it is taken."""

    closed = False

    def __init__(self) -> None:
        self.written = bytearray()

    def write(self, data: bytes) -> int:
        """Keep bytes."""
        self.written += data
        return len(data)

    def flush(self) -> None:
        """Nothing to do."""

    def take(self) -> bytes:
        """The bytes since the last call."""
        found = bytes(self.written)
        self.written.clear()
        return found
