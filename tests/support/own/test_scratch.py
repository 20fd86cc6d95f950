"""The directory for the files of the tests of `make test`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools import scratch
from tools.scratch import available

MEMINFO = "MemTotal: 16000000 kB\nMemAvailable: {kilobytes} kB\n"


@pytest.fixture
def meminfo(tmp_path: Path) -> Path:
    path = tmp_path / "meminfo"
    path.write_text(MEMINFO.format(kilobytes=12 << 20))
    return path


@pytest.fixture(autouse=True)
def _room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "FREE_THERE", 1)


def test_memory_is_counted_in_bytes() -> None:
    assert available(MEMINFO.format(kilobytes=3)) == 3072
    assert available("MemTotal: 5 kB\n") == 0


def test_scratch_is_a_directory_of_the_user(tmp_path: Path, meminfo: Path) -> None:
    made = scratch.scratch(tmp_path, meminfo)
    assert made == tmp_path / f"lakebed-{os.getuid()}"
    assert made.stat().st_mode & 0o777 == 0o711
    assert scratch.scratch(tmp_path, meminfo) == made


def test_scratch_is_empty_without_room(tmp_path: Path, meminfo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert scratch.scratch(tmp_path / "missing", meminfo) is None
    assert scratch.scratch(tmp_path, tmp_path / "missing") is None
    monkeypatch.setattr(scratch, "FREE_THERE", 1 << 60)
    assert scratch.scratch(tmp_path, meminfo) is None
    monkeypatch.setattr(scratch, "FREE_THERE", 1)
    meminfo.write_text(MEMINFO.format(kilobytes=9 << 20))
    assert scratch.scratch(tmp_path, meminfo) is None
    assert list(tmp_path.iterdir()) == [meminfo]


def test_scratch_ignores_directories_of_other_users(
    tmp_path: Path, meminfo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lakebed-4711").mkdir()
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    assert scratch.scratch(tmp_path, meminfo) is None
