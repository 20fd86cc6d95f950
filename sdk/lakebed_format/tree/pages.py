"""What the pages of a Parquet file take in memory, read from their own headers before any of them is decoded.

A footer states the decoded size of the file, and may be wrong. Arrow trusts the headers of the pages: it allocates the
memory that each of them states. So this module adds them up first. pyarrow does not show them. It shows what a footer
says of a column, but with some footers it ends the process, by a C++ error that no code catches. Hence the few lines of
Thrift (its compact protocol) here. Fields by number:

    footer      4: row groups
    row group   1: columns  3: num_rows
    column      3: its metadata: 7: total_compressed_size  9: data_page_offset
                11: dictionary_page_offset  12: statistics: 1, 5: max  2, 6: min
    page        header, then `compressed_page_size` bytes
    header      2: uncompressed_page_size  3: compressed_page_size  5: data page  7: dictionary  8: data page v2
    data page   1: num_values, then the encoding: 2 (4 in v2)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from lakebed_format.decoding import FormatError

LARGEST_FOOTER: Final = 8 << 20

STRUCTS_MOST: Final = 300_000
"""Structs in a footer: about seven for each column of a row group. Arrow takes up to 1 KB for each, though one byte can
name one; so this bounds what a footer takes."""

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
_FIXED: Final = {3: 1, 7: 8}
"""Bytes of bytes and of floating-point numbers, by their kind."""

_Fields = dict[int, Any]
_Wanted = dict[tuple[int, int], Any]

_NOTHING: Final[_Wanted] = {}
_STATISTICS: Final[_Wanted] = {(number, 8): _NOTHING for number in (1, 2, 5, 6)}
_META: Final[_Wanted] = {**{(number, 6): _NOTHING for number in (7, 9, 11)}, (12, 12): _STATISTICS}
_ROW_GROUP: Final[_Wanted] = {(1, 9): {(3, 12): _META}, (3, 6): _NOTHING}
_FOOTER: Final[_Wanted] = {(4, 9): _ROW_GROUP}
_NUMBERS: Final[_Wanted] = {(number, 5): _NOTHING for number in (1, 2, 4)}
_PAGE: Final[_Wanted] = {(2, 5): _NOTHING, (3, 5): _NOTHING, **{(number, 12): _NUMBERS for number in (5, 7, 8)}}
"""What is read: fields by number and kind (5 and 6: numbers of 32 and 64 bits, 8: bytes, 9: a list, 12: a struct)."""


class Chunk(NamedTuple):
    """A column of a row group: where its pages begin and end, and its least and greatest value, if it states them."""

    start: int
    end: int
    least: bytes | None
    greatest: bytes | None


class Group(NamedTuple):
    """A row group."""

    rows: int
    chunks: Sequence[Chunk]


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


def groups_of(data: Any) -> list[Group]:
    """The row groups that the footer of a file names; `data` is the whole file. Raises FormatError, LookupError."""
    length = int.from_bytes(data[-8:-4], "little")
    start = len(data) - 8 - length
    if start < 4 or length > LARGEST_FOOTER:
        raise FormatError(f"its footer has {length:,} bytes")
    footer, _ = _struct(bytes(data[start:-8]), 0, _FOOTER, [0])
    return [Group(group[3], [_chunk(one[3]) for one in group[1]]) for group in footer[4]]


def _chunk(meta: _Fields) -> Chunk:
    start, first = meta[9], meta.get(11, 0)
    if 0 < first < start:
        start = first
    statistics = meta.get(12, {})
    return Chunk(start, start + meta[7], statistics.get(6, statistics.get(2)), statistics.get(5, statistics.get(1)))


def size_of(data: Any, chunk: Chunk) -> ChunkSize:
    """Add up the pages of a column of a row group. Raises FormatError."""
    start, end, _, _ = chunk
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
            header, size = _struct(data[start : start + length], 0, _PAGE, [0])
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
            raise FormatError("a number of Thrift has too many bits")
    return value, at


def _struct(data: bytes, at: int, wanted: _Wanted, tally: list[int], depth: int = 0) -> tuple[_Fields, int]:
    """The wanted fields of a struct, and where it ends. Raises IndexError where the data end early.

    As Arrow does, it passes over a field of another type than it should have. `tally`, a list of one number, counts
    structs.
    """
    tally[0] += 1
    if tally[0] > STRUCTS_MOST or depth > _DEEPEST:
        raise FormatError(f"its Thrift has more than {STRUCTS_MOST:,} structs, or is nested too deep")
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
        found = wanted.get((number & 0xFFFF, kind))
        if found is None:
            if 4 <= kind <= 6:
                while data[at] > 127:
                    at += 1
                at += 1
            else:
                at = _value(data, at, kind, _NOTHING, tally, depth)[1]
        elif number in fields:
            raise FormatError("a struct of Thrift has a field twice")
        else:
            fields[number & 0xFFFF], at = _value(data, at, kind, found, tally, depth)
    return fields, at + 1


def _value(data: bytes, at: int, kind: int, wanted: _Wanted, tally: list[int], depth: int) -> tuple[Any, int]:
    """A value of this kind, and where it ends. Of lists only structs are kept."""
    if 4 <= kind <= 6:
        raw, at = _varint(data, at)
        if raw >> (64 if kind == 6 else 32):
            raise FormatError("a number of Thrift has too many bits")
        return (raw >> 1) ^ -(raw & 1), at
    if kind == 8:
        length, at = _varint(data, at)
        return data[at : at + length], at + length
    if kind == 12:
        return _struct(data, at, wanted, tally, depth + 1)
    if kind in (9, 10):
        return _list(data, at, wanted, tally, depth + 1)
    if kind in (1, 2):  # true and false are the kind itself
        return kind == 1, at
    if kind in _FIXED:
        return None, at + _FIXED[kind]
    raise FormatError(f"a value of Thrift of the unknown kind {kind}")


def _list(data: bytes, at: int, wanted: _Wanted, tally: list[int], depth: int) -> tuple[list[Any], int]:
    head = data[at]
    count, at = (head >> 4, at + 1) if head < 0xF0 else _varint(data, at + 1)
    kind = head & 15
    if kind in (1, 2):  # in a list they have a byte
        return [], at + count
    if kind in _FIXED:
        return [], at + count * _FIXED[kind]
    if kind == 12 and tally[0] + count > STRUCTS_MOST:  # Arrow makes room for all of them before it reads the first
        raise FormatError(f"its Thrift has more than {STRUCTS_MOST:,} structs")
    found = []
    for _ in range(count):
        value, at = _value(data, at, kind, wanted, tally, depth)
        data[at - 1]  # a count that is too great ends where the data end
        if wanted:
            found.append(value)
    return found, at
