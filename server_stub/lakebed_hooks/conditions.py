"""The condition of a hook (`if`): whether it runs after the hooks before it.

    failure() && !(false or not success())

`success()` is true while no hook of the action has failed. The operators are `!`, `&&`, `||` and the words `not`,
`and`, `or`, with the precedence of Python. A missing condition means `success()`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from lakebed_hooks.vocabulary import HookError

LONGEST: Final = 500
"""Characters."""
DEEPEST: Final = 20
"""Maximum number of nested parentheses and negations."""

_TOKEN = re.compile(r"\s*(?:(success|failure)\s*\(\s*\)|(true|false)\b|(not\b|!)|(and\b|&&)|(or\b|\|\|)|(\()|(\)))")
_CALL, _CONSTANT, _NOT, _AND, _OR, _OPEN, _CLOSE = range(1, 8)


class ConditionError(HookError):
    """A condition cannot be read."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as its two results: before and after a hook of the action has failed."""

    on_success: bool
    on_failure: bool

    def holds(self, *, failed: bool) -> bool:
        """Whether the hook runs. `failed`: a hook of this action before it has failed."""
        return self.on_failure if failed else self.on_success


def parse(text: str) -> Condition:
    """Read a condition. Raises ConditionError."""
    if len(text) > LONGEST:
        raise ConditionError(f"the condition has {len(text)} characters, at most {LONGEST}")
    if not text.strip():
        return Condition(on_success=True, on_failure=False)
    return _Parser(text).parse()


class _Parser:
    """Parses with one function for each level of precedence."""

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[int, str]] = []
        self._next = 0
        place = 0
        while text[place:].strip():
            found = _TOKEN.match(text, place)
            if found is None:
                raise ConditionError(
                    f"the condition has {text[place:].strip()[:40]!r}, but expected success(), failure(), true, false, "
                    "'!', '&&', '||', 'not', 'and', 'or' or parentheses"
                )
            assert found.lastindex is not None
            self._tokens.append((found.lastindex, found[found.lastindex]))
            place = found.end()

    def parse(self) -> Condition:
        result = self._either(0)
        if self._next < len(self._tokens):
            raise ConditionError(f"the condition goes on after its end, with {self._tokens[self._next][1]!r}")
        return result

    def _takes(self, kind: int) -> bool:
        is_next = self._next < len(self._tokens) and self._tokens[self._next][0] == kind
        self._next += is_next
        return is_next

    def _either(self, depth: int) -> Condition:
        left = self._both(depth)
        while self._takes(_OR):
            right = self._both(depth)
            left = Condition(left.on_success or right.on_success, left.on_failure or right.on_failure)
        return left

    def _both(self, depth: int) -> Condition:
        left = self._negated(depth)
        while self._takes(_AND):
            right = self._negated(depth)
            left = Condition(left.on_success and right.on_success, left.on_failure and right.on_failure)
        return left

    def _negated(self, depth: int) -> Condition:
        if depth > DEEPEST:
            raise ConditionError(f"the condition is nested more than {DEEPEST} levels deep")
        if self._takes(_NOT):
            negated = self._negated(depth + 1)
            return Condition(not negated.on_success, not negated.on_failure)
        if self._takes(_OPEN):
            inner = self._either(depth + 1)
            if not self._takes(_CLOSE):
                raise ConditionError("the condition has a '(' without its ')'")
            return inner
        return self._operand()

    def _operand(self) -> Condition:
        if self._next == len(self._tokens):
            raise ConditionError("the condition ends where a value such as success() is missing")
        kind, text = self._tokens[self._next]
        if kind not in (_CALL, _CONSTANT):
            raise ConditionError(f"the condition has {text!r} where a value such as success() is missing")
        self._next += 1
        if kind == _CONSTANT:
            return Condition(text == "true", text == "true")
        return Condition(text == "success", text == "failure")
