"""One request and one answer as plain values. The gateway builds and reads them, the transport sends them.

No I/O here: the sync and the async API share this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")

Repeat = Literal["safe", "unsent"]
"""When a request may be sent again. `safe`: always, because doing it twice has the same effect as doing it once.
`unsent`: only when the server is known not to have acted on it."""


def in_words(operation: str) -> str:
    """An operation of the REST API in words: `statObject` -> "stat object". Other texts (`GET /user`) stay."""
    if not operation.isidentifier():
        return operation
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", operation).lower()


@dataclass(frozen=True, slots=True)
class Subject:
    """What a request is about. Errors name it."""

    repository: str | None = None
    ref: str | None = None
    path: str | None = None
    also: tuple[str, ...] = ()
    """The refs that the request reads, where `ref` is not that one: the source of a merge or of a new branch."""

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
        """The parsed JSON content, or None without content. Raises ValueError when the content is not JSON."""
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
    """Whether the server may work for a long time: the client waits longer for commits and merges."""

    races: bool = False
    """Whether losing a race is expected. The client repeats such a request many more times."""

    advised: bool = True
    """Whether the error for a name that does not exist should list similar names. Not where a caller expects it."""

    @property
    def action(self) -> str:
        """The operation in words, for messages."""
        return in_words(self.operation)

    def with_headers(self, headers: Mapping[str, str | bytes]) -> Call[T]:
        """The same call with more headers."""
        return replace(self, headers={**self.headers, **headers})
