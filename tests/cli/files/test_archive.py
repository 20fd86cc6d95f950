"""`lakebed archive`: a folder as one tar or zip file."""

from __future__ import annotations

import io
import os
import pty
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import lakebed
import pytest

from tests.cli.conftest import Run
from tests.cli.support import Command, place
from tests.support.processes.server import RunningServer, clean_environment

FILES = {"f/a.csv": b"1", "f/g/b.csv": b"22", "f/../up": b"333", "other": b"4"}
NAMES = {"a.csv": b"1", "g/b.csv": b"22", "%../up": b"333"}
SIZE = 4 << 20


@pytest.fixture
def main(repo: lakebed.Repository) -> lakebed.Branch:
    """A branch with a commit, and an uncommitted object."""
    branch = repo.branch("main")
    branch.put_many(FILES)
    branch.commit("first")
    branch.put("f/uncommitted", b"x")
    return branch


def unpacked(content: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        opened = {member.name: archive.extractfile(member) for member in archive if member.isfile()}
        return {name: file.read() for name, file in opened.items() if file is not None}


def test_to_standard_output(run: Run, main: lakebed.Branch) -> None:
    result = run("archive", place(main, "f/"))
    assert unpacked(result.out) == NAMES
    assert result.err == ""
    assert unpacked(run("archive", place(main, "f/"), "--format", "tar.gz").out) == NAMES


@pytest.mark.parametrize("name", ["f.tar", "f.tar.gz", "f.tgz"])
def test_the_ending_of_the_file_decides_the_format(run: Run, main: lakebed.Branch, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    assert run("archive", place(main, "f/"), "-o", str(file)).text.startswith(f"Wrote {place(main, 'f/')} to ")
    assert unpacked(file.read_bytes()) == NAMES
    assert (file.read_bytes()[:2] == b"\x1f\x8b") == (name != "f.tar")


def test_zip_and_json(run: Run, main: lakebed.Branch, tmp_path: Path) -> None:
    file = tmp_path / "f.zip"
    shown = run("archive", "--json", place(main, "f/"), "-o", str(file)).json
    assert shown == {"archive": str(file), "source": place(main, "f/"), "size": file.stat().st_size}
    with zipfile.ZipFile(file) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == NAMES


def test_nothing_to_write_leaves_the_file_as_it_is(run: Run, main: lakebed.Branch, tmp_path: Path) -> None:
    file = tmp_path / "f.tar"
    file.write_bytes(b"older")
    assert run("archive", place(main, "nope/"), "-o", str(file), code=3).out == b""
    assert file.read_bytes() == b"older"
    assert os.listdir(tmp_path) == ["f.tar"]


def test_directory_target_is_refused(run: Run, main: lakebed.Branch, tmp_path: Path) -> None:
    assert str(tmp_path) in run("archive", place(main, "f/"), "-o", str(tmp_path), code=None).err
    assert os.listdir(tmp_path) == []


def test_a_terminal_gets_no_archive(server: RunningServer, main: lakebed.Branch) -> None:
    ours, terminal = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "lakebed.cli", "archive", place(main, "f/")],
            stdout=terminal, stderr=subprocess.PIPE, check=False, env=clean_environment(**server.environment),
        )  # fmt: skip
    finally:
        os.close(terminal)
        os.close(ours)
    assert done.returncode == 2
    assert b"-o" in done.stderr


@pytest.fixture
def broken(main: lakebed.Branch, server: RunningServer) -> lakebed.Branch:
    """A folder whose last object is missing in the store."""
    main.put_many({"h/1": b"", "h/2": b"x"})
    main.commit("second")
    folder = main.repository.info().storage_namespace.removeprefix("local://")
    shutil.rmtree(server.data_dir / "objects" / folder / "data")
    main.put("h/1", bytes(SIZE))
    main.commit("third")
    return main


def test_a_broken_answer_is_an_error_and_no_file(
    run: Run, server: RunningServer, broken: lakebed.Branch, tmp_path: Path
) -> None:
    file = tmp_path / "h.tar"
    failed = run("archive", place(broken, "h/"), "-o", str(file), code=7)
    assert "was lost" in failed.err
    assert os.listdir(tmp_path) == []
    piped = Command(server.environment)("archive", place(broken, "h/"), code=7)
    assert len(piped.out) > 0
