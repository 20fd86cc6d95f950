"""One request and one answer as plain values: what the gateway makes and reads, and the transport carries.

Everything here is decided without I/O, so both doors share it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")

Repeat = Literal["safe", "unsent"]
"""When a request may be sent again: `safe`, always, as doing it twice is the same as once; `unsent`, only when it is
known that the server did not act on it."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a request is about, for the error that it may end in."""

    repository: str | None = None
    ref: str | None = None
    path: str | None = None

    def __str__(self) -> str:
        if self.repository is None:
            return "the server"
        names = [self.repository] + [name for name in (self.ref, self.path) if name is not None]
        return "lakebed://" + "/".join(names)


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes = b""

    def json(self) -> Any:
        """What its JSON says; None without content. Raises ValueError when it is no JSON."""
        return json.loads(self.content) if self.content else None


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One operation, ready to be sent: `parse` reads the answer when its status is one of `success`."""

    operation: str
    method: str
    url: str
    parse: Callable[[Answer], T]
    success: tuple[int, ...] = (200,)
    repeat: Repeat = "unsent"
    subject: Subject = Subject()
    params: Mapping[str, Any] = field(default_factory=dict)
    json: Any = None
    headers: Mapping[str, str | bytes] = field(default_factory=dict)
    slow: bool = False
    """Commits and merges work for as long as they need: their answer is awaited longer."""

    races: bool = False
    """Whether losing a race is expected: such a request is tried many more times."""

    def with_headers(self, headers: Mapping[str, str | bytes]) -> Call[T]:
        """The same call with more headers."""
        return replace(self, headers={**self.headers, **headers})
