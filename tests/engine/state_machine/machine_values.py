"""What the model of `machine.py` is made of: values, views, ref expressions; and the questions about views alone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from lakebed_engine.vocabulary import errors
from lakebed_engine.vocabulary.records import Entry
from lakebed_format import identity

T = TypeVar("T")


class Value(NamedTuple):
    """What a path holds. Values of one `text` share a checksum; only equal values share an identity."""

    text: str
    kind: str = "t"
    mark: str = ""

    @property
    def checksum(self) -> str:
        return hashlib.md5(self.text.encode()).hexdigest()

    @property
    def metadata(self) -> dict[str, str]:
        return {"mark": self.mark} if self.mark else {}

    @property
    def identity(self) -> bytes:
        return identity(len(self.text), self.checksum, self.kind, self.metadata)


VALUES = (Value(""), Value("one"), Value("two"), Value("one", "u"), Value("two", "t", "m"))
BY_IDENTITY = {value.identity: value for value in VALUES}
View = dict[str, Value]


def value_of(entry: Entry | None, *, slim: bool = False) -> Value | None:
    """The value of an entry. `slim`: only its size and identity."""
    if entry is None:
        return None
    value = BY_IDENTITY[entry.identity]
    assert entry.size == len(value.text)
    if not slim:
        reported = (entry.checksum, entry.parts, entry.content_type, entry.metadata)
        assert reported == (value.checksum, 0, value.kind, value.metadata)
    return value


class Change(NamedTuple):
    """One row of a diff."""

    type: str
    path: str
    left: Value | None = None
    right: Value | None = None


class Ref(NamedTuple):
    """A ref expression: `main`, `main~2^1`, `main@`. A step without a count is written without one, and means 1."""

    base: str
    steps: tuple[tuple[str, int | None], ...] = ()
    mark: str = ""

    def __str__(self) -> str:
        return self.base + "".join(f"{sign}{'' if n is None else n}" for sign, n in self.steps) + self.mark


def changes(left: View, right: View) -> list[Change]:
    """What turns one view into another, in byte order."""
    found = []
    for path in _ordered({*left, *right}):
        old, new = left.get(path), right.get(path)
        if old != new:
            found.append(Change("changed" if old and new else "added" if new else "removed", path, old, new))
    return found


def grouped(rows: Iterable[T], path_of: Callable[[T], str], group: Callable[[str], T], prefix: str, after: str,
            delimiter: str) -> list[T]:  # fmt: skip
    """The rows of a page without end: those under `prefix` and behind `after`, common prefixes once."""
    found: list[T] = []
    for row in rows:
        path = path_of(row)
        if not path.startswith(prefix) or path <= after:
            continue
        head, cut, _ = path[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
        common = prefix + head + cut
        if not cut:
            found.append(row)
        elif common != after and (not found or path_of(found[-1]) != common):
            found.append(group(common))
    return found


def _ordered(paths: Iterable[str]) -> list[str]:
    return sorted(paths, key=lambda path: path.encode())


def merged(base: View, theirs: View, ours: View, strategy: str) -> tuple[View, list[errors.Conflict]]:
    """The three-way merge, path by path, and the conflicts that are left."""
    found: View = {}
    conflicts = []
    for path in _ordered({*base, *theirs, *ours}):
        b, s, d = base.get(path), theirs.get(path), ours.get(path)
        value = d if s in (d, b) else s
        if s not in (d, b) and d != b:
            if not strategy:
                sums = [one and one.checksum for one in (b, d, s)]
                conflicts.append(errors.Conflict(path, *sums))
            value = s if strategy == "source-wins" else d
        if value is not None:
            found[path] = value
    return found, conflicts


class Refused:
    """What takes the place of an answer when the engine raised an error."""

    def __init__(self, error: errors.EngineError) -> None:
        self.error = error

    def __repr__(self) -> str:
        return repr(self.error)

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"only the engine refuses: {self.error!r}") from self.error
