"""SQLite is refused on file systems that several machines mount. The tests fake only the list of mounts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lakebed_engine.stores.kv.sqlite import file as sqlite_file
from lakebed_engine.stores.kv.sqlite.file import network_file_system
from lakebed_engine.stores.kv.sqlite.store import SqliteKV
from lakebed_engine.vocabulary.errors import StoreUnavailableError


def mounted(directory: Path, kind: str) -> Path:
    """A mountinfo in which the file system of a directory is of another kind."""
    device = os.stat(directory).st_dev
    path = directory / "mountinfo"
    path.write_text(
        "21 1 0:9999 / / rw,relatime shared:1 - nfs4 other:/root rw\n"
        f"36 21 {os.major(device)}:{os.minor(device)} /lake /mnt\\040x rw shared:2 master:1 - {kind} host:/export rw\n"
    )
    return path


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "ceph", "fuse.sshfs", "fuse.s3fs", "fuse.glusterfs"])
def test_network_file_systems_are_refused(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "MOUNTS", mounted(tmp_path, kind))
    said = rf"not safe on a network file system \({kind}\).*PostgreSQL"
    with pytest.raises(StoreUnavailableError, match=said) as caught:
        SqliteKV(tmp_path / "db" / "lakebed.db")
    assert "\n" not in caught.value.message
    assert os.listdir(tmp_path / "db") == []


@pytest.mark.parametrize(
    "kind", ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs", "9p", "virtiofs", "fuse", "fuse.x"]
)
def test_local_file_systems_are_accepted(tmp_path: Path, kind: str) -> None:
    assert network_file_system(tmp_path, mounted(tmp_path, kind)) == ""


def test_this_machine(tmp_path: Path) -> None:
    """The real list of mounts is readable here, and a system without such a list is accepted."""
    assert network_file_system(tmp_path) == ""
    assert network_file_system(tmp_path, tmp_path / "none") == ""
