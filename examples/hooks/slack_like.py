"""A receiver that behaves like an incoming webhook of Slack, to try notifications.

    python examples/hooks/slack_like.py --port 8081

It takes `{"text": "..."}` and answers `ok`, as Slack does. Slack refuses other bodies with 400 `no_text`; the events of
hooks have no `text`, so this receiver shows such an event as one line of text, as a small bridge before Slack would.
"""

from __future__ import annotations

import argparse
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


def line_of(event: Mapping[str, Any]) -> str:
    """One line about an event: `post-merge in sales: main is now 1f9a64a7 (jane: "Add July")`."""
    where = event.get("branch_id") or event.get("tag_id") or ""
    commit = str(event.get("commit_id") or "")[:8]
    who = event.get("committer") or event.get("user") or "a user"
    text = f"{event['event_type']} in {event['repository_id']}: {where}"
    if commit:
        text += f" is now {commit}"
    if message := event.get("commit_message"):
        text += f' ({who}: "{message}")'
    return text


@dataclass
class SlackLike:
    """The receiver. Use it as a context manager: it serves in a thread of its own. `messages`: what it would show."""

    host: str = "127.0.0.1"
    port: int = 0
    messages: list[str] = field(default_factory=list)

    def __enter__(self) -> SlackLike:
        self._server = ThreadingHTTPServer((self.host, self.port), self._handler())
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """The `url` of a hook."""
        return f"http://{self.host}:{self.port}/services/T0/B0/x"

    def answer(self, body: bytes) -> tuple[int, str]:
        """The status and the text of the answer to a request."""
        try:
            sent = json.loads(body)
        except ValueError:
            return 400, "invalid_payload"
        if not isinstance(sent, dict):
            return 400, "invalid_payload"
        if "event_type" in sent and "repository_id" in sent:
            self.messages.append(line_of(sent))
        elif sent.get("text"):
            self.messages.append(str(sent["text"]))
        else:
            return 400, "no_text"
        return 200, "ok"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                status, text = server.answer(self.rfile.read(int(self.headers.get("content-length") or 0)))
                self.send_response(status)
                self.send_header("content-type", "text/plain")
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, format: str, *args: object) -> None:
                """The receiver is quiet. `messages` has what it got."""

        return Handler


def main() -> None:
    """Serve until Ctrl+C, and print each message."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8081)
    options = parser.parse_args()
    with SlackLike(port=options.port) as server:
        print(f"like Slack on {server.url}")
        shown = 0
        try:
            while not threading.Event().wait(0.2):
                for message in server.messages[shown:]:
                    print(message)
                    shown += 1
        except KeyboardInterrupt:
            print("stopped")


if __name__ == "__main__":
    main()
