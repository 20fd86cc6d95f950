"""Globs choose what pathspec's do, and no glob takes long."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from lakebed_format import globs
from lakebed_format.globs import LONGEST, MOST, Glob, GlobError, Globs
from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from tests.support.sizes import examples

PIECES = ["a", "b", "-", "*", "*", "**", "/", "/", "?", "!", " ", "#", "\\", "\\*", "\\!", "^", "[ab]", "[!a]", "[^-b]"]
PIECES += ["[a-b]", "[]a]", "[!]b]", "[b-]", "[-a]", "[!-]", "/**/", "**/", "/**", "]", "a/", "[b-a]", "[a", "\\ "]
GLOBS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)
NAMES = st.text("ab-!]^* #\\", min_size=1, max_size=4).filter(lambda name: name not in (".", ".."))
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)


class Patched(GitIgnoreSpecPattern):
    """pathspec's pattern, except that a set such as `[!a]` matches no slash, as in git."""

    def __init__(self, text: str) -> None:
        regex, include = self.pattern_to_regex(text)
        super().__init__(None if regex is None else re.compile(re.sub(r"\[\^(?!/\])", r"(?!/)[^", regex)), include)


def pathspecs(texts: list[str]) -> GitIgnoreSpec | None:
    """The oracle; None where pathspec finds one of the globs broken or empty."""
    try:
        spec = GitIgnoreSpec([Patched(text) for text in texts])
    except (ValueError, re.error):
        return None
    return None if any(pattern.include is None for pattern in spec.patterns) else spec


def ours(texts: list[str]) -> Globs | None:
    try:
        return Globs(texts)
    except GlobError:
        return None


@examples(300, soak=600)
@given(st.lists(GLOBS, min_size=1, max_size=3), st.lists(PATHS, min_size=1, max_size=6))
@example(["*.csv", "!tmp/"], ["tmp/a.csv"])
@example(["tmp/", "!tmp/a"], ["tmp/a", "tmp/b"])
@example(["!tmp/a", "tmp/"], ["tmp/a", "tmp/b"])
@example(["a/**/b"], ["a/b", "a/x/y/b", "a/x/b/c"])
@example(["**/", "*/", "/**/", "a/**/", "/**", "**"], ["a", "a/b", "b/a/c"])
@example(["**/a/**/b"], ["a/b/x/a/b", "a/b/x/a", "b/a"])
def test_globs_choose_what_pathspec_chooses(texts: list[str], paths: list[str]) -> None:
    theirs, own = pathspecs(texts), ours(texts)
    if own is None:
        # we refuse a few more: those without any name, such as `!/`
        assert theirs is None or not all(any(text.rstrip().removeprefix("!").split("/")) for text in texts)
        return
    assert theirs is not None
    for path in paths:
        assert own.choose(path) == theirs.match_file(path), (texts, path)


@examples(300)
@given(GLOBS, PATHS)
def test_a_glob_matches_where_pathspecs_pattern_does(text: str, path: str) -> None:
    own, theirs = ours([text]), pathspecs([text])
    assume(own is not None and theirs is not None)
    assert own is not None
    assert theirs is not None
    rank = own.globs[0].rank(path.split("/"))
    assert (rank > 0) == (theirs.patterns[0].match_file(path) is not None)


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("a[!b]c", "a/c", False),  # no wildcard matches a slash, where pathspec's sets do
        ("a[+-9]c", "a/c", False),
        ("a?c", "a\nc", True),
        ("a", "a\n", False),
        ("*", "a\nb", True),
        ("a//b", "a//b", True),
        ("/a", "/a", True),
        ("a", "./a", True),
        ("a/", "a/", True),
        ("ü*", "über/x", True),
        ("[à-ü]", "é", True),
        ("x\\[1\\]", "x[1]", True),
        ("a\\ ", "a ", True),
        ("a  ", "a", True),
    ],
)
def test_glob_matching(glob: str, path: str, expected: bool) -> None:
    assert Globs([glob]).choose(path) is expected


