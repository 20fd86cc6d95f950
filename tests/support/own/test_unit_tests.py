"""`make check` imports no module without unit tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.unit_tests import has_none


@pytest.mark.parametrize(
    ("name", "text", "left_out"),
    [
        ("test_a.py", "import pytest\n\npytestmark = pytest.mark.slow\n", True),
        ("test_a.py", "pytestmark = pytest.mark.medium  # real sockets\n", True),
        ("test_a.py", "pytestmark = pytest.mark.asyncio\n", False),
        ("test_a.py", "@pytest.mark.slow\ndef test_x() -> None: ...\n", False),
        ("support.py", "pytestmark = pytest.mark.slow\n", False),
    ],
)
def test_modules_that_are_slow_as_a_whole(
    name: str, text: str, left_out: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / name
    module.write_text(text)
    monkeypatch.setenv("LAKEBED_TIER", "check")
    assert has_none(module) is left_out
    monkeypatch.setenv("LAKEBED_TIER", "test")
    assert not has_none(module)
