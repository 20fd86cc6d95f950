"""Running the command: inside this process where that is enough, as a process where the process is what matters."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import lakebed

from tests.support.processes.nursery import ended
from tests.support.processes.server import clean_environment
from tests.support.waiting import PATIENCE

OF_THE_SERVER = ("fsck", "sweep", "rebuild", "upgrade")
"""Verbs that import the whole server, as `doctor --server` does: started where it is imported already."""


@dataclass(frozen=True)
class Result:
    """What one run of the command left behind."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err)["error"]


@dataclass(frozen=True)
class Command:
    """The `lakebed` command with the environment of one server."""

    environment: Mapping[str, str]

    def __call__(self, *arguments: str, stdin: bytes = b"", code: int | None = 0) -> Result:
        """Run it as a process. Fails when it ends with another exit code than expected, unless that is None."""
        of_the_server = arguments[:1] and (arguments[0] in OF_THE_SERVER or arguments[:2] == ("doctor", "--server"))
        if of_the_server and not stdin:
            done = ended(arguments, clean_environment(**self.environment), PATIENCE)
            result = Result(done.returncode, done.stdout.encode(), done.stderr)
        else:
            process = self.start(*arguments, stdin=subprocess.PIPE)
            out, err = process.communicate(stdin, timeout=PATIENCE)
            result = Result(process.returncode, out, err.decode())
        assert "Traceback" not in result.err, result.err
        assert code in (None, result.code), f"lakebed {' '.join(arguments)} ended with {result.code}: {result.err}"
        return result

    def start(self, *arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        """Start it as a process and leave it running."""
        return subprocess.Popen(
            [sys.executable, "-m", "lakebed.cli", *arguments],
            env=clean_environment(**self.environment),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


def place(branch: lakebed.Branch, path: str = "") -> str:
    return f"lakebed://{branch.repository.id}/{branch.name}/{path}"
