"""No expression that sees input backtracks: every regular expression of the source tree is linear in its text.

Each has two checks: of the pattern itself (`backtracking`), and of its time over the texts that go round its
loops (`measure`). A new pattern is found anywhere in the code (`finding`).
"""

from __future__ import annotations

import fnmatch
import gc
import importlib
import pkgutil
import re
import textwrap
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from tests.patterns.backtracking import growth
from tests.patterns.finding import Found, Sources, sources, spec_patterns
from tests.patterns.measure import slow

IMPORTED = (
    "lakebed",
    "lakebed_format",
    "lakebed_api",
    "lakebed_wire",
    "lakebed_auth",
    "lakebed_tables",
    "lakebed_engine",
    "lakebed_server",
)

OTHER_MATCHERS = {
    # fnmatch makes each `*` an atomic group, so it is linear: see `test_fnmatch_is_linear`
    "sdk/lakebed_spark/_tables/resolve.py: fnmatch.fnmatchcase",
    "server_stub/lakebed_engine/operations/context.py: fnmatch.fnmatchcase",
    "server_stub/lakebed_engine/vocabulary/records.py: fnmatch.fnmatchcase",
    "server_stub/lakebed_hooks/syntax/branches.py: fnmatch.fnmatchcase",
    "server_stub/lakebed_server/outbound/destinations.py: fnmatch.fnmatchcase",
    # it searches for one of the characters `*?[`
    "sdk/lakebed/_fsspec/reading_many.py: glob.has_magic",
    # their patterns come from openapi.yaml, and are looked at as such
    "generated/lakebed_wire/models.py: msgspec.Meta",
    "generated/lakebed_wire/operations.py: msgspec.Meta",
}

OLD_RANGE = r"bytes=(?:[0-9]*-[0-9]*,? ?)+"
PATHSPEC = r"[^/]*a[^/]*a"


@cache
def tree() -> Sources:
    gc.disable()  # millions of nodes, and no garbage
    try:
        return sources()
    finally:
        gc.enable()


def every() -> list[Found]:
    return list({one[1:]: one for one in [*tree().patterns, *spec_patterns()]}.values())


@pytest.mark.slow
def test_every_pattern_is_linear() -> None:
    assert len(every()) > 80
    assert [one for one in every() if growth(one.pattern, one.flags, one.method) != "linear"] == []


@pytest.mark.slow
def test_every_pattern_is_quick_over_its_worst_texts() -> None:
    assert slow(every(), limit=0.5, timeout=120) == []


MADE_OF_LITERALS = "server_stub/lakebed_hooks/secrets.py: "
"""The mask of secrets: the spellings of a character begin differently, so there is one way to match a secret.
`tests/hooks/test_secrets.py` bounds its time."""


@pytest.mark.medium
def test_every_pattern_is_written_where_it_is_compiled() -> None:
    """A pattern that is put together while the server runs cannot be looked at: none is."""
    assert [one for one in tree().unknown if not one.startswith(MADE_OF_LITERALS)] == []


@pytest.mark.medium
def test_other_matchers_are_known() -> None:
    assert set(tree().others) == OTHER_MATCHERS


@pytest.mark.medium
def test_patterns_that_modules_hold_were_found() -> None:
    found = {(one.pattern, re.compile(one.pattern, one.flags).flags) for one in tree().patterns}
    held = {(one.pattern, one.flags): name for name, one in patterns_of_modules()}
    assert len(held) > 50
    assert {name for key, name in held.items() if key not in found} == set()


def patterns_of_modules() -> Iterator[tuple[str, re.Pattern[str]]]:
    for package in IMPORTED:
        for module in modules_of(importlib.import_module(package)):
            for name, value in vars(module).items():
                if isinstance(value, type) and value.__module__ != module.__name__:
                    continue  # a class that the module imports: its own module is read, or it is not ours
                for one in vars(value).values() if isinstance(value, type) else (value,):
                    if isinstance(one, re.Pattern):
                        yield f"{module.__name__}.{name}", one


def modules_of(package: ModuleType) -> Iterator[ModuleType]:
    yield package
    for one in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not one.name.endswith("__main__") and one.name != "lakebed.mlflow":  # MLflow is not installed here
            yield importlib.import_module(one.name)


