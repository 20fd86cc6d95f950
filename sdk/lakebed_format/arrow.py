"""pyarrow as a server needs it: without pandas, with the allocator of the system, and without threads of its own.

For its first array pyarrow imports pandas, where it is installed. In a server this is a third of the time of the start,
and 26 MiB of memory in each process.

With mimalloc, the default allocator of pyarrow, the kernel fills pages of 2 MiB with zeros in every commit. Without it,
a large commit takes a quarter less processor time (docs/benchmarks.md).
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


class _Missing:
    """A finder of modules that hides pandas."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name == "pandas":
            raise ModuleNotFoundError("pandas is hidden from pyarrow", name=name)
        return None


def keep_pandas_out() -> None:
    """Make pyarrow take pandas for missing in this process, unless it is imported already.

    Other code can import pandas afterwards, but `to_pandas` of pyarrow then raises an error.
    """
    if "pandas" in sys.modules:
        return
    sys.meta_path.insert(0, _Missing)
    try:
        import pyarrow as pa

        # pyarrow imports pandas once in Python code and once in C++ code
        pa.chunked_array([pa.array([0], pa.int8())]).to_numpy()
    finally:
        sys.meta_path.remove(_Missing)


def use_system_allocator() -> None:
    """Make pyarrow take its memory with `malloc`, unless `ARROW_DEFAULT_MEMORY_POOL` names an allocator.

    Has no effect after the first array. Child processes inherit it.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def read_rows(data: bytes, schema: pa.Schema) -> pa.Table:
    """The rows of a Parquet file, decoded in the calling thread. A column that the file lacks is null.

    `pyarrow.parquet.read_table` starts threads of Arrow, even with `use_threads=False`. Such a thread may drop the
    bytes after the call has returned. If Python shuts down at that moment, the process aborts (apache/arrow#34314).
    Raises pyarrow.ArrowException, ValueError and OSError when the bytes are not such a file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = pq.ParquetFile(pa.BufferReader(data), pre_buffer=False).read(use_threads=False)
    columns = dict(zip(found.column_names, found.columns, strict=True))
    chosen = [columns.get(field.name, pa.nulls(len(found))).cast(field.type) for field in schema]
    for field, column in zip(schema, chosen, strict=True):
        if column.null_count and not field.nullable:
            raise ValueError(f"{column.null_count} of {len(found)} rows have no {field.name!r}")
    return pa.table(chosen, schema=schema)
