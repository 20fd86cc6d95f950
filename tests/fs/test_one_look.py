"""pyarrow's way of opening a file: one look at the server for its two questions, and nothing that lasts longer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
from lakebed import Repository


def test_pyarrow_opens_a_file_with_one_request(way: str, fs: Any, top: str, asked: list[str]) -> None:
    pq.write_table(pa.table({"x": [1, 2]}), f"{top}/t/x.parquet", filesystem=fs)
    handler = pafs.PyFileSystem(pafs.FSSpecHandler(fs))
    handler.open_input_file(f"{top}/t/x.parquet").close()  # where the files are is asked for once
    asked.clear()
    with handler.open_input_file(f"{top}/t/x.parquet") as file:
        assert pq.read_table(file).column("x").to_pylist() == [1, 2]
    assert len(asked) == 1


def test_every_other_opening_asks_anew(way: str, fs: Any, top: str, repo: Repository) -> None:
    handler = pafs.FSSpecHandler(fs)
    path = f"{top}/x.parquet"
    for content in (b"one", b"two", b"six"):
        repo.branch("main").put("x.parquet", content)
        assert fs.isfile(path)
        with handler.open_input_file(path) as file:
            assert file.read() == content
        repo.branch("main").put("x.parquet", content + b"!")
        with fs.open(path) as file:
            assert file.read() == content + b"!"
        with handler.open_input_stream(path) as file:
            assert file.read() == content + b"!"
    repo.branch("main").delete("x.parquet")
    with pytest.raises(FileNotFoundError):
        handler.open_input_file(path)
    with pytest.raises(FileNotFoundError):
        fs.open(path)


def test_what_pyarrow_found_is_not_given_to_anybody_else(fs: Any, top: str, repo: Repository) -> None:
    """A handler that is broken off between its two questions leaves nothing behind."""
    path = f"{top}/x.parquet"
    repo.branch("main").put("x.parquet", b"old")

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("between the two")

    handler = pafs.FSSpecHandler(fs)
    handler.fs = SimpleNamespace(isfile=fs.isfile, open=broken)
    with pytest.raises(RuntimeError):
        handler.open_input_file(path)
    repo.branch("main").put("x.parquet", b"new")
    with fs.open(path) as file:
        assert file.read() == b"new"
