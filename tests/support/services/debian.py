"""Programs of Debian packages that tests run: slapd, chromium, xmlsec1, promtool and others.

    program("slapd", "slapd")    # its path

A test that runs as root installs the package, once for the machine. Otherwise the test fails and says which command
installs it: it never skips.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

_INSTALL = ("apt-get", "install", "-y", "-q", "--no-install-recommends")
_CACHE = Path(__file__).parents[3] / ".cache"


def chromium() -> str:
    """The browser, with a font: without one its pictures have no letters."""
    return program("chromium", "chromium", "fonts-liberation")


def headless_chromium() -> str:
    """The same engine of the browser without its windows, which takes half of the processor time.

    Where it is missing and cannot be installed, a browser that is there does: it tests the same, and takes longer.
    """
    if os.geteuid() != 0 and not shutil.which("chromium-headless-shell") and (found := shutil.which("chromium")):
        return found
    return program("chromium-headless-shell", "chromium-headless-shell", "fonts-liberation")


def program(name: str, *packages: str) -> str:
    """The path of a program of these packages. Raises AssertionError with the command that installs it."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin"
    if (found := shutil.which(name, path=path)) is not None:
        return found
    advice = f"{name} is not installed: run as root: apt-get update && {' '.join([*_INSTALL, *packages])}"
    assert os.geteuid() == 0, advice
    assert shutil.which("apt-get") is not None, advice
    _CACHE.mkdir(exist_ok=True)
    with (_CACHE / "apt-get.lock").open(
        "w"
    ) as lock:  # apt-get deletes the downloads of another apt-get that runs at the same time
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = _install(packages)
    found = shutil.which(name, path=path)
    assert found is not None, f"{advice}\n{said}"
    return found


def _install(packages: Sequence[str]) -> str:
    """What apt-get printed. Reads the lists of packages only if they are missing or too old."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    commands = ([*_INSTALL, *packages], ["apt-get", "update", "-q"], [*_INSTALL, *packages])
    said = ""
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=environment)
        said = f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
        if done.returncode == 0 and command[1] == "install":
            break
    return said


if __name__ == "__main__":  # as `make test` does before the tests run
    headless_chromium()
    chromium()
