"""One HTTP request as a value, and the ways in which sending it fails. The blocking and the async client share them.

A header proves to a server on this machine that this process is on it too.
"""

from __future__ import annotations

import hashlib
import platform
import socket
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

from lakebed._http import trust
from lakebed._settings.config import is_loopback
from lakebed._version import __version__

HTTPX = "httpx"
USER_AGENT = f"lakebed-python/{__version__} python/{platform.python_version()}"
MAX_CONNECTIONS = 64
CONNECT_TIMEOUT = 10.0
"""Seconds, unless the timeout of the connection is shorter."""

IDLE_SECONDS = 3.0
"""An idle connection is not used again after this time.

Servers close idle connections after some five seconds. If the client closes first, it never sends a commit into a
connection that the server is closing, and the outcome of that commit is never unknown for this reason.
"""


@dataclass(frozen=True, slots=True)
class Request:
    """A request. `url` is complete and encoded. `read_timeout`: seconds between two pieces of the response."""

    method: str
    url: str
    headers: Mapping[str, str | bytes]
    read_timeout: float
    content: bytes | Iterator[bytes] | AsyncIterator[bytes] | None = None


@dataclass(frozen=True)
class Options:
    """How an HTTP client connects. `timeout`: seconds. `tls` None: public certificates. `library`: `HTTPX` or empty."""

    timeout: float
    tls: ssl.SSLContext | None = None
    library: str = ""

    @cached_property
    def certificates(self) -> ssl.SSLContext:
        """What the certificates of servers are checked with. Loading public certificates takes 20 ms."""
        return self.tls or trust.public_certificates()

    @property
    def connect_timeout(self) -> float:
        """Seconds to connect."""
        return min(self.timeout, CONNECT_TIMEOUT)


class HttpError(Exception):
    """A request ended without a response."""


class NotConnectedError(HttpError):
    """There was no connection: the request was not sent."""


class BadAddressError(HttpError):
    """The address cannot be used."""


class BadRequestError(HttpError):
    """The request cannot be sent in HTTP, for example because a header contains a line break."""


class UndecodableError(HttpError):
    """The body of the response is not compressed as its headers say."""


class BrokenError(HttpError):
    """The connection broke. The server may have acted on the request."""


def with_query(url: str, params: Mapping[str, Any]) -> str:
    """The address with query parameters. A list becomes repeated parameters; `True` becomes `true`."""
    if not params:
        return url
    pairs = [
        (name, _as_text(one))
        for name, value in params.items()
        for one in (value if isinstance(value, (list, tuple)) else (value,))
    ]
    return f"{url}?{urlencode(pairs)}"


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


class Proxies:
    """The proxies that the environment names. Resolves each server one time, which takes 80 µs."""

    def __init__(self) -> None:
        self._known: dict[str, str | None] = {}

    def of(self, url: str) -> str | None:
        """The proxy for this address, or None. Raises BadAddressError."""
        origin = url[: url.find("/", 8)]
        if origin not in self._known:
            try:
                self._known[origin] = proxy_of(url)
            except ValueError as error:
                raise BadAddressError(str(error)) from error
        return self._known[origin]


def proxy_of(url: str) -> str | None:
    """The proxy that the environment names for this address, or None. Raises ValueError."""
    address = urlsplit(url)
    if address.hostname is None or proxy_bypass(address.hostname):
        return None
    proxies = getproxies()
    proxy = proxies.get(address.scheme) or proxies.get("all")
    return None if not proxy else proxy if "://" in proxy else f"http://{proxy}"


def header_text(value: str) -> str:
    """A header of a response as text. HTTP libraries decode headers as Latin-1; Lakebed writes UTF-8."""
    if value.isascii():
        return value
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


MACHINE_HEADER = "X-Lakebed-Machine"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def machine_headers(url: str) -> dict[str, str]:
    """What proves to a server on this machine that this process runs on it, too; see openapi.yaml. Empty for others.

    The number is drawn at each start of the machine, and only its processes can read it.
    """
    if not is_loopback(urlsplit(url).hostname) or proxy_of(url):
        return {}
    try:
        number = _BOOT_ID.read_bytes().strip()
    except OSError:
        return {}
    return {MACHINE_HEADER: hashlib.sha256(b"lakebed machine " + number).hexdigest()}


def is_here(url: str) -> bool:
    """Whether a server can only be this machine's: its name means loopback addresses and nothing else. Blocks."""
    address = urlsplit(url)
    if proxy_of(url):
        return False
    try:
        found = socket.getaddrinfo(address.hostname, address.port, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return bool(found) and all(ip_address(peer[0]).is_loopback for *_, peer in found)
