"""The names of the metrics in an expression of PromQL.

It tokenizes: texts and label matchers are not names, and a name before a parenthesis is a function. What is left and is
no keyword, no number and no label of a grouping is a metric.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)|(?P<comment>\#[^\n]*)|(?P<variable>\$\w+|\$\{\w+\})"""
    r"""|(?P<number>(?:0x[0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?:ms|[smhdwy](?:\d+(?:ms|[smhdwy]))*)?)"""
    r"""|(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)|(?P<sign>[-+*/%^(){}\[\],:@]|=~|!~|!=|==|>=|<=|>|<|=)|(?P<space>\s+)"""
)
_GROUPINGS = {"by", "without", "on", "ignoring", "group_left", "group_right"}
_KEYWORDS = {"and", "or", "unless", "bool", "offset", "inf", "nan", "start", "end"}


def metrics_of(expression: str) -> set[str]:
    """The metrics of an expression. Raises ValueError for a character that PromQL does not have."""
    tokens = list(_tokens(expression))
    found: set[str] = set()
    braces, grouped, groups = 0, False, 0
    for at, (kind, text) in enumerate(tokens):
        after = tokens[at + 1][1] if at + 1 < len(tokens) else ""
        if text == "{":
            braces += 1
        elif text == "}":
            braces -= 1
        elif text == "(" and (grouped or groups):
            grouped, groups = False, groups + 1
        elif text == ")" and groups:
            groups -= 1
        elif kind == "name" and not braces and not groups:
            if text.lower() in _GROUPINGS:
                grouped = after == "("
            elif text.lower() not in _KEYWORDS and after != "(" and not _is_aggregation(tokens, at):
                found.add(text)
    return found


def _is_aggregation(tokens: list[tuple[str, str]], at: int) -> bool:
    """Whether the name is that of an aggregation before its grouping: `sum by (le) (...)`."""
    return at + 1 < len(tokens) and tokens[at + 1][1].lower() in {"by", "without"}


def _tokens(expression: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(expression):
        found = _TOKEN.match(expression, at)
        if found is None:
            raise ValueError(f"no token of PromQL at {expression[at : at + 20]!r}")
        at = found.end()
        kind = found.lastgroup or ""
        if kind not in ("space", "comment"):
            yield kind, found.group()
