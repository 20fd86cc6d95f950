"""Where users may send requests of the server to. Pure: this module resolves no names.

>>> refusal("169.254.169.254")
'link-local or cloud metadata'
>>> refusal("::ffff:10.0.0.7")
'private'
>>> refusal("::ffff:10.0.0.7", private=True)
''
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def _networks(table: dict[str, str]) -> tuple[tuple[Network, str], ...]:
    return tuple((ipaddress.ip_network(one), what) for text, what in table.items() for one in text.split())


_NEVER: Final = _networks(
    {
        "0.0.0.0/8 ::/128": "unspecified",  # Linux connects to this machine
        "169.254.0.0/16 fe80::/10": "link-local or cloud metadata",
        "168.63.129.16/32 100.100.100.200/32 192.0.0.192/32 fd00:ec2::/32 fd20:ce::/64": "cloud metadata",
        "224.0.0.0/4 ff00::/8": "multicast",
        "255.255.255.255/32": "broadcast",
        # These contain an IPv4 address, to which a relay would connect.
        "2001::/32 2002::/16": "a Teredo or 6to4 tunnel",
    }
)
"""Not even for hosts of the allow list: no receiver of hooks has such an address."""

_NOT_PUBLIC: Final = _networks(
    {
        "127.0.0.0/8 ::1/128": "loopback",
        "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7": "private",
        "100.64.0.0/10": "shared by a provider (CGNAT)",
        "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20": "for documentation",
        "192.0.0.0/24 192.88.99.0/24 198.18.0.0/15 240.0.0.0/4 2001::/23": "reserved",
    }
)

_GLOBAL: Final = ipaddress.IPv6Network("2000::/3")
"""All public addresses of IPv6 are here."""
_TRANSLATED: Final = (ipaddress.IPv6Network("::ffff:0:0/96"), ipaddress.IPv6Network("64:ff9b::/96"))
"""IPv6 addresses that mean an IPv4 address: to the kernel, and to a NAT64 gateway."""
_COMPATIBLE: Final = ipaddress.IPv6Network("::/96")
_LOOPBACK: Final = ipaddress.IPv6Address("::1")


def refusal(address: str, *, private: bool = False) -> str:
    """Why the server must not connect to an IP address, as an adjective. Empty: it may.

    `private`: loopback, private and reserved addresses are allowed.
    """
    try:
        ip = _meant(ipaddress.ip_address(address.partition("%")[0]))
    except ValueError:  # also `127.1` and `0x7f.1`, which the C library would read as an address
        return "not written as an IP address"
    for network, what in _NEVER if private else (*_NEVER, *_NOT_PUBLIC):
        if ip in network:
            return what
    if ip in _COMPATIBLE and ip != _LOOPBACK:
        return "an old form of an IPv4 address"
    if not private and isinstance(ip, ipaddress.IPv6Address) and ip not in _GLOBAL:
        return "reserved"
    return ""


def _meant(ip: Address) -> Address:
    if isinstance(ip, ipaddress.IPv6Address) and any(ip in network for network in _TRANSLATED):
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip


def is_listed(host: str, port: int, patterns: Iterable[str]) -> bool:
    """Whether a destination matches the allow list: `*.example.com`, `10.0.0.*`, `localhost:8080`, `[::1]:8080`."""
    name = _plain(host)
    split = map(_split, patterns)
    return bool(name) and any(
        fnmatchcase(name, _plain(pattern)) and wanted in ("", str(port)) for pattern, wanted in split
    )


def _split(pattern: str) -> tuple[str, str]:
    """The pattern of the host, and the port or nothing."""
    if pattern.startswith("["):
        host, _, rest = pattern.partition("]")
        return host, rest.removeprefix(":")
    if pattern.count(":") == 1:
        host, _, port = pattern.partition(":")
        return host, port
    return pattern, ""


def _plain(host: str) -> str:
    return host.lower().rstrip(".").strip("[]")


def is_odd_number(host: str) -> bool:
    """Whether a host is a number that is not an IP address: `2130706433`, `0x7f000001`, `0177.0.0.1`, `127.1`.

    The C library reads these as IPv4 addresses. People do not write them by accident.
    """
    last = _plain(host).rpartition(".")[2]
    if not (last.isdecimal() or last.startswith("0x")):
        return False
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return True
    return False
