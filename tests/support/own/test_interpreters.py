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


def test_make_test_takes_the_ends_and_make_soak_takes_all_with_the_engine_on_the_newest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 12))
    found = ("3.11", "3.9", "3.14", "3.13")
    quick = chosen(found, soak=False)
    assert list(quick) == ["3.9", "3.14"]
    assert "tests/sdk" in quick["3.14"]
    assert "tests/engine" not in quick["3.14"]
    full = chosen(found, soak=True)
    assert {version: "tests/engine" in folders for version, folders in full.items()} == {
        "3.9": False,
        "3.11": False,
        "3.13": False,
        "3.14": True,
    }
    assert chosen(["3.13"], soak=False).keys() == {"3.13"}
    assert chosen(["3.11"], soak=False).keys() == {"3.11"}
    assert chosen([], soak=False) == chosen([], soak=True) == {}
