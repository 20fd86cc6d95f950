"""A minimal HTTP/1.1 client for GET and small uploads: one request, one response with a stated length, one socket.

`http.client` reads the head of an answer as if it were an e-mail: that takes as long as all the rest of a stat, and
holds the interpreter meanwhile.
"""

from __future__ import annotations

import re
import socket
import ssl
import struct
import sys
from collections.abc import Iterable, Mapping, Sequence
from http.client import HTTPConnection, HTTPSConnection
from urllib.parse import SplitResult

from lakebed._http.loopback import SocketOption
from lakebed._values.wire import Answer

_HEAD = 64 << 10
"""Bytes that the head of an answer can have; what comes of the body with it is copied."""

_LONGEST = 1e6
"""Seconds that are as good as for ever."""

_EMPTY = (204, 304)
_HEADER = re.compile(r"^([^:\s]+):([^\r\n]*)\r?$", re.MULTILINE)
Block = bytes | bytearray


def request_of(method: str, target: str, headers: Mapping[str, str | bytes], fixed: bytes = b"") -> bytes:
    """The head of a request as it is sent. Raises ValueError for what would be more than one.

    `fixed` are the headers of every request, as `header_lines` gives them.
    """
    if " " in target or "\n" in target or "\r" in target:
        raise ValueError("a target is one word")
    return b"".join((f"{method} {target} HTTP/1.1\r\n".encode("ascii"), fixed, header_lines(headers), b"\r\n"))


def header_lines(headers: Mapping[str, str | bytes]) -> bytes:
    """Headers as they are sent. Raises ValueError for what would be more than one."""
    lines = []
    for name, value in headers.items():
        line = b"%b: %b" % (name.encode("ascii"), value if isinstance(value, bytes) else value.encode("latin-1"))
        if b"\n" in line or b"\r" in line:
            raise ValueError("a request has one line for each header")
        lines += [line, b"\r\n"]
    return b"".join(lines)


class Connection:
    """A socket and the memory for the heads of answers. For one thread at a time."""

    def __init__(
        self,
        address: SplitResult,
        timeout: float,
        options: Sequence[SocketOption],
        context: ssl.SSLContext | None = None,
    ) -> None:
        """`context` is for an address of https. Raises OSError."""
        host = address.hostname or ""
        connecting: HTTPConnection
        if address.scheme == "https":
            connecting = HTTPSConnection(host, address.port, timeout=timeout, context=context)
        else:
            connecting = HTTPConnection(host, address.port, timeout=timeout)
        connecting.connect()
        self._socket: socket.socket = connecting.sock
        for option in options:
            self._socket.setsockopt(*option)
        self._flags = _waiting(self._socket, timeout)
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
            raise ValueError("not an answer with a stated length")
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
            done += self._receive(view[done:], self._flags)

    def _receive(self, view: memoryview, flags: int = 0) -> int:
        count = self._socket.recv_into(view, 0, flags)
        if not count:
            raise ConnectionResetError("the connection ended before the answer did")
        return count


def _waiting(opened: socket.socket, timeout: float) -> int:
    """Let the kernel fill the memory, where it can, and wake this thread once: the flags to receive with.

    A time-out of Python's would wake it for every piece. One of the kernel's is an OSError as well.
    """
    if sys.platform != "linux" or type(opened) is not socket.socket:
        return 0
    limit = struct.pack("@ll", *divmod(max(1, int(min(timeout, _LONGEST) * 1_000_000)), 1_000_000))
    opened.settimeout(None)
    for which in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        opened.setsockopt(socket.SOL_SOCKET, which, limit)
    return socket.MSG_WAITALL


def _parsed(head: bytes) -> tuple[int, dict[str, str]]:
    """Status and headers, their names in lower case."""
    first, _, lines = head.decode("latin-1").partition("\r\n")
    version, _, rest = first.partition(" ")
    status = int(rest[:3])
    if version != "HTTP/1.1" or not 200 <= status < 600:
        raise ValueError(f"not an answer that is understood here: {first!r}")
    found = _HEADER.findall(lines)
    if lines and len(found) != lines.count("\r\n") + 1:
        raise ValueError(f"not headers: {lines!r}")
    return status, {name.lower(): value.strip(" \t") for name, value in found}
