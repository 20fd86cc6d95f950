"""How long Python's `re` may take over a pattern, found in its automaton.

`re` tries one way after the other, so its steps are at most the number of ways to match the beginnings of a text. Two
shapes make that number grow faster than the text (Weber and Seidl, 1991):

- exponential: two ways that lead from a state back to it over the same text, as in `(a*)*` and `(a|a)*`;
- polynomial: states p and q, and a text that leads from p to p, from p to q, and from q to q, as in `a*a*`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import product
from typing import Any, Literal

from tests.patterns.automata import Automaton, Builder

Growth = Literal["linear", "polynomial", "exponential"]


def growth(pattern: str | bytes, flags: int, method: str) -> Growth:
    """How the steps of a method of `re.Pattern` grow with the length of the text, at worst."""
    found: Growth = "linear"
    for automaton in Builder(pattern, flags).build(method):
        if _is_exponential(automaton):
            return "exponential"
        if _is_polynomial(automaton):
            found = "polynomial"
    return found


def attacks(pattern: str | bytes, flags: int, method: str, length: int) -> Iterator[str]:
    """Texts that go round one loop of a pattern for about `length` characters, and then do not match.

    A loop goes from a state back to it, directly or by one other state: `-1-1` takes the old `Range` pattern
    exponential time, `----` does not.
    """
    for automaton in Builder(pattern, flags).build(method):
        named = {char for chars in automaton.chars if len(chars) <= 2 for char in chars}
        seen: set[tuple[str, str]] = set()
        for state, chars in enumerate(automaton.chars):
            begin = _way(automaton, automaton.start, state) or ""
            turns = {*_turns(automaton, state), *(chars & named if state in automaton.steps(state) else ())}
            fresh = sorted((begin, turn) for turn in turns if (begin, turn) not in seen)
            seen.update(fresh)
            for (_, one), end in product(fresh, ("", "\x00", "!", "\n")):
                yield begin + one * (length // len(one)) + end


def _turns(made: Automaton, state: int) -> Iterator[str]:
    """Short texts that lead from a state back to it."""
    straight = _way(made, made.steps(state), state)
    if straight is None:
        return
    yield straight
    for other in range(len(made.chars)):
        there, back = _way(made, made.steps(state), other), _way(made, made.steps(other), state)
        if there and back and len(there + back) <= _LONGEST_TURN:
            yield there + back


_LONGEST_TURN = 4


def _is_exponential(made: Automaton) -> bool:
    parts = _strong({state: set(made.steps(state)) for state in range(len(made.chars))})
    for part in parts:
        if any(made.ways[one][other] > 1 for one in part for other in made.steps(one) if other in part):
            return True
        pairs = {(p, q): _moves(made, (p, q), part) for p, q in product(part, part)}
        for cycle in _strong(pairs):
            if any(p == q for p, q in cycle) and any(p != q for p, q in cycle):
                return True
    return False


def _is_polynomial(made: Automaton) -> bool:
    parts = _strong({state: set(made.steps(state)) for state in range(len(made.chars))})
    looping = [state for part in parts for state in part]
    everywhere = set(range(len(made.chars)))
    return any(p != q and _reaches(made, (p, p, q), (p, q, q), everywhere) for p, q in product(looping, looping))


def _reaches(made: Automaton, start: tuple[int, ...], goal: tuple[int, ...], within: set[int]) -> bool:
    seen, left = {start}, deque([start])
    while left:
        for new in _moves(made, left.popleft(), within):
            if new == goal:
                return True
            if new not in seen:
                seen.add(new)
                left.append(new)
    return False


def _moves(made: Automaton, states: tuple[int, ...], within: set[int]) -> set[tuple[int, ...]]:
    """Where several states go together, over one character."""
    nexts = product(*([new for new in made.steps(state) if new in within] for state in states))
    return {new for new in nexts if frozenset.intersection(*(made.chars[state] for state in new))}


def _strong(graph: Mapping[Any, Iterable[Any]]) -> list[set[Any]]:
    """The sets of nodes that are on a cycle with each other."""
    ahead = {node: _closure(graph, node) for node in graph}
    parts: dict[frozenset[Hashable], set[Any]] = {}
    for node in graph:
        if node in ahead[node]:
            part = frozenset(other for other in ahead[node] if other in ahead and node in ahead[other])
            parts.setdefault(part, set(part))
    return list(parts.values())


def _closure(graph: Mapping[Any, Iterable[Any]], node: Any) -> set[Any]:
    seen: set[Any] = set()
    left = list(graph[node])
    while left:
        new = left.pop()
        if new not in seen:
            seen.add(new)
            left.extend(graph.get(new, ()))
    return seen


def _way(made: Automaton, starts: Iterable[int], goal: int) -> str | None:
    """A shortest text that leads to a state, or None."""
    left = deque((state, min(made.chars[state])) for state in starts if made.chars[state])
    seen: set[int] = set()
    while left:
        state, text = left.popleft()
        if state == goal:
            return text
        if state not in seen:
            seen.add(state)
            left.extend((new, text + min(made.chars[new])) for new in made.steps(state) if made.chars[new])
    return None
