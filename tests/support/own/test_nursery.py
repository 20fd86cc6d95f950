"""The processes that the nursery starts are independent: arguments, environment, files, and end."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.support.processes.nursery import born, ended, ended_with
from tests.support.processes.server import clean_environment, running_server
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.slow


def test_a_verb_says_what_the_command_says(tmp_path: Path) -> None:
    done = ended(["--version"], clean_environment(), 60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("lakebed ")
    wrong = ended(["rebuild", "--data-dir", str(tmp_path)], clean_environment(), 60)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "Missing option '--namespace'" in wrong.stderr


def test_nursery_process_has_the_given_environment(tmp_path: Path) -> None:
    for level in ("WARN", "ERROR"):
        reported = ended(["config", "show"], {"HOME": str(tmp_path), "LAKEBED_LOGGING_LEVEL": level}, PATIENCE)
        assert level in reported.stdout, reported.stderr
    with running_server(tmp_path / "data", environment={"LAKEBED_LOGGING_LEVEL": "NONE"}) as server:
        assert httpx.get(f"{server.endpoint}/_health").is_success
        assert "INFO" not in server.log


def test_a_client_reads_its_standard_input(tmp_path: Path) -> None:
    with running_server(tmp_path / "data") as server:
        for text in (b"one", b"", bytes(range(256)) * 1000):
            environment = clean_environment(**server.environment, HOME=str(tmp_path))
            for words in (["repo", "create", "given", "--exist-ok"], ["fs", "upload", "-", "given/main/x"]):
                done = ended_with(text, words, environment, PATIENCE, kind="client")
                assert done.returncode == 0, done.stderr
            shown = ended_with(b"", ["fs", "cat", "given/main/x"], environment, PATIENCE, kind="client")
            assert shown.stdout == text


def test_nursery_process_holds_no_file_of_the_nursery(tmp_path: Path) -> None:
    with running_server(tmp_path / "one") as one, running_server(tmp_path / "two") as two:
        open_ones = [os.readlink(file) for file in Path(f"/proc/{two.process.pid}/fd").iterdir() if file.exists()]
        assert str(tmp_path / "two.log") in open_ones
        assert [file for file in open_ones if str(one.data_dir.parent / "one") in file] == []


def test_process_reports_its_exit_status(tmp_path: Path) -> None:
    with running_server(tmp_path / "data") as server:
        with pytest.raises(subprocess.TimeoutExpired):
            server.process.wait(0.05)
        assert server.process.poll() is None
        server.process.kill()
        assert server.process.wait(PATIENCE) == -signal.SIGKILL
        assert server.process.poll() == server.process.returncode == -signal.SIGKILL
        server.process.terminate()  # its pid is free, or belongs to another process
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{server.endpoint}/_health")


def test_ctrl_c_reaches_it(tmp_path: Path) -> None:
    log = tmp_path / "log"
    process = born(["serve", "--port", "0", "--data-dir", str(tmp_path / "data")], clean_environment(), log)
    wait_until(lambda: b"is ready" in log.read_bytes(), "the server is ready")
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0, log.read_text()
