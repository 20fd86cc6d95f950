"""Several small files of one call of fsspec come in few requests, and each as a single read would give it."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import Any

import lakebed
import lakebed.aio
import pandas as pd
import pyarrow.dataset as pads
import pyarrow.fs as pafs
import pytest
from fsspec.callbacks import Callback
from lakebed._fsspec import batched_reads
from lakebed._fsspec.batched_reads import BatchedReads, ReadAhead
from lakebed._fsspec.paths import Place
from lakebed._http.object_frames import ObjectRead
from lakebed.errors import UnsupportedOperationError
from lakebed.fsspec import LakebedFileSystem, arrow_filesystem
from lakebed.model import ObjectInfo

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
    assert requests.names.count("getObjects") == 2  # 250 in each, as in `download_tree`
    assert requests.names.count("getObject") == 0
    callback = Callback()
    fs.get(f"{top}/large", str(tmp_path / "large"), recursive=True, callback=callback)
    assert {f"large/{path.name}": path.read_bytes() for path in (tmp_path / "large").iterdir()} == LARGE
    assert callback.size == callback.value


class Following(Callback):  # type: ignore[misc]
    """Follows each file with a callback of its own, so that fsspec gets one file after another."""

    def branch(self, path_1: str, path_2: str, kwargs: dict[str, Any]) -> None:
        kwargs["callback"] = Callback()


@pytest.mark.parametrize("each", ["list", "glob", "followed"])
def test_get_of_many_files(
    fs: Any, top: str, filled: lakebed.Branch, requests: Requests, tmp_path: Path, each: str
) -> None:
    """How fast the files are written does not matter for the number of batches."""

    (tmp_path / "d").mkdir()
    requests.clear()
    if each == "list":
        fs.get([f"{top}/{path}" for path in SMALL], [str(tmp_path / path) for path in SMALL])
    elif each == "glob":
        fs.get(f"{top}/d/*", str(tmp_path / "d/"))
    else:
        fs.get(f"{top}/d/", str(tmp_path / "d/"), recursive=True, callback=Following())
    assert {f"d/{path.name}": path.read_bytes() for path in (tmp_path / "d").iterdir()} == SMALL
    assert requests.names.count("getObjects") == 3


async def test_batches_buffer_few_bytes(filled: lakebed.Branch) -> None:
    reads, held = BatchedReads(unsaved=10_000), []
    async with lakebed.aio.connect() as lake:
        ref = lake.repository(filled.repository.id).ref("main")

        async def one(path: str) -> bool:
            data = await reads.read(ref, path)
            assert data is not None
            with reads.saving(data):
                held.append(reads.held)
                await asyncio.sleep(0.0001)
            return data == SMALL[path]

        assert all(await asyncio.gather(*map(one, SMALL)))
    assert len(held) == len(SMALL)
    assert max(held) <= 10_000 + max(map(len, SMALL.values()))


def test_get_of_a_folder_has_the_target_paths_of_fsspec(
    fs: Any, top: str, repo: lakebed.Repository, tmp_path: Path
) -> None:
    """As fsspec gets each file."""
    repo.branch("main").put_many({"t/a": b"a", "t/deep/b": b"b", "t/marked/": b"", "alone": b"x"})
    for source in (f"{top}/t", f"{top}/t/", f"lakebed://{top}/t", top, f"{top}/", f"{top}/alone"):
        for target in ("new", "new/", "there", "there/"):
            found = []
            for way, callback in (("folder", Callback()), ("each", Following())):
                here = tmp_path / source.replace("/", "-") / target.replace("/", "-") / way
                (here / "there").mkdir(parents=True)
                fs.get(source, f"{here}/{target}", recursive=True, callback=callback)
                found.append({str(path.relative_to(here)): path.is_file() for path in here.rglob("*")})
            assert found[0] == found[1], (source, target)


def test_get_of_a_folder_that_fails_has_the_error_of_the_file(
    fs: Any, top: str, filled: lakebed.Branch, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError):
        fs.get(f"{top}/none", str(tmp_path / "none"), recursive=True)
    with pytest.raises(FileNotFoundError):
        fs.get(f"{top}x/d", str(tmp_path / "none"), recursive=True)
    (tmp_path / "d" / "001").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        fs.get(f"{top}/d/", str(tmp_path / "d"), recursive=True)


# files that pyarrow opens one after another

FILES = 30


@pytest.fixture
def table(repo: lakebed.Repository, top: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A directory of small Parquet files, read through the server."""
    frame = pd.DataFrame({"x": range(600), "part": [number % FILES for number in range(600)]})
    repo.branch("main").write_parquet("t", frame, partition_by=["part"])
    repo.branch("main").commit("a table")
    monkeypatch.setenv("LAKEBED_DATA_PATH", "proxied")
    LakebedFileSystem.clear_instance_cache()
    return f"{top}/t"


def files_of(fs: Any, table: str) -> list[str]:
    """The files, listed as pyarrow lists them."""
    return [name for name, row in fs.find(table, withdirs=True, detail=True).items() if row["type"] == "file"]


def opened(fs: Any, path: str) -> bytes:
    """Open a file as pyarrow does."""
    with pafs.FSSpecHandler(fs).open_input_file(path) as file:
        return bytes(file.read())


def replace(repo: lakebed.Repository, path: str, content: bytes) -> None:
    """Replace an object without the file system, which notices its own writes."""
    repo.branch("main").put(path.split("/", 2)[2], content)


def test_pandas_reads_a_folder_in_few_requests(table: str, requests: Requests) -> None:
    found = pd.read_parquet(f"lakebed://{table}")
    assert sorted(found["x"]) == list(range(600))
    assert len(requests.names) <= 12
    assert requests.names.count("getObjects") <= 6


