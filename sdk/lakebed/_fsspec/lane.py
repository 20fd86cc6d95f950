"""The short way for small questions and ranges: one blocking request in the thread that asks.

Beside the transport, for threads that would only wait for the event loop: a stat costs a quarter of the long way, and
a range arrives in the buffer that it is handed out in. Only reading requests go here, and only plain outcomes come
back: a success, or a refusal that no repetition can change. Everything else is a `LongWay`: the caller then asks by the
transport, which repeats, waits and explains.
"""

from __future__ import annotations

import base64
import os
import threading
import time
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from typing import TypeVar
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

from lakebed._config import Settings
from lakebed._gateway import answers
from lakebed._version import __version__
from lakebed._wire import Answer, Call

T = TypeVar("T")

_IDLE = 3.0
"""Seconds after which a connection is not used again: servers close theirs after some five."""

_KEPT = 16
_PLAIN = (400, 401, 403, 404, 409, 410, 416)


class LongWay(Exception):
    """Ask by the transport."""


class Lane:
    """Blocking connections to one server, of one process."""

    def __init__(self, settings: Settings) -> None:
        pair = f"{settings.access_key_id}:{settings.secret_access_key}".encode()
        self._headers = {
            "Authorization": "Basic " + base64.b64encode(pair).decode(),
            "User-Agent": f"lakebed-python/{__version__} fsspec",
            "Accept": "application/json",
        }
        self._timeout = settings.timeout
        self._address = urlsplit(settings.api_url)
        self._host = self._address.hostname or ""
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[tuple[float, HTTPConnection]] = []
        proxied = self._address.scheme in getproxies() and not proxy_bypass(self._host)
        self.is_open = not proxied
        """Whether there is one: it knows no proxies, the transport does."""

    def call(self, call: Call[T], into: memoryview | None = None) -> T:
        """Send one reading request, once. The content of a success goes `into` memory of exactly its size, if given.

        Raises LongWay, and what the server refuses with.
        """
        if not self.is_open or call.repeat != "safe" or call.method != "GET":
            raise LongWay
        answer = self._exchange(call, into)
        if answer.status not in call.success and answer.status not in _PLAIN:
            raise LongWay
        return answers.read(call, answer)

    def close(self) -> None:
        """Close what is idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def __del__(self) -> None:
        if getattr(self, "_process", 0) == os.getpid():
            self.close()

    def _exchange(self, call: Call[T], into: memoryview | None = None) -> Answer:
        query = urlencode(call.params, doseq=True, quote_via=quote)
        target = f"{self._address.path}{call.url}{'?' if query else ''}{query}"
        connection = self._take()
        try:
            connection.request("GET", target, headers={**self._headers, **call.headers})
            response = connection.getresponse()
            content = b"" if into is not None and _filled(response, into) else response.read()
            headers = {name.lower(): value for name, value in response.getheaders()}
        except (OSError, HTTPException, ValueError) as error:
            connection.close()
            raise LongWay from error
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._give_back(connection)
        return Answer(response.status, headers, content)

    def _take(self) -> HTTPConnection:
        oldest = time.monotonic() - _IDLE
        while True:
            with self._lock:
                if not self._idle:
                    break
                since, connection = self._idle.pop()
            if since >= oldest:
                return connection
            connection.close()
        if self._address.scheme == "https":
            import httpx

            context = httpx.create_ssl_context()  # trusts what the transport trusts
            return HTTPSConnection(self._host, self._address.port, timeout=self._timeout, context=context)
        return HTTPConnection(self._host, self._address.port, timeout=self._timeout)

    def _give_back(self, connection: HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < _KEPT:
                self._idle.append((time.monotonic(), connection))
                return
        connection.close()


def _filled(response: HTTPResponse, view: memoryview) -> bool:
    """Read a whole answer into memory. False when it is none of this size; then nothing was read."""
    if response.status not in (200, 206) or response.length != view.nbytes:
        return False
    done = 0
    while done < view.nbytes:
        count = response.readinto(view[done:])
        if not count:
            raise IncompleteRead(b"", view.nbytes - done)
        done += count
    return True
