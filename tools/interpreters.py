"""Run a short tier of tests on each other Python of this machine that Lakebed supports: on the path, or of pyenv.

    python tools/interpreters.py .venv-uv/bin/uv

Each gets an environment of its own, .venv-python3.13 for example, from the lock that `make test` uses. Without another
Python it reports that and succeeds. The standard library only: it runs before anything is installed.

The newest Python runs the tests of the SDK, of fsspec and of the engine. An older one runs those of SDK and fsspec:
forks, threads, event loops, sockets and buffers are what Python versions change. The engine is Python without these.
Tests of many drawn cases draw as many as in `make check` (LAKEBED_TIER): the cases are about logic, not the version.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MINORS = range(11, 15)
TESTS = ("tests/sdk", "tests/fs")
ENGINE = ("tests/engine",)


def interpreters(path: str, pyenv: Path) -> dict[str, Path]:
    """The program of each supported version that runs, besides the version that runs this: `3.13` -> python3.13."""
    found = {}
    for minor in MINORS:
        name = f"python3.{minor}"
        on_path = shutil.which(name, path=path)
        candidates = [Path(on_path)] if on_path else []
        candidates += sorted(pyenv.glob(f"versions/3.{minor}.*/bin/{name}"), reverse=True)
        works = next((one for one in candidates if _runs(one)), None)  # a shim of pyenv may run nothing
        if works is not None and minor != sys.version_info[1]:
            found[f"3.{minor}"] = works
    return found


def _runs(python: Path) -> bool:
    return subprocess.run([python, "-c", "import ssl, sqlite3"], capture_output=True, check=False).returncode == 0


def chosen(version: str, found: Collection[str]) -> tuple[str, ...]:
    """The folders of tests for one of the found versions."""
    newest = max(found, key=lambda one: int(one.partition(".")[2]))
    return (*TESTS, *ENGINE) if version == newest else TESTS


def tested(version: str, python: Path, uv: str, folders: Collection[str]) -> bool:
    """Make or update the environment, and return whether all tests of the folders pass in it."""
    folder = ROOT / f".venv-python{version}"
    inside = folder / "bin" / "python"
    install = [uv, "pip", "install", "-q", "--python", str(inside), "--build-constraints", "locks/build.txt"]
    environment = {**os.environ, "LAKEBED_TIER": os.environ.get("LAKEBED_TIER", "check")}
    for command in (
        [str(python), "-m", "venv", str(folder)],
        [*install, "--require-hashes", "-r", "locks/dev.txt"],
        [*install, "--no-deps", "-e", "."],
        [str(inside), "-m", "pytest", "-q", "-m", "not slow and not soak", *folders],
    ):
        if subprocess.run(command, cwd=ROOT, check=False, env=environment).returncode != 0:
            return False
    return True


def main() -> None:
    """Test on all. Ends with 1 when one fails."""
    found = interpreters(os.environ.get("PATH", ""), Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")))
    print(f"Python besides 3.{sys.version_info[1]} here: {', '.join(found) or 'none'}", flush=True)
    failed = [one for one, python in found.items() if not tested(one, python, sys.argv[1], chosen(one, found))]
    if failed:
        raise SystemExit(f"failed on Python {', '.join(failed)}")


if __name__ == "__main__":
    main()
