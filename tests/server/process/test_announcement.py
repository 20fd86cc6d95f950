"""`lakebed serve --json`: a program that starts a server learns from one line where it listens."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from lakebed_server.process.announcement import Started, lines
from lakebed_server.settings.load import load

from tests.support.processes.server import clean_environment
from tests.support.waiting import PATIENCE

SERVE = "import sys; from lakebed_server.cli import commands; commands[0](sys.argv[1:])"


def ready_and_all(data_dir: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The event `ready` of a server that is stopped then, and all lines of its standard output."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVE, "--json", "--port", "0", "--data-dir", str(data_dir)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        said: list[dict[str, Any]] = []
        for line in process.stdout:  # as a supervisor reads it: the line must come while the server runs
            said.append(json.loads(line))
            if said[-1].get("event") == "ready":
                assert httpx.get(f"{said[-1]['endpoint']}/_health", timeout=PATIENCE).status_code == 200
                process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == ""
    (ready,) = (one for one in said if one.get("event") == "ready")
    return ready, said


@pytest.mark.slow
def test_the_event_ready_has_the_addresses(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    ready, said = ready_and_all(data_dir)
    assert {**ready, "endpoint": "", "version": ""} == {
        "event": "ready",
        "version": "",
        "endpoint": "",
        "s3_endpoint": None,
        "metrics": None,
        "processes": 1,
        "data_dir": str(data_dir),
        "durability": "disk",
        "is_first_start": True,
        "admin_key_file": str(data_dir / "admin.env"),
    }
    assert next(one["message"] for one in said if "message" in one) == "the server starts"
    secret = (data_dir / "admin.env").read_text().partition("SECRET_ACCESS_KEY=")[2].strip()
    assert len(secret) >= 40
    assert secret not in json.dumps(said)
    again, _ = ready_and_all(data_dir)
    assert (again["is_first_start"], again["admin_key_file"]) == (False, str(data_dir / "admin.env"))


def test_the_announcement_for_a_terminal(tmp_path: Path) -> None:
    settings = load(flags={"data_dir": str(tmp_path)}, env={}, config=None).settings
    started = Started("0.1", "http://a:1", "http://a:2", "http://a:3/metrics", 2, str(tmp_path), "process", False, None)
    assert list(lines(started, settings)) == [
        "Lakebed 0.1 is ready at http://a:1",
        "  S3 alone: http://a:2",
        "  metrics: http://a:3/metrics",
        "  2 processes",
        f"  data directory: {tmp_path}",
        "  durability: process: a power failure can lose acknowledged writes",
        f"  no access key? `lakebed keys reset-admin --data-dir {tmp_path}` makes one",
        "  stop with Ctrl-C",
    ]
    in_memory = started._replace(s3_endpoint=None, metrics=None, processes=1, data_dir=None, durability="disk")
    assert list(lines(in_memory, settings))[1:] == [
        "  data directory: none, all data is lost when the server stops",
        "  stop with Ctrl-C",
    ]
