"""Durations are as Go writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lakebed_hooks.syntax.properties import duration_seconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90s", 90),
        ("1m", 60),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("300ms", 0.3),
        ("1h15m30.5s", 4530.5),
        (".5s", 0.5),
        ("5.s", 5),
        ("1us", 1e-6),
        ("1µs", 1e-6),
        ("1μs", 1e-6),
        ("1000000000ns", 1),
        ("0s", 0),
    ],
)
def test_durations(text: str, expected: float) -> None:
    assert duration_seconds(text) == pytest.approx(expected)


@pytest.mark.parametrize(
    "text", ["", "60", "s", "-1s", "1d", "1 m", "1m ", " 1m", "1h-1m", "1e3s", "inf", "١s", "1s" * 40]
)
def test_no_durations(text: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        duration_seconds(text)


@given(st.text("0123456789.hmsnuµ-", max_size=70))
def test_any_text(text: str) -> None:
    try:
        total = duration_seconds(text)
    except ValueError:
        return
    assert total >= 0
    assert text[-1] in "hms"
