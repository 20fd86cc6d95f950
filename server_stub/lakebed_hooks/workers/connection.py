"""The hook's end of the pipe: sends requests to the server and waits for the answers, from any thread.

The process records the files that it reads where the server can find them after a crash. A damaged file can make a C++
library end the process. Then this record is the only hint.
"""

from __future__ import annotations

import json
import mmap
import socket
import threading
from concurrent.futures import Future
from typing import Any, Final

from lakebed_hooks.workers import wire


class Connection:
    """The socket that this process inherited."""

    def __init__(self, connection: socket.socket, progress: Progress) -> None:
        self.progress = progress
        self._socket = connection
        self._file = connection.makefile("rb", buffering=1 << 18)
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[tuple[int, bytes]]] = {}
        self._last = 0
        self._closed = False

    def first(self) -> bytes:
        """Return the job. A thread reads the following frames."""
        _, _, content = self._frame()
        threading.Thread(target=self._receive, daemon=True, name="lake").start()
        return content

    def ask(self, operation: str, **fields: Any) -> Any:
        """Send a request. Returns bytes or JSON. Raises FileNotFoundError, ValueError, ConnectionError."""
        made: Future[tuple[int, bytes]] = Future()
        with self._lock:
            if self._closed:
                raise ConnectionError("the server closed the connection")
            self._last += 1
            self._waiting[self._last] = made
            self._write({"id": self._last, "op": operation, **fields})
        kind, content = made.result()
        if kind == wire.MISSING:
            raise FileNotFoundError(f"there is no file {fields.get('path')!r} in {fields.get('side', 'candidate')}")
        if kind == wire.REFUSED:
            raise ValueError(content.decode())
        return content if kind == wire.BYTES else json.loads(content)

    def answer(self, text: bytes) -> None:
        """Send the outcome of the hook."""
        with self._lock:
            self._socket.sendall(wire.LENGTH.pack(len(text)) + text)

    def _write(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        if len(data) > wire.REQUEST_MOST:
            raise ValueError("the path is too long")
        self._socket.sendall(wire.LENGTH.pack(len(data)) + data)

    def _receive(self) -> None:
        try:
            while True:
                number, kind, content = self._frame()
                self._waiting.pop(number).set_result((kind, content))
        except (OSError, EOFError, KeyError, ValueError):
            pass
        with self._lock:
            self._closed = True
        for made in list(self._waiting.values()):
            made.set_exception(ConnectionError("the server closed the connection"))

    def _frame(self) -> tuple[int, int, bytes]:
        head = self._file.read(wire.FRAME.size)
        if len(head) < wire.FRAME.size:
            raise EOFError
        number, kind, length = wire.FRAME.unpack(head)
        content = self._file.read(length)
        if len(content) < length:
            raise EOFError
        return number, kind, content


_SLOTS: Final = 16
_BYTES: Final = 1024
_LENGTH: Final = 2


class Progress:
    """The last path of each thread, in memory that a process shares with its forks."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SLOTS * _BYTES)
        self._slots: dict[int, int] = {}

    def note(self, path: str) -> None:
        """Record that this thread reads a file."""
        slot = self._slots.setdefault(threading.get_ident(), len(self._slots) % _SLOTS)
        data = path.encode()[: _BYTES - _LENGTH]
        self._memory[slot * _BYTES : slot * _BYTES + _LENGTH + len(data)] = len(data).to_bytes(_LENGTH, "big") + data

    def paths(self) -> list[str]:
        """The last paths of all threads."""
        found = []
        for start in range(0, _SLOTS * _BYTES, _BYTES):
            length = int.from_bytes(self._memory[start : start + _LENGTH], "big")
            data = self._memory[start + _LENGTH : start + _LENGTH + min(length, _BYTES)]
            if data:
                found.append(data.decode(errors="replace"))
        return list(dict.fromkeys(found))
