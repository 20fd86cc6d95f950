"""The functions that other processes run in the process tests. Spawned processes can import them."""

from __future__ import annotations

import os
from typing import Any

import fsspec
import lakebed
import pyarrow.parquet as pq


def read_shard(job: tuple[Any, str, int, int]) -> tuple[int, bytes]:
    """A piece of an object, by a file system that came along, as a data loader's worker reads it."""
    fs, path, start, end = job
    with fs.open(path, cache_type="none") as file:
        file.seek(start)
        data = file.read(end - start)
    assert data == fs.cat_file(path, start, end)
    return os.getpid(), data


def go_on_reading(file: Any) -> bytes:
    """The rest of a reader that was opened elsewhere."""
    with file:
        return bytes(file.read())


def write_one(job: tuple[Any, str, bytes]) -> int:
    """An object, by a file system that came along."""
    fs, path, data = job
    with fs.open(path, "wb") as file:
        file.write(data)
    return os.getpid()


def by_the_environment(path: str) -> bytes:
    """What the environment alone leads to."""
    return bytes(fsspec.filesystem("lakebed").cat(path))


def refused_close(file: Any) -> str:
    """What is said to a forked process that closes its parent's writer."""
    try:
        file.close()
    except lakebed.InvalidRequestError as error:
        return str(error)
    return ""


class Rows:
    """A data set as PyTorch calls it map-style: a length, and rows by number. One row group holds `size` of them."""

    def __init__(self, fs: Any, folder: str, branch: lakebed.Branch, table: str, size: int) -> None:
        self.fs, self.branch, self.table, self.size = fs, branch, table, size
        self.files = sorted(fs.glob(f"{folder}/*.parquet"))
        self.readers = [fs.open(name) for name in self.files]  # open in the parent, as loaders often have them

    def __len__(self) -> int:
        return len(self.files) * self.size

    def __getitem__(self, row: int) -> tuple[int, int, int]:
        """The same row by an open file, by the file system, and by the SDK."""
        number, within = divmod(row, self.size)
        opened = pq.ParquetFile(self.readers[number]).read(["x"])
        named = pq.read_table(self.files[number], filesystem=self.fs)
        table = self.branch.read_table(f"{self.table}/{self.files[number].rpartition('/')[2]}")
        first, second, third = (one.column("x")[within].as_py() for one in (opened, named, table))
        return first, second, third


def load(dataset: Any, indices: Any, results: Any) -> None:
    """The loop of a DataLoader's worker: batches of numbers in, rows out, until None comes."""
    while (batch := indices.get()) is not None:
        number, rows = batch
        try:
            results.put((number, os.getpid(), [dataset[row] for row in rows]))
        except Exception as error:
            results.put((number, os.getpid(), repr(error)))
