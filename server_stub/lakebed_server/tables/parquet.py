"""Parquet files as parts: a part is a row group, of which only the chunks of the wanted columns are read."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed_server.tables.files import Source
from lakebed_server.tables.messages import UnreadableTable
from lakebed_server.tables.parts import Kept, Part, Parts

_END: Final = 8
_MAGIC: Final = b"PAR1"
_LARGEST_FOOTER: Final = 16 << 20
_TAILS: Final = 16 << 20
"""Bytes that are read of the ends of all files at first. A footer that is larger is read again."""

_TAIL: Final = (8 << 10, 64 << 10)
_GAP: Final = 64 << 10
"""Bytes between two chunks that are read with them, rather than by a request more."""

_UNPACKED: Final = 256 << 20
"""Bytes of a row group, unpacked, up to which it is decoded as a whole."""

_STREAMED: Final = 256 << 10
_BATCH: Final = 1024


class _Footer(NamedTuple):
    metadata: Any
    schema: pa.Schema
    size: int


def parts_of(source: Source, kept: Kept) -> Parts:
    """The row groups of the files. Reads the footers that are not known."""
    footers = _footers(source, kept)
    parts = [
        Part(
            number,
            footer.metadata.row_group(group).num_rows,
            partial(_load, source, kept, number, footer, group),
            partial(_size, footer, group),
        )
        for number, footer in enumerate(footers)
        for group in range(footer.metadata.num_row_groups)
    ]
    return Parts(parts, [footer.schema for footer in footers])


def metadata_of(source: Source, kept: Kept) -> list[Any]:
    """The footers of all files, as pyarrow's FileMetaData."""
    return [footer.metadata for footer in _footers(source, kept)]


def _footers(source: Source, kept: Kept) -> list[_Footer]:
    tail = max(_TAIL[0], min(_TAIL[1], _TAILS // len(source.files)))
    missing = [number for number, file in enumerate(source.files) if not kept.has(("footer", file.identity))]
    ends = dict(zip(missing, source.read([_end(source, number, tail) for number in missing]), strict=True))
    longer: dict[int, int] = {}
    for number, data in ends.items():
        length = _footer_length(source.files[number].path, source.files[number].size, data)
        if length + _END > len(data):
            longer[number] = length + _END
    again = source.read([_end(source, number, length) for number, length in longer.items()])
    ends.update(zip(longer, again, strict=True))

    def parsed(number: int) -> _Footer:
        data = ends[number]
        file = source.opened(number, [(source.files[number].size - len(data), data)])
        metadata = pq.read_metadata(pa.PythonFile(file, mode="r"))
        return _Footer(metadata, metadata.schema.to_arrow_schema(), len(data))

    return [
        kept.get(("footer", file.identity), partial(parsed, number), lambda footer: 2 * footer.size)
        for number, file in enumerate(source.files)
    ]


def _end(source: Source, number: int, length: int) -> tuple[int, int, int]:
    size = source.files[number].size
    return number, max(0, size - length), min(size, length)


def _footer_length(path: str, size: int, end: bytes) -> int:
    if size < _END + len(_MAGIC) or end[-4:] != _MAGIC:
        raise UnreadableTable(f"{path!r} is not a complete Parquet file")
    length = int.from_bytes(end[-8:-4], "little")
    if length + _END > size or length > _LARGEST_FOOTER:
        raise UnreadableTable(f"{path!r} is not a complete Parquet file: its footer is damaged")
    return length


def _chunks(footer: _Footer, group: int, columns: Sequence[str]) -> list[Any]:
    """The chunks of the columns, with all that is nested in them."""
    found = footer.metadata.row_group(group)
    chunks = (found.column(index) for index in range(found.num_columns))
    return [
        chunk
        for chunk in chunks
        if any(chunk.path_in_schema == name or chunk.path_in_schema.startswith(f"{name}.") for name in columns)
    ]


def _size(footer: _Footer, group: int, columns: Sequence[str]) -> int:
    return sum(chunk.total_compressed_size for chunk in _chunks(footer, group, columns))


def _load(
    source: Source,
    kept: Kept,
    number: int,
    footer: _Footer,
    group: int,
    columns: Sequence[str],
    upto: int | None,
) -> pa.Table:
    present = [name for name in columns if footer.schema.get_field_index(name) >= 0]
    if not present:
        return pa.table({"": pa.nulls(footer.metadata.row_group(group).num_rows)}).select([])
    chunks = _chunks(footer, group, present)
    unpacked = sum(chunk.total_uncompressed_size for chunk in chunks)
    if upto is not None and (unpacked > _UNPACKED or _size(footer, group, present) > source.most_bytes):
        return _first_rows(source, number, footer, group, present, upto)
    key = ("rows", source.files[number].identity, group, tuple(present))
    return kept.get(key, partial(_whole, source, number, footer, group, present, chunks), lambda table: table.nbytes)


def _whole(
    source: Source, number: int, footer: _Footer, group: int, columns: Sequence[str], chunks: Sequence[Any]
) -> pa.Table:
    spans: list[tuple[int, int]] = []
    for start, end in sorted(map(_span, chunks)):
        if spans and start - spans[-1][1] <= _GAP:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    data = source.read([(number, start, end - start) for start, end in spans])
    known = [(start, part) for (start, _), part in zip(spans, data, strict=True)]
    opened = _reader(source.opened(number, known), footer, 0)
    return opened.read_row_group(group, columns=list(columns), use_threads=False)


def _span(chunk: Any) -> tuple[int, int]:
    starts = [chunk.data_page_offset]
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        starts.append(chunk.dictionary_page_offset)
    return min(starts), min(starts) + chunk.total_compressed_size


def _first_rows(
    source: Source, number: int, footer: _Footer, group: int, columns: Sequence[str], upto: int
) -> pa.Table:
    """The first rows of a large row group. It reads the pages that have them."""
    opened = _reader(source.opened(number), footer, _STREAMED)
    batches: list[pa.RecordBatch] = []
    rows = 0
    for batch in opened.iter_batches(min(_BATCH, upto), row_groups=[group], columns=list(columns), use_threads=False):
        batches.append(batch)
        rows += batch.num_rows
        if rows >= upto:
            break
    return pa.Table.from_batches(batches)


def _reader(file: io.RawIOBase, footer: _Footer, buffer: int) -> Any:
    return pq.ParquetFile(
        pa.PythonFile(file, mode="r"),
        metadata=footer.metadata,
        buffer_size=buffer,
        pre_buffer=False,
        page_checksum_verification=True,
    )
