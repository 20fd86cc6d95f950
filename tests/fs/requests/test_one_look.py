"""pyarrow opens a file with one request over `arrow_filesystem`, and each opening by name asks the server again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
from lakebed import Repository
from lakebed._fsspec.arrow import Handler
from lakebed.fsspec import arrow_filesystem

from tests.fs.conftest import Requests


def test_pyarrow_opens_a_file_with_one_request(way: str, fs: Any, top: str, requests: Requests) -> None:
    pq.write_table(pa.table({"x": [1, 2]}), f"{top}/t/x.parquet", filesystem=fs)
    handler = arrow_filesystem(fs)
    handler.open_input_file(f"{top}/t/x.parquet").close()  # where the files are is asked for once
    requests.clear()
    with handler.open_input_file(f"{top}/t/x.parquet") as file:
        assert pq.read_table(file).column("x").to_pylist() == [1, 2]
    assert len(requests.names) == 1


@pytest.mark.parametrize("handler_of", [pafs.FSSpecHandler, Handler])
def test_every_open_makes_a_request(
    way: str, fs: Any, top: str, repo: Repository, handler_of: Callable[[Any], Any]
) -> None:
    handler = handler_of(fs)
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
