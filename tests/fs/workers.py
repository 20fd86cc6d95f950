"""What other processes do in the process tests; importable by spawned ones."""

from __future__ import annotations

import os
from typing import Any

import fsspec
import lakebed


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
