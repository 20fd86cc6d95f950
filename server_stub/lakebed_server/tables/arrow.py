"""Arrow files and streams (also Feather) as parts: a part is a record batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from lakebed_server.tables.files import Source
from lakebed_server.tables.messages import UnreadableTable
from lakebed_server.tables.parts import Kept, Part, Parts

_FILE = b"ARROW1"


def parts_of(source: Source, kept: Kept, needed: int) -> Parts:
    """The record batches up to the row `needed`, or all of them if the files are small."""
    is_small = sum(file.size for file in source.files) <= source.most_bytes
    parts: list[Part] = []
    found: list[pa.Schema] = []
    rows = 0
    complete = True
    for number, file in enumerate(source.files):
        if rows >= needed and not is_small:
            complete = False
            break
        if is_small:
            table = kept.get(("arrow", file.identity), partial(_whole, source, number), lambda made: made.nbytes)
            schema, batches = table.schema, iter(table.to_batches())
        else:
            schema, batches = _opened(source, number)
        found.append(schema)
        for batch in batches:
            parts.append(_part(number, batch, file.size))
            rows += batch.num_rows
            if rows >= needed and not is_small:
                complete = False
                break
    return Parts(parts, found, complete)


def _part(number: int, batch: pa.RecordBatch, size: int) -> Part:
    def load(columns: Sequence[str], upto: int | None) -> pa.Table:
        present = [name for name in columns if batch.schema.get_field_index(name) >= 0]
        return pa.Table.from_batches([batch]).select(present)

    return Part(number, batch.num_rows, load, lambda columns: size)


def _whole(source: Source, number: int) -> pa.Table:
    schema, batches = _opened(source, number)
    return pa.Table.from_batches(list(batches), schema)


def _opened(source: Source, number: int) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    path = source.files[number].path
    size = source.files[number].size
    begin = source.read([(number, 0, min(size, len(_FILE)))])[0]
    file = pa.PythonFile(source.opened(number), mode="r")
    try:
        reader = pa.ipc.open_file(file) if begin == _FILE else pa.ipc.open_stream(file)
    except (pa.ArrowException, OSError, EOFError) as error:
        raise UnreadableTable(f"{path!r} is not a complete Arrow file: {error}") from error
    return reader.schema, _checked(_batches(reader))


def _batches(reader: Any) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.ipc.RecordBatchFileReader):
        yield from (reader.get_batch(index) for index in range(reader.num_record_batches))
    else:
        yield from reader


def _checked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches. Raises ArrowInvalid for offsets that lead out of their buffers."""
    for batch in batches:
        batch.validate(full=True)
        yield batch
