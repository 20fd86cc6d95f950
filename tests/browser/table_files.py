"""Files of tables, for tests of the web page."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()
