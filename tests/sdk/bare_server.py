"""A server of plain sockets, whose answers the test writes byte by byte."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

Handler = Callable[[socket.socket, bytes], bool]
"""Gets a connection and the head of one request. Returns whether to wait for another request."""


class BareServer:
    """Accepts connections and calls `handler` for each request head."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/x"
        self.heads: list[bytes] = []
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(ConnectionError):  # the client may break the connection
            received = b""
            while True:
                while b"\r\n\r\n" not in received:
                    block = connection.recv(1 << 16)
                    if not block:
                        return
                    received += block
                head, _, received = received.partition(b"\r\n\r\n")
                self.heads.append(head)
                if not self._handler(connection, head):
                    return

    def close(self) -> None:
        self._listener.close()
