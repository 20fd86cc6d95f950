"""A disk of this machine with no room, in the SDK and in the command. The server has its own tests, in tests/server.

A test cannot fill a disk. Here the process has a limit for the size of a file, which the kernel reports in
the same place (EFBIG for ENOSPC).
"""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import fsspec
import lakebed
import pandas as pd
import pytest
from lakebed._process.local_files import is_full
from lakebed.fsspec import LakebedFileSystem

from tests.cli.conftest import Run
from tests.support.processes.server import RunningServer

LIMIT = 1 << 20
LARGE = os.urandom(2 * LIMIT)


@contextmanager
def little_room() -> Iterator[None]:
    """No file of this process grows beyond the limit. (Python ignores the signal that goes with it.)"""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_full_shared_directory_error_names_the_path(repo: lakebed.Repository) -> None:
    main = repo.branch("main")
    work = main.workspace("load", data_path="direct")
    with little_room(), pytest.raises(lakebed.StoreFullError, match="free space there, and try again") as caught:
        work.put("a/b", LARGE)
    error = caught.value
    assert (error.kind, error.repository, error.ref, error.path) == ("store_full", repo.id, work.id, "a/b")
    assert f"lakebed://{repo.id}/{work.id}: cannot write 'a/b' into /" in str(error)
    assert isinstance(error, OSError)
    assert list(work.changes()) == []
    work.put("a/b", LARGE)
    work.commit("there is room")
    assert main.get("a/b") == LARGE


def test_in_a_transaction(repo: lakebed.Repository, server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    LakebedFileSystem.clear_instance_cache()
    fs = fsspec.filesystem("lakebed")
    with little_room(), pytest.raises(lakebed.StoreFullError, match="cannot write 'x' into /"), fs.transaction:
        fs.pipe(f"{repo.id}/main/x", LARGE)
    assert repo.branch("main").list().all() == []
    LakebedFileSystem.clear_instance_cache()


def test_full_temporary_directory_error_names_the_path(repo: lakebed.Repository) -> None:
    main, frame = repo.branch("main"), pd.DataFrame({"a": [os.urandom(64).hex() for _ in range(20_000)]})
    for write, path in ((main.write_parquet, "t/"), (main.write_csv, "t.csv")):
        with little_room(), pytest.raises(OSError, match=r"File too large|Error writing bytes") as caught:
            write(path, frame)
        (note,) = caught.value.__notes__
        assert f"{write.__name__} lakebed://{repo.id}/main/{path}: no space in " in note
        assert "TMPDIR" in note
    assert main.list().all() == []


def test_full_disk_error_of_a_download_names_the_file(run: Run, repo: lakebed.Repository, tmp_path: Path) -> None:
    repo.branch("main").put("x", LARGE)
    target = tmp_path / "down"
    target.mkdir()
    with little_room():
        with pytest.raises(OSError, match=r"File too large") as caught:
            repo.branch("main").download("x", target / "x")
        assert caught.value.filename == str(target / "x")
        assert f"File too large: {target}/y" in run("fs", "download", f"{repo.id}/main/x", f"{target}/y", code=1).err
        assert f"File too large: {target}/x" in run("download", f"{repo.id}/main/x", str(target), code=1).err
    assert list(target.iterdir()) == []


def test_too_large_file_does_not_stop_the_others(run: Run, repo: lakebed.Repository, tmp_path: Path) -> None:
    """On a disk with no room at all, the first write would fail and the rest would not be tried."""
    repo.branch("main").put_many({"t/a": LARGE, "t/b": b"small"})
    with little_room():
        reported = run("fs", "download", "-r", "-j", "1", f"{repo.id}/main/t/", str(tmp_path / "down"), code=1).err
    assert "File too large" in reported
    assert "1 failed, 1 done" in reported
    assert (tmp_path / "down" / "b").read_bytes() == b"small"


@pytest.mark.parametrize(("number", "full"), [("ENOSPC", True), ("EDQUOT", True), ("EROFS", True), ("EACCES", False)])
def test_full_disk_errors_are_recognized(number: str, full: bool) -> None:
    assert is_full(OSError(getattr(errno, number), "reported by the disk")) is full
    assert not is_full(lakebed.StoreFullError("reported by the server"))


def test_failed_upload_names_the_next_step(run: Run, repo: lakebed.Repository, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "large").write_bytes(LARGE)
    upload = ("upload", str(tree), f"{repo.id}/main/t/", "-m", "load", "--data-path", "direct")
    with little_room():
        reported = run(*upload, code=1).err
    assert "the same command resumes where it stopped" in reported
    assert "cannot write 't/large' into /" in reported
    (work,) = repo.workspaces()
    assert f"are kept in lakebed://{repo.id}/{work.name}" in reported
    run(*upload)
    assert repo.branch("main").get("t/large") == LARGE
    assert list(repo.workspaces()) == []
