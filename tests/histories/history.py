"""What the clients asked and were answered: one list of events, and one file with a line of JSON for each."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from pathlib import Path
from typing import Literal

import msgspec

Outcome = Literal["ok", "refused", "failed", "unknown"]
"""`refused`: the answer says that a condition did not hold, which is an observation. `failed`: nothing happened.
`unknown`: the answer was lost, or says that it does not know."""


class Event(msgspec.Struct, kw_only=True, frozen=True):
    """One operation. Times are seconds of the monotonic clock; `key` names the register that it is about.

    `value` is what it wrote: the content of an object, the commit of a tag or branch, the message of a commit or
    merge. `seen` is what it answered: the content or commit that was read (None: nothing is there), the id of a new
    commit. `expected` is the content that a conditional operation asked for. A merge brings `content` to `key2`.
    """

    client: int
    act: str
    key: str
    call: float
    end: float
    outcome: Outcome
    value: str | None = None
    seen: str | None = None
    expected: str | None = None
    key2: str = ""
    content: str | None = None
    server: int = 0
    answer: str = ""

    def __str__(self) -> str:
        shown = [("wrote", self.value), ("if", self.expected), ("saw", self.seen)]
        about = " ".join(f"{word} {text[:24]!r}" for word, text in shown if text is not None)
        return (
            f"{self.call:9.3f} to {self.end:9.3f}  client {self.client} through server {self.server}: "
            f"{self.act} {self.key} {about} -> {self.outcome} {self.answer}"
        )


class History:
    """Collects events from many threads, in the order of their ends, and writes them as they come."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.events: list[Event] = []
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")

    def add(self, event: Event) -> None:
        """Note an event, in memory and on disk."""
        with self._lock, self.path.open("ab") as file:
            self.events.append(event)
            file.write(msgspec.json.encode(event) + b"\n")

    def counts(self) -> dict[str, dict[str, int]]:
        """How many events there are of each kind and outcome."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for one in self.events:
            found[one.act][one.outcome] += 1
        return {act: dict(counts) for act, counts in sorted(found.items())}


def read_history(path: Path) -> list[Event]:
    """The events of a file."""
    return [msgspec.json.decode(line, type=Event) for line in path.read_bytes().splitlines()]
