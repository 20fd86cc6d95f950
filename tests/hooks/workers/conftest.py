"""The home of the processes of hooks, which must be empty after each test."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hooks.workers.running import CHECKS, left_behind


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the temporary folders of hooks are. After the test there is no folder and no process."""
    monkeypatch.setenv("PYTHONPATH", str(CHECKS))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert left_behind(tmp_path) == []
    assert list(tmp_path.glob("lakebed-hook-*")) == []
