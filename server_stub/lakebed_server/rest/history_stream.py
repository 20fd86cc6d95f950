"""Sends tables of the access history as one Arrow IPC stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pyarrow as pa
from lakebed_engine.vocabulary.streams import CHUNK

from lakebed_server.access_history.rows import SCHEMA


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
