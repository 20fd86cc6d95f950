"""One Parquet file of about 64 MB, read and written by pandas."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.clients.lake import BRANCH, REPOSITORY, Lake
from benchmarks.clients.measure import Client, Row, alternating

ROWS = 2_000_000


def rows(lake: Lake, folder: Path, rounds: int) -> Iterator[Row]:
    """The rows of this group."""
    random = np.random.default_rng(7)
    frame = pd.DataFrame({f"c{number}": random.random(ROWS) for number in range(4)})
    local = folder / "table.parquet"
    frame.to_parquet(local)
    lake.main.put("table.parquet", local)
    endpoint, key, secret = lake.credentials
    own = {"endpoint": endpoint, "access_key_id": key, "secret_access_key": secret}
    theirs = {"host": endpoint, "username": key, "password": secret}
    place = f"{REPOSITORY}/{BRANCH}/table.parquet"
    read: dict[str, Client] = {
        "lakebed": lambda: lake.main.read_parquet("table.parquet"),
        "lakebed://": lambda: pd.read_parquet(f"lakebed://{place}", storage_options=own),
        "lakefs-spec": lambda: pd.read_parquet(f"lakefs://{place}", storage_options=theirs),
        "local file": lambda: pd.read_parquet(local),
    }
    size = f"{local.stat().st_size >> 20} MiB"
    name = f"read_parquet, one file of {size}"
    yield Row("tables", name, alternating(read, rounds), peer="lakefs-spec", at_most=1.0)

    def synced() -> None:
        with (folder / "copy.parquet").open("wb") as file:
            frame.to_parquet(file, compression="zstd")  # as `write_parquet` does: pandas would take snappy
            file.flush()
            os.fsync(file.fileno())

    write: dict[str, Client] = {
        "lakebed": lambda: lake.main.write_parquet("copy.parquet", frame),
        "local file and sync": synced,
    }
    name = f"write_parquet, one file of {size}, both by zstd"
    yield Row("tables", name, alternating(write, rounds), peer="local file and sync", at_most=1.6)