@pytest.mark.parametrize(
    ("glob", "message"),
    [
        ("", "says nothing"),
        ("  ", "says nothing"),
        ("# all", "says nothing"),
        ("/", "says nothing"),
        ("!", "says nothing"),
        ("!/", "says nothing"),
        ("[a", "that no '\\]' ends"),
        ("[]", "that no '\\]' ends"),
        ("[z-a]", "z-a ends before it begins"),
        ("a\\", "ends in a backslash"),
        ("a\\/b", "ends in a backslash"),
        ("x" * (LONGEST + 1), "257 characters, at most 256"),
    ],
)
def test_an_invalid_glob_is_an_error(glob: str, message: str) -> None:
    with pytest.raises(GlobError, match=message):
        Glob(glob)


def test_the_number_of_globs_is_bounded() -> None:
    assert Globs(["a"] * MOST).choose("a")
    with pytest.raises(GlobError, match="101 globs: at most 100"):
        Globs(["a"] * (MOST + 1))


WORST: dict[str, tuple[Callable[[int], str], Callable[[int], str]]] = {
    "the review's": (lambda n: "*" + "a*" * (n // 2 - 1) + "b", lambda n: "a" * n),
    "stars that fit": (lambda n: "?*" * (n // 2), lambda n: "a" * n),
    "one mark in two": (lambda n: "a" + "*" + "?a" * (n // 2 - 2) + "b*", lambda n: "a" * n),
    "a long set": (lambda n: "*[!b" + "c" * (n - 8) + "]d*", lambda n: "a" * n),
    "text that nearly fits": (lambda n: "*" + "a" * (n // 2) + "b*" + "a" * (n // 2 - 4), lambda n: "a" * n),
    "folders": (lambda n: "**/" + "?*/" * (n // 3 - 3) + "**/b", lambda n: "a/" * (n // 2)),
    "many of any folders": (lambda n: "**/a/" * (n // 5 - 1) + "b", lambda n: "a/" * (n // 2)),
    "long names in folders": (lambda n: "**/" + "*?" * (n // 4) + "/" + "?*" * (n // 4 - 4) + "b", lambda n: "a/" * n),
}  # fmt: skip


@pytest.mark.parametrize("name", WORST)
def test_no_glob_takes_more_steps_than_its_length_times_the_paths(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(globs, "call", lambda test, item: test(item))  # in Python, so that its calls are counted
    glob, path = WORST[name]
    for length in (32, 64, 128, LONGEST):
        text, at = glob(length), path(4 * length)
        assert len(text) <= length
        one = Glob(text)
        names = at.split("/")
        assert lines_of(partial(one.rank, names)) <= 4 * len(text) * len(at) + 1000


@pytest.mark.parametrize("name", WORST)
def test_the_worst_globs_are_quick(name: str) -> None:
    glob, path = WORST[name]
    one, at = Globs([glob(LONGEST)]), path(1024)[:1024]
    started = time.perf_counter()
    one.choose(at)
    assert time.perf_counter() - started < 0.5


def lines_of(job: Callable[[], Any]) -> int:
    """How many lines of Python run."""
    count = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal count
        count += event in ("line", "call")
        return trace

    sys.settrace(trace)
    try:
        job()
    finally:
        sys.settrace(None)
    return count


@pytest.mark.parametrize(
    ("texts", "path", "chosen"),
    [
        (["*", "!a/"], "a/", False),  # pathspec chooses these three: for it, `*` names what follows the slash
        (["*", "!a"], "a/", False),
        (["*", "!a/b"], "a/b/", False),
        (["*", "!a/"], "a", True),
        (["*", "!a"], "a/b", True),
        (["a/"], "a/", True),
        (["a/"], "a", False),
    ],
)
def test_key_with_a_trailing_slash_is_in_that_folder(texts: list[str], path: str, chosen: bool) -> None:
    assert Globs(texts).choose(path) is chosen
