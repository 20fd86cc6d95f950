"""SIGKILL of a server that waits for no disk (`durability: process`): all that it acknowledged is there.

The load and the check are those of `load.py`; here are a few kills, and fsck reads every object. That it
really syncs nothing is seen on a disk where every sync fails.
"""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path

import lakebed
import pytest

from tests.crash.load import killed_and_checked
from tests.support.faults import faulty_disk
from tests.support.faults.faulty_disk import FaultyDisk
from tests.support.processes.server import clean_environment, running_server

pytestmark = pytest.mark.slow

KILLS = 3
UNSYNCED = {"LAKEBED_DURABILITY": "process"}
WARNING = "durability is process: SQLite and local:// are not synced"


def fsck(data: Path) -> tuple[int, dict[str, object]]:
    """Exit code and report of a check of every object, with no server at work."""
    command = [sys.executable, "-m", "lakebed.cli", "fsck", "lake", "--data", "--json", "--data-dir", str(data)]
    done = subprocess.run(command, env=clean_environment(**UNSYNCED), capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)


def test_killed_under_load(tmp_path: Path) -> None:
    data = tmp_path / "data"

    def all_is_whole() -> None:
        code, report = fsck(data)
        assert code == 0, report

    load = killed_and_checked(data, KILLS, UNSYNCED, all_is_whole)
    load.assert_met(KILLS)
    assert load.commits


def test_a_server_whose_disk_cannot_sync_works(tmp_path: Path) -> None:
    """With `disk` the same faults refuse every write: `tests/server/faults/test_faults.py`."""
    control = tmp_path / "faults.json"
    environment = {**UNSYNCED, faulty_disk.CONTROL: str(control)}
    with (
        running_server(tmp_path / "data", environment=environment, program=[faulty_disk.__file__]) as server,
        FaultyDisk(control).failing(objects=errno.EIO, kv="sync"),
        lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake,
    ):
        main = lake.repository("lake").create("local://lake").branch("main")
        main.put("small", b"1")
        main.put("large", bytes(3 << 20))
        assert [main.commit("both").id] == [commit.id for commit in main.log(limit=1)]
        assert sorted(item.path for item in main.list()) == ["large", "small"]
        assert WARNING in server.log


def test_a_durable_server_warns_of_nothing(tmp_path: Path) -> None:
    with running_server(tmp_path / "data") as server:
        assert WARNING not in server.log
