"""Run a short tier of tests on other Pythons of this machine that Lakebed supports: on the path, or of pyenv.

    python tools/interpreters.py .venv-uv/bin/uv

Each gets an environment of its own, .venv-python3.13 for example, from the lock that `make test` uses. Without another
Python it reports that and succeeds. The standard library only: it runs before anything is installed.

`make test` runs the tests of SDK and fsspec on the oldest and on the newest Python: forks, threads, event loops,
sockets and buffers are what Python versions change. The engine is Python without these. `make soak` runs them on every
Python, and on the newest one also the tests of the engine.
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
NAMES = ("--ignore=tests/sdk/surface/test_foreign_names.py",)
"""Half of the tests of the job: of names, which are the same on every Python. `make soak` runs these, too."""
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


def chosen(found: Collection[str], soak: bool) -> dict[str, tuple[str, ...]]:
    """What pytest is given for each of the found versions that runs tests."""
    versions = sorted(found, key=lambda one: int(one.partition(".")[2]))
    if soak:
        return {one: (*TESTS, *ENGINE) if one == versions[-1] else TESTS for one in versions}
    supported = [
        f"3.{minor}" for minor in sorted({*(int(one.partition(".")[2]) for one in versions), sys.version_info[1]})
    ]
    return {one: (*TESTS, *NAMES) for one in (supported[0], supported[-1]) if one in versions}


def tested(version: str, python: Path, uv: str, folders: Collection[str]) -> bool:
    """Make or update the environment, and return whether all tests of the folders pass in it."""
    folder = ROOT / f".venv-python{version}"
    inside = folder / "bin" / "python"
    install = [uv, "pip", "install", "-q", "--python", str(inside), "--build-constraints", "locks/build.txt"]
    environment = {**os.environ, "LAKEBED_TIER": os.environ.get("LAKEBED_TIER", "check")}
    for command in (
        [str(python), "-m", "venv", "--without-pip", str(folder)],
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
    folders = chosen(found, soak=os.environ.get("LAKEBED_TIER") == "soak")
    failed = [one for one, of_it in folders.items() if not tested(one, found[one], sys.argv[1], of_it)]
    if failed:
        raise SystemExit(f"failed on Python {', '.join(failed)}")


if __name__ == "__main__":
    main()