# the checks themselves


@pytest.mark.parametrize(
    ("pattern", "method", "expected"),
    [
        (OLD_RANGE, "fullmatch", "exponential"),
        (PATHSPEC, "match", "polynomial"),
        (r"^(?:.+/)?[^/]*a[^/]*a[^/]*b(?:(?P<ps_d>/)|$)", "search", "polynomial"),
        (r"(a*)*b", "match", "exponential"),
        (r"(a|a)*b", "match", "exponential"),
        (r"(?:a?b?)*c", "match", "exponential"),
        (r"(?:a{1,100}){1,100}b", "match", "exponential"),
        (r"(?:(?:x*|y*)z)*!", "match", "exponential"),
        (r"a*a*b", "match", "polynomial"),
        (r"\d+\.?\d*x", "match", "polynomial"),
        (r"(\d+)x", "findall", "polynomial"),
        (r"(\d+)x", "match", "linear"),
        (r"(?i)k+\u212a+x", "match", "polynomial"),
        (r"(?=a*a*b)c", "match", "polynomial"),
        (r"(a+)b\1c", "match", "linear"),
        (r"^\s+$", "search", "linear"),
        (r"\s+$", "search", "polynomial"),
        (r"\w+", "findall", "linear"),
        (r"[0-9a-f]{64}", "fullmatch", "linear"),
        (r"(?:a|ab)(?:c|bcd)d*", "fullmatch", "linear"),
        (r"^([^:\s]+):[ \t]*([^\r\n]*?)[ \t]*\r?$", "findall", "polynomial"),
    ],
)
def test_growth_class_of_each_pattern_is_detected(pattern: str, method: str, expected: str) -> None:
    flags = re.MULTILINE if method == "findall" else 0
    assert growth(pattern, flags, method) == expected
    assert growth(pattern.encode().replace(rb"\u212a", b"K"), flags, method) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern",
    [OLD_RANGE, *(pytest.param(one, marks=pytest.mark.soak) for one in (PATHSPEC + "b", r"(a*)*b", r"\d+\.?\d*x"))],
)
def test_slow_patterns_are_measured(pattern: str) -> None:
    known = Found("good", r"[0-9a-f]+", 0, "fullmatch")
    assert slow([known, Found("bad", pattern, 0, "fullmatch")], limit=0.5, timeout=5) == ["bad"]


def test_patterns_are_found_anywhere_in_the_code(tmp_path: Path) -> None:
    (tmp_path / "sdk").mkdir()
    (tmp_path / "sdk" / "one.py").write_text(
        textwrap.dedent(
            """
            import re, fnmatch
            import re as regular
            from re import compile as made, sub
            DIGIT = "[0-9]"
            A = re.compile(r"a" + "b")
            B: object = made(f"{DIGIT}+c", re.ASCII | re.I)
            class C:
                D = regular.compile(b"d")
                def go(self, text, given):
                    sub("(e*)*", "", text)
                    re.search(given, text)
                    text.str.replace("f", "g")
                    return self.D.split(text), A.match(text), A.sub("", text)
            """
        )
    )
    found = sources(tmp_path, ["sdk"])
    assert {one[1:] for one in found.patterns} == {
        ("ab", 0, "match"),
        ("ab", 0, "sub"),
        ("[0-9]+c", int(re.ASCII | re.IGNORECASE), "search"),
        (b"d", 0, "split"),
        ("(e*)*", 0, "sub"),
    }
    assert found.unknown == ["sdk/one.py: re.search(given)"]
    assert sorted(found.others) == ["sdk/one.py: .str.replace", "sdk/one.py: fnmatch"]


@pytest.mark.parametrize("pattern", ["*a" * 127 + "*b", "*" * 255 + "b", "?*" * 127 + "b", "*[a-c]" * 42 + "*b"])
def test_fnmatch_is_linear(pattern: str) -> None:
    """Rules of protected branches and `pathGlobFilter` are matched by fnmatch. Both are 256 characters at most."""
    started = time.perf_counter()
    assert not fnmatch.fnmatchcase("a" * 256, pattern)
    assert time.perf_counter() - started < 0.5
