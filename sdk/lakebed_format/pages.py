"""What the pages of a Parquet file take in memory, read from their own headers before any of them is decoded.

A footer says how large the file is when it is decoded, and may say anything. Arrow believes the headers of the pages:
it gets the memory that each of them states. So they are added up first. pyarrow does not show them, hence the few lines
of Thrift (its compact protocol) here.

    page       header, then `compressed_page_size` bytes
    header     1: type  2: uncompressed_page_size  3: compressed_page_size  5: data page  7: dictionary  8: data page v2
    data page  1: num_values, then the encoding: 2 (4 in v2)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from lakebed_format.decoding import FormatError

FOOTER_UNWALKED: Final = 64 << 10
"""Bytes of a footer that is parsed as it is: what it can name takes 20 MB at most."""

LARGEST_FOOTER: Final = 8 << 20

CHUNKS_MOST: Final = 40_000
"""Columns of row groups that a footer may name. Arrow takes 1 KB for each, though three bytes can name one."""

PAGE_BYTES: Final = 256
"""What each page adds, however small it is: so a bound on the size also bounds their number, and the time."""

VALUE_BYTES: Final = 8
"""What a value takes at least when it is decoded, however few bits of a page state it."""

_HEADER: Final = 128
_HEADER_MOST: Final = 64 << 10
"""Bytes of a page header: it may hold two values as statistics."""

_DICTIONARIES: Final = (2, 8)
_DELTA_BYTE_ARRAY: Final = 7
_DEEPEST: Final = 16
_COLUMNS_AT: Final = 1
"""Depth of the lists of columns: in the structs of the row groups."""
_FIXED: Final = {3: 1, 7: 8}
_FIXED_IN_LISTS: Final = {1: 1, 2: 1, **_FIXED}
"""Bytes of values by their kind."""

_Fields = dict[int, Any]


class ChunkSize(NamedTuple):
    """A column of a row group: bytes of its pages and of its dictionary when they are decompressed, and its values."""

    pages: int
    values: int
    dictionary: int
    repeats: int
    """How many of the values are numbers of an entry in the dictionary."""
    page_count: int
    """How many pages there are."""

    def decoded(self, width: int = VALUE_BYTES) -> int:
        """Bytes in memory, where each value has `width` of them at least; entries of a dictionary count once."""
        return max(self.pages, width * self.values) + PAGE_BYTES * self.page_count

    def repeated(self) -> int:
        """Bytes of the values that a dictionary holds, when each is its greatest entry."""
        return self.repeats * self.dictionary


def check_footer(data: Any) -> None:
    """Refuse a footer that takes much more memory than it has bytes. `data` is the whole file. Raises FormatError."""
    length = int.from_bytes(data[-8:-4], "little")
    start = len(data) - 8 - length
    if start < 4 or length > LARGEST_FOOTER:
        raise FormatError(f"its footer has {length:,} bytes")
    if length <= FOOTER_UNWALKED:
        return
    try:
        _struct(bytes(data[start:-8]), 0, tally=[0])
    except IndexError:
        raise FormatError("its footer ends early") from None


def size_of(data: Any, chunk: Any) -> ChunkSize:
    """Add up the pages of a column chunk, pyarrow's ColumnChunkMetaData. Raises FormatError."""
    start, first = chunk.data_page_offset, chunk.dictionary_page_offset
    if chunk.has_dictionary_page and first is not None and 0 < first < start:
        start = first
    end = start + chunk.total_compressed_size
    if not 0 < start <= end <= len(data):
        raise FormatError("a column begins or ends outside of the file")
    pages = values = dictionary = repeats = count = 0
    while start < end:
        header, start = _header(data, start)
        size, compressed = header[2], header[3]
        count += 1
        if size < 0 or compressed < 0:
            raise FormatError("a page has a size below zero")
        start += compressed
        pages += size
        page = header.get(5) or header.get(8)
        if page is None:
            if 7 in header:
                dictionary += size
            continue
        if page[1] < 0:
            raise FormatError("a page has less than no values")
        values += page[1]
        encoding = page[2 if 5 in header else 4]
        if encoding in _DICTIONARIES:
            repeats += page[1]
        elif encoding == _DELTA_BYTE_ARRAY:
            raise FormatError("a page is DELTA_BYTE_ARRAY: it can state texts far longer than itself")
    return ChunkSize(pages, values, dictionary, repeats, count)


