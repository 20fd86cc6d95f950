from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from lakebed.cli import main

from tests.cli.support import Command, Result
from tests.support.processes.server import RunningServer

Run = Callable[..., Result]


@pytest.fixture
def command(server: RunningServer, tmp_path: Path) -> Command:
    """The command as a process, with credentials from the environment and no configuration files."""
    return Command({**server.environment, "HOME": str(tmp_path)})


@pytest.fixture
def run(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Run:
    """The command inside this process: ten times faster, and all that most tests need."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)

    def run_once(*arguments: str, stdin: bytes = b"", code: int | None = 0) -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        ended = main.run(list(arguments))
        sys.stdout.flush()
        captured = capfdbinary.readouterr()
        result = Result(ended, captured.out, captured.err.decode())
        assert "Traceback" not in result.err
        assert code in (None, ended), f"lakebed {' '.join(arguments)} ended with {ended}: {result.err}{result.text}"
        return result

    return run_once


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A small local file."""
    path = tmp_path / "orders.csv"
    path.write_text("id,price\n1,10\n")
    return path
