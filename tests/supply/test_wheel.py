"""The wheel has the files of the web page, and a release is not built without them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tools import lock

pytestmark = pytest.mark.slow

PARTS = ("generated", "sdk", "server_stub", "tools/build_hook.py", "openapi.yaml", "pyproject.toml", "README.md")
LEGAL = ("LICENSE", "NOTICE", ".gitignore")
BUILT = "server_stub/lakebed_server/ui"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The sources without the built page."""
    for part in (*PARTS, *LEGAL):
        source, target = lock.ROOT / part, tmp_path / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    shutil.rmtree(tmp_path / BUILT, ignore_errors=True)
    return tmp_path


def build(tree: Path, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tree / "dist")]
    environment = {name: value for name, value in os.environ.items() if name != "LAKEBED_RELEASE"} | more
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)


def names(tree: Path) -> list[str]:
    (wheel,) = (tree / "dist").glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()


def test_a_wheel_has_the_built_page(tree: Path) -> None:
    (tree / BUILT / "assets").mkdir(parents=True)
    (tree / BUILT / "index.html").write_text("<!doctype html>")
    (tree / BUILT / "assets" / "index-abc.js.br").write_bytes(b"packed")
    done = build(tree, LAKEBED_RELEASE="1")
    assert done.returncode == 0, done.stderr
    assert {"lakebed_server/ui/index.html", "lakebed_server/ui/assets/index-abc.js.br"} <= set(names(tree))


def test_a_release_needs_the_built_page(tree: Path) -> None:
    done = build(tree, LAKEBED_RELEASE="1")
    assert done.returncode != 0
    assert "run `make ui` first" in done.stderr + done.stdout


def test_a_wheel_for_oneself_does_not_need_the_page(tree: Path) -> None:
    done = build(tree)
    assert done.returncode == 0, done.stderr
    assert not [name for name in names(tree) if name.startswith("lakebed_server/ui/")]