def widths_of(metadata: Any) -> Sequence[int]:
    """Bytes that a value of each Parquet column takes at least; of pyarrow's FileMetaData."""
    columns = (metadata.schema.column(index) for index in range(metadata.num_columns))
    return [max(VALUE_BYTES, column.length or 0) for column in columns]


def _header(data: Any, start: int) -> tuple[_Fields, int]:
    for length in (_HEADER, _HEADER_MOST):
        try:
            header, size = _struct(data[start : start + length], 0)
        except IndexError:
            continue
        if 2 not in header or 3 not in header:
            raise FormatError("a page without its sizes")
        return header, start + size
    raise FormatError("the header of a page does not end")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    at += 1
    if byte < 128:
        return byte, at
    value, shift = byte & 127, 7
    while byte >= 128:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if shift > 70:
            raise FormatError("a number of Thrift has more than 64 bits")
    return value, at


def _struct(data: bytes, at: int, depth: int = 0, tally: list[int] | None = None) -> tuple[_Fields, int]:
    """The numbers and structs of a struct by field; what else it has is passed over. Raises IndexError at the end.

    With `tally`, a list of one number, structs in lists are counted, to the depth of the columns of row groups.
    """
    fields: _Fields = {}
    number = 0
    while head := data[at]:
        at += 1
        kind = head & 15
        if head > 15:
            number += head >> 4
        else:
            raw, at = _varint(data, at)
            number = (raw >> 1) ^ -(raw & 1)
        if 4 <= kind <= 6:
            raw, at = _varint(data, at)
            fields[number] = (raw >> 1) ^ -(raw & 1)
        elif kind == 12:
            fields[number], at = _struct(data, at, _deeper(depth), tally)
        else:
            at = _skip(data, at, kind, depth, tally)
    return fields, at + 1


def _deeper(depth: int) -> int:
    if depth >= _DEEPEST:
        raise FormatError("Thrift nested too deep")
    return depth + 1


def _skip(data: bytes, at: int, kind: int, depth: int, tally: list[int] | None) -> int:
    """Where the value of a field ends."""
    if kind in (1, 2):  # true and false are the kind itself
        return at
    if kind in _FIXED:
        return at + _FIXED[kind]
    if kind == 8:
        length, at = _varint(data, at)
        return at + length
    if kind not in (9, 10):
        raise FormatError(f"a value of Thrift of the unknown kind {kind}")
    count, element, at = _list(data, at)
    if element == 12 and tally is not None and depth <= _COLUMNS_AT:
        tally[0] += count
        if tally[0] > CHUNKS_MOST:
            raise FormatError(f"its footer names more than {CHUNKS_MOST:,} columns of row groups")
    if element in _FIXED_IN_LISTS:
        return at + count * _FIXED_IN_LISTS[element]
    for _ in range(count):
        if 4 <= element <= 6:
            at = _varint(data, at)[1]
        elif element == 12:
            at = _struct(data, at, _deeper(depth), tally)[1]
        else:
            at = _skip(data, at, element, _deeper(depth), tally)
        data[at - 1]  # a count that is too great ends where the data end
    return at


def _list(data: bytes, at: int) -> tuple[int, int, int]:
    """How many elements a list has, their kind, and where they begin."""
    head = data[at]
    count, at = (head >> 4, at + 1) if head < 0xF0 else _varint(data, at + 1)
    return count, head & 15, at
