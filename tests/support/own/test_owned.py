"""A forked child ends nothing that its parent owns."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.sdk.forks import in_a_fork
from tests.support.processes.owned import owned_directory, owned_process

pytestmark = pytest.mark.slow


def test_a_directory_outlives_a_child() -> None:
    context = owned_directory("lakebed-owned-")
    directory = context.__enter__()
    assert in_a_fork(lambda: context.__exit__(None, None, None)) is False
    assert directory.is_dir()
    context.__exit__(None, None, None)
    assert not directory.exists()


def test_a_process_outlives_a_child(tmp_path: Path) -> None:
    context = owned_process([sys.executable, "-c", "import time; time.sleep(600)"], tmp_path, tmp_path / "log")
    process = context.__enter__()
    assert in_a_fork(lambda: context.__exit__(None, None, None)) is False
    assert process.poll() is None
    context.__exit__(None, None, None)
    assert process.poll() is not None
