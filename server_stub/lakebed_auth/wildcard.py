"""Patterns with `*` and `?`, which choose resources, actions and the values of conditions. Pure.

Patterns come from users, and a regular expression with several `.*` backtracks. This matcher puts each part between two
stars at the first place where it fits. That leaves the most text for the next parts, so it never has to backtrack.
"""

from __future__ import annotations

from collections.abc import Sequence


class Wildcard:
    """A pattern: `*` is any characters or none, slashes included; `?` is exactly one character (code point).

    All other characters match themselves, and case matters. With `user`, `${user}` is the id of that user. The id is
    literal: a `*` in it matches only a `*`.

    `prefix` holds the characters before the first wildcard. When `is_literal`, there is no wildcard. When `is_prefix`,
    the only wildcard is a star at the end.
    """

    __slots__ = ("_first", "_last", "_middle", "is_literal", "is_prefix", "prefix")

    def __init__(self, pattern: str, *, user: str | None = None) -> None:
        first, *rest = (_Part(text, user) for text in pattern.split("*"))
        self._first = first
        self._last = rest.pop() if rest else None
        self._middle = [part for part in rest if part.length]
        self.prefix = self._first.prefix
        self.is_literal = self._last is None and len(self.prefix) == self._first.length
        self.is_prefix = not rest and self._last is not None and not self._last.length
        self.is_prefix = self.is_prefix and len(self.prefix) == self._first.length

    def matches(self, text: str) -> bool:
        """Return whether the pattern matches the whole text. The time is linear in the text."""
        if self._last is None:
            return len(text) == self._first.length and self._first.fits(text, 0)
        at, end = self._first.length, len(text) - self._last.length
        if at > end or not self._first.fits(text, 0) or not self._last.fits(text, end):
            return False
        for part in self._middle:
            at = part.find(text, at, end)
            if at < 0:
                return False
        return True

    def matches_all_below(self, prefix: str) -> bool:
        """Return whether the pattern matches every text that begins with the prefix. Its last star matches the rest."""
        return self._last is not None and not self._last.length and self.matches(prefix)

    def may_match_below(self, prefix: str) -> bool:
        """Return whether the pattern may match some text that begins with the prefix. True when unsure."""
        return self.prefix.startswith(prefix) or (not self.is_literal and prefix.startswith(self.prefix))


class _Part:
    """The text between two stars. In `_characters`, None is any character; it is None if there is no `?`."""

    __slots__ = ("_any", "_characters", "_places", "length", "prefix")

    def __init__(self, text: str, user: str | None) -> None:
        self.prefix, *rest = (
            literal if user is None else literal.replace("${user}", user) for literal in text.split("?")
        )
        self._characters: list[str | None] | None = None
        self.length = len(self.prefix)
        if rest:
            self._characters = [*self.prefix]
            for literal in rest:
                self._characters += [None, *literal]
            self.length = len(self._characters)
            self._note(self._characters)

    def _note(self, characters: Sequence[str | None]) -> None:
        """Note the possible positions of each character: bit n of a number is position n."""
        self._any = 0
        self._places: dict[str, int] = {}
        for place, character in enumerate(characters):
            if character is None:
                self._any |= 1 << place
            else:
                self._places[character] = self._places.get(character, 0) | 1 << place

    def fits(self, text: str, at: int) -> bool:
        """Return whether the part is in the text at this position. The text must have `length` more characters."""
        if self._characters is None:
            return text.startswith(self.prefix, at)
        return all(one is None or one == text[at + place] for place, one in enumerate(self._characters))

    def find(self, text: str, start: int, end: int) -> int:
        """Return the end of the first place in `text[start:end]` where the part is, or -1."""
        if self._characters is None:
            found = text.find(self.prefix, start, end)
            return found if found < 0 else found + self.length
        begun, whole = 0, 1 << (self.length - 1)
        for at in range(start, end):  # bit n of `begun`: the first n + 1 characters of the part end here
            begun = ((begun << 1) | 1) & (self._places.get(text[at], 0) | self._any)
            if begun & whole:
                return at + 1
        return -1
