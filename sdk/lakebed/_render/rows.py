"""Rows of a listing as an Arrow table or a DataFrame. Pure; imports pyarrow and pandas, so it is imported late."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import pyarrow as pa

from lakebed._render.columns import Columns

_TYPES: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "int64": pa.int64(),
    "bool": pa.bool_(),
    "time": pa.timestamp("s", tz="UTC"),
    "list<string>": pa.list_(pa.string()),
    "map<string,string>": pa.map_(pa.string(), pa.string()),
}


def to_arrow(rows: Sequence[object], columns: Columns) -> pa.Table:
    """One column for each name; what a row does not have is null."""
    arrays = [pa.array([_value(row, name, kind) for row in rows], _TYPES[kind]) for name, kind in columns]
    return pa.table(arrays, names=[name for name, _ in columns])


def to_pandas(rows: Sequence[object], columns: Columns) -> pd.DataFrame:
    """The same as a DataFrame; metadata maps become dicts."""
    frame: pd.DataFrame = to_arrow(rows, columns).to_pandas(maps_as_pydicts="strict")
    return frame


def _value(row: object, name: str, kind: str) -> object:
    value = getattr(row, name, None)
    if kind.startswith("map") and value is not None:
        return list(value.items())
    if kind.startswith("list") and value is not None:
        return list(value)
    return value
