"""The steps of docs/deployment.md for one machine, with other paths: settings, unit, start, report, removal."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import lakebed
import pytest

from tests.deploy.pages import block, replaced
from tests.support.processes.owned import owned_process
from tests.support.processes.server import clean_environment
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow

PAGE = "deployment.md"


def placed(text: str, root: Path) -> str:
    """The text of the page with the paths of a machine below a folder."""
    return re.sub(r"/(var/lib|var/log|etc/lakebed|etc/systemd/system|opt)(?=/|\s|$)", rf"{root}/\1", text)


def run(line: str) -> str:
    environment = clean_environment(PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    done = subprocess.run(shlex.split(line), env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def commands(text: str) -> list[str]:
    """The commands of `/opt/lakebed/bin/lakebed`, by the one of this environment."""
    return [f"lakebed {arguments}" for arguments in re.findall(r"/bin/lakebed (.*)$", text, re.MULTILINE)]


def test_the_steps_of_the_page(tmp_path: Path) -> None:
    make, use = block(PAGE, "text", "useradd"), block(PAGE, "text", "systemctl enable")
    for line in make.splitlines():
        if line.startswith("install -d"):
            run(placed(re.sub(r" -[og] lakebed", "", line), tmp_path))
    settings = replaced(block(PAGE, "yaml", "data_dir: /var/lib/lakebed"), **{"port: 8000": "port: 0"})
    (tmp_path / "etc/lakebed/lakebed.yaml").write_text(placed(settings, tmp_path))
    (tmp_path / "etc/systemd/system").mkdir(parents=True)
    check, systemd, doctor = commands(placed(use, tmp_path))
    assert run(check).endswith(": good\n")
    run(systemd)
    unit = (tmp_path / "etc/systemd/system/lakebed.service").read_text()
    (before,) = re.findall(r"^ExecStartPre=(.*)$", unit, re.MULTILINE)
    (start,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    run(before)
    log = tmp_path / "journal"
    with owned_process(shlex.split(start), tmp_path, log) as process:

        def address() -> re.Match[str] | None:
            assert process.poll() is None, log.read_text()
            return re.search(r"is ready at (http://\S+)", log.read_text())

        ready = wait_until(address, log.read_text, every=0.1)
        assert ready is not None
        (file,) = tmp_path.rglob("admin.env")
        key = dict(re.findall(r"(LAKEBED_[A-Z_]+)=(\S+)", file.read_text()))
        with lakebed.connect(ready[1], key["LAKEBED_ACCESS_KEY_ID"], key["LAKEBED_SECRET_ACCESS_KEY"]) as lake:
            lake.repository("machine").create("local://machine").branch("main").put("a", b"one")
        report = run(doctor)
        assert "[FAILED]" not in report
        assert "[WARNING]" not in report
    (writable,) = re.findall(r"^ReadWritePaths=(.*)$", unit, re.MULTILINE)
    made = {path for path in tmp_path.rglob("*") if path.is_file()} - {log}
    inside = [path for path in made if any(path.is_relative_to(one) for one in writable.split())]
    assert made - set(inside) == {
        tmp_path / "etc/lakebed/lakebed.yaml",
        tmp_path / "etc/systemd/system/lakebed.service",
    }
    (tmp_path / "opt/lakebed").mkdir(parents=True)
    for line in block(PAGE, "text", "userdel").splitlines():
        if line.startswith("rm "):
            run(placed(line, tmp_path))
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == {log}
