"""Globs as in a .gitignore file, which choose paths. Pure.

Globs come from users, and their translation to a regular expression backtracks: `*a*a*a*a*b` on a path of 200
characters took seconds. This matcher takes at most (characters of the glob) times (characters of the path) steps.

One method serves twice. A name is characters with `*` between some of them, and a path is names with `**` between some
of them. The matcher puts each part at the first place where it fits. That leaves the most for the next parts, so it
never has to try again (`_Spaced`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import call
from typing import Final, Generic, Protocol, TypeVar

LONGEST: Final = 256
"""Characters of a glob."""

MOST: Final = 100
"""Globs of one request."""

Test = Callable[[str], bool]
"""A test of one character, or of one name."""

Items = TypeVar("Items", bound=Sequence[str])
Items_contra = TypeVar("Items_contra", bound=Sequence[str], contravariant=True)


class GlobError(ValueError):
    """The glob chooses nothing, cannot be read, or there are too many. The message says which glob and why."""


class Glob:
    """One glob, over paths as `names_of` returns them. Raises GlobError.

    `*.csv`, `raw/`: at any depth. `/raw/*.csv`, `raw/2024`: from the root. `raw/**`: everything in a folder.
    `**/x/**/y`: any folders between. `?` is one character. `[a-c]` is one character of a set, and `[!a-c]` one outside
    it. A `!` at the beginning excludes paths again. A backslash makes the next character literal. A glob that matches a
    folder applies to everything in it.
    """

    __slots__ = ("_below", "_below_rank", "_itself", "chooses", "text")

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            raise GlobError(f"glob {text[:80]!r}...: has {len(text)} characters, at most {LONGEST}")
        self.text = text
        try:
            self._read(text if text.endswith("\\ ") else text.rstrip())
        except GlobError as error:
            raise GlobError(f"glob {text[:80]!r}: {error}") from None

    def _read(self, line: str) -> None:
        self.chooses = not line.startswith("!")
        names = line.removeprefix("!").split("/")
        if line.startswith("#") or not any(names):
            raise GlobError("says nothing, it is empty or a comment")
        is_folder = not names[-1]
        if is_folder:
            names.pop()
        if not names[0]:
            del names[0]  # a slash in front: from the root
        elif len(names) == 1:
            names.insert(0, "**")
        is_inside = names[-1] == "**"
        while names and names[-1] == "**":
            names.pop()
        rows = _rows_of(names if names or not is_folder else ["*"])
        self._itself = None if is_folder or is_inside else _Spaced(rows)
        self._below = _Spaced([*rows, _Row([_is_any])])
        self._below_rank = 1 if is_folder or not is_inside else 2

    def rank(self, names: Sequence[str]) -> int:
        """Return 2 when the glob matches this path, 1 when it matches a folder above the path, else 0."""
        if self._itself is not None and self._itself.fits(names):
            return 2
        return self._below_rank if self._below.fits(names) else 0


class Globs:
    """Globs in order, as the lines of a .gitignore file. Raises GlobError."""

    def __init__(self, texts: Sequence[str]) -> None:
        if len(texts) > MOST:
            raise GlobError(f"{len(texts)} globs: at most {MOST}")
        self.globs = tuple(Glob(text) for text in texts)

    def choose(self, path: str) -> bool:
        """Return whether the globs choose a path.

        The last glob that matches the path decides. When none does, the last glob that matches a folder above it
        decides.
        """
        names, found = names_of(path), False
        rank = 0
        for glob in reversed(self.globs):
            new = glob.rank(names)
            if new == 2:
                return glob.chooses
            if new > rank:
                rank, found = new, glob.chooses
        return found


def names_of(path: str) -> list[str]:
    """Return the names of a path. `/a` and `./a` are `a`, as in a .gitignore file."""
    return (path[1:] if path.startswith("/") else path.removeprefix("./")).split("/")


class _Part(Protocol[Items_contra]):
    """Items that follow each other."""

    def __len__(self) -> int: ...

    def at(self, items: Items_contra, start: int) -> bool:
        """Whether the part matches at `start`. The caller checks that there are enough items."""

    def find(self, items: Items_contra, start: int, end: int) -> int:
        """Return the first place between `start` and `end` where the part matches, or -1."""


class _Row:
    """A part of tests, one for each item."""

    def __init__(self, tests: Sequence[Test]) -> None:
        self._tests = tests

    def __len__(self) -> int:
        return len(self._tests)

    def at(self, items: Sequence[str], start: int) -> bool:
        return all(map(call, self._tests, items[start : start + len(self._tests)]))

    def find(self, items: Sequence[str], start: int, end: int) -> int:
        if not self._tests:
            return start
        first, places = self._tests[0], range(start, end - len(self._tests) + 1)
        return next((place for place in places if first(items[place]) and self.at(items, place)), -1)


class _Text:
    """A part of literal characters."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __len__(self) -> int:
        return len(self._text)

    def at(self, items: str, start: int) -> bool:
        return items.startswith(self._text, start)

    def find(self, items: str, start: int, end: int) -> int:
        return items.find(self._text, start, end)


