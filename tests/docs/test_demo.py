"""`examples/demo.py`, which `make demo` runs: from an empty folder, again over its own data, and interrupted."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes.server import clean_environment
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow

DEMO = Path(__file__).parents[2] / "examples/demo.py"


def start(data_dir: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(DEMO), "--data-dir", str(data_dir)],
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    with process:
        out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def test_the_whole_story_twice_over_one_folder(tmp_path: Path) -> None:
    code, out, err = finish(start(tmp_path))
    assert (code, err) == (0, "")
    assert re.findall(r"^\[(\d)/9\] ", out, re.MULTILINE) == list("123456789")
    assert "in conflict: summary.parquet" in out
    assert "main now: 714 days; v1: 1,461 days; main~1: 1,461 days" in out
    assert f"serve --data-dir {tmp_path}" in out
    assert "http://127.0.0.1:8000/repositories/seattle-weather/compare?base=v1&compare=main" in out
    assert (tmp_path / "demo.env").stat().st_mode & 0o777 == 0o600

    code, out, err = finish(start(tmp_path))
    assert (code, err) == (0, "")
    assert "seattle-weather-2" in out


def test_ctrl_c_stops_the_server(tmp_path: Path) -> None:
    process = start(tmp_path)
    log = tmp_path / "demo-server.log"
    wait_until(lambda: log.exists() and "ready" in log.read_text(), "the server of the demo is ready")
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert code == 130
    assert "the server is stopped" in err
    found = re.search(r"http://127.0.0.1:(\d+)", log.read_text())
    assert found
    with pytest.raises(ConnectionError):
        import socket

        socket.create_connection(("127.0.0.1", int(found[1])), timeout=60).close()


def test_a_failure_has_a_reason(tmp_path: Path) -> None:
    (tmp_path / "lakebed.db").mkdir()
    code, _, err = finish(start(tmp_path))
    assert code == 1
    assert err.startswith("\nThe demo failed: the server did not start")
