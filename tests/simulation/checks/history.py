"""What happened: operations as their callers saw them, and the states that branches went through.

Values are compared by identity, as the engine does: two writes of the same content are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import md5
from typing import Any, NamedTuple

from lakebed_engine.vocabulary.records import Branch
from lakebed_format import identity

from tests.simulation.world.scheduler import Fatal

CONTENT_TYPE = "application/octet-stream"
"""Of every upload here."""

Rows = Mapping[str, bytes | None]
"""Paths and the identities they are set to; None: deleted."""


class Value(NamedTuple):
    """What a path holds: the identity of its content, and the address of its data."""

    identity: bytes
    address: str


View = Mapping[str, Value]
Staged = Mapping[str, Value | None]
"""Rows; None is a tombstone."""


def identities(view: View) -> dict[str, bytes]:
    """A view without addresses: what two views are compared by."""
    return {path: value.identity for path, value in view.items()}


def identity_of(value: Value | None) -> bytes | None:
    """The identity of what a path holds, if it holds something."""
    return None if value is None else value.identity


class State(NamedTuple):
    """A branch at one moment: its record, what it shows, its head's tree, and its staged rows, tombstones included:
    the rows in layers, and the rows under the live token, which replace them.
    """

    record: Branch
    view: View
    tree: View
    sealed: Staged
    live: Staged

    @property
    def clean(self) -> bool:
        """Whether nothing uncommitted shows."""
        return identities(self.view) == identities(self.tree)

    @property
    def delta(self) -> Staged:
        """All that is staged."""
        return {**self.sealed, **self.live}


class Violation(Fatal):
    """A property that does not hold. The first one ends the schedule."""


@dataclass(slots=True, eq=False)
class Op:
    """One call of an engine verb. `effects` are the steps at which it changed the store, with what it did."""

    number: int
    actor: str
    kind: str
    branch: str
    args: Mapping[str, Any]
    rows: Rows = field(default_factory=dict)
    invoked: int = 0
    started: float = 0.0
    returned: int | None = None
    outcome: str = "crashed"
    """ok, refused (a definite error), unknown, or crashed."""
    answer: Any = None
    error: BaseException | None = None
    faults: list[str] = field(default_factory=list)
    effects: list[tuple[int, str, Any]] = field(default_factory=list)

    def __str__(self) -> str:
        args = {key: value for key, value in self.args.items() if value not in (None, False, "")}
        return f"#{self.number} {self.actor} {self.kind}({self.branch}, {args})"

    def did(self, what: str) -> list[tuple[int, Any]]:
        """Its effects of one sort."""
        return [(step, detail) for step, sort, detail in self.effects if sort == what]


class History:
    """The states of every branch, by step."""

    def __init__(self) -> None:
        self._states: dict[str, list[tuple[int, State | None]]] = {}
        self.ops: list[Op] = []
        self.outside: dict[str, list[tuple[int, bytes | None]]] = {}
        """What other tools wrote, by URI or by address: from which step on it had which identity; None: removed."""

    def names(self) -> Sequence[str]:
        """Every branch there ever was."""
        return list(self._states)

    def note(self, branch: str, step: int, state: State | None) -> None:
        """From this step on the branch is in this state; None: there is none of this name."""
        self._states.setdefault(branch, [(-1, None)]).append((step, state))

    def now(self, branch: str) -> State | None:
        """The state at present."""
        return self._states[branch][-1][1] if branch in self._states else None

    def held(self, address: str, first: int, last: int) -> list[bytes | None]:
        """Every identity that an object of other tools had from after step `first` to step `last`, the newest first."""
        found: list[bytes | None] = []
        for step, one in reversed(self.outside.get(address, [])):
            if step <= last:
                found.append(one)
            if step <= first:
                return found
        return [*found, None]

    def during(self, branch: str, first: int, last: int) -> Iterator[State | None]:
        """Every state that the branch was in from after step `first` to step `last`, newest first."""
        for step, state in reversed(self._states.get(branch, [(-1, None)])):
            if step <= last:
                yield state
            if step <= first:
                return


_known: dict[str, bytes] = {}


def content_identity(text: str) -> bytes:
    """The identity of an upload of this text with no metadata."""
    found = _known.get(text)
    if found is None:
        data = text.encode()
        checksum = md5(data, usedforsecurity=False).hexdigest()
        found = _known[text] = identity(len(data), checksum, CONTENT_TYPE, {})
    return found


def content_etag(text: str) -> str:
    """The ETag of an upload of this text."""
    return md5(text.encode(), usedforsecurity=False).hexdigest()
