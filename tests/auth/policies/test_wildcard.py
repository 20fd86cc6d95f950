"""Wildcards match what a regular expression with `.*` and `.` does, and no pattern takes long."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lakebed_auth.wildcard import Wildcard

from tests.support.sizes import examples

TEXTS = st.text("ab/*?\n😀", max_size=12)


def expression(pattern: str) -> str:
    return "".join({"*": ".*", "?": "."}.get(character, re.escape(character)) for character in pattern)


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("", [""], ["a"]),
        ("a", ["a"], ["", "A", "aa", "á"]),
        ("*", ["", "a", "a/b", "\n", "*"], []),
        ("**", ["", "a"], []),
        ("?", ["a", "/", "?", "*", "é", "😀", "\n"], ["", "ab", "e\u0301"]),
        ("a?", ["ab", "a?"], ["a", "abc"]),
        ("a*", ["a", "ab", "a/b"], ["ba", "A"]),
        ("*a", ["a", "ba"], ["ab"]),
        ("a*a", ["aa", "aba"], ["a"]),
        ("a*b*c", ["abc", "axbxc", "abcbc"], ["acb", "ab"]),
        ("*?a?*", ["bab", "xbabx", "baab"], ["ab", "ba", "a", "bba"]),
        ("[a]", ["[a]"], ["a"]),
        ("a.b\\", ["a.b\\"], ["axb\\"]),
        ("${user}", ["${user}"], [""]),
    ],
)
def test_examples(pattern: str, matching: list[str], other: list[str]) -> None:
    compiled = Wildcard(pattern)
    assert [text for text in matching if not compiled.matches(text)] == []
    assert [text for text in other if compiled.matches(text)] == []


@examples(500, soak=5000)
@given(TEXTS, TEXTS)
@example("*a?a*b", "aaaab")
@example("a?*?a", "aaa")
@example("*?a*a?*", "aaaa")
def test_as_a_regular_expression(pattern: str, text: str) -> None:
    assert Wildcard(pattern).matches(text) == bool(re.fullmatch(expression(pattern), text, re.DOTALL))


@examples(500, soak=5000)
@given(st.lists(st.sampled_from(["a", "*", "?", "/", "${user}"]), max_size=6), st.text("a*?$", max_size=3), TEXTS)
def test_the_user_is_literal(pieces: list[str], user: str, text: str) -> None:
    expected = "".join(re.escape(user) if piece == "${user}" else expression(piece) for piece in pieces)
    assert Wildcard("".join(pieces), user=user).matches(text) == bool(re.fullmatch(expected, text, re.DOTALL))


@examples(500, soak=5000)
@given(TEXTS, TEXTS, TEXTS)
def test_matches_below_a_prefix(pattern: str, prefix: str, rest: str) -> None:
    compiled = Wildcard(pattern)
    if compiled.matches(prefix + rest):
        assert compiled.may_match_below(prefix)
        assert (prefix + rest).startswith(compiled.prefix)
        assert not compiled.is_literal or compiled.prefix == prefix + rest
    else:
        assert not compiled.matches_all_below(prefix)


@pytest.mark.parametrize(
    "pattern",
    [
        "*a" * 2000 + "*b",
        "*?a" * 1300 + "*b",
        "*" + "a?" * 2000 + "*b",
        "*" + "a" * 4000 + "?*b",
        "*?" * 2000 + "b",
        "?" * 4095 + "b",
    ],
    ids=lambda pattern: pattern[:8],
)
def test_no_pattern_takes_long(pattern: str) -> None:
    """The time of a regular expression doubles with each star; this one is far below a second for all of them."""
    compiled = Wildcard(pattern)
    started = time.process_time()
    assert not compiled.matches("a" * 4095 + "c")
    assert time.process_time() - started < 1
