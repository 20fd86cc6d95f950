"""A copy of the sources, as a release is built from them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools import lock

PARTS = ("generated", "sdk", "server_stub", "tools/build_hook.py", "openapi.yaml", "pyproject.toml", "README.md")
LEGAL = ("LICENSE", "NOTICE", ".gitignore")
BUILT = "server_stub/lakebed_server/ui"
PAGE = "<!doctype html><title>Lakebed of a package</title>"


def copy_sources(target: Path) -> None:
    """Copy what a package is built from, without the built page."""
    for part in (*PARTS, *LEGAL):
        source, place = lock.ROOT / part, target / part
        place.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, place)
    shutil.rmtree(target / BUILT, ignore_errors=True)


def make_page(tree: Path) -> None:
    """Files in the place of the built page."""
    (tree / BUILT / "assets").mkdir(parents=True)
    (tree / BUILT / "index.html").write_text(PAGE)
    (tree / BUILT / "assets" / "index-abc.js.br").write_bytes(b"packed")


def build(tree: Path, kind: str = "wheel", **more: str) -> subprocess.CompletedProcess[str]:
    """Build a `wheel` or an `sdist` into `dist`."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(tree / "dist")]
    environment = {name: value for name, value in os.environ.items() if name != "LAKEBED_RELEASE"} | more
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
