"""Several small files of one call of fsspec come in few requests, and each as a single read would give it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import lakebed
import pytest
from fsspec.callbacks import Callback

from tests.fs.conftest import Requests

MIB = 1 << 20
SMALL = {f"d/{number:03d}": b"%d" % number * 1000 for number in range(450)}
LARGE = {"large/a": os.urandom(MIB + 1), "large/b": b"small"}


@pytest.fixture
def filled(repo: lakebed.Repository, monkeypatch: pytest.MonkeyPatch) -> lakebed.Branch:
    repo.branch("main").put_many({**SMALL, **LARGE})
    monkeypatch.setenv("LAKEBED_DATA_PATH", "proxied")
    return repo.branch("main")


def test_cat_of_several_files(fs: Any, top: str, filled: lakebed.Branch, requests: Requests) -> None:
    requests.clear()
    found = fs.cat([f"{top}/{path}" for path in SMALL])
    assert found == {f"{top}/{path}": data for path, data in SMALL.items()}
    assert requests.names.count("getObjects") <= 8
    assert "getObject" not in requests.names
    assert fs.cat(f"{top}/d", recursive=True, on_error="omit") == found
    assert fs.cat(f"{top}/large/*") == {f"{top}/{path}": data for path, data in LARGE.items()}


def test_single_file_is_read_by_a_plain_request(fs: Any, top: str, filled: lakebed.Branch, requests: Requests) -> None:
    requests.clear()
    assert fs.cat(f"{top}/d/001") == SMALL["d/001"]
    assert requests.names == ["getObject"]


def test_cat_ranges_of_whole_files_and_of_parts(fs: Any, top: str, filled: lakebed.Branch, requests: Requests) -> None:
    paths = [f"{top}/{path}" for path in ("d/001", "large/a", "d/002", "large/b", "d/003")]
    requests.clear()
    found = fs.cat_ranges(paths, [None, 5, 0, 0, 1], [None, 10, None, None, 4])
    assert found == [SMALL["d/001"], LARGE["large/a"][5:10], SMALL["d/002"], b"small", SMALL["d/003"][1:4]]
    assert sorted(requests.names) == ["getObject", "getObject", "getObjects"]


def test_batched_reads_raise_the_errors_of_single_reads(fs: Any, top: str, filled: lakebed.Branch) -> None:
    paths = [f"{top}/{path}" for path in ("d/001", "d/none", "large")]
    found = fs.cat(paths, on_error="return")
    assert found[paths[0]] == SMALL["d/001"]
    for path in paths[1:]:
        with pytest.raises(type(found[path])) as caught:
            fs.cat(path)
        assert str(found[path]) == str(caught.value)
    assert fs.cat(paths, on_error="omit") == {paths[0]: SMALL["d/001"]}
    with pytest.raises(FileNotFoundError):
        fs.cat([f"{top}/d/none", f"{top}/d/none2"])
    nowhere = fs.cat([f"{top}x/a", f"{top}x/b"], on_error="return")
    assert all(isinstance(one, lakebed.errors.NotFoundError) for one in nowhere.values())


def test_get_of_a_folder(fs: Any, top: str, filled: lakebed.Branch, requests: Requests, tmp_path: Path) -> None:
    requests.clear()
    fs.get(f"{top}/d", str(tmp_path / "d"), recursive=True)
    assert {f"d/{path.name}": path.read_bytes() for path in (tmp_path / "d").iterdir()} == SMALL
    assert requests.names.count("getObjects") <= 8
    assert requests.names.count("getObject") == 0
    callback = Callback()
    fs.get(f"{top}/large", str(tmp_path / "large"), recursive=True, callback=callback)
    assert {f"large/{path.name}": path.read_bytes() for path in (tmp_path / "large").iterdir()} == LARGE
    assert callback.size == callback.value
