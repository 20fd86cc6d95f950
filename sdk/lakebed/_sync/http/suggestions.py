# Generated from sdk/lakebed/_async/http/suggestions.py by tools/unasync_sdk.py - do not edit.
# ruff: noqa: RUF100, UP028
"""Similar names for a name that does not exist: repositories, branches, tags and paths.

The SDK searches for them only after an error, with the rights of the caller. It never suggests names that the caller
may not list. It sends at most two requests of two seconds, at most once a second for each connection, and once for
each name.
"""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from lakebed._gateway.operations import objects, refs, repositories
from lakebed._values.wire import Call
from lakebed.errors import NotFoundError

T = TypeVar("T")

SECONDS = 2.0
PAUSE = 1.0
_LISTED = 1000
_SHOWN = 3
_SIMILAR = 0.65
"""Minimum similarity of a suggested name: one letter of three may differ."""

_NEARLY = 0.1
"""Names that are less similar than the best one by this much are not suggested."""

_REMEMBERED = 100
_NAME = re.compile(r"[^~^@$]*")
"""What begins a ref expression: the name of the ref."""


class Peek(Protocol):
    """Sends one request once. Returns None when it fails."""

    def __call__(self, call: Call[T], seconds: float) -> T | None:
        """Send it."""
        ...


class Suggestions:
    """Finds similar names, and remembers what it found."""

    def __init__(self, peek: Peek) -> None:
        self._peek = peek
        self._known: dict[tuple[str | None, ...], tuple[str, ...]] = {}
        self._last = -PAUSE

    def add_to(self, error: NotFoundError, also: Sequence[str] = ()) -> None:
        """Add what is found to an error: to its message and to its `suggestions`.

        `also`: all refs that the request read. One of them is the ref that does not exist.
        """
        if error.suggestions or not error.repository:
            return
        asked = (error.kind, error.repository, error.ref, error.path, *also)
        if asked not in self._known:
            if time.monotonic() - self._last < PAUSE:
                return
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._last = time.monotonic()
            self._known[asked] = tuple(self._similar(error, also))
        if found := self._known[asked]:
            error.suggestions = found
            error.message += f"; did you mean {' or '.join(map(repr, found))}?"

    def _similar(self, error: NotFoundError, also: Sequence[str]) -> list[str]:
        repository = error.repository or ""
        if error.kind == "repository_not_found":
            return _near(repository, self._repositories())
        if error.kind == "object_not_found":
            return self._paths(repository, error.ref or "", error.path or "")
        refs = also if also and error.kind == "ref_not_found" else (error.ref or "",)
        branches = [] if error.kind == "tag_not_found" else self._branches(repository)
        found = _near_refs(refs, branches)
        if error.kind == "branch_not_found" or (found and len(refs) == 1):
            return found
        return _near_refs(refs, branches + self._tags(repository))

    def _repositories(self) -> list[str]:
        page = self._peek(repositories.list_page(prefix="", search="", after="", amount=_LISTED), SECONDS)
        return [info.id for info in page.items] if page else []

    def _branches(self, repository: str) -> list[str]:
        call = refs.list_branches(repository, prefix="", hidden=False, after="", amount=_LISTED)
        page = self._peek(call, SECONDS)
        return [info.id for info in page.items] if page else []

    def _tags(self, repository: str) -> list[str]:
        page = self._peek(refs.list_tags(repository, prefix="", after="", amount=_LISTED), SECONDS)
        return [info.id for info in page.items] if page else []

    def _paths(self, repository: str, ref: str, path: str) -> list[str]:
        """Neighbours in the folder of the path; when there is no such folder, neighbours of the folder."""
        folder, _, name = path.rstrip("/").rpartition("/")
        folder += "/" if folder else ""
        inside = self._folder(repository, ref, folder)
        if inside is None or not name:
            return []
        if inside or not folder:
            return [folder + one for one in _near(name, [one.removeprefix(folder) for one in inside])]
        above, _, parent = folder[:-1].rpartition("/")
        above += "/" if above else ""
        around = self._folder(repository, ref, above)
        return [
            above + one for one in _near(parent, [one.removeprefix(above) for one in around or () if one[-1:] == "/"])
        ]

    def _folder(self, repository: str, ref: str, prefix: str) -> list[str] | None:
        call = objects.list_page(repository, ref, prefix=prefix, delimiter="/", after="", amount=_LISTED)
        page = self._peek(call, SECONDS)
        return None if page is None else [row.path for row in page.items]


def _near_refs(refs: Iterable[str], names: Sequence[str]) -> list[str]:
    """Similar refs for the first misspelled one, from the names that exist."""
    for ref in refs:
        beginning = _NAME.match(ref)
        name = beginning[0] if beginning else ""
        if not name or "+" in name or name in names:  # a plus: the ref of a workspace, which has no name to misspell
            continue
        if found := _near(name, names):
            return [one + ref[len(name) :] for one in found]
    return []


def _near(word: str, names: Iterable[str]) -> list[str]:
    """The other names that are most similar to a word, best first. The slash of a folder does not count."""
    wanted = word.casefold()
    shown = {name.rstrip("/").casefold(): name for name in names if name != word}
    found = difflib.get_close_matches(wanted, shown, _SHOWN, _SIMILAR)
    ratios = [difflib.SequenceMatcher(None, one, wanted).ratio() for one in found]
    return [shown[one] for one, ratio in zip(found, ratios, strict=True) if ratio > ratios[0] - _NEARLY]
