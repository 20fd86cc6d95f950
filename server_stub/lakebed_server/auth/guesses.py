"""Slows down guesses of secrets. docs/decisions/0041 has the reasons.

A client that sends wrong secrets for an access key has to wait longer each time before it may try that key again. Only
the pair of address and access key waits: the owner of the key at another address does not. Each server process counts
for itself.
"""

from __future__ import annotations

import ipaddress
import logging
import math
import time
from collections.abc import Callable, Hashable
from typing import Final

from lakebed_server.auth.records import LONGEST_ID
from lakebed_server.vocabulary import RequestError

log = logging.getLogger("lakebed.auth")

FREE: Final = 10
"""Wrong secrets that an address may send for an access key before it has to wait."""
FREE_PROVEN: Final = 1000
"""The same for an address that has sent the right secret since: one broken tool must not lock out its neighbours."""
MANY: Final = 100
"""Wrong secrets of one address, or for one access key, after which a new pair of them has only one for free."""
LONGEST_WAIT: Final = 60.0
FORGET: Final = 900.0
"""Seconds after the last wrong secret until the count starts again."""
MOST: Final = 4096
"""Rows of each table."""
LOG_SECONDS: Final = 1.0
"""Seconds between two lines of the log."""


class _Row:
    __slots__ = ("count", "last", "proven", "until")

    def __init__(self) -> None:
        self.count = 0
        self.last = 0.0
        self.until = 0.0
        self.proven = False


class _Table(dict[Hashable, _Row]):
    """Rows by key. The row that was counted longest ago is removed first."""

    def count(self, key: Hashable, now: float) -> _Row:
        row = self.pop(key, None)
        if row is None or row.last < now - FORGET:
            row = _Row()
        row.count, row.last = row.count + 1, now
        self[key] = row
        while len(self) > MOST or next(iter(self.values())).last < now - FORGET:
            del self[next(iter(self))]
        return row


class Guesses:
    """Counts wrong secrets. A right one costs nothing while there are no recent wrong ones."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pairs = _Table()
        self._addresses = _Table()
        self._keys = _Table()
        self._next_line = -math.inf
        self._unreported = 0

    def check(self, address: str, access_key_id: str, *, what: str = "secret", of: str = "") -> None:
        """Raise RequestError (429) when this address must wait before it may try this access key.

        `what` and `of` name what was wrong in the message, if that was not a secret of an access key.

        Call it directly before a secret is compared, with no `await` between. Otherwise concurrent requests could all
        pass before one fails.
        """
        if not self._pairs:
            return
        row = self._pairs.get((_network(address), access_key_id))
        if row is None:
            return
        wait = row.until - self._clock()
        if wait > 0:
            raise RequestError(
                "login_throttled",
                f"too many wrong {what}s for {of or f'access key {access_key_id[:LONGEST_ID]!r}'} from this address: "
                f"try again in {math.ceil(wait)} s, with the right {what}",
                ((b"retry-after", b"%d" % math.ceil(wait)),),
            )

    def passed(self, address: str, access_key_id: str) -> None:
        """Note that a secret was right."""
        if self._pairs and (row := self._pairs.get((_network(address), access_key_id))) is not None:
            row.proven = True

    def failed(self, address: str, access_key_id: str) -> None:
        """Note that a secret was wrong, or that there is no such access key."""
        access_key_id = access_key_id[: LONGEST_ID + 1]
        network, now = _network(address), self._clock()
        row = self._pairs.count((network, access_key_id), now)
        everywhere = max(self._addresses.count(network, now).count, self._keys.count(access_key_id, now).count)
        free = FREE_PROVEN if row.proven else 1 if everywhere > MANY else FREE
        if row.count >= free:
            row.until = now + min(2.0 ** min(row.count - free, 10), LONGEST_WAIT)
        self._report(address, access_key_id, now)

    def _report(self, address: str, access_key_id: str, now: float) -> None:
        if now < self._next_line:
            self._unreported += 1
            return
        more = f"; {self._unreported} more since the last such line" if self._unreported else ""
        self._next_line, self._unreported = now + LOG_SECONDS, 0
        log.warning("login failed for access key %r from address %s%s", access_key_id, address or "-", more)


def _network(address: str) -> str:
    """An IPv4 address, or the /64 of an IPv6 address: a client can choose any address in it."""
    if ":" not in address:
        return address
    try:
        parsed = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    return str(parsed.ipv4_mapped or ipaddress.IPv6Network((int(parsed) >> 64 << 64, 64)))
