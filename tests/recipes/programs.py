"""Runs programs of the environment of the recipes in a directory, with the variables of a server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes.server import RunningServer, clean_environment

QUIET = {
    "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
    "DAGSTER_DISABLE_TELEMETRY": "1",
    "DBT_SEND_ANONYMOUS_USAGE_STATS": "False",
    "DO_NOT_TRACK": "1",
    "DVC_NO_ANALYTICS": "1",
    "HF_ENDPOINT": "http://127.0.0.1:9",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
"""No program may call its maker, or read the settings of this machine."""


@dataclass(frozen=True)
class Programs:
    """`home` is the home directory of the programs, and `folder` their working directory."""

    home: Path
    folder: Path
    variables: Mapping[str, str]

    def environment(self, **more: str) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return clean_environment(**{**QUIET, "HOME": str(self.home), "PATH": path, **self.variables, **more})

    def process(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, whatever its code."""
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def __call__(self, *command: str, code: int = 0, **more: str) -> str:
        """Run a command. Returns its output, or its errors when `code` is one. Fails when it ends with another code."""
        done = self.process(*command, **more)
        assert done.returncode == code, f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done.stderr if code else done.stdout

    def shell(self, script: str, code: int = 0, **more: str) -> str:
        """Run a script in bash, up to the first command that fails."""
        return self("bash", "-euo", "pipefail", "-c", script, code=code, **more)


def programs(home: Path, folder: Path, server: RunningServer, **more: str) -> Programs:
    """Programs that find a server by its variables."""
    folder.mkdir(parents=True, exist_ok=True)
    return Programs(home, folder, {**server.environment, **more})
