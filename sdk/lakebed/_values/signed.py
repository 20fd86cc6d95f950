"""Signed addresses as values: of parts to write and of objects to read. Also the cache of addresses that are still
valid.

An address is a secret until it expires: no `repr` shows it, and the filter removes it from the logs of HTTP libraries.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lakebed._process.forks import ForkLock
from lakebed.errors import ConfigurationError

DIRECT, PRESIGNED, PROXIED = "direct", "presigned", "proxied"
DATA_PATHS = (DIRECT, PRESIGNED, PROXIED)
VARIABLE = "LAKEBED_DATA_PATH"

_SECRET = re.compile(r"\b((?:X-Amz-|X-Goog-)?(?:Signature|Credential|Security-Token)|sig)=[^&\s'\"]+", re.IGNORECASE)
_MOST = 4096
_FRESH = 30.0
"""Seconds. An address that expires sooner is not used for a new request."""

_AWAY = 60.0
"""Seconds for which a store counts as unreachable."""

_DEFAULT_LIFETIME = 30.0
"""Seconds for which an address without a known end is kept. The server gives at least twice this time."""


@dataclass(frozen=True, slots=True)
class PartTarget:
    """An object that is written in parts: the data for its registration, and the store's id of the upload."""

    physical_address: str
    upload_id: str


@dataclass(frozen=True, slots=True)
class PartUrl:
    """A signed address at which one part can be written until it expires."""

    part: int
    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False, hash=False)
    expires: datetime


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """The address of an object's bytes in the store, and the properties that the server knows."""

    url: str = field(repr=False)
    checksum: str
    mtime: datetime
    content_type: str = ""


Key = tuple[str, str, str, str]
"""Repository, ref, path and checksum. The same key always means the same content, whatever the ref shows later."""


class Addresses:
    """A cache of addresses for reading. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = ForkLock()
        self._known: OrderedDict[Key, tuple[StoreAddress, float]] = OrderedDict()
        self._away = 0.0

    @property
    def reachable(self) -> bool:
        """Return False when this machine failed to reach a store in the last minute."""
        return self._away <= time.time()

    def unreachable(self) -> None:
        """Record that the store is unreachable. For a minute all bytes come through the server."""
        self._away = time.time() + _AWAY

    def get(self, key: Key) -> StoreAddress | None:
        """Return an address that stays valid for a while, or None."""
        with self._lock:
            found = self._known.get(key)
            if found is None or found[1] <= time.time():
                return None
            self._known.move_to_end(key)
            return found[0]

    def keep(self, key: Key, found: StoreAddress, expires: int | None = None) -> None:
        """Cache an address until shortly before `expires` (Unix seconds)."""
        until = time.time() + _DEFAULT_LIFETIME if expires is None else expires - _FRESH
        with self._lock:
            self._known[key] = found, until
            while len(self._known) > _MOST:
                self._known.popitem(last=False)

    def drop(self, key: Key) -> None:
        """Remove an address from the cache."""
        with self._lock:
            self._known.pop(key, None)


def wanted_path(asked: str | None) -> str | None:
    """Return the data path from the argument or the environment. Raises ConfigurationError."""
    wanted = asked or os.environ.get(VARIABLE, "").strip() or None
    if wanted is not None and wanted not in DATA_PATHS:
        where = "data_path" if asked else VARIABLE
        raise ConfigurationError(f"{where} must be 'direct', 'presigned' or 'proxied', not {wanted!r}")
    return wanted


class _Unsigned(logging.Filter):
    """Replaces the secret parts of URLs. urllib3 and httpx log the URL of every request, at DEBUG."""

    def filter(self, record: logging.LogRecord) -> bool:
        said = record.getMessage()
        kept = _SECRET.sub(r"\1=(kept back)", said)
        if kept != said:
            record.msg, record.args = kept, ()
        return True


for _name in ("urllib3.connectionpool", "httpx", "httpcore.http11", "httpcore.http2"):
    logging.getLogger(_name).addFilter(_Unsigned())