def test_a_data_set_of_the_own_file_system_reads_in_few_requests(fs: Any, table: str, requests: Requests) -> None:
    proxied = LakebedFileSystem()
    found = pads.dataset(table, filesystem=arrow_filesystem(proxied)).to_table()
    assert sorted(found["x"].to_pylist()) == list(range(600))
    assert len(requests.names) <= 12


def test_a_data_set_that_opens_one_file_fetches_one(
    table: str, requests: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    fetch = ReadAhead.fetch

    def counted(ahead: ReadAhead, path: str, read: Any) -> bool:
        def noted(paths: Any) -> Any:
            asked.append(len(paths))
            return read(paths)

        return fetch(ahead, path, noted)

    monkeypatch.setattr(ReadAhead, "fetch", counted)
    dataset = pads.dataset(table, filesystem=LakebedFileSystem())
    assert asked == [1]
    dataset.to_table()
    assert asked == [1, 1, 4, 16, 9]


def test_prefetched_content_is_used_once(table: str, repo: lakebed.Repository) -> None:
    fs = LakebedFileSystem()
    first, second, third = files_of(fs, table)[:3]
    for path in (first, second):
        assert opened(fs, path) == repo.branch("main").get(path.split("/", 2)[2])
    for content in (b"one", b"two"):
        replace(repo, first, content)
        replace(repo, second, content)
        assert (opened(fs, first), opened(fs, second)) == (content, content)
    repo.branch("main").delete(third.split("/", 2)[2])
    files_of(fs, table)
    with pytest.raises(FileNotFoundError):
        opened(fs, third)


def test_prefetched_content_expires_soon(table: str, repo: lakebed.Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    fs = LakebedFileSystem()
    paths = files_of(fs, table)
    opened(fs, paths[0])
    opened(fs, paths[1])  # fetches the next three
    now = monotonic()
    monkeypatch.setattr(batched_reads, "monotonic", lambda: now + batched_reads._FRESH + 0.1)
    replace(repo, paths[2], b"new")
    assert opened(fs, paths[2]) == b"new"


@pytest.mark.parametrize("write", ["pipe", "open", "transaction", "rm"])
def test_the_file_system_reads_its_own_writes(table: str, write: str) -> None:
    fs = LakebedFileSystem()
    paths = files_of(fs, table)
    opened(fs, paths[0])
    opened(fs, paths[1])  # fetches the next three
    if write == "pipe":
        fs.pipe(paths[2], b"new")
    elif write == "open":
        with fs.open(paths[2], "wb") as file:
            file.write(b"new")
    elif write == "transaction":
        with fs.transaction, fs.open(paths[2], "wb") as file:
            file.write(b"new")
    else:
        fs.rm(paths[2])
        with pytest.raises(FileNotFoundError):
            opened(fs, paths[2])
        return
    assert opened(fs, paths[2]) == b"new"


def test_file_that_has_grown_is_read_separately(table: str, repo: lakebed.Repository) -> None:
    fs = LakebedFileSystem()
    paths = files_of(fs, table)
    content = os.urandom(MIB + 1)
    replace(repo, paths[1], content)
    assert len(opened(fs, paths[0])) < MIB
    assert opened(fs, paths[1]) == content


def test_large_files_are_not_read_ahead(
    fs: Any, top: str, repo: lakebed.Repository, monkeypatch: pytest.MonkeyPatch, requests: Requests
) -> None:
    for name in "abc":
        repo.branch("main").put(f"t/{name}.parquet", os.urandom(batched_reads.SMALL_LISTED + 1))
    monkeypatch.setenv("LAKEBED_DATA_PATH", "proxied")
    proxied = LakebedFileSystem()
    for path in files_of(proxied, f"{top}/t"):
        opened(proxied, path)
    assert "getObjects" not in requests.names


def test_an_older_server_is_asked_for_each_file(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def refuse(*_: object) -> Any:
        asked.append(1)
        raise UnsupportedOperationError("the server has no batches")

    monkeypatch.setattr("lakebed._sync.integration.read_batches", refuse)
    assert sorted(pd.read_parquet(f"lakebed://{table}")["x"]) == list(range(600))
    assert len(asked) == 1


def test_prefetching_is_bounded() -> None:
    paths = [f"{number:04}" for number in range(2000)]

    def read(asked: Any) -> list[ObjectRead]:
        return [ObjectRead(path, ObjectInfo(path, 1, "", None, ""), b"x") for path in asked]  # type: ignore[arg-type]

    ahead = ReadAhead(Place("repo", "main"), paths)
    for path in paths[::3]:  # two of three are never taken
        assert ahead.fetch(path, read)
        assert ahead.take(Place("repo", "main", path)) is not None
        assert len(ahead._here) <= 128
    assert not ahead.covers(Place("repo", "other", paths[0]))
    assert ahead.take(Place("repo", "other", paths[0])) is None


def test_two_threads_read_each_prefetched_file_once() -> None:
    paths = [f"{number:04}" for number in range(500)]
    ahead = ReadAhead(Place("repo", "main"), paths)
    seen: list[str] = []

    def read(asked: Any) -> list[ObjectRead]:
        return [ObjectRead(path, ObjectInfo(path, 1, "", None, ""), path.encode()) for path in asked]  # type: ignore[arg-type]

    def one(path: str) -> None:
        while (taken := ahead.fetch(path, read) and ahead.take(Place("repo", "main", path))) is None:
            pass
        assert taken
        assert taken[1] == path.encode()
        seen.append(path)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, paths))
    assert sorted(seen) == paths
