"""Rows of a layer on their way to the server: a Parquet file of this machine, written as they come."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed_spark.pipelines._changes import LAYER

_GROUP = 50_000


class LayerFile:
    """A file without a name for longer than a task. Memory is about a row group."""

    def __init__(self) -> None:
        self.rows = 0
        self._held: list[pa.Table] = []
        self._waiting = 0

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="lakebed-layer-", ignore_cleanup_errors=True)
        self._path = Path(self._folder.name, "rows.parquet")
        self._writer = pq.ParquetWriter(self._path, LAYER, compression="zstd", use_dictionary=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()
        self._folder.cleanup()

    def write(self, rows: pa.Table) -> None:
        """More rows, behind all that came before."""
        self.rows += rows.num_rows
        self._held.append(rows)
        self._waiting += rows.num_rows
        if self._waiting >= _GROUP:
            self._flush()

    def finish(self) -> Path:
        """Everything is written: where it is."""
        self._flush()
        self._writer.close()
        return self._path

    def _flush(self) -> None:
        held, self._held, self._waiting = self._held, [], 0
        if held:
            self._writer.write_table(pa.concat_tables(held), row_group_size=_GROUP)
