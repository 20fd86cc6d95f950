"""Receives the code of a sign-in from the browser, on a port of this machine that only its programs can reach."""

from __future__ import annotations

import hmac
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, Self
from urllib.parse import parse_qs, urlsplit

from lakebed.errors import AuthenticationError

_DONE: Final = b"<!doctype html><title>Lakebed</title><p>You are signed in. You can close this window.</p>"
_REFUSED: Final = b"<!doctype html><title>Lakebed</title><p>This is not the sign-in that the terminal waits for.</p>"
_LONGEST: Final = 4096


class CodeReceiver:
    """A server on 127.0.0.1 that takes one code, from a request with the right `state`."""

    def __init__(self, state: str) -> None:
        codes: queue.Queue[str] = queue.Queue(1)
        first = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def log_message(self, *_: object) -> None:
                """Write no log: the request has the code."""

            def do_GET(self) -> None:
                """Take the code."""
                query = parse_qs(urlsplit(self.path).query)
                code, sent = query.get("code", [""])[0], query.get("state", [""])[0]
                is_right = hmac.compare_digest(sent.encode(), state.encode()) and 0 < len(code) <= _LONGEST
                is_first = is_right and first.acquire(blocking=False)
                page = _DONE if is_right else _REFUSED
                self.send_response(200 if is_right else 400)
                self.send_header("content-type", "text/html; charset=utf-8")
                self.send_header("content-security-policy", "default-src 'none'")
                self.send_header("cache-control", "no-store")
                self.send_header("referrer-policy", "no-referrer")
                self.send_header("content-length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)
                if is_first:  # after the page: the command ends when it has the code
                    codes.put(code)

        self._codes = codes
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        """The port, which the system has chosen."""
        return self._server.server_port

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait(self, seconds: float) -> str:
        """Return the code. Raises AuthenticationError when none comes in this time."""
        try:
            return self._codes.get(timeout=seconds)
        except queue.Empty:
            raise AuthenticationError(
                f"no sign-in within {seconds:.0f} seconds: run `lakebed login` again, or with --no-browser"
            ) from None
