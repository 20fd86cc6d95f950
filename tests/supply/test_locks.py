"""The lock files fit what they are made from, and let nothing in without a hash."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from tools import lock

_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==(\S+)")


def entries(text: str) -> list[str]:
    """The requirements of a lock, each with its continuation lines."""
    return [one for one in re.split(r"\n(?=\S)", text) if not one.startswith("#") and one.strip()]


def test_the_locks_fit_pyproject_and_the_requirements_of_the_tests() -> None:
    assert lock.stale() == []


def test_every_extra_has_a_lock() -> None:
    project = tomllib.loads((lock.ROOT / "pyproject.toml").read_text())["project"]
    locked = {file.stem for file in lock.LOCKS.glob("*.txt")}
    assert {"base", *project["optional-dependencies"]} <= locked


@pytest.mark.parametrize("file", sorted(lock.LOCKS.glob("*.txt")), ids=lambda file: file.stem)
def test_locked_packages_have_a_single_version_and_hashes(file: Path) -> None:
    found = entries(file.read_text())
    assert found, file
    for one in found:
        assert _PIN.match(one), one
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", one), one
    assert "://" not in file.read_text(), "a lock names no index"


def test_a_changed_requirement_makes_a_lock_stale(tmp_path: Path) -> None:
    copy = tmp_path / "locks"
    shutil.copytree(lock.LOCKS, copy)
    base = copy / "base.txt"
    base.write_text(base.read_text().replace("of requirements ", "of requirements 0", 1))
    (copy / "server.txt").unlink()
    (copy / "forgotten.txt").write_text("# of no extra\n")
    assert lock.stale(copy) == ["base", "forgotten", "server"]


def test_the_lowest_lock_has_the_versions_that_pyproject_names() -> None:
    text = (lock.LOCKS / "test-lowest.txt").read_text()
    pinned = {match[1].lower(): match[2] for one in entries(text) if (match := _PIN.match(one))}
    project = tomllib.loads((lock.ROOT / "pyproject.toml").read_text())["project"]
    for need in project["dependencies"]:
        name, _, least = need.partition(">=")
        release = pinned[name].split(".")
        wanted = least.split(".")
        assert release[: len(wanted)] == wanted, f"{need}: {pinned[name]} is locked"
