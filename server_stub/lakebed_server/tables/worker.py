"""The process that reads tables: `python -m lakebed_server.tables`. It is given a socket as standard input.

It opens no file and no connection. The server sends it requests and bytes. It has bounds on memory and on the size of
files. A timer ends it if the server does not.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import pyarrow as pa

from lakebed_server.tables import delta, messages, pages, row_diffs
from lakebed_server.tables.files import Fetch, Source
from lakebed_server.tables.parts import Kept

_LENGTH: Final = struct.Struct(">Q")
_SPARE_SECONDS: Final = 5.0


class _Server:
    """The connection to the server."""

    def __init__(self, connection: socket.socket) -> None:
        self._file = connection.makefile("rwb", buffering=1 << 20)

    def receive(self) -> messages.Request | None:
        """The next request. None at the end."""
        head = self._file.read(messages.LENGTH_BYTES)
        if len(head) < messages.LENGTH_BYTES:
            return None
        request: messages.Request = messages.REQUESTS.decode(self._file.read(_LENGTH.unpack(head)[0]))
        return request

    def send(self, message: msgspec.Struct) -> None:
        data = msgspec.msgpack.encode(message)
        self._file.write(_LENGTH.pack(len(data)))
        self._file.write(data)
        self._file.flush()

    def fetch(self, ranges: Sequence[tuple[int, int, int]]) -> list[bytes]:
        """The bytes of ranges of the files of the request."""
        if not ranges:
            return []
        self.send(messages.Ranges(tuple(ranges)))
        found = [self._file.read(length) for _, _, length in ranges]
        if [len(data) for data in found] != [length for _, _, length in ranges]:
            raise EOFError("the server closed the connection")
        return found


def answer(request: messages.Request, fetch: Fetch, kept: Kept) -> messages.Done | messages.Failed:
    """The answer to one request. A file can make Arrow raise almost anything."""
    source = Source(request.files, request.most_bytes, fetch)
    try:
        body = msgspec.json.encode(_answered(request, source, kept))
    except messages.TableError as error:
        return messages.Failed(error.kind, error.message)
    except MemoryError:
        return messages.Failed("table_too_large", messages.TOO_LARGE)
    except (pa.ArrowException, OSError, ValueError, UnicodeError, OverflowError, RecursionError) as error:
        said = (str(error).splitlines() or [type(error).__name__])[0][:300]
        return messages.Failed("unreadable_table", f"{request.path!r} cannot be read: {said}")
    except Exception:
        return messages.Failed("internal", traceback.format_exc())
    if len(body) > messages.LARGEST_MESSAGE - 1024:
        return messages.Failed("table_too_large", messages.TOO_LARGE)
    return messages.Done(body)


def _answered(request: messages.Request, source: Source, kept: Kept) -> Any:
    if isinstance(request, messages.DiffRequest):
        return row_diffs.page(request, source, kept)
    if isinstance(request, messages.DeltaRequest):
        return delta.files_of(request, source, kept)
    return pages.page(request, source, kept)


def limit_resources(memory: int) -> None:
    """Bound the memory of this process, and let it write no file."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(5)


def main() -> None:
    """Answer requests until the server closes the connection. Arguments: memory in bytes, seconds for a request."""
    memory, seconds = int(sys.argv[1]), float(sys.argv[2])
    limit_resources(memory)
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    server, kept = _Server(socket.socket(fileno=0)), Kept()
    server.send(messages.Done(b""))
    while (request := server.receive()) is not None:
        signal.setitimer(signal.ITIMER_REAL, seconds + _SPARE_SECONDS)
        server.send(answer(request, server.fetch, kept))
        signal.setitimer(signal.ITIMER_REAL, 0)
