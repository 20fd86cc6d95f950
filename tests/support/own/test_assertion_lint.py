"""`tools/lint/assertion_lint.py` finds the tests that assert nothing, and no others."""

from __future__ import annotations

from pathlib import Path

from tools.lint.assertion_lint import asserts, functions

TESTS = """
import pytest

def refuses(call):
    with pytest.raises(ValueError):
        call()

def runs(call):
    call()

def test_silent_call():
    runs(dict)

def test_silent_attribute(engine):
    engine.fail = True

def test_by_assert():
    assert dict() == {}

def test_by_helper():
    runs(lambda: refuses(int))

def test_by_mock(mock):
    mock.assert_called()

def test_by_warning():
    with pytest.warns(UserWarning):
        runs(dict)

def test_by_the_page(page):
    expect(page).to_have_title("lake")

def test_silent_page(page):
    expect(page)

def check_nothing(lake):
    runs(lake)

def test_silent_helper(lake):
    check_nothing(lake)
"""


def test_only_silent_tests_are_found(tmp_path: Path) -> None:
    file = tmp_path / "test_example.py"
    file.write_text(TESTS)
    found = [one.name for one in functions(file) if one.name.startswith("test_") and not asserts(one, file)]
    assert found == ["test_silent_call", "test_silent_attribute", "test_silent_page", "test_silent_helper"]
