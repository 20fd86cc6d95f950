"""CSV and JSON lines files: their columns and batches of rows.

The first line of a CSV file names its columns, and an empty field is null. Columns of the contract's schema are read as
their type, so a field of another type is an error that names its row. The first megabyte determines the type of other
columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from lakebed_hooks.contracts.columns import ColumnAt, columns_of
from lakebed_hooks.contracts.footers import reading
from lakebed_hooks.contracts.formats import csv_layout, unpacked
from lakebed_hooks.contracts.vocabulary import Column
from lakebed_hooks.reading import File, Side, Snapshot
from lakebed_hooks.snapshots import opened

_BLOCK: Final = 1 << 20


class TextFile:
    """A text file, which can be read once from beginning to end."""

    def __init__(self, snapshot: Snapshot, side: Side, file: File, format: str, schema: tuple[Column, ...]) -> None:
        self._file = file
        self.rows = 0
        self._reader: Any = None
        self.columns: Mapping[str, ColumnAt] = {}
        with reading():
            if file.size:
                source = unpacked(opened(snapshot, side, file), file.path)
                self._reader = (_csv if format == "csv" else _json)(source, file.path, schema)
                self.columns = columns_of(self._reader.schema)

    def batches(self) -> Iterator[tuple[int, Any]]:
        """Batches of all columns, each with the number of its first row. Raises UnreadableFile."""
        while self._reader is not None:
            with reading():
                try:
                    batch = self._reader.read_next_batch()
                except StopIteration:
                    return
            yield self.rows, batch
            self.rows += batch.num_rows


def _types(schema: tuple[Column, ...]) -> dict[str, Any]:
    found = {column.name: column.type.arrow() for column in schema if column.type is not None}
    return {name: kind for name, kind in found.items() if kind is not None}


def _csv(source: Any, path: str, schema: tuple[Column, ...]) -> Any:
    from pyarrow import csv

    layout = csv_layout(path)
    layout.newlines_in_values = True
    return csv.open_csv(
        source,
        read_options=csv.ReadOptions(use_threads=False, block_size=_BLOCK),
        parse_options=layout,
        convert_options=csv.ConvertOptions(column_types=_types(schema), null_values=[""], strings_can_be_null=True),
    )


def _json(source: Any, path: str, schema: tuple[Column, ...]) -> Any:
    import pyarrow as pa
    from pyarrow import json

    types = _types(schema)
    return json.open_json(
        source,
        read_options=json.ReadOptions(use_threads=False, block_size=_BLOCK),
        parse_options=json.ParseOptions(explicit_schema=pa.schema(list(types.items())) if types else None),
    )
