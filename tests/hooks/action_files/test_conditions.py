"""Conditions evaluate as Python does, and each mistake is an error."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_hooks.conditions import DEEPEST, LONGEST, Condition, ConditionError, parse

from tests.support.sizes import examples


@pytest.mark.parametrize(
    ("text", "on_success", "on_failure"),
    [
        ("", True, False),
        ("  \n", True, False),
        ("success()", True, False),
        ("failure()", False, True),
        ("success ( )", True, False),
        ("true", True, True),
        ("false", False, False),
        ("!success()", False, True),
        ("not not success()", True, False),
        ("!!failure()", False, True),
        ("success() || failure()", True, True),
        ("success() or failure()", True, True),
        ("success() && failure()", False, False),
        ("success()&&failure()||true", True, True),
        ("true || false && false", True, True),
        ("(true || false) && false", False, False),
        ("not false and false", False, False),
        ("not (false and false)", True, True),
        ("((failure()))", False, True),
    ],
)
def test_conditions(text: str, on_success: bool, on_failure: bool) -> None:
    condition = parse(text)
    assert condition == Condition(on_success, on_failure)
    assert condition.holds(failed=False) is on_success
    assert condition.holds(failed=True) is on_failure


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("success", "has 'success', but expected"),
        ("success(", "has 'success(', but expected"),
        ("success(1)", "has 'success(1)', but expected"),
        ("succeeded()", "has 'succeeded()', but expected"),
        ("True", "has 'True', but expected"),
        ("trueish", "has 'trueish', but expected"),
        ("1", "has '1', but expected"),
        ("'true'", "but expected"),
        ("success() == true", "has '== true', but expected"),
        ("true false", "goes on after its end, with 'false'"),
        ("(true", "has a '(' without its ')'"),
        ("true)", "goes on after its end, with ')'"),
        ("()", "has ')' where a value"),
        ("!", "ends where a value"),
        ("true &&", "ends where a value"),
        ("|| true", "has '||' where a value"),
        ("true & true", "has '& true', but expected"),
        ("__import__('os')", "but expected"),
        ("true" + " " * LONGEST, f"has {LONGEST + 4} characters, at most {LONGEST}"),
        ("(" * (DEEPEST + 1) + "true" + ")" * (DEEPEST + 1), "nested more than 20 levels deep"),
        ("!" * (DEEPEST + 1) + "true", "nested more than 20 levels deep"),
        ("(" * LONGEST, "nested more than 20 levels deep"),
    ],
)
def test_mistakes(text: str, said: str) -> None:
    with pytest.raises(ConditionError, match=re.escape(said)):
        parse(text)


def test_the_deepest_condition() -> None:
    assert parse("(" * DEEPEST + "success()" + ")" * DEEPEST) == Condition(True, False)
    assert parse("!" * DEEPEST + "success()") == Condition(True, False)


CONDITIONS = st.recursive(
    st.sampled_from(["success()", "failure()", "True", "False"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: f"{pair[0]} and {pair[1]}"),
        st.tuples(inner, inner).map(lambda pair: f"{pair[0]} or {pair[1]}"),
        inner.map(lambda one: f"not {one}"),
        inner.map(lambda one: f"({one})"),
    ),
    max_leaves=8,
)


@examples(300, soak=5000)
@given(CONDITIONS, st.booleans())
def test_conditions_evaluate_as_in_python(python: str, symbols: bool) -> None:
    text = python.replace("True", "true").replace("False", "false")
    if symbols:
        text = text.replace(" and ", "&&").replace(" or ", "||").replace("not ", "!")
    for failed in (False, True):
        names = {"success": lambda failed=failed: not failed, "failure": lambda failed=failed: failed}
        assert parse(text).holds(failed=failed) == eval(python, names)


@examples(300, soak=5000)
@given(
    st.lists(
        st.sampled_from(["success()", "failure", "(", ")", "!", "&&", "||", "not", "and ", "true", " "]), max_size=50
    )
)
def test_any_text(pieces: list[str]) -> None:
    text = "".join(pieces)
    try:
        condition = parse(text)
    except ConditionError:
        return
    if condition != parse(""):
        assert parse(text + " or true") == Condition(True, True)
