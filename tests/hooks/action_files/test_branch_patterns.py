"""Patterns of branches match as a shell does, and a pattern that can match nothing is an error."""

from __future__ import annotations

import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_hooks.syntax import branches

from tests.support.sizes import examples

NAMES = ["main", "ma", "m", "release-1", "release-", "v1", "v10", "dev_x", "A", "0"]


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        ("main", ["main"]),
        ("m*", ["main", "ma", "m"]),
        ("*", NAMES),
        ("m?", ["ma"]),
        ("release-*", ["release-1", "release-"]),
        ("v[0-9]", ["v1"]),
        ("v[0-9]*", ["v1", "v10"]),
        ("[!a-z]*", ["A", "0"]),
        ("[^a-z]*", ["A", "0"]),
        ("[]m]", ["m"]),
        ("[m-]", ["m"]),
        ("?", ["m", "A", "0"]),
    ],
)
def test_matching(pattern: str, matching: list[str]) -> None:
    branches.check(pattern)
    assert [name for name in NAMES if branches.matches(name, [pattern])] == matching


def test_no_patterns_are_all_branches() -> None:
    assert branches.matches("main", [])
    assert not branches.matches("main", ["dev", "test"])
    assert branches.matches("main", ["dev", "main"])


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "a/b",
        "feature/*",
        "**/main",
        "a b",
        "a.b",
        "größe",
        "\\*",
        "{a,b}",
        "-main",
        "!main",
        "[",
        "[]",
        "[!]",
        "[a",
        "[z-a]",
        "[z-ab]",
        "[.]",
        "[!-a-zA-Z0-9_]",
        "]",
        "a\n",
        "x" * 257,
        "ｍain",
    ],
)
def test_patterns_that_never_match(pattern: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        branches.check(pattern)


@pytest.mark.slow
@examples(60)
@given(st.lists(st.text("a*?[]!-b", min_size=1, max_size=6), min_size=1, max_size=20))
def test_patterns_match_as_in_a_shell(drawn: list[str]) -> None:
    patterns = []
    for pattern in drawn:
        try:
            branches.check(pattern)
        except ValueError:
            continue
        patterns.append(pattern)
    names = ["a", "b", "ab", "a-b", "ba", "aab", "b-", "a-"]
    script = 'while read -r p; do for n in "${@}"; do case "$n" in $p) echo "$p $n";; esac; done; done'
    said = subprocess.run(
        ["bash", "-c", "LC_ALL=C; " + script, "bash", *names],
        input="\n".join(patterns) + "\n" if patterns else "",
        text=True,
        capture_output=True,
        check=True,
    ).stdout
    assert said.split("\n")[:-1] == [f"{p} {n}" for p in patterns for n in names if branches.matches(n, [p])]


def test_no_pattern_takes_long() -> None:
    pattern = "*a" * 127 + "b"
    branches.check(pattern)
    began = time.monotonic()
    assert not branches.matches("a" * 255, [pattern])
    assert time.monotonic() - began < 1
