"""The short way for small questions and ranges: one blocking request in the thread that asks.

Only requests go here that may be sent twice, and only plain outcomes come back: a success, or a refusal that no
repetition can change. Everything else is a `LongWay`: the caller then asks by the transport, which repeats, waits and
explains.
"""

from __future__ import annotations

import base64
import os
import time
import weakref
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from lakebed._gateway import calls
from lakebed._http import loopback, trust
from lakebed._http.plain_http import Block, Connection, header_lines, request_of
from lakebed._process.forks import ForkLock
from lakebed._settings.config import Settings
from lakebed._values.wire import Answer, Call
from lakebed._version import __version__

T = TypeVar("T")

_IDLE = 3.0
"""Seconds after which a connection is not used again: servers close theirs after some five."""

_KEPT = 16
_PLAIN = (400, 401, 403, 404, 409, 410, 416)

_PLAINLY = {"Accept": "application/json", "Accept-Encoding": "identity"}


class LongWay(Exception):
    """Ask by the transport."""


class Lane:
    """Blocking connections to one server, of one process.

    It has no lock, which somebody could hold when the process forks: a deque takes and gives one at a time.
    """

    def __init__(self, settings: Settings) -> None:
        pair = f"{settings.access_key_id}:{settings.secret_access_key}".encode()
        self._settings = settings
        self._url = settings.api_url
        self._address = urlsplit(self._url)
        self._fixed = header_lines(
            {
                "Host": self._address.netloc.rpartition("@")[2],
                "Authorization": "Basic " + base64.b64encode(pair).decode(),
                "User-Agent": f"lakebed-python/{__version__} short",
            }
        )
        self._timeout = settings.timeout
        self.process = os.getpid()
        self._idle: deque[tuple[float, Connection]] = deque()
        # not __del__: of garbage in a cycle the sockets may be finalized first, and those complain of being open
        weakref.finalize(self, _close_all, self._idle)
        self.is_open = not loopback.takes_proxy(self._url)
        """Whether there is one: it knows no proxies, the transport does."""

    def call(self, call: Call[T], into: memoryview | None = None) -> T:
        """Send one reading request, once. The content of a success goes `into` memory of exactly its size, if given.

        Raises LongWay, and what the server refuses with.
        """
        if not self.is_open or call.repeat != "safe" or call.method != "GET":
            raise LongWay
        return self._read(call, self._exchange(call, into))

    def send(self, call: Call[T], body: Iterable[Block], size: int) -> T:
        """Send one request with a body of so many bytes, once. Raises LongWay, and what the server refuses with."""
        if not self.is_open or call.repeat != "safe":
            raise LongWay
        return self._read(call, self._exchange(call, None, body, size))

    def _read(self, call: Call[T], answer: Answer) -> T:
        if answer.status not in call.success and answer.status not in _PLAIN:
            raise LongWay
        return calls.read(call, answer)

    def close(self) -> None:
        """Close what is idle."""
        _close_all(self._idle)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a lane is of one process and holds a secret: another process makes its own")

    def _exchange(
        self, call: Call[T], into: memoryview | None = None, body: Iterable[Block] = (), size: int | None = None
    ) -> Answer:
        query = _query(call.params)
        target = f"{self._address.path}{call.url}{'?' if query else ''}{query}"
        connection = None
        try:
            length: dict[str, str | bytes] = {} if size is None else {"Content-Length": str(size)}
            request = request_of(call.method, target, {**_PLAINLY, **call.headers, **length}, self._fixed)
            connection = self._take()
            answer = connection.exchange(request, into, body)
        except (OSError, ValueError) as error:
            if connection is not None:
                connection.close()
            raise LongWay from error
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        if answer.headers.get("connection", "").lower() == "close":
            connection.close()
        else:
            self._give_back(connection)
        return answer

    def _take(self) -> Connection:
        oldest = time.monotonic() - _IDLE
        while (kept := _last(self._idle)) is not None:
            since, connection = kept
            if since >= oldest:
                return connection
            connection.close()
        options, context = loopback.socket_options(self._url), trust.ssl_context(self._settings)
        return Connection(self._address, self._timeout, options, context)

    def _give_back(self, connection: Connection) -> None:
        if len(self._idle) < _KEPT:  # threads that look at once may keep one more each: each had it anyway
            self._idle.append((time.monotonic(), connection))
        else:
            connection.close()


class Lanes:
    """The lane of whichever process asks: a child that was forked gets its own, and leaves the parent's alone."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = ForkLock()
        self._lane: Lane | None = None

    def get(self) -> Lane:
        """The lane of this process."""
        with self._lock:
            if self._lane is None or self._lane.process != os.getpid():
                self._lane = Lane(self._settings)
            return self._lane

    def close(self) -> None:
        """Close what is idle here. Who asks afterwards goes the long way, which says that it is closed."""
        lane = self.get()
        lane.is_open = False
        lane.close()


def _last(idle: deque[tuple[float, Connection]]) -> tuple[float, Connection] | None:
    try:
        return idle.pop()
    except IndexError:
        return None


def _close_all(idle: deque[tuple[float, Connection]]) -> None:
    """In a forked child this closes copies: the parent's connections stay open, and nothing is sent."""
    while (kept := _last(idle)) is not None:
        kept[1].close()


def _query(params: Mapping[str, Any]) -> str:
    """Parameters as they stand in a URL. A slash may stand there as it is."""
    if all(type(value) is str for value in params.values()):
        return "&".join([f"{name}={quote(value)}" for name, value in params.items()])
    return urlencode(params, doseq=True, quote_via=quote)
