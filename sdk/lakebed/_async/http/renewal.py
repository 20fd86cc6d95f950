"""Renews the token of a sign-in when less than half of its lifetime is left."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from typing import Protocol

from lakebed._compat.aio import run_in_thread
from lakebed._gateway.operations.access import keys
from lakebed._http import retry
from lakebed._settings import profiles, session_token, sign_in_file
from lakebed._settings.config import Settings
from lakebed._values.wire import Call
from lakebed.errors import LakebedError
from lakebed.model import SessionToken

log = logging.getLogger("lakebed.sign_in")

AGAIN_SECONDS = 60.0
"""Seconds between two attempts."""


class Send(Protocol):
    """Sends a call once."""

    async def __call__(self, call: Call[SessionToken]) -> SessionToken:
        """Return the answer. Raises LakebedError and `Failed`."""


class Renewal:
    """Renews the token of one connection. One thread renews, and the others use the old token in the meantime."""

    def __init__(self, settings: Settings) -> None:
        self._lock = threading.Lock()
        self._file = sign_in_file.of(settings)
        self._profile = settings.profile or profiles.DEFAULT
        self._due = _due(settings.token)

    async def token(self, old: str, send: Send) -> str | None:
        """Return a new token if renewal is due. If the server returns none, keep the old token until it expires."""
        if not self._claim():
            return None
        try:
            new = (await send(keys.renew())).token
        except (LakebedError, retry.Failed) as error:
            log.info("the sign-in was not renewed: %s", error)
            return None
        self._due = _due(new)
        if self._file is not None:
            with suppress(OSError, LakebedError):  # the file is read-only or was changed: the new token works here
                await run_in_thread(sign_in_file.renew, self._file, old, new, self._profile)
        return new

    def _claim(self) -> bool:
        if time.time() < self._due:
            return False
        with self._lock:
            if time.time() < self._due:
                return False
            self._due = time.time() + AGAIN_SECONDS
        return True


def _due(token: str) -> float:
    """When to renew a token, in Unix seconds. Never, when it ends with its session."""
    lifetime = session_token.lifetime_of(token)
    if lifetime is None or lifetime.ends >= lifetime.session_ends:
        return float("inf")
    return (lifetime.begins + lifetime.ends) / 2
