"""The open connections of one server process: how many there may be, and how long a client may keep one waiting.

One timer checks all of them about once a second, so requests need no timers. A connection itself reports
what it waits for (a head, a body, or that the client reads its response): see `Connection`.

The limit of open files of the system bounds their number as well.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import sys
from collections import Counter
from collections.abc import Callable
from typing import Final, Literal, NamedTuple, Protocol

from lakebed_server.settings.schema import LimitSettings

log = logging.getLogger("lakebed.server")

TICK: Final = 1.0
"""The longest time between two checks of all connections, in seconds."""

_CHECKED: Final = 64
"""How many connections the server checks to find a place for a new one. The limit keeps a flood cheap."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Kind = Literal["head", "body", "reading"]


class ClientWait(NamedTuple):
    """What a connection waits for its client to do. `turn` changes with each request. `progress` counts bytes."""

    kind: Kind
    turn: object
    progress: int


class Connection(Protocol):
    """A connection with deadlines."""

    def client_wait(self) -> ClientWait | None:
        """What the connection waits for its client to do. None when it does not wait for the client."""

    def give_up(self, kind: Kind) -> None:
        """Close the connection: its client took too long."""

    def is_spare(self) -> bool:
        """Whether it may be closed for another: its last request had no valid key, and is not being answered."""

    def make_way(self) -> None:
        """Close the connection in favour of another one."""


class _Clock(NamedTuple):
    client_wait: ClientWait
    since: float


class Connections:
    """Counts connections and ends those whose clients are too slow. Belongs to one event loop."""

    def __init__(
        self, limits: LimitSettings, *, most: int | None = None, exempt: Callable[[Address], bool] = lambda _: False
    ) -> None:
        """`most`: the number of connections, if the system allows fewer than the settings. `exempt`: whether an address
        belongs to many clients, or to this machine: `limits.connections_per_address` does not apply to it.
        """
        self.limits = limits
        self._most = limits.connections if most is None else most
        self._exempt = exempt
        self._tick = min(TICK, limits.head_time / 4, limits.transfer_time / 4)
        self._open: dict[Connection, _Clock | None] = {}
        self._by_address: Counter[str] = Counter()
        self._addresses: dict[Connection, str] = {}
        self._ticking = False

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, connection: Connection, host: str) -> bool:
        """Count a new connection from `host`. False when there are too many: it must be closed."""
        address = self._counted(host)
        if address and self._by_address[address] >= self.limits.connections_per_address:
            return False
        if len(self._open) >= self._most and not self._make_room():
            return False
        if address:
            self._by_address[address] += 1
            self._addresses[connection] = address
        loop = asyncio.get_running_loop()
        self._open[connection] = _Clock(ClientWait("head", None, 0), loop.time())
        if not self._ticking:
            self._ticking = True
            loop.call_later(self._tick, self._check_all)
        return True

    def forget(self, connection: Connection) -> None:
        """Stop counting a closed connection."""
        self._open.pop(connection, None)
        address = self._addresses.pop(connection, None)
        if address is not None:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]

    def _counted(self, host: str) -> str:
        """The address, or IPv6 network, that counts for a client. Empty when it is not counted."""
        try:
            given = ipaddress.ip_address(host)
        except ValueError:  # a Unix socket
            return ""
        address: Address = getattr(given, "ipv4_mapped", None) or given
        if self._exempt(address):
            return ""
        if isinstance(address, ipaddress.IPv4Address):
            return str(address)
        # an IPv6 client can use any address of its /64
        return str(ipaddress.ip_network((address.packed, 64), strict=False))

    def _make_room(self) -> bool:
        """Close the oldest connection of a client without a key. Such clients must not keep others out."""
        for _ in range(min(_CHECKED, len(self._open))):
            oldest = next(iter(self._open))
            if oldest.is_spare():
                oldest.make_way()
                self.forget(oldest)
                return True
            self._open[oldest] = self._open.pop(oldest)  # move it to the end, so that others are closed next time
        return False

    def _check_all(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        late: list[tuple[Connection, Kind]] = []
        for connection, clock in self._open.items():
            client_wait = connection.client_wait()
            if client_wait is None:
                self._open[connection] = None
            elif clock is None or (client_wait.kind, client_wait.turn) != (
                clock.client_wait.kind,
                clock.client_wait.turn,
            ):
                self._open[connection] = _Clock(client_wait, now)
            elif self._is_late(client_wait, clock, now):
                late.append((connection, client_wait.kind))
            elif client_wait.kind != "head" and now - clock.since >= self.limits.transfer_time:
                self._open[connection] = _Clock(client_wait, now)
        for connection, kind in late:
            connection.give_up(kind)
        if late:
            log.info("closed %d connections of silent or slow clients", len(late))
        self._ticking = bool(self._open)
        if self._ticking:
            loop.call_later(self._tick, self._check_all)

    def _is_late(self, client_wait: ClientWait, clock: _Clock, now: float) -> bool:
        waited = now - clock.since
        if client_wait.kind == "head":
            return waited >= self.limits.head_time
        least = self.limits.transfer_rate * waited
        return waited >= self.limits.transfer_time and client_wait.progress - clock.client_wait.progress < least


_RESERVED: Final = 64
"""Descriptors reserved for the stores, the log and the listeners."""

_FEW: Final = 4096
"""The server warns when the limit is below this number."""


def raise_limit() -> None:
    """Raise the limit of open files as far as this account may."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (OSError, ValueError):  # macOS reports no limit, but refuses to set that
            pass


def allowed_connections(wanted: int) -> int:
    """The number of connections: `wanted`, or fewer if they would leave no room for files. Warns then."""
    if sys.platform == "win32":
        return wanted
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return wanted
    # each may need a second descriptor, for the file or the store that its request reads
    allowed = max(1, (limit - _RESERVED) // 2)
    if allowed < wanted and limit < _FEW:
        log.warning(
            "the limit of open files is %d: the server takes at most %d connections, not limits.connections (%d); "
            "raise it (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of Docker)",
            limit,
            allowed,
            wanted,
        )
    return min(wanted, allowed)
