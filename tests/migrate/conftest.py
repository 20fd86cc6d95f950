from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lakebed.cli import main

from tests.cli.support import Result
from tests.support.processes.server import RunningServer

Run = Callable[..., Result]


@pytest.fixture
def run(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Run:
    """The command inside this process, with credentials from the environment and a home without files."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)

    def run_once(*arguments: str, code: int = 0) -> Any:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        capfdbinary.readouterr()
        ended = main.run(list(arguments))
        sys.stdout.flush()
        captured = capfdbinary.readouterr()
        result = Result(ended, captured.out, captured.err.decode())
        assert "Traceback" not in result.err
        assert ended == code, f"lakebed {' '.join(arguments)} ended with {ended}: {result.err}{result.text}"
        return result

    return run_once
