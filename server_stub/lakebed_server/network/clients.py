"""The client of a request: its address, whether it uses TLS, and whether it runs on this machine.

A proxy connects to the server for its clients and names them in headers. Every client can send such headers too, so the
server believes them only if the connection comes from `listen.trusted_proxies`.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from lakebed_server.vocabulary import Scope, SettingError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MACHINE_HEADER: Final = b"x-lakebed-machine"
"""The header with which a client proves that it runs on this machine. A proxy or a tunnel also connects from it."""

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")

_LONGEST: Final = 8 << 10
"""How many bytes of forwarded headers are read, from their end, where the entry of the nearest proxy is."""


class Client(NamedTuple):
    """The client of a request. `address` is empty if the connection has none. `https`: the client itself uses TLS."""

    address: str
    https: bool


class Proxies:
    """The proxies whose forwarded headers the server believes."""

    def __init__(self, networks: Iterable[Network] = ()) -> None:
        self.networks = tuple(networks)

    def trusts(self, address: Address) -> bool:
        """Whether an address is that of a trusted proxy."""
        return any(address in network for network in self.networks)


NO_PROXIES: Final = Proxies()


def read_proxies(text: str) -> Proxies:
    """Parse the trusted proxies, for example `10.0.0.7, 10.1.0.0/16`. Raises SettingError."""
    networks = []
    for one in filter(None, (part.strip() for part in text.split(","))):
        try:
            networks.append(ipaddress.ip_network(one))
        except ValueError:
            raise SettingError(
                f"listen.trusted_proxies: expected addresses or networks, as 10.0.0.7 or 10.1.0.0/16, got {one!r}"
            ) from None
    return Proxies(networks)


def client_of(scope: Scope, proxies: Proxies) -> Client:
    """The client of a request: the peer of the connection, or the client that a trusted proxy names."""
    peer = scope.get("client")
    address: str = peer[0] if peer else ""
    https = scope.get("scheme") == "https"
    if not proxies.networks:
        return Client(address, https)
    parsed = parse_address(address)
    if parsed is None or not proxies.trusts(parsed):
        return Client(address, https)
    return _forwarded(scope, proxies, Client(address, https))


def parse_address(text: str) -> Address | None:
    """An address without port and zone. An IPv4 address that is written as IPv6 becomes IPv4. None for other text."""
    try:
        parsed = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed


def is_loopback(address: str) -> bool:
    """Whether an address is a loopback address."""
    if address.startswith("127."):
        return True
    parsed = parse_address(address)
    return parsed is not None and parsed.is_loopback


@cache
def machine_proof() -> bytes:
    """The value of `MACHINE_HEADER` that only processes of this machine know. Empty if the system has none.

    It is made from the random number of the boot in Linux. The SDK makes the same value (`lakebed._http.exchange`), and
    openapi.yaml describes it.
    """
    try:
        number = _BOOT_ID.read_bytes().strip()
    except OSError:
        return b""
    return hashlib.sha256(b"lakebed machine " + number).hexdigest().encode()


def proves_machine(sent: bytes | None) -> bool:
    """Whether the value of `MACHINE_HEADER` is the proof."""
    return bool(sent) and sent == machine_proof()


def _forwarded(scope: Scope, proxies: Proxies, proxy: Client) -> Client:
    """The client that a trusted proxy names.

    A proxy writes either `X-Forwarded-*` or `Forwarded`, and may pass on the other kind from the client. So `Forwarded`
    counts only without the others.
    """
    hops = _list(scope, b"x-forwarded-for")
    schemes = _list(scope, b"x-forwarded-proto")
    if not hops and not schemes:
        elements = [_parameters(element) for element in _list(scope, b"forwarded")]
        hops = [element.get("for", "") for element in elements]
        schemes = [element["proto"] for element in elements[-1:] if "proto" in element]
    https = schemes[-1].lower() == "https" if schemes else proxy.https
    return Client(_nearest_stranger(hops, proxies) or proxy.address, https)


def _nearest_stranger(hops: list[str], proxies: Proxies) -> str:
    """The last hop that is not a trusted proxy, or empty. A client can invent everything before it."""
    found = ""
    for hop in reversed(hops):
        address = parse_address(_without_port(hop))
        if address is None:
            break
        found = str(address)
        if not proxies.trusts(address):
            break
    return found


def _list(scope: Scope, wanted: bytes) -> list[str]:
    """The elements of a list header, also when it is sent as several headers."""
    text = b",".join(value for name, value in scope["headers"] if name == wanted)[-_LONGEST:].decode("latin-1")
    return [element.strip() for element in text.split(",") if element.strip()]


def _parameters(element: str) -> dict[str, str]:
    """`for="[2001:db8::17]:4711";proto=https` as a map."""
    pairs = (pair.partition("=") for pair in element.split(";"))
    return {name.strip().lower(): value.strip().strip('"') for name, _, value in pairs}


def _without_port(hop: str) -> str:
    """`203.0.113.9:4711` and `[2001:db8::17]:4711` without port and brackets."""
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop
