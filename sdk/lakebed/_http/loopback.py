"""Connections to a server on this machine: whether one is, and how its sockets are set up."""

from __future__ import annotations

import hashlib
import socket
import sys
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from lakebed._settings.config import is_loopback

BUFFER = 4 << 20
"""Bytes in each direction. As they begin, the kernel's buffers hold a small part of a Parquet file: server and client
then wake each other a dozen times for each, which takes several times as long as the copy (0.45 s for 200 MiB, 0.1 s
with these). To other machines the kernel's own growth is better."""

UNPACED = b"reno"
"""How a connection is kept from filling a network: the one way that every Linux has, and it holds nothing back while
nothing is lost. Where BBR is the machine's way, its timers hand out a file in slices, between two processes too, and
each slice wakes both: 1.0 ms of a processor for a MiB, 0.4 with this."""

SocketOption = tuple[int, int, int] | tuple[int, int, bytes]

MACHINE_HEADER = "X-Lakebed-Machine"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def machine_headers(url: str) -> dict[str, str]:
    """What proves to a server on this machine that this process runs on it, too; see openapi.yaml. Empty for others.

    The number is drawn at each start of the machine, and only its processes can read it.
    """
    if not is_loopback(urlsplit(url).hostname) or takes_proxy(url):
        return {}
    try:
        number = _BOOT_ID.read_bytes().strip()
    except OSError:
        return {}
    return {MACHINE_HEADER: hashlib.sha256(b"lakebed machine " + number).hexdigest()}


def takes_proxy(url: str) -> bool:
    """Whether the environment sends requests to this address by a proxy."""
    address = urlsplit(url)
    return address.scheme in getproxies() and not proxy_bypass(address.hostname or "")


def is_here(url: str) -> bool:
    """Whether a server can only be this machine's: its name means loopback addresses and nothing else. Blocks."""
    address = urlsplit(url)
    if takes_proxy(url):
        return False
    try:
        found = socket.getaddrinfo(address.hostname, address.port, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return bool(found) and all(ip_address(peer[0]).is_loopback for *_, peer in found)


def socket_options(url: str) -> list[SocketOption]:
    """What to set on the sockets of connections to this address."""
    if not BUFFER or sys.platform != "linux" or not is_loopback(urlsplit(url).hostname) or takes_proxy(url):
        return []
    return _granted()


@cache
def _granted() -> list[SocketOption]:
    """What this machine lets a process choose. A smaller buffer than asked is worse than none: it no longer grows."""
    wide: list[SocketOption] = [(socket.SOL_SOCKET, which, BUFFER) for which in (socket.SO_SNDBUF, socket.SO_RCVBUF)]
    unpaced: list[SocketOption] = [(socket.IPPROTO_TCP, socket.TCP_CONGESTION, UNPACED)]
    with socket.socket() as probe:
        try:
            probe.setsockopt(*unpaced[0])
        except OSError:  # an operator can forbid it, and what only looks like Linux has no choice
            unpaced = []
        for option in wide:
            probe.setsockopt(*option)
        granted = min(probe.getsockopt(*option[:2]) for option in wide)
    return [*(wide if granted >= BUFFER else []), *unpaced]
