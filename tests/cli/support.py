"""Running the command: inside this process where that is enough, as a process where the process is what matters."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import lakebed

from tests.support.processes.nursery import Kind, ended_with
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
        """Run it as a process. Fails when it ends with another exit code than expected, unless that is None.

        The process is forked where its imports are done already, which changes nothing that most tests compare.
        """
        of_the_server = arguments[:1] and (arguments[0] in OF_THE_SERVER or arguments[:2] == ("doctor", "--server"))
        environment = clean_environment(**self.environment)
        kind: Kind = "server" if of_the_server else "client"
        done = ended_with(stdin, arguments, environment, PATIENCE, kind=kind)
        return self._checked(arguments, Result(done.returncode, done.stdout, done.stderr.decode()), code)

    def alone(self, *arguments: str, code: int | None = 0) -> Result:
        """The same by an interpreter of its own, as a user starts it."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=PATIENCE)
        return self._checked(arguments, Result(process.returncode, out, err.decode()), code)

    def _checked(self, arguments: tuple[str, ...], result: Result, code: int | None) -> Result:
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
