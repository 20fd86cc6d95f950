"""Whether a server is on this machine, and the header that proves to it that this process is."""

from __future__ import annotations

import hashlib
import socket
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from lakebed._http.exchange import proxy_of
from lakebed._settings.config import is_loopback

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
