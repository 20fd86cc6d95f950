"""DataFrames and Arrow tables into and out of each other. Imports pandas and pyarrow, so it is imported late."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from lakebed.errors import InvalidRequestError


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """A table as a DataFrame; the index that pandas wrote along is restored."""
    frame: pd.DataFrame = table.to_pandas()
    return frame


def to_reader(data: object) -> pa.RecordBatchReader:
    """Whatever holds a table, as a stream of record batches, so that large ones need not fit in memory twice."""
    if isinstance(data, pd.DataFrame):
        data = pa.Table.from_pandas(data)
    if isinstance(data, pa.RecordBatchReader):
        return data
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        return data.to_reader()
    if hasattr(data, "__arrow_c_stream__"):  # Polars, DuckDB and others
        return pa.RecordBatchReader.from_stream(data)
    raise InvalidRequestError(
        f"cannot write a {type(data).__name__} as Parquet: give a DataFrame, an Arrow table or a RecordBatchReader"
    )


def index_columns(schema: pa.Schema) -> list[str]:
    """The columns in which pandas keeps an index."""
    described = schema.pandas_metadata or {}
    return [name for name in described.get("index_columns", ()) if isinstance(name, str)]
