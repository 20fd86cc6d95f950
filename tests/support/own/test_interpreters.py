"""Which other interpreters `make interpreters` finds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools.interpreters import chosen, interpreters

pytestmark = pytest.mark.slow

OTHER = "3.13" if sys.version_info[1] != 13 else "3.12"


def program(folder: Path, version: str, code: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"python{version}"
    file.write_text(f"#!/bin/sh\nexit {code}\n")
    file.chmod(0o755)
    return file


def test_finds_the_path_first_and_then_pyenv(tmp_path: Path) -> None:
    shims, pyenv = tmp_path / "shims", tmp_path / "pyenv"
    older = program(pyenv / "versions" / f"{OTHER}.0" / "bin", OTHER, 0)
    assert interpreters(str(shims), pyenv) == {OTHER: older}
    broken = program(shims, OTHER, 127)
    assert interpreters(str(shims), pyenv) == {OTHER: older}
    broken.unlink()
    on_path = program(shims, OTHER, 0)
    assert interpreters(str(shims), pyenv) == {OTHER: on_path}


def test_leaves_out_itself_and_what_does_not_run(tmp_path: Path) -> None:
    program(tmp_path, f"3.{sys.version_info[1]}", 0)
    program(tmp_path, OTHER, 1)
    program(tmp_path, "3.9", 0)
    assert interpreters(str(tmp_path), tmp_path) == {}


def test_the_newest_runs_the_tests_of_the_engine_too() -> None:
    found = ("3.9", "3.12", "3.13")
    assert {version: "tests/engine" in chosen(version, found) for version in found} == {
        "3.9": False,
        "3.12": False,
        "3.13": True,
    }
    assert "tests/sdk" in chosen("3.12", found)
    assert "tests/engine" in chosen("3.12", ["3.12"])
