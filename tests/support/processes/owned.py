"""Directories and processes that end with the process that made them, and with no forked child of it.

From Python 3.13 on, a forked child of `multiprocessing` drops the exit handlers of its parent. With them goes the last
reference to a generator that waits for the end of the tests, and Python runs its `finally` blocks in the child.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def owned_directory(prefix: str) -> Iterator[Path]:
    """A new directory, deleted at the end."""
    directory, owner = Path(tempfile.mkdtemp(prefix=prefix)), os.getpid()
    try:
        yield directory
    finally:
        if os.getpid() == owner:
            shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def owned_process(command: Sequence[str], directory: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a directory, killed at the end. It writes into the log."""
    with log.open("wb") as output:
        process, owner = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=directory), os.getpid()
    try:
        yield process
    finally:
        if os.getpid() == owner:
            process.kill()
            process.wait()
