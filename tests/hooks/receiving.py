"""A receiver of webhooks for tests, in a thread of this process: it answers by path, and keeps what it received."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.waiting import PATIENCE, wait_until

Answer = tuple[int, Any]
"""A status and a document."""


@dataclass(frozen=True)
class Received:
    """A request."""

    path: str
    headers: dict[str, str]
    event: dict[str, Any]


def _agree(_: Received) -> Answer:
    return 200, {}


def _refuse(_: Received) -> Answer:
    return 422, {"message": "the table has no owner"}


def _fail(_: Received) -> Answer:
    return 500, {}


@dataclass
class Receiver:
    """`answers`: by path. Paths without an answer get 200."""

    url: str
    received: list[Received] = field(default_factory=list)
    answers: dict[str, Callable[[Received], Answer]] = field(
        default_factory=lambda: {"/pass": _agree, "/refuse": _refuse, "/error": _fail}
    )
    ended: threading.Event = field(default_factory=threading.Event)
    """Set when the receiver ends: until then, `/hang` has no answer."""

    def __post_init__(self) -> None:
        self.answers["/hang"] = self._hang

    def _hang(self, _: Received) -> Answer:
        self.ended.wait(PATIENCE)
        return 200, {}

    def at(self, path: str) -> list[Received]:
        """The requests to one path."""
        return [one for one in self.received if one.path == path]

    def wait(self, path: str, count: int, seconds: float = 20) -> list[Received]:
        """Wait for a number of requests to a path."""

        def arrived() -> bool:
            return len(self.at(path)) >= count

        wait_until(arrived, lambda: f"{len(self.at(path))} of {count} requests to {path}", seconds=seconds, every=0.02)
        return self.at(path)


@contextmanager
def receiving(port: int = 0) -> Iterator[Receiver]:
    """Run a receiver."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen = Received(self.path, headers, json.loads(body))
            receiver.received.append(seen)
            status, document = receiver.answers.get(self.path, _agree)(seen)
            answer = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            with suppress(OSError):  # the server does not wait for a hook that hangs
                self.end_headers()
                self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    receiver = Receiver(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
