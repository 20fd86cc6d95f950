"""Converts between DataFrames and Arrow tables. Imports pandas and pyarrow, so it is imported late."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import pandas as pd
import pyarrow as pa

from lakebed.errors import InvalidRequestError, LakebedError, SchemaDifference, SchemaMismatchError


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Convert a table to a DataFrame, with the index that pandas stored in it."""
    frame: pd.DataFrame = table.to_pandas()
    return frame


def to_reader(data: object) -> pa.RecordBatchReader:
    """Convert any table-like object to a stream of record batches. Large tables are not held in memory twice.

    Raises InvalidRequestError, and SchemaMismatchError while it is read, when the parts of an iterator differ.
    """
    try:
        return _reader(data)
    except LakebedError:
        raise
    except (pa.ArrowException, ValueError) as error:  # mixed values in a column, two columns of one name
        said = "; ".join(map(str, error.args))  # pandas adds the column as a second argument
        raise InvalidRequestError(f"cannot convert this {type(data).__name__} to an Arrow table: {said}") from error


def _reader(data: object) -> pa.RecordBatchReader:
    if isinstance(data, pd.DataFrame):
        data = pa.Table.from_pandas(data)
    if isinstance(data, pa.RecordBatchReader):
        return data
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        return data.to_reader()
    if hasattr(data, "__arrow_c_stream__") and not isinstance(data, pd.Series):  # Polars, DuckDB and others
        return pa.RecordBatchReader.from_stream(data)
    if isinstance(data, Iterable) and not isinstance(data, str | bytes | dict | pd.Series):
        return _of_parts(iter(data))
    raise InvalidRequestError(
        f"a {type(data).__name__} is not a table: pass a DataFrame, an Arrow table, a RecordBatchReader or an iterator "
        f"of record batches{_advice(data)}"
    )


def _of_parts(parts: Iterator[object]) -> pa.RecordBatchReader:
    """Join the parts of an iterator, each a table, into one stream. The schema of the first part applies to all."""
    first = next(parts, None)
    if first is None:
        raise InvalidRequestError("an empty iterator has no columns: pass an empty table instead")
    opened = _part(first)
    schema = opened.schema

    def batches() -> Iterator[pa.RecordBatch]:
        for number, part in enumerate(itertools.chain((opened,), parts)):
            reader = part if number == 0 else _part(part)
            if not reader.schema.equals(schema):
                raise _differs(number, schema, reader.schema)
            yield from reader

    return pa.RecordBatchReader.from_batches(schema, batches())


def _part(part: object) -> pa.RecordBatchReader:
    if isinstance(part, pd.DataFrame | pa.RecordBatch | pa.Table) or hasattr(part, "__arrow_c_stream__"):
        return to_reader(part)
    raise InvalidRequestError(
        f"a list or iterator of {type(part).__name__} is not a table: its parts must be record batches{_advice(part)}"
    )


def _advice(data: object) -> str:
    """The advice for data that pandas can convert to a table."""
    if isinstance(data, pd.Series):
        return "; use .to_frame()"
    convertible = isinstance(data, dict | list | tuple) or type(data).__module__.partition(".")[0] == "numpy"
    return "; use pandas.DataFrame(...)" if convertible else ""


def _differs(number: int, schema: pa.Schema, found: pa.Schema) -> SchemaMismatchError:
    columns = [
        name for name in dict.fromkeys([*schema.names, *found.names]) if _type(schema, name) != _type(found, name)
    ]
    place = f"part {number + 1} of the data"
    unlike = tuple(SchemaDifference(place, name, _type(schema, name), _type(found, name)) for name in columns)
    shown = "; ".join(map(str, unlike[:5])) or f"{place} has the columns in another order"
    error = SchemaMismatchError(
        f"nothing was written, because the parts of the data differ: {shown}; cast them to one schema"
    )
    error.differences = unlike
    return error


def _type(schema: pa.Schema, name: str) -> str | None:
    index = schema.get_field_index(name)
    return None if index < 0 else str(schema.field(index).type)


def index_columns(schema: pa.Schema) -> list[str]:
    """The columns that contain an index of pandas."""
    described = schema.pandas_metadata or {}
    return [name for name in described.get("index_columns", ()) if isinstance(name, str)]