class _Spaced(Generic[Items]):
    """Parts with any items between them. The first part is at the beginning, the last at the end."""

    def __init__(self, parts: Sequence[_Part[Items]]) -> None:
        self._first, *self._between = parts
        self._last = self._between.pop() if self._between else None
        self._least = sum(map(len, parts))

    def fits(self, items: Items) -> bool:
        """Whether the items are these parts, with any items between them."""
        if self._last is None:
            return len(items) == self._least and self._first.at(items, 0)
        end = len(items) - len(self._last)
        if len(items) < self._least or not self._first.at(items, 0) or not self._last.at(items, end):
            return False
        place = len(self._first)
        for part in self._between:
            place = part.find(items, place, end)
            if place < 0:
                return False
            place += len(part)
        return True


def _rows_of(names: Sequence[str]) -> list[_Row]:
    """Return the names between `**`, as rows."""
    rows: list[list[Test]] = [[]]
    for name in names:
        if name == "**":
            rows.append([])
        else:
            rows[-1].append(_test_of(name))
    return [_Row(row) for row in rows]


def _test_of(name: str) -> Test:
    """Return the test for one name of a glob."""
    parts: list[list[str | Test]] = [[]]
    place = 0
    while place < len(name):
        char = name[place]
        place += 1
        if char == "*":
            parts.append([])
        elif char == "?":
            parts[-1].append(_is_any)
        elif char == "[":
            test, place = _set_of(name, place)
            parts[-1].append(test)
        elif char == "\\" and place == len(name):
            raise GlobError("ends in a backslash, which must be followed by another character")
        elif char == "\\":
            parts[-1].append(name[place])
            place += 1
        else:
            parts[-1].append(char)
    if len(parts) > 1 and not any(parts):
        return bool  # only stars: any name except the empty one
    if parts == [list(name)]:
        return name.__eq__
    return _Spaced([_part_of(part) for part in parts]).fits


def _part_of(chars: Sequence[str | Test]) -> _Part[str]:
    plain = [char for char in chars if isinstance(char, str)]
    if len(plain) == len(chars):
        return _Text("".join(plain))
    return _Row([char.__eq__ if isinstance(char, str) else char for char in chars])


def _set_of(name: str, start: int) -> tuple[Test, int]:
    """Return the test for a set such as `[a-c_]`, and its end. `start` is the place after its bracket."""
    negated = name.startswith(("!", "^"), start)
    begin = start + negated
    end = name.find("]", begin + 1)  # a bracket at the beginning belongs to the set
    if end < 0:
        raise GlobError("'[' begins a set of characters that no ']' ends")
    spans = []
    while begin < end:
        low = high = name[begin]
        if name[begin + 1] == "-" and begin + 2 < end:
            high = name[begin + 2]
            begin += 2
        if high < low:
            raise GlobError(f"the range {low}-{high} ends before it begins")
        spans.append((low, high))
        begin += 1
    return lambda char: any(low <= char <= high for low, high in spans) is not negated, end + 1


def _is_any(_: object) -> bool:
    return True
