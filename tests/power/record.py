"""What a recording holds: the changes of a disk and their syncs, and between them what the server was asked for.

The events are in the order in which they took effect. Files and directories are numbers, because names change:
number 0 is the top directory, which was on disk before the recording began.
"""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

ROOT = 0

NEVER = 1 << 60
"""When an operation is answered whose server was killed."""


class Made(NamedTuple):
    """A directory got a name for a new file or directory."""

    directory: int
    name: str
    number: int
    is_directory: bool


class Linked(NamedTuple):
    """A directory got one more name for a file."""

    directory: int
    name: str
    number: int


class Unlinked(NamedTuple):
    """A directory lost a name."""

    directory: int
    name: str


class Renamed(NamedTuple):
    """A name moved, and replaced what had that name."""

    source: int
    old: str
    target: int
    new: str
    number: int


class Written(NamedTuple):
    """Bytes of a file."""

    number: int
    offset: int
    data: bytes


class Cut(NamedTuple):
    """A file got another size."""

    number: int
    size: int


class Synced(NamedTuple):
    """A sync of a file or a directory has returned. It covers the events before number `begun`, when it was called."""

    number: int
    begun: int


class Begun(NamedTuple):
    """The server was asked for an operation."""

    operation: int


class Answered(NamedTuple):
    """The server's answer left."""

    operation: int
    done: bool


Event = Made | Linked | Unlinked | Renamed | Written | Cut | Synced | Begun | Answered

Cell = tuple[str, ...]
"""One thing that is there or not: `("object", repository, branch, path)`, `("tag", repository, name)`, and so on."""


@dataclass(slots=True)
class Operation:
    """What was asked for. `effects`: what each cell holds after it, None for nothing."""

    number: int
    what: str
    effects: dict[Cell, bytes | None] = field(default_factory=dict)
    begun: int = 0
    answered: int = -1
    done: bool = False


@dataclass(slots=True)
class Record:
    """One recording. `trees`: what each commit holds, by its id: MD5 of the bytes by path."""

    events: Sequence[Event]
    operations: Sequence[Operation]
    trees: dict[str, dict[str, str]]
    data_directory: str
    files: dict[int, str]
    """The last name of each file and directory, for people."""
    times: dict[int, int]
    """When each file was written that was there at the end, in nanoseconds: what is imported must keep it."""
    first: int = 0
    """How many events only say what was on disk at the beginning."""

    @property
    def moments(self) -> int:
        """How many moments there are at which the power can fail."""
        return len(self.events) - self.first + 1

    def before(self, moment: int) -> list[Operation]:
        """What was asked for before a moment at which the server ended.

        What it had not answered may take effect at any time: a task that its successor takes over, say, by a commit of
        another id.
        """
        found = []
        for one in self.operations:
            if one.begun < moment:
                is_open = one.answered >= moment
                effects = {cell: value for cell, value in one.effects.items() if not (is_open and cell[0] == "commit")}
                answered = NEVER if is_open else one.answered
                found.append(replace(one, effects=effects, answered=answered))
        return found

    def save(self, path: Path) -> None:
        """Write it to a file of its own form, for `load` of the same code."""
        path.write_bytes(gzip.compress(pickle.dumps(self), 1))


def load(path: Path) -> Record:
    """Read what `save` wrote."""
    found = pickle.loads(gzip.decompress(path.read_bytes()))
    assert isinstance(found, Record)
    return found
