"""A folder of a server on this machine is copied from the server's directory, and from nowhere else."""

from __future__ import annotations

import os
import resource
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lakebed
import pytest
from lakebed._direct import copy
from lakebed._direct.shared_directory import SharedDirectory
from lakebed._files import appearing, write_file
from lakebed._integration.sync import shared_directory

from tests.support.processes.server import RunningServer, clean_environment, running_server

MIB = 1 << 20
CONTENTS = {"d/small": b"small", "d/empty": b"", "d/e/large": bytes(range(256)) * (3 * MIB // 256)}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory) as started:
        yield started


@pytest.fixture
def main(server: RunningServer) -> Iterator[lakebed.Branch]:
    name = f"repo-{secrets.token_hex(8)}"
    with lakebed.connect(server.endpoint, server.access_key_id, server.secret_access_key) as lake:
        branch = lake.repository(name).create(f"local://{name}").branch("main")
        branch.put_many(CONTENTS)
        yield branch


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of objects that were copied."""
    names: list[str] = []
    real = copy.copy_object

    def note(directory: SharedDirectory, info: lakebed.ObjectInfo, *target: Any) -> bool:
        is_here = real(directory, info, *target)
        names.extend([info.path] * is_here)
        return is_here

    monkeypatch.setattr("lakebed._sync.bulk.fetch.copy_object", note)
    return names


def files(top: Path) -> dict[str, bytes]:
    return {path.relative_to(top).as_posix(): path.read_bytes() for path in top.rglob("*") if path.is_file()}


def file_of(main: lakebed.Branch, path: str) -> Path:
    found = shared_directory(main).find(main.stat(path).physical_address, main.stat(path).size)
    assert found is not None
    return Path(found)


EXPECTED = {name.removeprefix("d/"): content for name, content in CONTENTS.items()}


def test_all_files_are_copied(main: lakebed.Branch, copied: list[str], tmp_path: Path) -> None:
    result = main.download_tree("d", tmp_path)
    assert files(tmp_path) == EXPECTED
    assert sorted(copied) == sorted(CONTENTS)
    assert (result.files, result.bytes) == (3, sum(map(len, CONTENTS.values())))


def test_the_data_path_proxied_copies_nothing(
    main: lakebed.Branch, copied: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEBED_DATA_PATH", "proxied")
    main.download_tree("d", tmp_path)
    assert files(tmp_path) == EXPECTED
    assert copied == []


@pytest.mark.parametrize("path", ["d/small", "d/e/large"])
@pytest.mark.parametrize("kernel", [True, False], ids=["kernel", "plain"])
def test_a_symbolic_link_is_not_followed(
    main: lakebed.Branch, copied: list[str], tmp_path: Path, path: str, kernel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server refuses the link, too: the download fails for this file, and no byte of the link's target arrives."""
    if not kernel:
        monkeypatch.setattr(copy, "_cloned", lambda *_: False)
        monkeypatch.setattr(copy, "_copied_by_kernel", lambda *_: False)
    file, outside = file_of(main, path), tmp_path / "outside"
    outside.write_bytes(b"!" * file.stat().st_size)
    file.unlink()
    file.symlink_to(outside)
    target = tmp_path / "target"
    with pytest.raises(lakebed.errors.LakebedError):
        main.download_tree("d", target)
    assert path not in copied
    assert path.removeprefix("d/") not in files(target)


@pytest.mark.parametrize("path", ["d/small", "d/e/large"])
def test_a_damaged_file_is_not_copied(main: lakebed.Branch, copied: list[str], tmp_path: Path, path: str) -> None:
    file = file_of(main, path)
    damaged = bytes([file.read_bytes()[0] ^ 1]) + file.read_bytes()[1:]
    file.chmod(0o600)
    file.write_bytes(damaged)
    target = tmp_path / "target"
    with pytest.raises(lakebed.errors.PartialFailureError) as caught:
        main.download_tree("d", target)
    assert [one.path for one in caught.value.failures] == [path]
    assert "damaged" in caught.value.failures[0].message
    assert files(target) == {name: data for name, data in EXPECTED.items() if f"d/{name}" != path}


def test_missing_local_file_is_read_from_the_server(main: lakebed.Branch, copied: list[str], tmp_path: Path) -> None:
    file_of(main, "d/small").unlink()
    with pytest.raises(lakebed.errors.LakebedError):
        main.download_tree("d", tmp_path)
    assert "d/small" not in copied


@pytest.mark.parametrize("path", CONTENTS)
def test_an_interrupted_download_leaves_no_part(
    main: lakebed.Branch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    def interrupt(info: lakebed.ObjectInfo, *_: object) -> None:
        if info.path == path:
            raise KeyboardInterrupt

    monkeypatch.setattr(copy, "_verify", interrupt)
    with pytest.raises(KeyboardInterrupt):
        main.download_tree("d", tmp_path)
    name = path.removeprefix("d/")
    assert files(tmp_path).items() <= EXPECTED.items() - {(name, EXPECTED[name])}
    monkeypatch.undo()
    main.download_tree("d", tmp_path)
    assert files(tmp_path) == EXPECTED


def test_a_killed_copy_leaves_no_half_file(server: RunningServer, main: lakebed.Branch, tmp_path: Path) -> None:
    many = {f"many/{number % 7}/{number}": secrets.token_bytes(50_000) for number in range(2_000)}
    main.put_many(many)
    code = (
        "import lakebed\n"
        "print('ready', flush=True)\n"
        f"lakebed.connect().repository({main.repository.id!r}).branch('main').download_tree('many', 'top')"
    )
    environment = clean_environment(**server.environment, XDG_CACHE_HOME=str(tmp_path / "cache"))
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        while process.poll() is None and not (tmp_path / "top" / "6").exists():
            time.sleep(0.001)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    expected = {name.removeprefix("many/"): data for name, data in many.items()}
    found = {name: data for name, data in files(tmp_path / "top").items() if not name.endswith(".part")}
    assert 0 < len(found) < len(expected)
    assert found.items() <= expected.items()


@pytest.mark.parametrize("way", [copy._cloned, copy._copied_by_kernel])
def test_kernel_copy_is_complete_or_declined(way: Callable[..., bool], tmp_path: Path) -> None:
    content = os.urandom(3 * MIB)
    (tmp_path / "a").write_bytes(content)
    with (tmp_path / "a").open("rb") as source, (tmp_path / "b").open("wb") as target:
        size = () if way is copy._cloned else (len(content),)
        done = way(source.fileno(), target.fileno(), *size)
    assert (tmp_path / "b").read_bytes() == (content if done else b"")


def write_as_stream(file: Path, data: bytes) -> None:
    with appearing(file) as opened:
        opened.write(data)


@pytest.mark.parametrize("write", [write_as_stream, write_file])
def test_a_file_that_is_written_in_part_does_not_appear(write: Callable[[Path, bytes], None], tmp_path: Path) -> None:
    """A full disk takes the first part of a write without an error."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="too large") as caught:
            write(tmp_path / "a", b"x" * 2000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.filename == str(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", [write_as_stream, write_file])
def test_error_names_the_requested_file(write: Callable[[Path, bytes], None], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    for target, kind in (
        (tmp_path / "file" / "below", NotADirectoryError),
        (tmp_path / "folder", IsADirectoryError),
    ):
        with pytest.raises(kind) as caught:
            write(target, b"data")
        assert caught.value.filename == str(target)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]


@pytest.mark.parametrize("write", [write_as_stream, write_file])
def test_a_pipe_or_a_device_is_not_replaced(write: Callable[[Path, bytes], None], tmp_path: Path) -> None:
    """By a rename, the administrator of a machine would replace its /dev/null."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(lakebed.InvalidRequestError, match="a device or a pipe"):
            write(tmp_path / name, b"data")
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "link").is_symlink()
    assert len(list(tmp_path.iterdir())) == 2
