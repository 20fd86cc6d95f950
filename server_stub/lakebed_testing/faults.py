"""Faults: errors that the server produces on demand, by operation and count.

    lakebed_server.faults.drop_answer("commit")
    lakebed_server.faults.throttle(["uploadObject", "commit"], retry_after=0, times=2)

An operation is an operationId of openapi.yaml, or `*` for any. Each request gets at most one fault: the oldest one for
its operation.
"""

from __future__ import annotations

import difflib
import math
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from lakebed_wire.operations import OPERATIONS

Kind = Literal["delay", "drop_request", "drop_answer", "throttle", "unavailable", "conflict"]

ANY = "*"
COMMITS = ("commit", "commitWorkspace", "mergeIntoBranch")
"""The operations that make a commit on a branch."""

_KNOWN = tuple(operation.operation_id for operation in OPERATIONS)


class UnusedFaultsError(AssertionError):
    """No request met some of the armed faults, so the test did not test what it should."""


@dataclass
class Fault:
    """One armed fault. `left` is the number of requests that it still waits for. It may be infinite."""

    kind: Kind
    operations: tuple[str, ...]
    left: float
    skip: int
    seconds: float = 0.0
    paths: tuple[str, ...] = ()
    used: int = field(default=0, init=False)

    def __str__(self) -> str:
        rest = "" if math.isinf(self.left) else f", {self.left:.0f} of {self.left + self.used:.0f} left"
        return f"{self.kind}({' or '.join(map(repr, self.operations))}{rest})"

    @property
    def is_unused(self) -> bool:
        """Whether it still waits for requests that did not come."""
        return self.used == 0 if math.isinf(self.left) else self.left > 0

    def takes(self, operation: str) -> bool:
        """Whether this request gets the fault. Counts it."""
        if self.left < 1 or (operation not in self.operations and ANY not in self.operations):
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.left -= 1
        self.used += 1
        return True


class Faults:
    """The faults of one server. Safe to use from any thread.

    In every method, `times` is the number of requests that get the fault (None: all, until `clear`). `skip` is the
    number of requests that pass before. Each retry of a client is a request.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._armed: list[Fault] = []

    def __repr__(self) -> str:
        return f"<Faults {', '.join(map(str, self.armed)) or 'none'}>"

    def delay(self, operation: str | Sequence[str], seconds: float, *, times: int | None = 1, skip: int = 0) -> None:
        """Wait `seconds`, then handle the request."""
        self._arm("delay", operation, times, skip, seconds=seconds)

    def drop_request(self, operation: str | Sequence[str], *, times: int | None = 1, skip: int = 0) -> None:
        """Close the connection before the request is handled. Nothing is changed."""
        self._arm("drop_request", operation, times, skip)

    def drop_answer(self, operation: str | Sequence[str], *, times: int | None = 1, skip: int = 0) -> None:
        """Handle the request, then close the connection without an answer. The change is made."""
        self._arm("drop_answer", operation, times, skip)

    def throttle(
        self, operation: str | Sequence[str], *, retry_after: int = 1, times: int | None = 1, skip: int = 0
    ) -> None:
        """Answer 429 with `Retry-After` in whole seconds. Nothing is changed."""
        self._arm("throttle", operation, times, skip, seconds=retry_after)

    def unavailable(
        self, operation: str | Sequence[str], *, retry_after: int = 1, times: int | None = 1, skip: int = 0
    ) -> None:
        """Answer 503, as when the store is down. Nothing is changed."""
        self._arm("unavailable", operation, times, skip, seconds=retry_after)

    def conflict(
        self,
        operation: str | Sequence[str] = COMMITS,
        *,
        paths: Sequence[str] = (),
        times: int | None = 1,
        skip: int = 0,
    ) -> None:
        """Answer 409, as when another commit was first. Nothing is changed.

        With `paths`, both commits changed these paths, and clients give up immediately. Without, it was only a lost
        race, and the SDK tries again.
        """
        self._arm("conflict", operation, times, skip, paths=tuple(paths))

    @property
    def armed(self) -> list[Fault]:
        """The faults that still wait for requests."""
        with self._lock:
            return [fault for fault in self._armed if fault.left >= 1]

    def clear(self) -> None:
        """Disarm all faults."""
        with self._lock:
            self._armed = []

    def settle(self) -> None:
        """Disarm all faults. Raises UnusedFaultsError when fewer requests met one of them than it waited for."""
        with self._lock:
            armed, self._armed = self._armed, []
        if unused := [str(fault) for fault in armed if fault.is_unused]:
            raise UnusedFaultsError(f"no request met these faults: {', '.join(unused)}")

    def take(self, operation: str) -> Fault | None:
        """The fault for the current request, or None. For the server."""
        if not self._armed:
            return None
        with self._lock:
            return next((fault for fault in self._armed if fault.takes(operation)), None)

    def _arm(
        self,
        kind: Kind,
        operation: str | Sequence[str],
        times: int | None,
        skip: int,
        *,
        seconds: float = 0.0,
        paths: tuple[str, ...] = (),
    ) -> None:
        operations = _checked((operation,) if isinstance(operation, str) else operation)
        if (times is not None and times < 1) or skip < 0 or not 0 <= seconds < math.inf:
            raise ValueError(f"{kind}: times is at least 1, skip and seconds are not negative")
        left = math.inf if times is None else times
        with self._lock:
            self._armed.append(Fault(kind, operations, left, skip, seconds, paths))


def _checked(operations: Iterable[str]) -> tuple[str, ...]:
    names = tuple(operations)
    if not names:
        raise ValueError("a fault needs an operation, such as 'commit', or '*' for any")
    for name in names:
        if name not in _KNOWN and name != ANY:
            near = difflib.get_close_matches(name, _KNOWN, n=3, cutoff=0.4)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise ValueError(f"there is no operation {name!r} in openapi.yaml{hint}")
    return names
