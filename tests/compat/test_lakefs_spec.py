"""The `lakefs-spec` package, unchanged: fsspec paths, pandas, and its transactions (`facts/client_needs.md` 3)."""

from __future__ import annotations

from pathlib import Path

import lakefs
import pandas as pd
import pytest
from lakefs_spec import LakeFSFileSystem


def test_files(file_system: LakeFSFileSystem, lakefs_repo: lakefs.Repository, tmp_path: Path) -> None:
    root = f"lakefs://{lakefs_repo.id}/main"
    with file_system.open(f"{root}/dir/a.txt", "wb") as file:
        file.write(b"hello")
    assert file_system.cat(f"{root}/dir/a.txt") == b"hello"
    assert file_system.exists(f"{root}/dir/a.txt")
    assert not file_system.exists(f"{root}/dir/none")
    assert file_system.info(f"{root}/dir/a.txt")["size"] == 5
    local = tmp_path / "local.bin"
    local.write_bytes(b"z" * 100_000)
    file_system.put_file(str(local), f"{root}/dir/b.bin")
    file_system.put_file(str(local), f"{root}/dir/b.bin")  # its precheck compares MD5 with our checksum
    file_system.get_file(f"{root}/dir/b.bin", str(tmp_path / "back.bin"))
    assert (tmp_path / "back.bin").read_bytes() == local.read_bytes()
    names = sorted(entry["name"] for entry in file_system.ls(f"{root}/dir/"))
    assert names == [f"{lakefs_repo.id}/main/dir/a.txt", f"{lakefs_repo.id}/main/dir/b.bin"]
    assert file_system.checksum(f"{root}/dir/a.txt") == "5d41402abc4b2a76b9719d911017c592"
    file_system.cp_file(f"{root}/dir/a.txt", f"{root}/copy.txt")
    file_system.rm(f"{root}/dir/", recursive=True)
    assert [entry["name"] for entry in file_system.ls(f"{root}/")] == [f"{lakefs_repo.id}/main/copy.txt"]
    with pytest.raises(FileNotFoundError):
        file_system.cat(f"{root}/dir/a.txt")


def test_writing_makes_the_branch(file_system: LakeFSFileSystem, lakefs_repo: lakefs.Repository) -> None:
    file_system.pipe(f"lakefs://{lakefs_repo.id}/fresh/x", b"1")
    assert sorted(branch.id for branch in lakefs_repo.branches()) == ["fresh", "main"]


def test_pandas(file_system: LakeFSFileSystem, lakefs_repo: lakefs.Repository) -> None:
    frame = pd.DataFrame({"id": [1, 2, 3], "name": ["a", "b", None]})
    path = f"lakefs://{lakefs_repo.id}/main/frame.parquet"
    with file_system.open(path, "wb") as file:
        frame.to_parquet(file)
    with file_system.open(path, "rb") as file:
        back = pd.read_parquet(file)
    pd.testing.assert_frame_equal(back, frame)


def test_transaction(file_system: LakeFSFileSystem, lakefs_repo: lakefs.Repository) -> None:
    with file_system.transaction(lakefs_repo.id, "main") as tx:
        with file_system.open(f"lakefs://{lakefs_repo.id}/{tx.branch.id}/t.txt", "wb") as file:
            file.write(b"in one piece")
        tx.commit(message="from lakefs-spec")
    assert file_system.cat(f"lakefs://{lakefs_repo.id}/main/t.txt") == b"in one piece"
    assert [branch.id for branch in lakefs_repo.branches()] == ["main"]
    messages = [entry.message for entry in lakefs_repo.branch("main").log()]
    assert "from lakefs-spec" in messages
