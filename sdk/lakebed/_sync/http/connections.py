# Generated from sdk/lakebed/_async/http/connections.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Connections that belong to one process and one event loop: an httpx client for each that asks.

Sockets cross neither a fork nor a change of event loop.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable

import httpx

from lakebed._compat.sync import Owner, dispose, is_over, owner
from lakebed._process.forks import ForkLock
from lakebed.errors import ConfigurationError

_OF_OTHERS: list[httpx.Client] = []
"""Clients of a parent process, or of a loop that runs: closing them here would disturb it, so they are kept quiet."""


class Clients:
    """Makes a client when it is first asked for where it is used, and forgets those of event loops that are closed."""

    def __init__(self, make: Callable[[], httpx.Client]) -> None:
        self._make = make
        self._lock = ForkLock()
        self._known: dict[Owner, httpx.Client] = {}
        self._closed = False
        weakref.finalize(self, _dispose_all, self._known)

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def get(self) -> httpx.Client:
        """The client of this process and event loop. Raises ConfigurationError once closed."""
        me = owner()
        with self._lock:
            if self._closed:
                raise ConfigurationError("this connection is closed: call connect() again")
            client = self._known.get(me)
            if client is None:
                self._forget(me)
                client = self._known[me] = self._make()
            return client

    def close(self) -> None:
        """Close what is open here. There are no clients afterwards."""
        me = owner()
        with self._lock:
            self._closed = True
            client = self._known.pop(me, None)
            self._forget(me)
            _OF_OTHERS.extend(self._known.values())
            self._known.clear()
        if client is not None:
            client.close()

    def _forget(self, me: Owner) -> None:
        """Let go of what nobody can use any more. Python closes the sockets of an event loop that is closed."""
        for other in list(self._known):
            if other[0] != me[0]:
                _OF_OTHERS.append(self._known.pop(other))
            elif is_over(other):
                del self._known[other]


def _dispose_all(known: dict[Owner, httpx.Client]) -> None:
    for (process, _), client in known.items():
        dispose(client, process)
