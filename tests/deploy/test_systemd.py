"""`lakebed systemd`: a unit that systemd accepts, with little exposure."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from lakebed.cli.main import root
from lakebed_server.cli.systemd import unit
from lakebed_server.settings.load import load

from tests.deploy.pages import block
from tests.support.services.debian import program

MOST_EXPOSURE = 2.0


def make(tmp_path: Path, text: str = "", *arguments: str) -> Result:
    config = tmp_path / "lakebed.yaml"
    config.write_text(text or block("deployment.md", "yaml", "data_dir: /var/lib/lakebed"))
    return CliRunner().invoke(root, ["systemd", "--config", str(config), *arguments])


def values(text: str, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", text, re.MULTILINE)


def test_the_settings_are_in_the_unit(tmp_path: Path) -> None:
    text = make(tmp_path, "", "--workers", "4").output
    assert values(text, "User") == ["lakebed"]
    assert values(text, "ReadWritePaths") == ["/var/lib/lakebed /var/log/lakebed"]
    assert values(text, "ExecStart")[0].endswith(f"serve --config {tmp_path}/lakebed.yaml --workers 4")
    assert values(text, "ExecStartPre")[0].endswith(f"config check {tmp_path}/lakebed.yaml")
    assert values(text, "TimeoutStopSec") == ["50"]  # 30 s, 10 s of last writes, 10 s of margin
    assert values(text, "CapabilityBoundingSet") == [""]


def test_a_stop_has_the_time_of_the_settings(tmp_path: Path) -> None:
    text = make(tmp_path, "server: {drain: 20s, shutdown_timeout: 4s}\nlisten.port: 443\n").output
    assert values(text, "TimeoutStopSec") == ["38"]
    assert values(text, "CapabilityBoundingSet") == ["CAP_NET_BIND_SERVICE"]


def test_data_in_a_home_directory(tmp_path: Path) -> None:
    settings = load(env={"LAKEBED_DATA_DIR": "/home/ann/lake data"}, files=False).settings
    text = unit(settings, tmp_path / "c.yaml", "ann", 1)
    assert values(text, "ProtectHome") == ["read-only"]
    assert values(text, "ReadWritePaths") == ['"/home/ann/lake data"']


def test_another_file_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "ssh.service"
    target.write_text("[Unit]\n")
    result = make(tmp_path, "", "--output", str(target))
    assert result.exit_code == 4
    assert target.read_text() == "[Unit]\n"
    ours = tmp_path / "lakebed.service"
    for _ in range(2):
        assert make(tmp_path, "", "--output", str(ours)).exit_code == 0


def test_wrong_settings_make_no_unit(tmp_path: Path) -> None:
    assert make(tmp_path, "listen.prot: 1\n").exit_code == 2


@pytest.mark.slow
def test_systemd_accepts_it(tmp_path: Path) -> None:
    assert shutil.which("systemd-analyze") or program("systemd-analyze", "systemd")
    target = tmp_path / "lakebed.service"
    assert make(tmp_path, "", "--output", str(target)).exit_code == 0
    done = subprocess.run(["systemd-analyze", "verify", target], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", target], capture_output=True, text=True, check=False
    )
    exposure = re.search(r"exposure level for lakebed.service: ([\d.]+)", done.stdout)
    assert exposure is not None, done.stdout + done.stderr
    assert float(exposure[1]) <= MOST_EXPOSURE
