"""The least of HTTP that a GET or a small upload needs: one request, one answer of a length that is told, one socket.

Under `lane`, which takes whatever is not plain for a reason to go the long way. `http.client` reads the head of an
answer as if it were an e-mail: that takes as long as all the rest of a stat, and holds the interpreter meanwhile.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Mapping, Sequence
from http.client import HTTPConnection, HTTPSConnection
from urllib.parse import SplitResult

from lakebed._loopback import SocketOption
from lakebed._wire import Answer

_HEAD = 64 << 10
"""Bytes that the head of an answer can have; what comes of the body with it is copied."""

_EMPTY = (204, 304)
Block = bytes | bytearray


def request_of(method: str, target: str, headers: Mapping[str, str | bytes]) -> bytes:
    """The head of a request as it is sent. Raises ValueError for what would be more than one."""
    lines = [f"{method} {target} HTTP/1.1".encode("ascii")]
    for name, value in headers.items():
        lines.append(b"%b: %b" % (name.encode("ascii"), value if isinstance(value, bytes) else value.encode("latin-1")))
    if any(b"\n" in line or b"\r" in line for line in lines) or " " in target:
        raise ValueError("a request has one line for each header")
    return b"\r\n".join((*lines, b"", b""))


class Connection:
    """A socket and the memory for the heads of answers. For one thread at a time."""

    def __init__(self, address: SplitResult, timeout: float, options: Sequence[SocketOption]) -> None:
        host = address.hostname or ""
        connecting: HTTPConnection
        if address.scheme == "https":
            import httpx

            context = httpx.create_ssl_context()  # trusts what the transport trusts
            connecting = HTTPSConnection(host, address.port, timeout=timeout, context=context)
        else:
            connecting = HTTPConnection(host, address.port, timeout=timeout)
        connecting.connect()
        self._socket: socket.socket = connecting.sock
        for option in options:
            self._socket.setsockopt(*option)
        self._head = bytearray(_HEAD)

    def close(self) -> None:
        """Let go of the socket."""
        self._socket.close()

    def exchange(self, request: bytes, into: memoryview | None = None, body: Iterable[Block] = ()) -> Answer:
        """Send a request, and read its answer to the end; the content goes `into` memory of its size, if it has that.

        Raises OSError, and ValueError for an answer that is not plain. The connection is of no use then.
        """
        self._socket.sendall(request)
        for block in body:
            self._socket.sendall(block)
        size, end = self._read_head()
        status, headers = _parsed(bytes(self._head[:end]))
        begun = memoryview(self._head)[end + 4 : size]
        length = 0 if status in _EMPTY else int(headers.get("content-length", "none told"))
        if "transfer-encoding" in headers or not len(begun) <= length:
            raise ValueError("not an answer of a length that is told")
        given = into is not None and status in (200, 206) and into.nbytes == length
        target = into.cast("B") if into is not None and given else memoryview(bytearray(length))
        target[: len(begun)] = begun
        self._fill(target[len(begun) :])
        return Answer(status, headers, b"" if given else bytes(target))

    def _read_head(self) -> tuple[int, int]:
        """How much was read, and where in it the head ends."""
        view, size = memoryview(self._head), 0
        while size < _HEAD:
            size += self._receive(view[size:])
            end = self._head.find(b"\r\n\r\n", 0, size)
            if end >= 0:
                return size, end
        raise ValueError("the head of an answer does not end")

    def _fill(self, view: memoryview) -> None:
        done = 0
        while done < view.nbytes:
            done += self._receive(view[done:])

    def _receive(self, view: memoryview) -> int:
        count = self._socket.recv_into(view)
        if not count:
            raise ConnectionResetError("the connection ended before the answer did")
        return count


def _parsed(head: bytes) -> tuple[int, dict[str, str]]:
    """Status and headers, their names in lower case."""
    first, *lines = head.decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    status = int(rest[:3])
    if version != "HTTP/1.1" or not 200 <= status < 600:
        raise ValueError(f"not an answer that is understood here: {first!r}")
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or name != name.strip():
            raise ValueError(f"not a header: {line!r}")
        headers[name.lower()] = value.strip()
    return status, headers
