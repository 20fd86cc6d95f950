"""The automaton of a regular expression: one state for each of its characters (Glushkov's construction).

Other patterns are taken for a larger language: a group that is named again may be any text of the group, and
no atomic group is believed. A repetition of more than `FEW` counts as unbounded.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from typing import Any, NamedTuple

ops: Any = import_module("re._constants")
parser: Any = import_module("re._parser")

FEW = 8
SAMPLES = "aZ5_ \n\r\x00-/é٣\u2028\U0001f600"
"""Characters of every category. The characters of a pattern, and their neighbours, are added."""

SEARCHING = frozenset({"search", "sub", "subn", "split", "findall", "finditer"})
Chars = frozenset[str]


class Piece(NamedTuple):
    """A part of a pattern: in how many ways it is empty, begins with a state, and ends with one."""

    empty: int
    first: Counter[int]
    last: Counter[int]


@dataclass
class Automaton:
    """The states of a pattern, by number. `chars`: what leads into a state; `ways`: how many from one to the next."""

    chars: list[Chars] = field(default_factory=list)
    ways: dict[int, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    start: Counter[int] = field(default_factory=Counter)
    done: set[int] = field(default_factory=set)
    """States where a match has succeeded, whatever follows: no text is tried further from there."""

    def steps(self, state: int) -> Iterable[int]:
        """The states that follow one, except from where a match has succeeded."""
        return () if state in self.done else self.ways.get(state, ())


class Builder:
    """Makes the automaton of a parsed pattern."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
        self._parsed = parser.parse(text, flags & ~re.UNICODE if isinstance(pattern, bytes) else flags)
        self._flags = self._parsed.state.flags | (re.ASCII if isinstance(pattern, bytes) else 0)
        self._groups: dict[int, Any] = {}
        self._sure = True
        self._at_line_start = True
        self._reps = _representatives(self._parsed)
        self.made = Automaton()
        self.inner: list[Automaton] = []
        """Those of the texts looked ahead or back at."""

    def build(self, method: str) -> list[Automaton]:
        """The automata to check when a pattern is used by one of the methods of `re.Pattern`."""
        made, whole = self.made, self._sequence(self._parsed)
        made.start, ends = whole.first, set(whole.last)
        if method in SEARCHING:
            ends |= self._anywhere()
        if method != "fullmatch" and self._sure:
            made.done = ends
        return [made, *self.inner]

    def _anywhere(self) -> set[int]:
        """Let the pattern begin behind any text, and `^` behind the end of a line only. The states where it ends."""
        made, self._at_line_start = self.made, False
        inside = self._sequence(self._parsed)
        self._at_line_start = bool(self._flags & re.MULTILINE)
        after_line = self._sequence(self._parsed) if self._at_line_start else inside
        before = self._state(frozenset(self._reps) - {"\n"}), self._state(frozenset("\n"))
        for state, begin in zip(before, (inside, after_line), strict=True):
            made.ways[state] = begin.first + Counter(before)
        return {*inside.last, *after_line.last}

    def _state(self, chars: Chars) -> int:
        self.made.chars.append(chars)
        return len(self.made.chars) - 1

    def _one(self, chars: Chars) -> Piece:
        state = self._state(chars)
        return Piece(0, Counter([state]), Counter([state]))

    def _join(self, ends: Counter[int], begins: Counter[int]) -> None:
        for (end, count), (begin, ways) in product(ends.items(), begins.items()):
            self.made.ways[end][begin] += count * ways

    def _sequence(self, tokens: Iterable[Any]) -> Piece:
        made = Piece(1, Counter(), Counter())
        for token in tokens:
            made = self._then(made, self._token(*token))
        return made

    def _then(self, one: Piece, other: Piece) -> Piece:
        self._join(one.last, other.first)
        return Piece(
            one.empty * other.empty,
            one.first + _times(other.first, one.empty),
            other.last + _times(one.last, other.empty),
        )

    def _token(self, op: Any, value: Any) -> Piece:
        if op in (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN):
            return self._one(self._matching(op, value))
        if op is ops.SUBPATTERN:
            self._groups[value[0]] = value[3]
            return self._sequence(value[3])
        if op is ops.BRANCH:
            parts = [self._sequence(part) for part in value[1]]
            firsts, lasts = (sum(states, Counter[int]()) for states in zip(*(part[1:] for part in parts), strict=True))
            return Piece(sum(part.empty for part in parts), firsts, lasts)
        if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            return self._repeat(*value)
        if op is ops.ATOMIC_GROUP:
            return self._sequence(value)
        if op is ops.GROUPREF:
            return self._sequence(self._groups[value])
        if op in (ops.ASSERT, ops.ASSERT_NOT):
            self._sure = False
            return self._apart(value[1])
        if op is ops.AT:
            self._sure = self._sure and "END" not in str(value)
            fits = self._at_line_start or "BEGINNING" not in str(value)
            return Piece(int(fits), Counter(), Counter())
        raise NotImplementedError(f"{op}: write down here what it is")

    def _apart(self, tokens: Any) -> Piece:
        """What is looked ahead or back at is matched on its own, and takes no character."""
        outer, self.made = self.made, Automaton()
        self.made.start = self._sequence(tokens).first
        self.inner.append(self.made)
        self.made = outer
        return Piece(1, Counter(), Counter())

    def _repeat(self, least: int, most: int, body: Any) -> Piece:
        made = Piece(1, Counter(), Counter())
        loops = most > FEW and least != most
        for _ in range(min(least - loops, 2)):
            made = self._then(made, self._sequence(body))
        if loops:
            part = self._sequence(body)
            self._join(part.last, part.first)
            return self._then(made, part._replace(empty=part.empty + (not least)))
        rest = Piece(1, Counter(), Counter())
        for _ in range(min(most - least, 2)):
            part = self._then(self._sequence(body), rest)
            rest = part._replace(empty=part.empty + 1)
        return self._then(made, rest)

    def _matching(self, op: Any, value: Any) -> Chars:
        """The representatives that one token of a character takes."""
        return frozenset(char for char in self._reps if self._takes(op, value, char))

    def _takes(self, op: Any, value: Any, char: str) -> bool:
        if op is ops.ANY:
            return char != "\n" or bool(self._flags & re.DOTALL)
        cases = {char, char.lower(), char.upper()} if self._flags & re.IGNORECASE else {char}
        codes = {ord(case) for case in cases if len(case) == 1}
        if op is ops.LITERAL:
            return value in codes
        if op is ops.NOT_LITERAL:
            return value not in codes
        if op is ops.RANGE:
            return any(value[0] <= code <= value[1] for code in codes)
        if op is ops.CATEGORY:
            letter = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}[str(value).split("_")[-1]]
            pattern = "\\" + (letter.upper() if "NOT" in str(value) else letter)
            return re.fullmatch(pattern, char, self._flags & re.ASCII) is not None
        negated = bool(value) and value[0][0] is ops.NEGATE
        return any(self._takes(kind, one, char) for kind, one in value[negated:]) is not negated


def _times(states: Counter[int], count: int) -> Counter[int]:
    return Counter({state: ways * count for state, ways in states.items() if count})


def _representatives(tokens: Any) -> set[str]:
    """A character of each set that a pattern may treat differently."""
    codes = {ord(char) for char in SAMPLES}
    for number in _numbers(tokens):
        codes.update(code for code in (number - 1, number, number + 1) if 0 <= code <= 0x10FFFF)
    return {chr(code) for code in codes}


def _numbers(tokens: Any) -> Iterator[int]:
    if isinstance(tokens, int) and not isinstance(tokens, bool) and type(tokens) is int:
        yield tokens
    elif isinstance(tokens, (list, tuple, parser.SubPattern)):
        for token in tokens:
            yield from _numbers(token)
